//! What a tool may read, write, run and reach.

mod capability;
mod rules;

pub use capability::{Capabilities, Capability};
pub use rules::{Access, CommandRule, EnvRule, FsRule, NetRule, Origin};
