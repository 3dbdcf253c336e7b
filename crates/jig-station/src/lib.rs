//! The station: the background process of a workspace that owns the tools which were spawned there.
//!
//! `jig spawn` starts it on demand ([`client::StationClient::ask_or_start`]); it ends soon after its last handle
//! ([`serve::run`]). The other commands ask it over a socket in a directory that only this user can enter
//! (`place`), in lines of JSON ([`protocol`]). It loads the configuration anew for every spawn, with the
//! flags and variables of the client: what stands in `jig.toml` then is what counts.
//!
//! Who may speak to it: a process of the same user that can read the station's key. The user alone would
//! not do: where a sandbox cannot hide a socket, a confined tool could connect to it, and have tools run
//! under rules of its own choice. It cannot read the key.
//!
//! Running proxies are found in the same way, each at a place of its own ([`proxies`]), and so are MCP servers
//! whose questions people answer ([`asks`]); no station is needed for them.
//!
//! Nothing here prints: the `jig` program shows what a station answers.

pub mod asks;
mod attached_clients;
pub mod client;
mod client_threads;
mod connection;
pub mod protocol;
pub mod proxies;
pub mod serve;
mod socket_directory;
mod tool_servers;

#[cfg(test)]
mod tests;
