//! [`Policy`]: the rules of one tool, compiled for one workspace.

use std::collections::BTreeSet;
use std::net::IpAddr;

use jig_proto::ProjectPath;

use crate::command::{
    CommandProgram, CommandRuleError, CommandTable, CompiledCommandRule, ProgramNameError,
};
use crate::connection::Connection;
use crate::decision::{Decision, Reason};
use crate::env::{CompiledEnvRule, EnvNameError, EnvTable, EnvUse};
use crate::fs::{CompiledFsRule, FsTable, Guarded};
use crate::guard::{GuardLines, Guards, Protected};
use crate::lookup::Lookup;
use crate::net::{CompiledNetRule, NetRuleError, NetTable, NetTarget};
use crate::resolve::{ResolveError, ResolvedPath, Workspace};
use crate::rules::{DeclaredAccess, RuleOrigin};
use crate::sensitive::Sensitive;
use crate::target::MovedEntry;
use crate::{Capability, DefaultAccess, FileCapabilities};

/// The rules of one tool, compiled for one workspace: canonical paths, normalised hosts.
///
/// It is immutable and can be shared. A decision costs the same however many rules there are.
///
/// ```
/// use jig_policy::{DeclaredAccess, FileCapabilities, Capability, DefaultAccess, DeclaredFsRule, Guards, RuleOrigin};
/// use jig_policy::{Policy, Verdict, Workspace};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let folder = tempfile::tempdir()?;
/// let root = camino::Utf8Path::from_path(folder.path()).ok_or("not UTF-8")?;
/// let workspace = Workspace::on_disk(root)?;
/// let access = DeclaredAccess {
///     fs: vec![DeclaredFsRule {
///         path: "src".to_owned(),
///         capabilities: FileCapabilities::just(Capability::Read),
///         origin: RuleOrigin::line("jig.toml", 3),
///     }],
///     ..DeclaredAccess::default()
/// };
/// let policy = Policy::compile(&access, DefaultAccess::VFS, &Guards::default(), &workspace)?;
///
/// let main = workspace.resolve("src/main.rs")?;
/// assert_eq!(policy.decide_fs(Capability::Read, &main).verdict, Verdict::Allow);
/// let update = policy.decide_fs(Capability::Update, &main);
/// assert_eq!(update.verdict, Verdict::Deny);
/// assert_eq!(update.rule.map(|rule| rule.origin().to_string()).as_deref(), Some("jig.toml:3"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Policy {
    pub(crate) fs: FsTable,
    pub(crate) net: NetTable,
    pub(crate) env: EnvTable,
    pub(crate) commands: CommandTable,
    pub(crate) default: DefaultAccess,
    pub(crate) fs_declared: bool,
}

impl Policy {
    /// Compiles the rules of a tool. Every rule that cannot be compiled is reported, not only the
    /// first, and none is left out silently: a policy exists only if all of it can be meant.
    pub fn compile<L: Lookup>(
        access: &DeclaredAccess,
        default: DefaultAccess,
        guards: &Guards,
        workspace: &Workspace<L>,
    ) -> Result<Self, RuleErrors> {
        let guarded = Guarded::find(guards.clone(), workspace);
        let sensitive = guards.sensitive.clone();
        Self::build(access, default, sensitive, || guarded, workspace)
    }

    /// The same, but the paths that `guards` protect are looked for when a decision first needs them. A call that
    /// only reads never does.
    ///
    /// The [sensitive](Guards::sensitive) paths of `guards` do not count: reading is decided by them, so they are
    /// given at once.
    pub fn compile_lazily<L>(
        access: &DeclaredAccess,
        default: DefaultAccess,
        sensitive: Sensitive,
        guards: impl FnOnce() -> Guards + Send + 'static,
        workspace: &Workspace<L>,
    ) -> Result<Self, RuleErrors>
    where
        L: Lookup + Clone + Send + 'static,
    {
        let place = workspace.clone();
        let guarded = move || Guarded::find(guards(), &place);
        Self::build(access, default, sensitive, guarded, workspace)
    }

    fn build<L: Lookup>(
        access: &DeclaredAccess,
        default: DefaultAccess,
        sensitive: Sensitive,
        guarded: impl FnOnce() -> Guarded + Send + 'static,
        workspace: &Workspace<L>,
    ) -> Result<Self, RuleErrors> {
        let mut errors = Vec::new();
        let fs = &access.fs;
        let policy = Self {
            fs: FsTable::compile(fs, default, sensitive, guarded, workspace, &mut errors),
            net: NetTable::compile(&access.net, &mut errors),
            env: EnvTable::compile(&access.env, &mut errors),
            commands: CommandTable::compile(
                access.commands.as_deref(),
                default.commands,
                workspace,
                &mut errors,
            ),
            default,
            fs_declared: !access.fs.is_empty(),
        };
        if errors.is_empty() {
            Ok(policy)
        } else {
            Err(RuleErrors(errors))
        }
    }

