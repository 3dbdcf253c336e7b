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

mod arguments;
mod asker;
mod asking;
mod assistant;
mod bound;
mod call;
mod command;
mod common;
#[cfg(feature = "wasm-tools")]
mod component;
mod confine;
mod drive;
mod effects;
mod engine;
mod fits;
mod format;
mod inquiry;
mod knowledge;
mod layer;
mod links;
mod llm;
mod methods;
mod output;
mod plan;
mod predefined;
mod publish;
mod reply;
mod rules;
mod run;
mod server;
mod servers;
#[cfg(unix)]
mod suggest;
mod turn;

pub use arguments::ArgumentErrors;
pub use asker::{About, Answer, Ask, Asker, Nobody};
pub use assistant::{AssistantPrompt, read_assistant};
pub use call::{Call, CallError};
#[cfg(feature = "wasm-tools")]
pub use component::ComponentFileError;
pub use confine::Confinement;
pub use effects::Effects;
pub use engine::{Engine, Started};
pub use fits::fits;
#[cfg(feature = "wasm-tools")]
pub use knowledge::{Knowledge, LoadedSubject, TopicKnowledge};
pub use knowledge::{not_offered, topics_summary};
pub use layer::may_apply;
pub use llm::LlmSetupError;
pub use output::OutputError;
pub use predefined::run_predefined;
pub use reply::Reply;
pub use run::{CommandEnd, CommandError, CommandLog, Preparation, Prepared, RunningCommand};
pub use server::{
    Downloading, FilledServer, Mark, NotDownloaded, Packages, PackagesAccess, ServerProcess,
};
pub use servers::{Held, ServerCall, ToolServers, Unaccepted};
#[cfg(unix)]
pub use suggest::{
    Evidence, LearnError, Learner, Proposal, ProposedPath, ProposedPreset, ProposedRule, Rehearsal,
    Run, RunningRehearsal, Withheld, warning_clause,
};
pub use turn::Turn;

pub use jig_runtime::TemplateError;
