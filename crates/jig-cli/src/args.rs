//! The command line.

mod approve;
mod examples;
mod import;
mod init;
mod knowledge;
mod layout;
mod mcp;
mod proxy;
mod run;
mod servers;
mod setup;
mod sh;
mod trust;

use std::time::Duration;

use camino::Utf8PathBuf;
use clap::{Parser, Subcommand, ValueEnum};
use jig_project::Selection;

use crate::held_back;
use crate::limits;

use self::approve::APPROVE_HELP;
pub(crate) use self::approve::ApproveArgs;
use self::examples::{
    CHECK_HELP, CONFIG_HELP, DOCTOR_HELP, LOG_HELP, POLICY_HELP, POLICY_SHOW_HELP, SCHEMA_HELP,
    SHOW_HELP, START_HELP, START_LONG_HELP, TOOLS_HELP, VFS_HOST_HELP, WASM_HELP,
};
use self::import::IMPORT_HELP;
pub(crate) use self::import::ImportArgs;
use self::init::INIT_HELP;
pub(crate) use self::init::InitArgs;
use self::knowledge::KNOWLEDGE_HELP;
pub(crate) use self::knowledge::KnowledgeArgs;
pub(crate) use self::layout::parse;
use self::mcp::MCP_HELP;
pub(crate) use self::mcp::McpArgs;
use self::proxy::PROXY_HELP;
pub(crate) use self::proxy::ProxyArgs;
use self::run::RUN_HELP;
pub(crate) use self::run::{HoldArgs, RunArgs};
use self::servers::SERVERS_HELP;
pub(crate) use self::servers::{ServersArgs, ServersCommand};
use self::setup::SETUP_HELP;
pub(crate) use self::setup::SetupArgs;
use self::sh::SH_HELP;
pub(crate) use self::sh::ShArgs;
use self::trust::TRUST_HELP;
pub(crate) use self::trust::TrustArgs;

/// Run the tools that agents call under one declared policy, and explain every denial.
#[derive(Debug, Parser)]
#[command(
    name = "jig",
    version,
    max_term_width = 100,
    after_help = START_HELP,
    after_long_help = START_LONG_HELP,
    long_about = "Run the tools that agents call under one declared policy, and explain every \
        denial.\n\nTools and their rules stand in `jig.toml` at the top of the workspace. The fs_* \
        tools, `git` and `shell` work in any folder without it."
)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: GlobalArgs,
    #[command(subcommand)]
    pub(crate) command: CliCommand,
}

/// Options of every command.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct GlobalArgs {
    /// The workspace [default: the nearest folder upward with a jig.toml, else with .git]
    #[arg(short = 'C', long, value_name = "DIR", global = true, help_heading = GLOBAL)]
    pub(crate) workspace: Option<Utf8PathBuf>,
    /// One more configuration file, above those of the workspace; may be repeated
    #[arg(long, value_name = "FILE", global = true, help_heading = GLOBAL)]
    pub(crate) config: Vec<Utf8PathBuf>,
    /// One setting, above all files: tools.NAME.run=ask; may be repeated
    #[arg(long, value_name = "KEY=VALUE", global = true, help_heading = GLOBAL)]
    pub(crate) set: Vec<String>,
    /// Accept what the files of the workspace allow, for this run [env: JIG_TRUST=1]
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) trust: bool,
    /// Run tools also where the log cannot be written, such as in a read-only container
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) optional_log: bool,
    /// Print JSON for programs
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) json: bool,
    /// Say on standard error what is decided, started and waited for; -vv says more [env: JIG_LOG]
    #[arg(short, long, action = clap::ArgAction::Count, global = true, help_heading = GLOBAL)]
    pub(crate) verbose: u8,
    /// When to use colours
    #[arg(long, value_name = "WHEN", default_value = "auto", global = true, help_heading = GLOBAL)]
    pub(crate) color: Color,
}

