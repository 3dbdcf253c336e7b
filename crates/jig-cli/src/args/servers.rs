//! The options of `jig servers`.

use clap::Subcommand;

pub(super) const SERVERS_HELP: &str = "\
Examples:
  jig servers                    every server: how it is reached, its tools, and what waits for you
  jig servers github             one in full: what it may do, and its tools with their hashes
  jig servers accept github      see what it may do or what has changed, and accept it
  jig servers refresh            start them all, and ask for their tools anew

A server is an entry of the configuration. Its tools are called NAME_TOOL:

  [mcp.servers.files]
  command = [\"npx\", \"mcp-server-filesystem\", \".\"]
  sandbox.presets = [\"node\"]

It runs in a sandbox: what it may read, write and reach is what `[mcp.servers.files.access]` says. An
entry that came with the workspace is started only after you have accepted it. A tool that describes
itself in another way than before is held until you have seen the change.";

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct ServersArgs {
    /// The server to show in full
    pub(crate) name: Option<String>,
    #[command(subcommand)]
    pub(crate) command: Option<ServersCommand>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ServersCommand {
    /// See what a server may do, or what it changed, and accept it
    #[command(after_help = ACCEPT_HELP)]
    Accept(AcceptArgs),
    /// Start servers, and ask for their tools anew
    #[command(after_help = REFRESH_HELP)]
    Refresh {
        /// Only this one [default: all]
        name: Option<String>,
    },
}

const ACCEPT_HELP: &str = "\
Examples:
  jig servers accept github          shows what there is to accept, and asks
  jig servers accept github --yes    accepts what it shows, without asking

Two things wait for a person: an entry that a file of the workspace declares, before its program is started
for the first time, and tools that are new or changed on a server that is known. What is accepted is what was
shown: if the entry is changed later, or a tool is, they wait again.";

#[derive(Debug, clap::Args)]
pub(crate) struct AcceptArgs {
    /// The server
    pub(crate) name: String,
    /// Accept it without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
}

const REFRESH_HELP: &str = "\
Examples:
  jig servers refresh            all, at once
  jig servers refresh github     one

Lists of tools come from what a server said last, so that nothing has to be started for them. What it says
otherwise now is not taken over silently: see `jig servers accept`.

What `npx -y` and `uvx` start is downloaded once and kept. This downloads it anew, and so another version if
there is one.";
