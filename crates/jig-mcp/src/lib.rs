//! jig as an MCP server: the tools of an engine, for every agent that speaks the Model Context Protocol.
//!
//! [`SharedServer`] is what all connections have in common: the configuration in force, the questions that wait
//! for a person, the callers. [`serve_stdio`] and [`HttpServer`] serve it. What a server needs to know of
//! files and processes comes through a [`Loader`].
//!
//! A `tools/call` is *in flight*: a thread runs it, and when somebody has to be asked, the thread waits at
//! the board of [`Questions`] for whoever answers first: the client, by elicitation or by a retry, or a
//! person elsewhere. So a run starts exactly once, whatever era of the protocol its client speaks.
//!
//! [`Servers`] are the MCP servers behind jig. A call of one of their tools takes the same way: the thread of its
//! session waits for the server.

mod caller;
mod calls;
mod client;
mod configuration;
pub mod fixtures;
mod methods;
mod questions;
mod shared;
#[cfg(test)]
mod testing;
mod text_prefix;
mod transports;

#[cfg(unix)]
pub use client::check::{AgentCall, AgentTool, AgentView, CheckError, Era, check};
pub use client::servers::{
    AcceptedOffer, ContentUpdate, DefinitionState, ForgetfulMemory, LedgerServer, LedgerTool,
    Memory, OfferedTools, ServerSelection, ServerState, ServerStatus, Servers,
};
pub use configuration::reload::{Reloading, watch};
pub use questions::{NotAQuestionId, PROTOCOL as ASK_PROTOCOL, QuestionId, Questions};
pub use shared::{Loader, Options, SharedServer};
pub use transports::ending::{ServeError, ServerStop};
pub use transports::http::{BadHost, BadOrigin, BadTokens, CallerTokens, HttpAccess, HttpServer};
pub use transports::stdio::{OpenWorkspace, OpenedWorkspace, serve_stdio, serve_stdio_at_roots};
