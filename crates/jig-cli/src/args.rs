//! The command line.

use camino::Utf8PathBuf;
use clap::{Parser, Subcommand, ValueEnum};

use crate::exit::EXIT_CODES;

/// Run the tools that agents call under one declared policy, and explain every denial.
#[derive(Debug, Parser)]
#[command(
    name = "jig",
    version,
    max_term_width = 100,
    after_long_help = EXIT_CODES,
    long_about = "Run the tools that agents call under one declared policy, and explain every \
        denial.\n\nTools and their rules stand in `jig.toml` at the top of the workspace; the fs_* \
        tools are there without it. Start with `jig tools` to see what there is, `jig call \
        fs_grep_files pattern=main` to run one, `jig policy explain TOOL read PATH` to ask what a \
        tool may do, `jig log` to see what was decided, and `jig doctor` to see what this machine \
        can enforce."
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options of every command.
#[derive(Debug, clap::Args)]
pub(crate) struct Global {
    /// The workspace [default: the nearest folder upward with a jig.toml, else with .git]
    #[arg(short = 'C', long, value_name = "DIR", global = true, help_heading = GLOBAL)]
    pub(crate) workspace: Option<Utf8PathBuf>,
    /// One more configuration file, above those of the workspace; may be repeated
    #[arg(long, value_name = "FILE", global = true, help_heading = GLOBAL)]
    pub(crate) config: Vec<Utf8PathBuf>,
    /// One setting, above all files: tools.NAME.run=ask; may be repeated
    #[arg(long, value_name = "KEY=VALUE", global = true, help_heading = GLOBAL)]
    pub(crate) set: Vec<String>,
    /// Print JSON for programs
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) json: bool,
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true, help_heading = GLOBAL)]
    pub(crate) color: Color,
}

const GLOBAL: &str = "Global options";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Check the configuration, or show what it comes to
    #[command(subcommand)]
    Config(ConfigCommand),
    /// List the tools and what each may do, or show one in full
    Tools {
        /// The tool to show in full
        name: Option<String>,
    },
    /// Show the rules of a tool, or ask what they say
    #[command(subcommand)]
    Policy(PolicyCommand),
    /// Run a tool: `jig call fs_read_file path=README.md`
    #[command(after_help = CALL_HELP)]
    Call(CallArgs),
    /// Run any command under a policy: `jig run -- cargo test`
    #[command(after_help = RUN_HELP)]
    Run(RunArgs),
    /// Show what was decided: every request of every tool, and the rule behind it
    Log(LogArgs),
    /// Speak the host's side of the VFS protocol on stdin and stdout, for tests of tools
    VfsHost(VfsHostArgs),
    /// Run a predefined tool as a program
    #[command(name = "__tool", hide = true)]
    Tool {
        /// The tool
        name: String,
    },
    /// Show what this machine can enforce, and what to do about each gap
    Doctor,
    /// Print a completion script for a shell
    #[command(after_help = COMPLETIONS_HELP)]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

const CALL_HELP: &str = "\
Examples:
  jig call fs_read_file path=src/main.rs start_line=1 end_line=20
  jig call fs_grep_files pattern='fn main' paths=src
  jig call fs_create_file --args '{\"path\": \"notes.txt\", \"content\": \"hello\"}' --yes
  generate-arguments | jig call my_tool --args -";

#[derive(Debug, clap::Args)]
pub(crate) struct CallArgs {
    /// The tool
    pub(crate) tool: String,
    /// Its arguments; one name several times makes a list
    #[arg(value_name = "NAME=VALUE")]
    pub(crate) arguments: Vec<String>,
    /// All arguments as one JSON object, or `-` to read it from stdin
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    pub(crate) args: Option<String>,
    /// The answer to a question of the tool, known in advance; may be repeated
    #[arg(long, value_name = "ID=VALUE")]
    pub(crate) answer: Vec<String>,
    /// Say yes to running the tool and to its own yes/no questions; never to more access
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Ask nobody: what needs an answer is denied
    #[arg(long)]
    pub(crate) no_interaction: bool,
    /// Write the whole exchange with a tool that is a program to a file, as JSON lines
    #[arg(long, value_name = "FILE")]
    pub(crate) trace: Option<Utf8PathBuf>,
}

