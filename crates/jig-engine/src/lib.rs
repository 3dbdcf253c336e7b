//! The embedder's API: a [`Call`] goes in, a result comes out.
//!
//! An [`Engine`] holds a configuration, the files of a workspace and what is remembered for one turn.
//! [`Engine::call`] looks the tool up, fills in and checks the arguments, compiles the policy, has
//! the tool's runtime start it, and drives it until it has stopped. Questions, the tool's and the
//! policy's, go to the [`Asker`] that the caller supplies. A stateful tool that is called with an
//! `action` is driven by its caller instead: it is a *handle*, and a call does one thing with it.
//!
//! ```
//! use std::sync::Arc;
//!
//! use jig_config::Sources;
//! use jig_engine::{Call, Engine, Nobody};
//! use jig_files::MemoryFiles;
//! use jig_proto::ProjectPath;
//! use serde_json::json;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A workspace in memory, without any configuration: the `fs_*` tools are there.
//! let files = MemoryFiles::new();
//! files.put_file(&ProjectPath::normalize("notes.txt")?, "one\ntwo\n", false)?;
//! let config = jig_config::load(&Sources::new("/workspace"))?.config;
//! let engine = Engine::new(Arc::new(config), Arc::new(files));
//!
//! let call = Call::new("fs_read_file", json!({ "path": "notes.txt" }));
//! let content = engine.call(call, &mut Nobody)?.into_content();
//! assert!(content.to_text().contains("two"));
//!
//! // Writing asks first, and here nobody can answer.
//! let call = Call::new("fs_create_file", json!({ "path": "new.txt", "content": "" }));
//! assert!(engine.call(call, &mut Nobody).is_err());
//! # Ok(())
//! # }
//! ```

mod calls;
mod engine;
mod planning;
mod programs;
mod questions;
mod results;
mod servers;
#[cfg(unix)]
mod suggest;
mod tools;

pub use calls::begun_call::BegunCall;
pub use calls::call::{Call, CallError};
pub use engine::llm::LlmSetupError;
pub use engine::turn::Turn;
pub use engine::{Engine, StartedTool};
pub use planning::arguments::ArgumentErrors;
pub use programs::change_layer::may_apply;
pub use programs::confinement::Confinement;
pub use programs::prepared_command::{
    CommandEnd, CommandError, CommandLog, Preparation, PreparedCommand, RunningCommand,
};
pub use questions::answer_schema::fits;
pub use questions::asker::{About, Answer, Ask, Asker, Nobody};
pub use questions::assistant::{AssistantPrompt, read_assistant};
pub use results::declared_output::OutputError;
pub use results::reply::Reply;
pub use servers::program::{
    Downloading, FilledServer, NotDownloaded, Packages, PackagesAccess, ServerMark, ServerProcess,
};
pub use servers::{HeldOffer, ServedCall, ServerCall, ToolServers, Unaccepted};
#[cfg(unix)]
pub use suggest::{
    Evidence, LearnError, Learner, ObservedRun, Proposal, ProposedPath, ProposedPreset,
    ProposedRule, Rehearsal, RunningRehearsal, WithheldAccess, warning_clause,
};
#[cfg(feature = "wasm-tools")]
pub use tools::component::ComponentFileError;
pub use tools::effects::Effects;
#[cfg(feature = "wasm-tools")]
pub use tools::knowledge::{Knowledge, LoadedSubject, TopicKnowledge};
pub use tools::knowledge::{not_offered, topics_summary};
pub use tools::predefined::run_predefined;

pub use jig_runtime::TemplateError;
