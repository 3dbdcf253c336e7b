//! The command line of `jig run`, and what other commands that run one share with it.

use camino::Utf8PathBuf;

use super::ColorWhen;

pub(super) const RUN_HELP: &str = "\
Examples:
  jig run -- ./build.sh                     the workspace read-write, no network, no home
  jig run -- cargo test                     and the Rust toolchain, which jig finds by itself
  jig run --preset rust -- ./build          the same for a command that jig does not know
  jig run --read . --write out -- make      only `out` can be changed
  jig run --net pypi.org --net files.pythonhosted.org -- pip download requests
  jig run --policy fmt -- rustfmt src/*.rs  under the rules of the tool `fmt`
  jig run --policy mcp.files -- npx foo     under those of the MCP server `files`
  jig run --overlay -- ./migrate.sh         see what it would change, then decide
  jig run --dry-run -- make                 print what would be enforced

Without --policy, --read and --write, the command may read, change and run whatever is in the
workspace, except sensitive paths and jig's own configuration. A path that is given inside the
workspace takes the place of that; one outside is added to it.

The exit code is that of the command; 1 if it ended well but left something where nothing may come
into being, which is then moved away; 124 if a limit ended it, 125 if jig could not run it, 126 if it
may not be executed, 127 if it was not found. A signal that ends the command ends jig, and signals to
jig reach the command.

With --overlay nothing is changed until you say so: what the command writes goes to a layer over all that
it may change. Without --apply or --discard you are asked; where there is nobody to ask, the changes are
shown and discarded. What the rules do not allow, and what somebody else has changed meanwhile, is not
applied. In a layer a directory that was there before cannot be renamed in one step; `mv` copies it.

At a terminal the command gets a terminal of its own, so that editors, pagers and shells work and yours
stays as it was; --pty never hands over the streams as they are, --pty always does the same in a pipe.";

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// The tool, or mcp.NAME for a server, whose policy applies [default: that of a stdio tool without rules]
    #[arg(long, value_name = "TOOL")]
    pub(crate) policy: Option<String>,
    /// The workspace, as -C
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<Utf8PathBuf>,
    /// A path that may be read; may be repeated
    #[arg(long, value_name = "PATH", value_parser = super::named, conflicts_with = "policy")]
    pub(crate) read: Vec<Utf8PathBuf>,
    /// A path that may be read and changed; may be repeated
    #[arg(long, value_name = "PATH", value_parser = super::named, conflicts_with = "policy")]
    pub(crate) write: Vec<Utf8PathBuf>,
    /// A host that may be reached: HOST (ports 80 and 443), HOST:PORT, SCHEME://HOST; may be repeated
    #[arg(long, value_name = "HOST", conflicts_with = "policy")]
    pub(crate) net: Vec<String>,
    /// A variable of your environment that the command gets; may be repeated
    #[arg(long, value_name = "NAME", conflicts_with = "policy")]
    pub(crate) env: Vec<String>,
    #[command(flatten)]
    pub(crate) hold: HoldArgs,
    /// Keep its changes apart: afterwards jig shows them, and asks whether to apply or to discard them
    #[arg(long)]
    pub(crate) overlay: bool,
    /// With --overlay: apply the changes if the command ends with 0
    #[arg(long, requires = "overlay")]
    pub(crate) apply: bool,
    /// With --overlay: show the changes and discard them
    #[arg(long, requires = "overlay", conflicts_with = "apply")]
    pub(crate) discard: bool,
    /// Use no toolchain that --preset does not name; without this, jig finds those of the command and the project
    #[arg(long)]
    pub(crate) no_preset: bool,
    /// Don't watch which files and hosts it asks for: faster, but then a refusal is not explained
    #[arg(long)]
    pub(crate) no_observe: bool,
    /// Print what would be enforced, and run nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// The command and its arguments
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    pub(crate) command: Vec<String>,
}

/// How a command is held, whatever it may reach.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct HoldArgs {
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
    /// Whether the command gets a terminal of its own; auto: if jig is used at one
    #[arg(long, value_name = "WHEN", default_value = "auto")]
    pub(crate) pty: ColorWhen,
    /// Run it even where this machine can't enforce all of it, and say what is missing
    #[arg(long)]
    pub(crate) best_effort: bool,
}