    /// Whether `capability` is granted on a file or directory.
    ///
    /// Reading also means listing and asking whether it exists. For a move use
    /// [`decide_move`](Self::decide_move).
    pub fn decide_fs(&self, capability: Capability, target: &ResolvedPath) -> Decision<'_> {
        let decision = self.fs.decide(capability, target.path());
        self.fs.in_repository(decision, capability, target)
    }

    /// Whether something may be moved: `delete` on the source, `create` or, where something
    /// stands, `update` on the destination. A directory takes everything below it along, so
    /// nothing below either name may be restricted. A link is not moved to the path of a rule, which would
    /// then follow it.
    pub fn decide_move(
        &self,
        from: &ResolvedPath,
        to: &ResolvedPath,
        entry: MovedEntry,
    ) -> Decision<'_> {
        if entry == MovedEntry::Link && self.fs.is_rule_itself(to.path()) {
            return Decision::deny(Reason::LinkAtRule, None);
        }
        let away = self.fs.decide(Capability::Delete, from.path());
        let wanted = if to.exists() {
            Capability::Update
        } else {
            Capability::Create
        };
        let both = away.and(self.decide_fs(wanted, to));
        match self.fs.pinned(to.path(), Capability::Create) {
            Some(pinned) if entry == MovedEntry::Directory => both.and(pinned),
            _ => both,
        }
    }

    /// Whether a URL may be requested.
    pub fn decide_net(&self, target: &NetTarget) -> Decision<'_> {
        self.net.decide(target)
    }

    /// Whether a program may make a connection.
    ///
    /// Plain HTTP is judged by its URL. TLS is judged as `https`, then as `wss`, then as
    /// [`SpokenProtocol::Other`](crate::SpokenProtocol::Other); where a rule with `path_prefix` would have to decide,
    /// or one that names a scheme says no to any of them, the answer is no, because what TLS hides
    /// cannot be told apart. Anything else needs a rule with this `port` and no scheme, or with a
    /// scheme that is not of the web and stands for this port: a rule on a host alone opens only the
    /// web. As long as nothing was said, the answer is the one for anything else.
    pub fn decide_connection(&self, connection: &Connection<'_>) -> Decision<'_> {
        self.net.decide_connection(connection)
    }

    /// Whether some rule allows anything on this host: whether its name is looked up at all.
    pub fn speaks_of_host(&self, host: &str) -> bool {
        self.net.speaks_of_host(host)
    }

    /// Every port on which some rule allows something, in order, each once; 80 and 443 for rules
    /// with neither scheme nor port.
    pub fn ports(&self) -> Vec<u16> {
        let allowing = self.net_rules().iter().filter(|rule| rule.allow());
        let ports: BTreeSet<u16> = allowing.flat_map(CompiledNetRule::ports).collect();
        ports.into_iter().collect()
    }

    /// The hosts of allowing rules that are IP addresses, loopback among them, in order, each once.
    pub fn address_hosts(&self) -> Vec<IpAddr> {
        let allowing = self.net_rules().iter().filter(|rule| rule.allow());
        let hosts: BTreeSet<IpAddr> = allowing
            .filter_map(|rule| rule.host().parse().ok())
            .collect();
        hosts.into_iter().collect()
    }

    /// Whether a variable of the host's environment may be used.
    pub fn decide_env(&self, wanted: EnvUse, name: &str) -> Decision<'_> {
        self.env.decide(wanted, name)
    }

    /// Whether a program may be run with these arguments. A file of the workspace also needs the
    /// `execute` capability.
    pub fn decide_command(&self, program: &CommandProgram, args: &[String]) -> Decision<'_> {
        let listed = self.commands.decide(program, args);
        match program {
            CommandProgram::Name(_) => listed,
            CommandProgram::File(file) => {
                self.fs.decide(Capability::Execute, file.path()).and(listed)
            }
        }
    }

    /// The rules on files, in the order of their declaration; the default if none is declared.
    pub fn fs_rules(&self) -> &[CompiledFsRule] {
        self.fs.rules()
    }

    /// The rules on files as they come out: canonical paths, and what is granted there, none by a link that is not
    /// followed.
    pub fn canonical_fs_rules(&self) -> impl Iterator<Item = (&ProjectPath, FileCapabilities)> {
        self.fs_rules().iter().map(|rule| {
            let path = rule.path();
            let beside = |capability: &Capability| {
                rule.passes_over(*capability) && self.granted(path).has(*capability)
            };
            let beside: FileCapabilities = Capability::ALL.into_iter().filter(beside).collect();
            (path, rule.capabilities() | beside)
        })
    }

    /// What is granted on a path that is canonical already, and on all below it of which nothing else
    /// is declared, protected or sensitive. Removing or moving a directory needs more than this says:
    /// see [`decide_fs`](Self::decide_fs).
    pub fn granted(&self, canonical: &ProjectPath) -> FileCapabilities {
        let is_granted = |capability: &Capability| {
            let decision = self.fs.decide_alone(*capability, canonical);
            decision.is_allowed()
        };
        Capability::ALL.into_iter().filter(is_granted).collect()
    }

    /// The paths that a tool may not change, or not by a broad rule, as canonical as they were when they were looked
    /// for.
    pub fn protected(&self) -> &[Protected] {
        self.fs.protected()
    }

    /// The lines of the table of guards that protect at any depth.
    pub fn guard_lines(&self) -> GuardLines {
        self.fs.guard_lines()
    }

    /// The strongest protection from changes that a path has or lies in, whatever the rules say.
    pub fn protection(&self, path: &ProjectPath) -> Option<&Protected> {
        self.fs.protection(path)
    }

    /// Whether what git obeys is protected in every repository below the workspace.
    pub fn protects_repositories(&self) -> bool {
        self.guard_lines().has_git()
    }

    /// The list of sensitive paths, which only a rule that names them covers.
    pub fn sensitive(&self) -> &Sensitive {
        self.fs.sensitive()
    }

    /// The rules on hosts.
    pub fn net_rules(&self) -> &[CompiledNetRule] {
        self.net.rules()
    }

    /// The rules on variables.
    pub fn env_rules(&self) -> &[CompiledEnvRule] {
        self.env.rules()
    }

    /// The rules on programs; `None` if none is declared.
    pub fn command_rules(&self) -> Option<&[CompiledCommandRule]> {
        self.commands.is_declared().then(|| self.commands.rules())
    }

    /// Whether any program may be run, because nothing is declared and the default allows it.
    pub fn any_command(&self) -> bool {
        self.commands.allows_any()
    }

    /// What holds for resources that declare nothing.
    pub fn default_access(&self) -> DefaultAccess {
        self.default
    }
}

