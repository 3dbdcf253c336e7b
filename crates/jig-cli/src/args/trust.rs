//! The options of `jig trust`.

pub(super) const TRUST_HELP: &str = "\
Examples:
  jig trust                 show what the files of this workspace allow beyond the defaults, and ask
  jig trust --yes           accept what it shows, without asking: for scripts, and for CI
  jig trust --json          show it for programs; nothing is accepted
  jig trust --revoke        forget what was accepted of this workspace
  jig trust --list          the workspaces of which something was accepted
  jig --trust call build    accept everything for this one run; JIG_TRUST=1 does the same

The files of a workspace (jig.toml, .jig/config.toml, .jp/config.toml and what they extend) may be a stranger's.
What they allow beyond jig's defaults counts only after you have accepted it: tools in place of jig's own,
programs that run unasked, files outside the workspace, hosts, variables, servers, higher limits. Until then the
rest holds, and every command says so. What is accepted is what was shown. A change is asked about again only if it
allows more. Your own files, --config, --set and variables need no acceptance.";

#[derive(Debug, clap::Args)]
pub(crate) struct TrustArgs {
    /// Accept it without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Forget what was accepted of this workspace
    #[arg(long, conflicts_with_all = ["yes", "list"])]
    pub(crate) revoke: bool,
    /// List the workspaces of which something was accepted
    #[arg(long, conflicts_with = "yes")]
    pub(crate) list: bool,
}