impl GlobalArgs {
    /// The workspace and the settings that they choose.
    pub(crate) fn selection(&self) -> Selection {
        Selection {
            workspace: self.workspace.clone(),
            files: self.config.clone(),
            sets: self.set.clone(),
            trust: self.trust,
            on_held_back: Some(held_back::tell),
            ..Selection::default()
        }
    }
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

/// How the actions of a stateful tool are told to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ActionsForm {
    /// One tool with a parameter `action`; every provider takes it
    Flat,
    /// One tool for each action; every provider takes it
    Split,
    /// One tool with a variant for each action; the most exact
    Oneof,
}

#[derive(Debug, Subcommand)]
pub(crate) enum CliCommand {
    /// Write a first jig.toml: three questions
    #[command(after_help = INIT_HELP)]
    Init(InitArgs),
    /// See what the files of a workspace allow, and accept it: `jig trust`
    #[command(after_help = TRUST_HELP)]
    Trust(TrustArgs),
    /// Check the configuration, or show what it comes to
    #[command(subcommand, after_help = CONFIG_HELP)]
    Config(ConfigCommand),
    /// List the tools and what each may do, or show one in full
    #[command(after_help = TOOLS_HELP)]
    Tools {
        /// The tool to show in full
        name: Option<String>,
        /// Print what a model provider is given, as JSON: the name, the description and the schema
        #[arg(long, value_name = "FORM")]
        schema: Option<ActionsForm>,
    },
    /// Show the rules of a tool, or ask what they say
    #[command(subcommand, after_help = POLICY_HELP)]
    Policy(PolicyCommand),
    /// Run a tool: `jig call fs_read_file path=README.md`
    #[command(after_help = CALL_HELP)]
    Call(CallArgs),
    /// Start a tool that goes on running: `jig spawn shell`
    #[command(after_help = SPAWN_HELP)]
    Spawn(SpawnArgs),
    /// List what runs in this workspace
    #[command(after_help = PS_HELP)]
    Ps(PsArgs),
    /// Show what a running tool says
    #[command(after_help = FETCH_HELP)]
    Fetch(FetchArgs),
    /// Give input to a running tool, or answer its question
    #[command(after_help = APPLY_HELP)]
    Apply(ApplyArgs),
    /// Wait until running tools have stopped, or ask something
    #[command(after_help = AWAIT_HELP)]
    Await(AwaitArgs),
    /// End running tools
    #[command(after_help = ABORT_HELP)]
    Abort(AbortArgs),
    /// Watch a running tool live, or type into it
    #[command(after_help = ATTACH_HELP)]
    Attach(AttachArgs),
    /// Serve the tools that were spawned in a workspace
    #[command(name = "__station", hide = true)]
    Station {
        /// The workspace
        root: Utf8PathBuf,
    },
    /// Run any command under a policy: `jig run -- cargo test`
    #[command(after_help = RUN_HELP)]
    Run(RunArgs),
    /// Run a command that asks jig for every file, over descriptor 3: `jig proxy -- ./agent`
    #[command(after_help = PROXY_HELP)]
    Proxy(ProxyArgs),
    /// Run a shell line that asks jig for every file: `jig sh -c 'grep TODO *.md | sort'`
    #[command(after_help = SH_HELP)]
    Sh(ShArgs),
    /// Watch a command, and propose the rules that it needs: `jig suggest -- make`
    #[command(after_help = SUGGEST_HELP)]
    Suggest(SuggestArgs),
    /// Serve the tools to agents, over MCP: `jig mcp --check`
    #[command(after_help = MCP_HELP)]
    Mcp(McpArgs),
    /// Answer the questions of MCP servers: `jig approve`
    #[command(after_help = APPROVE_HELP)]
    Approve(ApproveArgs),
    /// Connect an agent to `jig mcp`: `jig setup claude-code`
    #[command(after_help = SETUP_HELP)]
    Setup(SetupArgs),
    /// Take over the MCP servers of a client: `jig import claude`
    #[command(after_help = IMPORT_HELP)]
    Import(ImportArgs),
    /// List the MCP servers behind jig, and accept what waits: `jig servers`
    #[command(after_help = SERVERS_HELP)]
    Servers(ServersArgs),
    /// Show what was decided: every request of every tool, and the rule behind it
    #[command(after_help = LOG_HELP)]
    Log(LogArgs),
    /// Print what a system prompt should say about the knowledge base
    #[command(after_help = KNOWLEDGE_HELP)]
    Knowledge(KnowledgeArgs),
    /// Start a tool that is a Wasm component, look into one, or measure one
    #[command(subcommand, after_help = WASM_HELP)]
    Wasm(WasmCommand),
    /// Speak the host's side of the VFS protocol on stdin and stdout, for tests of tools
    #[command(after_help = VFS_HOST_HELP)]
    VfsHost(VfsHostArgs),
    /// Run a predefined tool as a program
    #[command(name = "__tool", hide = true)]
    Tool {
        /// The tool
        name: String,
    },
    /// Show what this machine can enforce, and what to do about each gap
    #[command(after_help = DOCTOR_HELP)]
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

const SPAWN_HELP: &str = "\
Examples:
  jig spawn shell                          a shell that waits for input
  jig spawn dev_server port=8080 --id web  under a name of your own
  jig fetch web                            what it said since
  jig apply shell-id --line 'ls -l'        type a line into it
  jig attach web                           watch it live
  jig abort web                            end it

A tool that can be spawned has `stateful = true` in its configuration. What is spawned runs on when
this command has ended, in a background process of the workspace that ends with its last tool. `jig ps`
lists what runs. Questions of the tool and of its policy wait until you answer them with `jig apply`.";

#[derive(Debug, clap::Args)]
pub(crate) struct SpawnArgs {
    /// The tool
    pub(crate) tool: String,
    /// Its arguments; one name several times makes a list
    #[arg(value_name = "NAME=VALUE")]
    pub(crate) arguments: Vec<String>,
    /// The name under which it runs [default: h_1, h_2, …]
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// All arguments as one JSON object, or `-` to read it from stdin
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    pub(crate) args: Option<String>,
    /// The answer to a question of the tool, known in advance; may be repeated
    #[arg(long, value_name = "ID=VALUE")]
    pub(crate) answer: Vec<String>,
    /// Say yes to running the tool; never to more access
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Ask nobody: a tool that asks before it runs is not started
    #[arg(long)]
    pub(crate) no_interaction: bool,
}

const PS_HELP: &str = "\
Examples:
  jig ps                 what runs in this workspace
  jig ps --all           in all workspaces
  jig ps --json          for programs

CPU is the processor time used so far, memory what all processes of the tool hold now. Proxies
(`jig proxy`) follow, each with its clients and the files that they have open.";

#[derive(Debug, clap::Args)]
pub(crate) struct PsArgs {
    /// What runs in all workspaces
    #[arg(short, long)]
    pub(crate) all: bool,
}

const FETCH_HELP: &str = "\
Examples:
  jig fetch h_1                    what came since the last look
  jig fetch h_1 --wait 10s         and if there is nothing, wait for it
  jig fetch h_1 --view screen      the screen as it is now
  jig fetch h_1 --view all         all that is kept

The exit code is 1 if the tool has stopped with an error. A result is shown once: with it the handle is
gone.";

#[derive(Debug, clap::Args)]
pub(crate) struct FetchArgs {
    /// The handle, as `jig spawn` and `jig ps` name it
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) look: LookArgs,
    /// If there is nothing new, wait for it: 500 (milliseconds), 5s, 2m
    #[arg(long, value_name = "TIME", value_parser = limits::parse_time)]
    pub(crate) wait: Option<Duration>,
}