const RUN_HELP: &str = "\
Examples:
  jig run -- ./build.sh                     the workspace read-write, no network, no home
  jig run --preset rust -- cargo test       and the Rust toolchain
  jig run --read . --write out -- make      only `out` can be changed
  jig run --policy fmt -- rustfmt src/*.rs  under the rules of the tool `fmt`
  jig run --dry-run -- make                 print what would be enforced

Without --policy, --read and --write, the command may read, change and run whatever is in the
workspace, except sensitive paths and jig's own configuration. A path that is given inside the
workspace takes the place of that; one outside is added to it.

The exit code is that of the command; 1 if it ended well but left something where nothing may come
into being, which is then moved away; 124 if a limit ended it, 125 if jig could not run it, 126 if it
may not be executed, 127 if it was not found. A signal that ends the command ends jig, and signals to
jig reach the command.";

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// The tool whose policy applies [default: that of a stdio tool without rules]
    #[arg(long, value_name = "TOOL")]
    pub(crate) policy: Option<String>,
    /// The workspace, as -C
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<Utf8PathBuf>,
    /// A path that may be read; may be repeated
    #[arg(long, value_name = "PATH", conflicts_with = "policy")]
    pub(crate) read: Vec<Utf8PathBuf>,
    /// A path that may be read and changed; may be repeated
    #[arg(long, value_name = "PATH", conflicts_with = "policy")]
    pub(crate) write: Vec<Utf8PathBuf>,
    /// A variable of your environment that the command gets; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "policy")]
    pub(crate) env: Vec<String>,
    /// A toolchain that the command may use: rust, node, python, go, git; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Vec<String>,
    /// The longest it may run: 90s, 10m, 2h
    #[arg(long, value_name = "TIME")]
    pub(crate) time: Option<String>,
    /// The most memory of all its processes together: 512MiB
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<String>,
    /// The most processes and threads at once
    #[arg(long, value_name = "COUNT")]
    pub(crate) processes: Option<u64>,
    /// The largest file that it may write: 1GiB
    #[arg(long, value_name = "SIZE")]
    pub(crate) file_size: Option<String>,
    /// The most open files of one process
    #[arg(long, value_name = "COUNT")]
    pub(crate) descriptors: Option<u64>,
    /// Run it even where this machine can't enforce all of it, and say what is missing
    #[arg(long)]
    pub(crate) best_effort: bool,
    /// Print what would be enforced, and run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LogArgs {
    /// Go on as new lines are written
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Only this tool
    #[arg(long)]
    pub(crate) tool: Option<String>,
    /// Only this answer
    #[arg(long)]
    pub(crate) decision: Option<Decided>,
    /// Not before: 15m, 2h, 3d ago, or 2026-01-31T10:00:00Z
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
    /// Only before
    #[arg(long, value_name = "WHEN")]
    pub(crate) until: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Decided {
    /// It was done.
    Allow,
    /// It was refused.
    Deny,
    /// Somebody was asked.
    Uncovered,
}

#[derive(Debug, clap::Args)]
pub(crate) struct VfsHostArgs {
    /// The folder that the tool works on
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Utf8PathBuf,
    /// A configuration file that declares the tool and its access
    #[arg(long, value_name = "FILE")]
    pub(crate) policy: Option<Utf8PathBuf>,
    /// The tool, if the file declares several
    #[arg(long)]
    pub(crate) tool: Option<String>,
    /// The arguments that the tool is given, as one JSON object
    #[arg(long, value_name = "JSON")]
    pub(crate) args: Option<String>,
}

const COMPLETIONS_HELP: &str = "\
For example, for bash:
  jig completions bash > ~/.local/share/bash-completion/completions/jig";

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Say whether the configuration is valid, and point out rules that do nothing
    Check {
        /// Fail on warnings too
        #[arg(long)]
        deny_warnings: bool,
    },
    /// Print the final configuration, all layers merged
    Show {
        /// Say for every value where it was written
        #[arg(long)]
        origin: bool,
        /// Only this tool
        tool: Option<String>,
    },
    /// Print the JSON Schema of configuration files, for editors
    Schema,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Print all rules of a tool as they are enforced, defaults included
    Show {
        /// The tool
        tool: String,
    },
    /// Ask whether a tool may do something, and why
    #[command(after_help = EXPLAIN_HELP)]
    Explain {
        /// The tool
        tool: String,
        /// Exit with 4 unless the answer is allow
        #[arg(long)]
        exit_code: bool,
        #[command(subcommand)]
        question: Question,
    },
}

const EXPLAIN_HELP: &str = "\
Examples:
  jig policy explain fs_read_file read src/main.rs
  jig policy explain fetcher net https://api.github.com/repos
  jig policy explain build run cargo test --workspace

Paths are relative to the workspace, as tools write them.";

/// What a tool may be asked about.
#[derive(Debug, Subcommand)]
pub(crate) enum Question {
    /// Read a file, or list a directory
    Read {
        /// Relative to the workspace
        path: String,
    },
    /// Create a file or directory
    Create {
        /// Relative to the workspace
        path: String,
    },
    /// Change a file that exists
    Update {
        /// Relative to the workspace
        path: String,
    },
    /// Delete a file or directory
    Delete {
        /// Relative to the workspace
        path: String,
    },
    /// Run a file of the workspace
    Execute {
        /// Relative to the workspace
        path: String,
    },
    /// Move a file or directory
    Move {
        /// Relative to the workspace
        from: String,
        /// Relative to the workspace
        to: String,
    },
    /// Request a URL
    Net {
        /// The URL; https:// is assumed if there is no scheme
        url: String,
    },
    /// Read a variable of the host's environment
    Env {
        /// The name of the variable
        name: String,
        /// Ask whether it may be used in request headers, without the tool seeing it
        #[arg(long)]
        header: bool,
    },
    /// Run a program
    Run {
        /// A name on the search path, or a file of the workspace
        program: String,
        /// Its arguments; options of jig's own go before the program
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
}
