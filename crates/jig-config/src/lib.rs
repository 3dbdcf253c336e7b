//! Layered TOML in which every value knows its file and line.
//!
//! [`load()`] takes [`Sources`], reads all layers, checks and merges them, and returns a [`Config`]
//! whose [`Tool`]s have every setting resolved, or all [`Errors`] at once, each with its place, its
//! reason and what to do about it.
//!
//! ```
//! use jig_config::{Sources, load};
//!
//! let mut sources = Sources::new("/nowhere");
//! sources.sets.push("tools.fs_read_file.run=ask".to_owned());
//! let loaded = load(&sources).expect("the built-in layer loads");
//! let tool = loaded.config.tool("fs_read_file").expect("a predefined tool");
//! assert_eq!(tool.run.spawn.name(), "ask");
//! assert_eq!(tool.origin("run").expect("it was set").to_string(), "--set");
//! ```
//!
//! The crate reads no environment by itself, except in [`Sources::from_environment`], and no files
//! but those of [`Sources`] and those that they extend. It runs nothing and decides nothing.

mod edit;
mod jp_keys;
mod lint;
mod loading;
mod model;
mod name_pattern;
mod origin;
mod policy;
mod problem;
mod quoting;
mod shape;
mod show;
mod system_paths;
mod value;
mod widening;

pub use edit::{
    AddedFs, AddedNet, AddedSystem, Additions, Edit, EditError, SaveError, read_config,
};
pub use lint::ProgramMistake;
pub use loading::load::{Loaded, load};
pub use loading::sources::{Sources, WORKSPACE_FILES};
pub use model::{
    AllowToggle, Command, CommandError, Config, ConfigFile, ConfigFolder, Decided, Definition,
    DefinitionError, Definitions, Enable, Enforce, Filled, FilledError, FormatMode, Input, Leads,
    LlmConfig, LlmKey, LlmTokenField, LlmWeights, LogSettings, McpConfig, NetworkSettings, Notices,
    OnUncovered, OverlayMode, Parameter, ParameterType, Preset, ProtocolLimits, Question,
    QuestionTarget, Reach, ResultMode, RunCondition, RunMode, RunModes, RunRule, RunRules, RunTest,
    Runtime, Sandbox, SandboxLimits, Server, ServerUrlError, Source, SourceError, SystemPath, Tool,
    ToolName, ToolNameError, Topic, Unfilled, looks_secret, server_url,
};
pub use origin::{Layer, Origin};
pub use policy::LOADED;
pub use problem::{Errors, Problem, Severity};
pub use shape::schema::json_schema;
pub use show::{show, show_json};
pub use widening::{Widened, widening};