/// What is shown of a handle.
#[derive(Debug, clap::Args)]
pub(crate) struct LookArgs {
    /// Which part of the output
    #[arg(long, default_value = "new")]
    pub(crate) view: ViewChoice,
    /// What is new counts from here: the `seq` of an earlier report
    #[arg(long, value_name = "N")]
    pub(crate) after_seq: Option<u64>,
    /// The most output, in bytes
    #[arg(long, value_name = "N")]
    pub(crate) max_bytes: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ViewChoice {
    /// What came since the last look
    New,
    /// What a person would see now
    Screen,
    /// All that is kept
    All,
}

const APPLY_HELP: &str = "\
Examples:
  jig apply h_1 --line 'cargo test'     a line, with the enter key
  jig apply h_1 y                       characters as they are, without enter
  jig apply h_1 --key ctrl-c            a key; several: --key esc --key enter
  jig apply h_1 --json-input '[{\"line\": \"ls\"}, {\"key\": \"up\"}]'
  jig apply h_1 yes                     the answer to a question of the tool
  jig apply h_1 once --question 7       allow what jig asks about: once, turn or no
  jig apply h_1                         see the question, and answer it
  jig apply h_1 -- -v                   what begins with a dash comes after two

Keys: enter, tab, esc, space, backspace, up, down, left, right, home, end, page-up, page-down, f1 …,
ctrl-X, alt-X, shift-tab.";

#[derive(Debug, clap::Args)]
pub(crate) struct ApplyArgs {
    /// The handle, as `jig spawn` and `jig ps` name it
    pub(crate) id: String,
    /// Characters to type, or the answer to a question; words are joined by spaces
    #[arg(value_name = "TEXT")]
    pub(crate) text: Vec<String>,
    /// A line to type: the text and the enter key
    #[arg(
        long,
        value_name = "TEXT",
        allow_hyphen_values = true,
        conflicts_with = "text"
    )]
    pub(crate) line: Option<String>,
    /// A key to press; may be repeated
    #[arg(long, value_name = "KEY", conflicts_with_all = ["text", "line"])]
    pub(crate) key: Vec<String>,
    /// Input or an answer as JSON
    #[arg(
        long,
        value_name = "JSON",
        allow_hyphen_values = true,
        conflicts_with_all = ["text", "line", "key"]
    )]
    pub(crate) json_input: Option<String>,
    /// The number of the question that this answers, as `jig fetch` shows it. What jig itself asks is
    /// answered in no other way: a tool could have something else asked while you read
    #[arg(long, value_name = "NUMBER")]
    pub(crate) question: Option<u64>,
    /// Wait for what comes of it: 500 (milliseconds), 5s, 2m
    #[arg(long, value_name = "TIME", value_parser = limits::parse_time)]
    pub(crate) wait: Option<Duration>,
    #[command(flatten)]
    pub(crate) look: LookArgs,
}

