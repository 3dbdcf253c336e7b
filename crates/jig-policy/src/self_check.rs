//! How a tool checks itself before it acts: [`CheckAccess`] on the context that it was given.
//!
//! [`CheckAccess`] takes what a tool was given, a path as it was written, a URL, the name of a variable;
//! [`CanAccess`] answers for paths that are canonical already. Each kind of resource has an error type of
//! its own.
//!
//! This is courtesy, not confinement: a tool that asks first can say clearly what it was not
//! allowed to do. The host enforces the same rules whether the tool asks or not.

use std::io;

use camino::{Utf8Path, Utf8PathBuf};
use jig_proto::{Context, ProjectPath};

use crate::env::EnvUse;
use crate::guard::Guards;
use crate::lookup::{DiskLookup, Lookup, LookupEntry};
use crate::net::{Authority, NetTarget, NetTargetError};
use crate::planter::Planters;
use crate::policy::{Policy, RuleErrors};
use crate::resolve::{ResolveError, ResolveReason, Workspace};
use crate::rules::{
    DeclaredAccess, DeclaredCommandRule, DeclaredEnvRule, DeclaredFsRule, DeclaredNetRule,
    RuleOrigin,
};
use crate::{Capability, DefaultAccess, FileCapabilities};

/// Checks of one capability on one path, as a tool writes it.
///
/// Each returns the absolute path with every link resolved, for the tool to use instead of the one
/// it had. A context without `access` still keeps the tool inside the workspace.
pub trait CheckAccess {
    /// Before contents are read or entries listed.
    fn check_read(&self, path: &Utf8Path) -> Result<Utf8PathBuf, FsAccessError>;
    /// Before a new file or directory is made.
    fn check_create(&self, path: &Utf8Path) -> Result<Utf8PathBuf, FsAccessError>;
    /// Before something that exists is changed.
    fn check_update(&self, path: &Utf8Path) -> Result<Utf8PathBuf, FsAccessError>;
    /// Before something is removed or moved away.
    fn check_delete(&self, path: &Utf8Path) -> Result<Utf8PathBuf, FsAccessError>;
    /// Before a file is run.
    fn check_execute(&self, path: &Utf8Path) -> Result<Utf8PathBuf, FsAccessError>;
    /// Before a URL is asked for, with `GET` if it is one of the web.
    fn check_net(&self, url: &str) -> Result<(), NetAccessError> {
        self.check_request("GET", url)
    }
    /// Before a URL is asked for with a method such as `POST`.
    fn check_request(&self, method: &str, url: &str) -> Result<(), NetAccessError>;
    /// Before a variable of the environment is read.
    fn check_env(&self, name: &str) -> Result<(), EnvAccessError>;
}

/// Checks of one capability on one path that is canonical already: relative to the workspace, without `..` and
/// without links; `.` is the workspace. A path that is not written so has none.
///
/// No disk is asked, so `.git` counts as the folder that it usually is. A list of rules that is empty was not
/// declared, and then everything may be done. Rules that cannot be used grant nothing.
pub trait CanAccess {
    /// Whether `capability` is granted.
    fn can(&self, capability: Capability, canonical: &Utf8Path) -> bool;

    /// Whether contents may be read or entries listed.
    fn can_read(&self, canonical: &Utf8Path) -> bool {
        self.can(Capability::Read, canonical)
    }

    /// Whether something new may be made.
    fn can_create(&self, canonical: &Utf8Path) -> bool {
        self.can(Capability::Create, canonical)
    }

    /// Whether something that exists may be changed.
    fn can_update(&self, canonical: &Utf8Path) -> bool {
        self.can(Capability::Update, canonical)
    }

    /// Whether something may be removed or moved away.
    fn can_delete(&self, canonical: &Utf8Path) -> bool {
        self.can(Capability::Delete, canonical)
    }

    /// Whether a file may be run.
    fn can_execute(&self, canonical: &Utf8Path) -> bool {
        self.can(Capability::Execute, canonical)
    }
}

