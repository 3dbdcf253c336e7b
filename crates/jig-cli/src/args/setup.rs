//! The command line of `jig setup`.

use jig_clients::AgentClient;

pub(super) const SETUP_HELP: &str = "\
Examples:
  jig setup                            the clients, and which of them are connected here
  jig setup claude-code                show what would be written, and where
  jig setup claude-code --write        write it
  jig setup cursor --global --write    for all your projects, in your own settings
  jig setup claude-code --headless --write            calls wait for your `jig approve`
  jig setup codex --http http://127.0.0.1:8080/mcp    to a server that runs already: `jig mcp --http`

What is added is one entry that starts `jig mcp`. Comments, order and layout of the file stay as they \
are; a file that exists is kept beside the new one, as .bak. An entry of that name that says something \
else is replaced only with --force.

With --http the client takes the token from the variable JIG_MCP_TOKEN, or asks for it: it is never \
written into a file.

`jig mcp --check` shows what an agent sees once it is connected.";

#[derive(Debug, clap::Args)]
pub(crate) struct SetupArgs {
    /// The client to connect; without it, all are listed
    pub(crate) client: Option<AgentClient>,
    /// Write the file, instead of showing what would be written
    #[arg(short, long, requires = "client")]
    pub(crate) write: bool,
    /// Replace an entry of the same name that says something else
    #[arg(long, requires = "client")]
    pub(crate) force: bool,
    /// Connect to a server that runs already, at this address
    #[arg(long, value_name = "URL", requires = "client")]
    pub(crate) http: Option<String>,
    /// For an agent without a person in front of it: its calls wait for `jig approve`
    #[arg(long, requires = "client", conflicts_with = "http")]
    pub(crate) headless: bool,
    /// The name of the entry
    #[arg(long, value_name = "NAME", default_value = "jig", value_parser = entry_name)]
    pub(crate) name: String,
    /// For all projects, in the settings of the user
    #[arg(long, conflicts_with = "project")]
    pub(crate) global: bool,
    /// For this workspace, in a file there; the default
    #[arg(long)]
    pub(crate) project: bool,
}

/// A name that every client takes, and that can be a key of TOML and a part of a tool's name as it is.
fn entry_name(text: &str) -> Result<String, &'static str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    match (1..=40).contains(&text.len()) && text.chars().all(is_part) {
        true => Ok(text.to_owned()),
        false => Err("a name has 1 to 40 letters, digits, `-` and `_`"),
    }
}
