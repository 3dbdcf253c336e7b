//! The vocabulary of jig and its JSON.
//!
//! What a tool is told ([`Context`], [`Access`]), what it answers ([`ToolState`], [`Outcome`],
//! [`Response`], made of [`Content`], [`Question`] and [`ToolError`]), what a caller asks
//! ([`Invocation`], [`ToolCommand`]) and is told ([`HandleReport`]). [`vfs`] is the protocol in which
//! a mediated tool asks its host for files, hosts and programs; [`fsproxy`] is the one in which a
//! child process does its file work through handles of its parent. No I/O happens here, and nothing is
//! decided: bytes become values, values become bytes. Whatever a tool sends, reading it neither
//! panics nor takes more memory than [`json::JsonLimits`] allow.
//!
//! ```
//! use jig_proto::json::JsonLimits;
//! use jig_proto::{Prompt, ToolState, read_printed};
//!
//! let stdout = br#"{"type": "needs_input", "question":
//!     {"id": "overwrite", "text": "Overwrite it?", "answer_type": "Boolean"}}"#;
//! let read = read_printed(stdout, &JsonLimits::MESSAGE)?;
//! let ToolState::Waiting { question, .. } = &read.value else {
//!     panic!("the tool asks");
//! };
//! assert_eq!(question.prompt(), Prompt::YesNo);
//! assert_eq!(
//!     serde_json::to_string(&read.value)?,
//!     r#"{"type":"waiting","question":{"id":"overwrite","text":"Overwrite it?","schema":{"type":"boolean"}}}"#,
//! );
//!
//! // Everything else is plain text, and the reason is kept for the log.
//! assert!(read_printed(b"3 files changed", &JsonLimits::MESSAGE).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod access;
mod actions;
mod command;
mod content;
mod context;
mod denial;
mod fetch;
mod fields;
mod foreign;
pub mod fsproxy;
mod handle;
mod hints;
pub mod json;
pub mod lines;
mod notice;
mod outcome;
mod path;
mod printed;
mod question;
mod render;
mod resource;
mod response;
mod schema;
pub mod sse;
mod state;
mod text;
mod tool_error;
pub mod vfs;
mod visible;
mod warnings;

pub use access::{Access, CommandRule, EnvRule, FsGrants, FsRule, NetRule};
pub use actions::{Actions, ActionsError, ToolAction};
pub use command::{Invocation, ToolCommand, ToolCommandError};
pub use content::{Block, Content, Text};
pub use context::{Action, Context};
pub use denial::Denial;
pub use fetch::{Fetch, FetchError, View};
pub use fields::FieldError;
pub use handle::{CutReport, Details, HandleId, HandleIdError, HandleReport, TerminalReport};
pub use hints::{Hint, followed_hint, offered_flags, offered_rule};
pub use notice::Notice;
pub use outcome::Outcome;
pub use path::{PathSyntaxError, ProjectPath};
pub use printed::{NotAState, read_printed};
pub use question::{Prompt, Question};
pub use resource::{Resource, ResourceData};
pub use response::{ErrorDetails, Response};
pub use schema::{
    HANDLE_PARAMETERS, Published, SchemaError, SchemaForm, SchemaFormError, published,
    stateful_schema,
};
pub use state::{StateName, ToolState};
pub use tool_error::ToolError;
pub use visible::{
    DECEPTIVE, Deceptive, is_deceptive, visible_json, visible_line, visible_line_to, visible_lines,
    visible_painted, visible_words,
};
pub use warnings::{Warnings, WithWarnings};