impl CanAccess for jig_proto::Access {
    fn can(&self, capability: Capability, canonical: &Utf8Path) -> bool {
        let Some(path) = canonical_path(canonical) else {
            return false;
        };
        if self.fs.is_empty() {
            return true;
        }
        let access = DeclaredAccess {
            fs: DeclaredAccess::from(self).fs,
            ..DeclaredAccess::default()
        };
        let policy = without_disk(&access);
        policy.is_ok_and(|policy| policy.can(capability, &path))
    }
}

/// The path, if it is written as a canonical one is.
fn canonical_path(text: &Utf8Path) -> Option<ProjectPath> {
    let path = ProjectPath::normalize(text.as_str()).ok()?;
    let is_it = match path.is_root() {
        true => text == ".",
        false => path.as_str() == text.as_str(),
    };
    is_it.then_some(path)
}

/// Compiles rules whose paths are canonical.
fn without_disk(access: &DeclaredAccess) -> Result<Policy, RuleErrors> {
    let workspace = Workspace::new("", NoDisk);
    let guards = Guards::of_workspace();
    Policy::compile(access, DefaultAccess::NOTHING, &guards, &workspace)
}

/// A tree in which everything may be, and nothing is known to be a link.
struct NoDisk;

impl Lookup for NoDisk {
    fn entry(&self, path: &ProjectPath) -> io::Result<LookupEntry> {
        Ok(match path.as_str() {
            ".git" => LookupEntry::Directory,
            _ => LookupEntry::Missing,
        })
    }
}

impl CheckAccess for Context {
    fn check_read(&self, path: &Utf8Path) -> Result<Utf8PathBuf, FsAccessError> {
        Checker::new(self)?.check(Capability::Read, path)
    }

    fn check_create(&self, path: &Utf8Path) -> Result<Utf8PathBuf, FsAccessError> {
        Checker::new(self)?.check(Capability::Create, path)
    }

    fn check_update(&self, path: &Utf8Path) -> Result<Utf8PathBuf, FsAccessError> {
        Checker::new(self)?.check(Capability::Update, path)
    }

    fn check_delete(&self, path: &Utf8Path) -> Result<Utf8PathBuf, FsAccessError> {
        Checker::new(self)?.check(Capability::Delete, path)
    }

    fn check_execute(&self, path: &Utf8Path) -> Result<Utf8PathBuf, FsAccessError> {
        Checker::new(self)?.check(Capability::Execute, path)
    }

    fn check_request(&self, method: &str, url: &str) -> Result<(), NetAccessError> {
        let declared = self
            .access
            .as_ref()
            .map(DeclaredAccess::from)
            .unwrap_or_default();
        if declared.net.is_empty() {
            return Ok(());
        }
        let policy = without_disk(&DeclaredAccess {
            net: declared.net,
            ..DeclaredAccess::default()
        })?;
        let target = NetTarget::parse(url);
        let target = target.map_err(|error| NetAccessError::Invalid(url.to_owned(), error))?;
        let target = target.with_method(method);
        if policy.decide_net(&target).is_allowed() {
            return Ok(());
        }
        let allowing = policy.net_rules().iter().filter(|rule| rule.allow());
        Err(NetAccessError::Denied {
            host: target.host().to_owned(),
            port: target.port(),
            grants: allowing.map(|rule| rule.host().to_owned()).collect(),
        })
    }

    fn check_env(&self, name: &str) -> Result<(), EnvAccessError> {
        let declared = self
            .access
            .as_ref()
            .map(DeclaredAccess::from)
            .unwrap_or_default();
        if declared.env.is_empty() {
            return Ok(());
        }
        let policy = without_disk(&DeclaredAccess {
            env: declared.env,
            ..DeclaredAccess::default()
        })?;
        if policy.decide_env(EnvUse::Read, name).is_allowed() {
            return Ok(());
        }
        let granting = policy.env_rules().iter();
        let granting = granting.filter(|rule| rule.grants(EnvUse::Read));
        Err(EnvAccessError::Denied {
            name: name.to_owned(),
            grants: granting.map(|rule| rule.declared().name.clone()).collect(),
        })
    }
}