const AWAIT_HELP: &str = "\
Examples:
  jig await h_1                    until it has stopped, or asks something
  jig await h_1 h_2                until one of them has
  jig await h_1 h_2 --all          until both have
  jig await --all --timeout 5m     all that run here, for at most five minutes

The exit code is 1 if one has stopped with an error, or the time is over first.";

#[derive(Debug, clap::Args)]
pub(crate) struct AwaitArgs {
    /// The handles [default: all that there are]
    #[arg(value_name = "ID")]
    pub(crate) ids: Vec<String>,
    /// Wait for all of them, not for the first
    #[arg(short, long)]
    pub(crate) all: bool,
    /// The longest to wait: 500 (milliseconds), 5s, 2m
    #[arg(long, value_name = "TIME", value_parser = limits::parse_time)]
    pub(crate) timeout: Option<Duration>,
}

const ABORT_HELP: &str = "\
Examples:
  jig abort h_1 h_2
  jig abort --all          all that run in this workspace, and the process that holds them

A tool is asked to end, and killed if it does not within a few seconds.";

#[derive(Debug, clap::Args)]
pub(crate) struct AbortArgs {
    /// The handles
    #[arg(
        value_name = "ID",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    pub(crate) ids: Vec<String>,
    /// All that run in this workspace
    #[arg(short, long)]
    pub(crate) all: bool,
}

