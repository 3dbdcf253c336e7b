//! The MCP servers of a client, as servers of jig.
//!
//! [`declared::find`] reads the client's files, [`imported_server::ImportedServer`] is a server as jig will have it, [`secret`] keeps
//! keys out of it, [`access`] and [`learn`] tell what it may do, and [`toml_block`] writes it. [`conversion`] says
//! what becomes of each server, and [`change`] what becomes of the file.

pub mod access;
pub mod change;
pub mod conversion;
pub mod declared;
mod fetch;
pub mod filled_text;
pub mod imported_server;
pub mod learn;
mod needs;
pub mod secret;
pub mod server_name;
pub mod toml_block;
mod tool_listing;

use clap::ValueEnum;

/// A client whose servers can be taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ImportFrom {
    /// Claude Code, and with --file Claude Desktop
    #[value(alias = "claude-code", alias = "claude-desktop")]
    Claude,
    /// Codex: the CLI, the app and the IDE extension
    Codex,
    /// Cursor
    Cursor,
    /// Visual Studio Code
    #[value(name = "vscode", alias = "code", alias = "vs-code")]
    VsCode,
}