/// The rules of a context, compiled once for many checks.
pub struct Checker {
    workspace: Workspace<DiskLookup>,
    policy: Option<Policy>,
}

impl Checker {
    /// Compiles the rules of a context.
    pub fn new(context: &Context) -> Result<Self, FsAccessError> {
        let root = || context.root.to_string();
        let workspace = Workspace::on_disk(context.root.clone())
            .map_err(|error| FsAccessError::Lookup(root(), error))?;
        // On the wire an empty list is one that was not declared, and then the workspace is open.
        let policy = match &context.access {
            Some(wire) if !wire.fs.is_empty() => {
                let access = DeclaredAccess::from(wire);
                let guards = Guards {
                    planters: Planters::Anyone,
                    ..Guards::of_workspace()
                };
                let nothing = DefaultAccess::NOTHING;
                Some(Policy::compile(&access, nothing, &guards, &workspace)?)
            }
            _ => None,
        };
        Ok(Self { workspace, policy })
    }

    /// Resolves `path` and checks one capability on it.
    pub fn check(
        &self,
        capability: Capability,
        path: &Utf8Path,
    ) -> Result<Utf8PathBuf, FsAccessError> {
        let resolved = self.workspace.resolve(path.as_str())?;
        if let Some(policy) = &self.policy
            && !policy.decide_fs(capability, &resolved).is_allowed()
        {
            return Err(FsAccessError::Denied {
                capability: capability.name(),
                target: resolved.path().to_string().into(),
                grants: granted_paths(policy),
            });
        }
        Ok(resolved.path().under(self.workspace.canonical_root()))
    }
}

fn granted_paths(policy: &Policy) -> Vec<Utf8PathBuf> {
    let granting = policy
        .fs_rules()
        .iter()
        .filter(|rule| !rule.capabilities().is_empty());
    granting
        .map(|rule| rule.path().to_string().into())
        .collect()
}