const ATTACH_HELP: &str = "\
Examples:
  jig attach h_1           watch its screen, or what it prints
  jig attach h_1 --input   and type into it

Ctrl-] leaves; the tool runs on. With --input the tool's terminal takes the size of yours. Of a tool
without a terminal you see what it prints, and with --input every line that you type goes to it.";

#[derive(Debug, clap::Args)]
pub(crate) struct AttachArgs {
    /// The handle, as `jig spawn` and `jig ps` name it
    pub(crate) id: String,
    /// Type into it
    #[arg(short, long)]
    pub(crate) input: bool,
}

const SUGGEST_HELP: &str = "\
Examples:
  jig suggest -- cargo test                   print the rules that it needs
  jig suggest tests --write -- cargo test     and put them into jig.toml, as the tool `tests`
  jig suggest --net pypi.org -- pip download requests
  jig suggest --width 1 -- ./build.sh         fewer, wider rules

The command runs twice, without input, and nothing that it changes stays: its changes go into a layer
over the workspace. The first run sees almost all of the machine, but not what is sensitive, and no
host that --net does not name. The second runs under the proposed rules, and shows whether they are
enough. Watch only what you would also run without a sandbox. A new directory at the top of the
workspace, such as `target`, has to exist before a command runs under its rules; --write makes it.

What is sensitive, what lies outside the workspace and would be changed, and hosts are never proposed:
they are listed, each with the way to allow it.

The exit code is 0 if the rules were found to be enough, that of the command if it fails when it is
watched, and 1 if no rules were found under which it works. Only rules that are enough are written.";

