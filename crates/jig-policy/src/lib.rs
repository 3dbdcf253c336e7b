//! What a tool may read, write, run and reach.
//!
//! Rules are declared per resource: files ([`DeclaredFsRule`]), hosts ([`DeclaredNetRule`]), variables
//! ([`DeclaredEnvRule`]) and programs ([`DeclaredCommandRule`]). [`Policy::compile`] brings them to canonical form
//! for one [`Workspace`] and then answers questions: allow, deny or uncovered, always with the rule
//! that decided and the reason. Every enforcer asks this crate, so that they agree.
//!
//! It reads no configuration and runs nothing; the only files it looks at are names and links,
//! through [`Lookup`].

mod capability;
mod command;
mod connection;
mod decision;
mod default_access;
mod env;
mod explain;
mod fs;
mod guard;
mod host;
mod index;
mod loader_variables;
mod lookup;
mod net;
mod planter;
mod policy;
mod resolve;
mod rules;
mod self_check;
mod sensitive;
mod suggest;
mod target;

pub use capability::{Capability, FileCapabilities};
pub use command::{CommandProgram, CommandRuleError, CompiledCommandRule, ProgramNameError};
pub use connection::{Connection, ConnectionTarget, OwnedSpeaks, SpokenProtocol};
pub use decision::{Decision, Reason, Rule, Verdict};
pub use default_access::DefaultAccess;
pub use env::{CompiledEnvRule, EnvNameError, EnvUse};
pub use explain::{Loser, LostBecause};
pub use fs::CompiledFsRule;
pub use guard::{
    BareRepository, GitPart, GuardDepth, GuardGroup, GuardKind, GuardLevel, GuardLine, GuardLines,
    GuardPattern, Guards, PACKAGES, Protected, ProtectionLevel,
};
pub use host::{hosts_overlap, is_rule_host};
pub use loader_variables::{is_loader_prefix, is_loader_variable};
pub use lookup::{DiskLookup, Lookup, LookupEntry};
pub use net::{CompiledNetRule, NetRuleError, NetTarget, NetTargetError};
pub use planter::{Planter, Planters, UnfollowedBecause, UnfollowedLink};
pub use policy::{Policy, RuleError, RuleErrorKind, RuleErrors, RuleKind};
pub use resolve::{ResolveError, ResolveReason, ResolvedPath, Workspace};
pub use rules::{
    DeclaredAccess, DeclaredCommandRule, DeclaredEnvRule, DeclaredFsRule, DeclaredNetRule,
    RuleOrigin,
};
pub use self_check::{
    CanAccess, CheckAccess, Checker, EnvAccessError, FsAccessError, NetAccessError,
};
pub use sensitive::{PatternError, Sensitive, SensitiveMatch};
pub use suggest::{Suggestion, toml_key, toml_string};
pub use target::{
    CommandTarget, EnvTarget, FileTarget, MoveTarget, MovedEntry, Permit, Refusal, RefusedTarget,
    RuleNote, Target,
};
