//! The command line of `jig import`.

use camino::Utf8PathBuf;
use jig_clients::import::ImportFrom;

pub(super) const IMPORT_HELP: &str = "\
Examples:
  jig import claude                    the servers of Claude Code as jig's, and what would be written
  jig import claude --write            write it to jig.toml, and accept these servers in this workspace
  jig import cursor --global --write   those of your own settings, for all your workspaces
  jig import claude --file ~/Library/Application\\ Support/Claude/claude_desktop_config.json
  jig import vscode --suggest          also run servers that a file of the workspace names, to see what they need
  jig import codex --no-suggest        run nothing: rules are taken from the command

Each server becomes an entry `[mcp.servers.NAME]`. Where jig can, it starts the server on a layer of which \
nothing stays, without a network but for the registry of npx and uvx, asks it for its tools, and proposes the \
rules that this took; elsewhere the rules are a guess, and the report says so. A server that a file of the \
workspace names is run only if you say so.

Secrets that stand in the client's file are not copied: the entry names a variable, and the report says what to \
export. The client's file is only read. The file of jig that is changed is kept as .bak-TIME.";

#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// The client whose servers are taken over
    pub(crate) client: ImportFrom,
    /// A file in the form of that client, instead of those in which it looks
    #[arg(short, long, value_name = "FILE")]
    pub(crate) file: Option<Utf8PathBuf>,
    /// Only servers of this name in the client's file; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) only: Vec<String>,
    /// Write the configuration, and accept the servers that are new
    #[arg(short, long)]
    pub(crate) write: bool,
    /// For all your workspaces: from the client's settings of the user into those of jig
    #[arg(long)]
    pub(crate) global: bool,
    /// Run the servers to see what they need, also those that a file of the workspace names
    #[arg(long, conflicts_with = "no_suggest")]
    pub(crate) suggest: bool,
    /// Run no server
    #[arg(long)]
    pub(crate) no_suggest: bool,
}