/// The kinds of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RuleKind {
    /// Files.
    Fs,
    /// Hosts.
    Net,
    /// Variables.
    Env,
    /// Programs.
    Commands,
}

impl RuleKind {
    /// The name of the list in `access`.
    pub fn name(self) -> &'static str {
        match self {
            RuleKind::Fs => "fs",
            RuleKind::Net => "net",
            RuleKind::Env => "env",
            RuleKind::Commands => "commands",
        }
    }
}

/// All the rules of a tool that cannot be compiled.
#[derive(Debug, thiserror::Error)]
#[error("{}", self.text())]
pub struct RuleErrors(pub Vec<RuleError>);

impl RuleErrors {
    fn text(&self) -> String {
        let lines: Vec<String> = self.0.iter().map(ToString::to_string).collect();
        lines.join("\n")
    }
}

/// A rule that cannot be compiled.
#[derive(Debug, thiserror::Error)]
#[error("{origin}: {kind}")]
pub struct RuleError {
    /// The list in which the rule stands.
    pub resource: RuleKind,
    /// Its place in that list.
    pub index: usize,
    /// Where it was declared.
    pub origin: RuleOrigin,
    /// What is wrong with it.
    pub kind: RuleErrorKind,
}

impl RuleErrorKind {
    /// Whether the rule could be compiled if other things stood in the workspace.
    pub fn is_of_the_tree(&self) -> bool {
        let program = match self {
            Self::Path(error) => return error.reason.is_of_the_tree(),
            Self::Command(CommandRuleError::Program(program)) => program,
            _ => return false,
        };
        matches!(program, ProgramNameError::Path(error) if error.reason.is_of_the_tree())
    }
}

/// What is wrong with a rule.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RuleErrorKind {
    /// The path of a rule on files.
    #[error("{0}: {reason}", reason = .0.reason)]
    Path(ResolveError),
    /// A rule on hosts.
    #[error(transparent)]
    Net(NetRuleError),
    /// A rule on variables.
    #[error(transparent)]
    Env(EnvNameError),
    /// A rule on programs.
    #[error(transparent)]
    Command(CommandRuleError),
}
