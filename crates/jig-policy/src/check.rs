//! How a tool checks itself before it acts: [`CheckAccess`] on the context that it was given.
//!
//! This is courtesy, not confinement: a tool that asks first can say clearly what it was not
//! allowed to do. The host enforces the same rules whether the tool asks or not.

use camino::{Utf8Path, Utf8PathBuf};
use jig_proto::{Context, ProjectPath};

use crate::guard::Guards;
use crate::lookup::DiskLookup;
use crate::policy::{Policy, RuleErrors};
use crate::resolve::{ResolveError, ResolveReason, Workspace};
use crate::rules::{Access, CommandRule, EnvRule, FsRule, NetRule, Origin};
use crate::{Capabilities, Capability, DefaultAccess};

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
                let access = Access::from(wire);
                let guards = Guards::of_workspace();
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
    Lookup(String, #[source] std::io::Error),
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
impl From<&jig_proto::Access> for Access {
    fn from(wire: &jig_proto::Access) -> Self {
        let origin = || Origin::named("context of the call");
        let fs = wire.fs.iter().map(|rule| FsRule {
            path: rule.path().to_string(),
            capabilities: capabilities(rule),
            origin: origin(),
        });
        let net = wire.net.iter().map(|rule| NetRule {
            host: rule.host.clone(),
            scheme: rule.scheme.clone(),
            port: rule.port,
            path_prefix: rule.path_prefix.clone(),
            allow: rule.allow,
            origin: origin(),
        });
        let env = wire.env.iter().map(|rule| EnvRule {
            name: rule.name.clone(),
            read: rule.read,
            header: rule.header,
            origin: origin(),
        });
        let commands = wire.commands.as_ref().map(|commands| {
            let rules = commands.iter().map(|(program, rule)| CommandRule {
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

fn capabilities(rule: &jig_proto::FsRule) -> Capabilities {
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
        let fs = self.fs_rules().iter().map(|rule| {
            let granted = rule.capabilities();
            let grants = jig_proto::FsGrants {
                read: granted.has(Capability::Read),
                create: granted.has(Capability::Create),
                update: granted.has(Capability::Update),
                delete: granted.has(Capability::Delete),
                execute: granted.has(Capability::Execute),
            };
            jig_proto::FsRule::new(rule.path().to_string(), grants)
        });
        let net = self.net_rules().iter().map(|rule| jig_proto::NetRule {
            host: rule.host().to_owned(),
            scheme: rule.scheme.clone(),
            port: rule.declared().port,
            path_prefix: rule.declared().path_prefix.clone(),
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
