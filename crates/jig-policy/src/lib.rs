//! What a tool may read, write, run and reach.
//!
//! Rules are declared per resource: files ([`FsRule`]), hosts ([`NetRule`]), variables
//! ([`EnvRule`]) and programs ([`CommandRule`]). [`Policy::compile`] brings them to canonical form
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
mod index;
mod loader_variables;
mod lookup;
mod net;
mod policy;
mod resolve;
mod rules;
mod self_check;
mod sensitive;
mod suggest;
mod target;

pub use capability::{Capabilities, Capability};
pub use command::{CommandRuleError, CompiledCommandRule, Program, ProgramError};
pub use connection::{Connection, ConnectionTarget, OwnedSpeaks, Speaks};
pub use decision::{Decision, Reason, Rule, Verdict};
pub use default_access::DefaultAccess;
pub use env::{CompiledEnvRule, EnvNameError, EnvUse};
pub use explain::{Loser, LostBecause};
pub use fs::CompiledFsRule;
pub use guard::{Guards, Protected, ProtectionLevel};
pub use loader_variables::{is_loader_prefix, is_loader_variable};
pub use lookup::{DiskLookup, Entry, Lookup};
pub use net::{CompiledNetRule, NetRuleError, NetTarget, NetTargetError};
pub use policy::{Policy, Resource, RuleError, RuleErrorKind, RuleErrors};
pub use resolve::{ResolveError, ResolveReason, Resolved, Workspace};
pub use rules::{Access, CommandRule, EnvRule, FsRule, NetRule, Origin};
pub use self_check::{
    CanAccess, CheckAccess, Checker, EnvAccessError, FsAccessError, NetAccessError,
};
pub use sensitive::{PatternError, Sensitive, SensitiveMatch};
pub use suggest::{Suggestion, toml_key, toml_string};
pub use target::{
    CommandTarget, EnvTarget, FileTarget, MoveTarget, Permit, Refusal, Refused, RuleNote, Target,
};
