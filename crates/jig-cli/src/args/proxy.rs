//! The command line of `jig proxy`.

use camino::Utf8PathBuf;

use super::{HoldArgs, named};

pub(super) const PROXY_HELP: &str = "\
Examples:
  jig proxy -- ./agent                        it may ask for every file of the workspace, read-only
  jig proxy -i data -o report.md -- ./agent   it may read `data` and write `report.md`, nothing else
  jig proxy --code agent.py -- python3 agent.py -v
  jig proxy --tool reviewer -- ./agent        files by the rules of the tool `reviewer`
  jig proxy --llm -- ./agent                  it may ask the model of [llm] in your configuration
  jig proxy --stdio -i . -o out               serve a client that somebody else has started
  jig ps                                      what runs, and which files it has open

The command is confined to its own program and to those of the system: it sees no file of yours, \
no network and no other process. What it has is descriptor 3, a socket on which it asks jig to \
open, read, write and close files; JIG_PROXY_FD=3 tells it so. jig does what the policy allows. A \
path that no rule covers is a file in memory, which all that this jig serves share and which ends \
with it. The SDKs for Rust and Python have file objects on it; docs/fs-proxy.md describes the \
protocol.

A command that has processes of its own to serve starts each with `jig proxy -- COMMAND`: inside \
of a proxy that needs no policy, because everything is passed on to the one above, and it gives \
away no more than it has.

Relative paths of -i and -o, and those that the command asks for, are meant from the current \
folder. A directory stands for everything below it. A path that is only given with -i is never \
written, one that is only given with -o never read. Links are followed to what was named, and no \
further. Sensitive files, such as .env, have to be named themselves.

Standard input, output and error are the command's own, and handles 0 to 2 of the protocol are the \
same ones. At a terminal the command gets a terminal of its own, which it reads itself: handle 0 \
is refused.

The exit code is that of the command, as with `jig run`: 124 if a limit ended it, 125 if jig could \
not run it, 126 if it may not be executed, 127 if it was not found. With --stdio it is 0 when the \
client has closed its side, and 1 if it did not keep to the protocol.";

#[derive(Debug, clap::Args)]
pub(crate) struct ProxyArgs {
    /// Serve a client on standard input and output instead of starting a command
    #[arg(long, conflicts_with_all = ["code", "preset", "time", "memory", "processes", "file_size", "descriptors", "pty", "best_effort"])]
    pub(crate) stdio: bool,
    /// A file or directory that may be read; may be repeated
    #[arg(short, long, value_name = "PATH", value_parser = named, num_args = 1.., conflicts_with_all = ["policy", "tool", "root"])]
    pub(crate) input: Vec<Utf8PathBuf>,
    /// A file or directory that may be written, and made if it is missing; may be repeated
    #[arg(short, long, value_name = "PATH", value_parser = named, num_args = 1.., conflicts_with_all = ["policy", "tool", "root"])]
    pub(crate) output: Vec<Utf8PathBuf>,
    /// The workspace, as -C
    #[arg(long, value_name = "DIR", value_parser = named)]
    pub(crate) root: Option<Utf8PathBuf>,
    /// A configuration file that declares a tool, whose rules apply
    #[arg(long, value_name = "FILE", value_parser = named)]
    pub(crate) policy: Option<Utf8PathBuf>,
    /// The tool whose rules apply, of --policy or of the workspace
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Give a client that asks for more than 4096 bytes at once 4096, instead of an error
    #[arg(long)]
    pub(crate) lenient: bool,
    /// Let it ask the model of `[llm]` in your configuration, within the quota there
    #[arg(long)]
    pub(crate) llm: bool,
    /// A part of the program that it may read by itself: a script, a folder of modules; may be repeated
    #[arg(long, value_name = "PATH", value_parser = named)]
    pub(crate) code: Vec<Utf8PathBuf>,
    #[command(flatten)]
    pub(crate) hold: HoldArgs,
    /// Whether to say which files of the workspace were only in memory
    #[arg(skip)]
    pub(crate) tells_virtual: bool,
    /// The command and its arguments
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<String>,
}
