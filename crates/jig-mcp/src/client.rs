//! jig as a client: the MCP servers behind it.
//!
//! [`servers`] starts them, remembers what a person accepted of them, and calls their tools. `connection` is the
//! protocol, to one server. `check` is a client that shows what a server says to an agent.

#[cfg(unix)]
pub(crate) mod check;
#[cfg(unix)]
pub(crate) mod connection;
mod json_object;
pub(crate) mod servers;
