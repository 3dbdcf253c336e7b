//! Layered TOML in which every value knows its file and line.
//!
//! [`load()`] takes [`Sources`], reads all layers, checks and merges them, and returns a [`Config`]
//! whose [`Tool`]s have every setting resolved, or all [`ConfigErrors`] at once, each with its place, its
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
    AddedFs, AddedNet, AddedSystem, Additions, ConfigEdit, EditError, SaveError, read_config,
};
pub use lint::ProgramMistake;
pub use loading::acceptance::{HeldBack, WorkspaceContent};
pub use loading::load::{LoadedConfig, load};
pub use loading::sources::{Sources, WORKSPACE_FILES};
pub use model::{
    AllowToggle, AskWay, Command, CommandSyntaxError, Config, ConfigFile, ConfigFolder, Definition,
    DefinitionError, DefinitionMode, Enable, Enforce, FillError, FilledError, FormatMode, Input,
    LlmConfig, LlmKey, LlmTokenField, LlmWeights, LogSettings, McpConfig, NetworkSettings,
    NoticeSettings, OnUncovered, OverlayMode, Parameter, ParameterType, PathMeaning, Preset,
    ProtocolLimits, QuestionSettings, QuestionTarget, ResultMode, RunCondition, RunDecision,
    RunMode, RunModes, RunRule, RunRules, RunTest, RuntimeKind, Sandbox, SandboxLimits, Server,
    ServerReach, ServerSettingText, ServerUrlError, SourceError, SystemPath, Tool, ToolName,
    ToolNameError, ToolSource, Topic, looks_secret, server_url,
};
pub use origin::{Layer, Origin};
pub use policy::LOADED;
pub use problem::{ConfigErrors, Problem, Severity};
pub use shape::schema::json_schema;
pub use show::{show, show_json};
pub use widening::{Widened, widening};