/// Why a tool may not use a path.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FsAccessError {
    /// The path is absolute and not under the root of the workspace.
    #[error("path is outside the workspace: {0}")]
    Outside(Utf8PathBuf),
    /// The path leaves the workspace by `..` or by a symbolic link.
    #[error("path escapes the workspace: {0}")]
    Escape(Utf8PathBuf),
    /// No rule grants the capability.
    #[error("access denied: {capability} on {target}")]
    Denied {
        /// What was asked for.
        capability: &'static str,
        /// On what, relative to the workspace.
        target: Utf8PathBuf,
        /// The paths on which something is granted.
        grants: Vec<Utf8PathBuf>,
    },
    /// The text is no path.
    #[error("path is not valid: {0}")]
    Invalid(String),
    /// The disk could not be asked about the path.
    #[error("path cannot be resolved: {0}")]
    Lookup(String, #[source] io::Error),
    /// The rules that came with the context cannot be used.
    #[error("the access rules of the context cannot be used")]
    Policy(#[from] RuleErrors),
}

/// Why a tool may not reach a URL.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NetAccessError {
    /// No rule allows it.
    #[error("access denied: connect to {}", Authority { host, port: *port })]
    Denied {
        /// The host in ASCII, lower case.
        host: String,
        /// The port, the scheme's own if the URL names none.
        port: u16,
        /// The hosts that some rule allows.
        grants: Vec<String>,
    },
    /// The text is no URL of a host.
    #[error("url is not valid: {0}")]
    Invalid(String, #[source] NetTargetError),
    /// The rules that came with the context cannot be used.
    #[error("the access rules of the context cannot be used")]
    Policy(#[from] RuleErrors),
}

/// Why a tool may not read a variable of the environment.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EnvAccessError {
    /// No rule lets the tool read it.
    #[error("access denied: read of variable {name}")]
    Denied {
        /// The variable.
        name: String,
        /// The names and prefixes that some rule lets the tool read.
        grants: Vec<String>,
    },
    /// The rules that came with the context cannot be used.
    #[error("the access rules of the context cannot be used")]
    Policy(#[from] RuleErrors),
}

impl From<ResolveError> for FsAccessError {
    fn from(error: ResolveError) -> Self {
        match error.reason {
            ResolveReason::Outside => Self::Outside(error.path.into()),
            ResolveReason::DotDot
            | ResolveReason::LinkLeaves
            | ResolveReason::Dangling
            | ResolveReason::Loop => Self::Escape(error.path.into()),
            ResolveReason::Syntax(_) | ResolveReason::TooLong => Self::Invalid(error.path),
            ResolveReason::Lookup(source) => Self::Lookup(error.path, source),
        }
    }
}

/// The rules of a context as a tool received them.
impl From<&jig_proto::Access> for DeclaredAccess {
    fn from(wire: &jig_proto::Access) -> Self {
        let origin = || RuleOrigin::named("context of the call");
        let fs = wire.fs.iter().map(|rule| DeclaredFsRule {
            path: rule.path().to_string(),
            capabilities: capabilities(rule),
            origin: origin(),
        });
        let net = wire.net.iter().map(|rule| DeclaredNetRule {
            host: rule.host.clone(),
            scheme: rule.scheme.clone(),
            port: rule.port,
            path_prefix: rule.path_prefix.clone(),
            methods: rule.methods.clone(),
            allow: rule.allow,
            origin: origin(),
        });
        let env = wire.env.iter().map(|rule| DeclaredEnvRule {
            name: rule.name.clone(),
            read: rule.read,
            header: rule.header,
            origin: origin(),
        });
        let commands = wire.commands.as_ref().map(|commands| {
            let rules = commands.iter().map(|(program, rule)| DeclaredCommandRule {
                program: program.clone(),
                args: rule.args.clone(),
                envs: rule.envs.clone(),
                origin: origin(),
            });
            rules.collect()
        });
        Self {
            fs: fs.collect(),
            net: net.collect(),
            env: env.collect(),
            commands,
        }
    }
}

fn capabilities(rule: &jig_proto::FsRule) -> FileCapabilities {
    let granted = [
        (Capability::Read, rule.read()),
        (Capability::Create, rule.create()),
        (Capability::Update, rule.update()),
        (Capability::Delete, rule.delete()),
        (Capability::Execute, rule.execute()),
    ];
    let granted = granted.into_iter().filter(|(_, granted)| *granted);
    granted.map(|(capability, _)| capability).collect()
}

impl Policy {
    /// Whether a path that is canonical already has `capability`; see [`Policy::decide_fs`] for
    /// the reason.
    pub fn can(&self, capability: Capability, canonical: &ProjectPath) -> bool {
        self.fs.decide(capability, canonical).is_allowed()
    }

    /// The policy as a tool is told about it: canonical paths, normalised hosts, the default of the
    /// runtime where nothing is declared.
    pub fn to_wire(&self) -> jig_proto::Access {
        let fs = self.canonical_fs_rules().map(|(path, granted)| {
            let grants = jig_proto::FsGrants {
                read: granted.has(Capability::Read),
                create: granted.has(Capability::Create),
                update: granted.has(Capability::Update),
                delete: granted.has(Capability::Delete),
                execute: granted.has(Capability::Execute),
            };
            jig_proto::FsRule::new(path.to_string(), grants)
        });
        let net = self.net_rules().iter().map(|rule| jig_proto::NetRule {
            host: rule.host().to_owned(),
            scheme: rule.scheme.clone(),
            port: rule.declared().port,
            path_prefix: rule.declared().path_prefix.clone(),
            methods: rule.declared().methods.clone(),
            allow: rule.allow(),
        });
        let env = self.env_rules().iter().map(|rule| jig_proto::EnvRule {
            name: rule.declared().name.clone(),
            read: rule.declared().read,
            header: rule.declared().header,
        });
        let commands = self.command_rules().map(|rules| {
            let rules = rules.iter().map(|rule| {
                let wire = jig_proto::CommandRule {
                    args: rule.declared().args.clone(),
                    envs: rule.envs().to_vec(),
                };
                (rule.program().to_string(), wire)
            });
            rules.collect()
        });
        jig_proto::Access {
            fs: fs.collect(),
            net: net.collect(),
            env: env.collect(),
            commands,
        }
    }
}

#[cfg(test)]
mod tests;
