//! The command line of `jig approve`.

pub(super) const APPROVE_HELP: &str = "\
Examples:
  jig approve                      what waits for you, and what nobody could be asked
  jig approve q_3                  show a question, and answer it
  jig approve q_3 --once           allow it, this one time
  jig approve q_3 --turn           allow it for the rest of the agent's turn
  jig approve q_3 --deny --reason 'not this branch'
  jig approve q_3 --answer main    the answer to a question of the tool itself
  jig approve --watch              stay, and be asked one question after the other
  jig approve --watch --json       the same for an editor or CI: lines of JSON both ways

The questions are those of the servers (`jig mcp`) of this workspace: an agent's client that can show a form asks \
there as well, and whoever answers first has answered. While somebody watches, calls wait for an answer. Where \
nobody can be asked, or the client declines, a call is denied, and its question is kept for a day, also after the \
server has ended: allow it here, and the agent's next call of exactly the same goes through within an hour, once or \
for the turn.

A changed configuration that would allow more is a question, too, and so are an MCP server that came with the \
workspace and tools that their server describes in another way. They are accepted at the terminal, or by \
`accept` of a program that watches. docs/approvals.md describes the lines of --json.";

#[derive(Debug, clap::Args)]
pub(crate) struct ApproveArgs {
    /// The question, as the list and the agent's result name it; without it, all are listed
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Allow it this one time
    #[arg(long, requires = "id", group = "decision")]
    pub(crate) once: bool,
    /// Allow it for the rest of the turn: until the agent's connection ends or is idle for long
    #[arg(long, requires = "id", group = "decision")]
    pub(crate) turn: bool,
    /// Say no
    #[arg(long, requires = "id", group = "decision")]
    pub(crate) deny: bool,
    /// Why not; the agent is told
    #[arg(long, value_name = "TEXT", requires = "deny")]
    pub(crate) reason: Option<String>,
    /// The answer to a question that wants more than yes or no: JSON, or text
    #[arg(
        long,
        value_name = "VALUE",
        requires = "id",
        conflicts_with = "deny",
        allow_hyphen_values = true
    )]
    pub(crate) answer: Option<String>,
    /// Stay, and be asked one question after the other
    #[arg(short, long, conflicts_with_all = ["id", "decision", "answer"])]
    pub(crate) watch: bool,
    /// The questions of all workspaces
    #[arg(short, long)]
    pub(crate) all: bool,
    /// Only the server with this process id
    #[arg(long, value_name = "PID")]
    pub(crate) server: Option<u32>,
}
