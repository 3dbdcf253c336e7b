//! The command line of `jig init`.

use clap::ValueEnum;

pub(super) const INIT_HELP: &str = "\
Examples:
  jig init                                  ask three questions, and write jig.toml
  jig init --yes                            take the default answers
  jig init --print                          show what would be written with them, and write nothing
  jig init --preset rust --changes allow --net registry

The questions are: which toolchains commands may use, whether agents may change files, and which hosts commands may
reach. jig looks at the folder (Cargo.toml, package.json, pyproject.toml, go.mod) for the defaults. The file has a tool
that runs the tests of the project, and comments that say what to change. A file that exists is never changed.";

#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// Ask nothing: take the default answer to every question that no option answers
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Print the file, and write nothing; asks nothing
    #[arg(long)]
    pub(crate) print: bool,
    /// A toolchain that commands may use: rust, node, python, go, git, or none; may be repeated
    #[arg(long, value_name = "NAME")]
    pub(crate) preset: Vec<String>,
    /// Whether agents may change files of the workspace
    #[arg(long, value_name = "ANSWER")]
    pub(crate) changes: Option<ChangesChoice>,
    /// A host that commands may reach: HOST, HOST:PORT, `registry` for those of the toolchains, or none; may be
    /// repeated
    #[arg(long, value_name = "HOST")]
    pub(crate) net: Vec<String>,
}

/// Whether agents may change files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ChangesChoice {
    /// You approve every change
    Ask,
    /// Files are created, changed and moved without asking; deleting asks
    Allow,
    /// The tools that change files never run
    Never,
}

impl From<ChangesChoice> for jig_project::first_config::Changes {
    fn from(changes: ChangesChoice) -> Self {
        match changes {
            ChangesChoice::Ask => Self::Ask,
            ChangesChoice::Allow => Self::Allow,
            ChangesChoice::Never => Self::Never,
        }
    }
}
