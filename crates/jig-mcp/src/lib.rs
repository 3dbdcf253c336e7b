//! jig as an MCP server: the tools of an engine, for every agent that speaks the Model Context Protocol.
//!
//! [`Shared`] is what all connections have in common: the configuration in force, the questions that wait
//! for a person, the callers. [`serve_stdio`] and [`HttpServer`] serve it. What a server needs to know of
//! files and processes comes through a [`Loader`].
//!
//! A `tools/call` is *in flight*: a thread runs it, and when somebody has to be asked, the thread waits at
//! the board of [`Questions`] for whoever answers first: the client, by elicitation or by a retry, or a
//! person elsewhere. So a run starts exactly once, whatever era of the protocol its client speaks.
//!
//! [`Servers`] are the MCP servers behind jig. A call of one of their tools takes the same way: the thread of its
//! session waits for the server.

mod annotations;
mod attend;
mod call;
mod caller;
mod catalogue;
#[cfg(unix)]
mod check;
mod completion;
mod cut;
mod desk;
mod elicit;
pub mod fixtures;
mod gather;
mod http;
mod in_flight;
mod knowledge;
mod notify;
mod object;
mod outputs;
mod page;
mod progress;
mod prompts;
mod questions;
mod reload;
mod resources;
mod result;
mod runtime;
mod sampling;
mod server;
mod servers;
mod shared;
mod state;
mod stdio;
mod tail;
mod tasks;
#[cfg(test)]
mod testing;
#[cfg(unix)]
mod upstream;
mod uri;

#[cfg(unix)]
pub use check::{CheckError, Era, Seen, SeenCall, SeenTool, check};
pub use http::{Access, BadOrigin, BadTokens, HttpServer, Tokens};
pub use questions::{NotAQuestionId, PROTOCOL as ASK_PROTOCOL, QuestionId, Questions};
pub use reload::{Reloading, watch};
pub use runtime::{ServeError, Stop};
pub use servers::{
    Accepted, Change, Forgetful, Memory, Offered, ServerState, ServerStatus, Servers, Standing,
    Told, ToldTool, Which,
};
pub use shared::{Loader, Options, Shared};
pub use stdio::serve_stdio;