#[derive(Debug, clap::Args)]
pub(crate) struct SuggestArgs {
    /// The tool that the rules are for [default: a new one with the name of the program]
    pub(crate) tool: Option<String>,
    /// A host that the command may reach: HOST, HOST:PORT, SCHEME://HOST; may be repeated
    #[arg(long, value_name = "HOST")]
    pub(crate) net: Vec<String>,
    /// How many entries of a directory get rules of their own before the directory gets one
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) width: usize,
    /// Put the rules into the configuration of the workspace; comments there are kept
    #[arg(long, requires = "tool")]
    pub(crate) write: bool,
    /// The command and its arguments
    #[arg(required = true, last = true)]
    pub(crate) command: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// If jig is used at one
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LogArgs {
    /// Only the last lines, so many
    #[arg(short = 'n', long, value_name = "COUNT")]
    pub(crate) lines: Option<usize>,
    /// Go on as new lines are written
    #[arg(short, long)]
    pub(crate) follow: bool,
    /// Only this tool
    #[arg(long)]
    pub(crate) tool: Option<String>,
    /// Only this answer
    #[arg(long)]
    pub(crate) decision: Option<DecisionFilter>,
    /// Not before: 10m, 2h, 3d ago, or a time in UTC: 2026-11-15, 2026-11-15T09:30:00Z
    #[arg(long, value_name = "WHEN")]
    pub(crate) since: Option<String>,
    /// Only before
    #[arg(long, value_name = "WHEN")]
    pub(crate) until: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DecisionFilter {
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

#[derive(Debug, Subcommand)]
pub(crate) enum WasmCommand {
    /// Make a small project that is a tool: `jig wasm new word-count`
    #[command(after_help = WASM_NEW_HELP)]
    New(WasmNewArgs),
    /// Show what a component is, and all that it could ever ask for
    #[command(after_help = WASM_INSPECT_HELP)]
    Inspect(WasmInspectArgs),
    /// Measure how fast a component starts and runs
    #[command(after_help = WASM_BENCH_HELP)]
    Bench(WasmBenchArgs),
}

const WASM_NEW_HELP: &str = "\
Examples:
  jig wasm new word-count                    in Rust, in the folder word-count
  jig wasm new word-count --lang python      in Python
  jig wasm new word-count --dir tools/wc     in another folder

The project builds and runs as it is. What is printed at the end builds it, and calls it. Nothing that
exists is changed.";

#[derive(Debug, clap::Args)]
pub(crate) struct WasmNewArgs {
    /// Its name: small letters and digits, words joined by - or _
    pub(crate) name: String,
    /// The language
    #[arg(long, value_name = "LANGUAGE", default_value = "rust")]
    pub(crate) lang: Language,
    /// The folder that is made [default: the name]
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: Option<Utf8PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Language {
    /// Rust, for the target wasm32-wasip2
    Rust,
    /// Python, by componentize-py
    Python,
    /// JavaScript, by jco
    #[value(alias = "javascript")]
    Js,
}

const WASM_INSPECT_HELP: &str = "\
Examples:
  jig wasm inspect tools/count.wasm
  jig wasm inspect tools/count.wasm --json     for programs

No workspace is needed. If the component describes its tools, the part of it that does so is run, without
access to anything. The exit code is 1 if jig could not run it as a tool.";

#[derive(Debug, clap::Args)]
pub(crate) struct WasmInspectArgs {
    /// The component
    pub(crate) file: Utf8PathBuf,
}

const WASM_BENCH_HELP: &str = "\
Examples:
  jig wasm bench tools/count.wasm path=README.md
  jig wasm bench tools/count.wasm --input '{\"path\": \"README.md\"}' --calls 10000

Every call is a real one: it may read the workspace, as far as that is not sensitive, and nothing else;
there is no network, and nobody is asked. What one machine measures holds for that machine.";

#[derive(Debug, clap::Args)]
pub(crate) struct WasmBenchArgs {
    /// The component
    pub(crate) file: Utf8PathBuf,
    /// The arguments of every call; one name several times makes a list
    #[arg(value_name = "NAME=VALUE", conflicts_with = "input")]
    pub(crate) arguments: Vec<String>,
    /// All arguments as one JSON object
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    pub(crate) input: Option<String>,
    /// The tool, if the component has several
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// How many calls are measured
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub(crate) calls: u32,
}

const COMPLETIONS_HELP: &str = "\
For example, for bash:
  jig completions bash > ~/.local/share/bash-completion/completions/jig";

#[derive(Debug, Subcommand)]
pub(crate) enum ConfigCommand {
    /// Say whether the configuration is valid, and point out rules that do nothing
    #[command(after_help = CHECK_HELP)]
    Check {
        /// Fail on warnings too
        #[arg(long)]
        deny_warnings: bool,
    },
    /// Print the final configuration, all layers merged
    #[command(after_help = SHOW_HELP)]
    Show {
        /// Say for every value where it was written
        #[arg(long)]
        origin: bool,
        /// Only this tool
        tool: Option<String>,
    },
    /// Print the JSON Schema of configuration files, for editors
    #[command(after_help = SCHEMA_HELP)]
    Schema,
}

#[derive(Debug, Subcommand)]
pub(crate) enum PolicyCommand {
    /// Print all rules of a tool as they are enforced, defaults included
    #[command(after_help = POLICY_SHOW_HELP)]
    Show {
        /// The tool, or an MCP server: mcp.NAME
        tool: String,
    },
    /// Ask whether a tool may do something, and why
    #[command(after_help = EXPLAIN_HELP)]
    Explain {
        /// The tool, or an MCP server: mcp.NAME
        tool: String,
        /// Exit with 4 unless the answer is allow
        #[arg(long)]
        exit_code: bool,
        #[command(subcommand)]
        question: AccessQuestion,
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
pub(crate) enum AccessQuestion {
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
        /// The method of the request
        #[arg(long, default_value = "GET")]
        method: String,
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

/// A path that gives something away. An empty one, such as from a variable that is not set, would be the whole
/// current folder.
fn named(text: &str) -> Result<Utf8PathBuf, &'static str> {
    match text.is_empty() {
        true => Err("it names nothing; the current folder is `.`"),
        false => Ok(text.into()),
    }
}
