//! The command line of `jig sh`.

use camino::Utf8PathBuf;

use super::{HoldArgs, named};

pub(super) const SH_HELP: &str = "\
Examples:
  jig sh -c 'cat notes.txt | grep TODO | wc -l'
  jig sh -i data -o report.txt -c 'sort -n data/*.csv | uniq -c > report.txt'
  jig sh --llm -c 'grep ERROR app.log | tail -n 50 | llm \"What went wrong?\"'
  jig sh < script                       lines from standard input
  jig sh                                at a terminal: type lines, end with Ctrl-D
  jig sh -c help                        the commands and their options
  jig proxy -- jig sh -c 'ls -p'        the same, as the command of a proxy

The shell starts no program: cat, head, tail, wc, grep, sed, tr, sort, uniq, cut, tee, ls, echo and llm \
are parts of it. It is confined and has no files of its own; jig opens them, as `jig proxy` does: \
without options the workspace can be read, and nothing be changed. What is written where no rule \
speaks of it is kept in memory, and jig says so at the end.

There are pipes, redirections, quotes, `&&`, `||`, `;`, `!`, `*`, `?` and `$?`, but no variables, loops or \
background jobs. What the shell does not know is an error, and then nothing is run.

The exit code is that of the last command: 2 if the line was not understood, 127 if there is no such \
command.";

#[derive(Debug, clap::Args)]
pub(crate) struct ShArgs {
    /// The line to run [default: standard input]
    #[arg(
        short = 'c',
        long = "command",
        value_name = "LINE",
        allow_hyphen_values = true
    )]
    pub(crate) line: Option<String>,
    /// A file or directory that may be read; may be repeated
    #[arg(short, long, value_name = "PATH", value_parser = named, num_args = 1.., conflicts_with_all = ["policy", "tool"])]
    pub(crate) input: Vec<Utf8PathBuf>,
    /// A file or directory that may be written, and made if it is missing; may be repeated
    #[arg(short, long, value_name = "PATH", value_parser = named, num_args = 1.., conflicts_with_all = ["policy", "tool"])]
    pub(crate) output: Vec<Utf8PathBuf>,
    /// A configuration file that declares a tool, whose rules apply
    #[arg(long, value_name = "FILE", value_parser = named)]
    pub(crate) policy: Option<Utf8PathBuf>,
    /// The tool whose rules apply, of --policy or of the workspace
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Let it ask the model of `[llm]` in your configuration, within the quota there
    #[arg(long)]
    pub(crate) llm: bool,
    #[command(flatten)]
    pub(crate) hold: HoldArgs,
}
