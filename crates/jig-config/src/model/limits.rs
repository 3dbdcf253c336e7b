//! [`SandboxLimits`]: how much a tool may use.

use std::time::Duration;

use crate::quantity::{Amount, GIB, MIB, MINUTE};
use crate::shape::keys;
use crate::value::Node;

/// How much a tool and all that it starts may use. `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SandboxLimits {
    /// Processes and threads at once, in the whole tree.
    pub processes: Option<u64>,
    /// Memory of the whole tree, in bytes.
    pub memory: Option<u64>,
    /// The largest file that can be written, in bytes.
    pub file_size: Option<u64>,
    /// Open descriptors of each process.
    pub descriptors: Option<u64>,
    /// What is printed on standard output and standard error together, in bytes.
    pub output: Option<u64>,
    /// How long the tool runs, by the clock on the wall.
    pub time: Option<Duration>,
}

/// Room for real work, and an end to what runs away.
impl Default for SandboxLimits {
    fn default() -> Self {
        Self {
            processes: Some(4096),
            memory: Some(8 * GIB),
            file_size: Some(8 * GIB),
            descriptors: Some(4096),
            output: Some(64 * MIB),
            time: Some(Duration::from_millis(DEFAULT_TIME)),
        }
    }
}

impl SandboxLimits {
    /// Reads the checked table `sandbox.limits`.
    pub(super) fn read(node: Option<&Node>) -> Self {
        let default = Self::default();
        let limit = |name: &str, default: Option<u64>| match node
            .and_then(|node| keys::LIMITS_TABLE.amount(node, name))
        {
            Some(Amount::Of(amount)) => Some(amount),
            Some(Amount::Unlimited) => None,
            Some(Amount::Default) | None => default,
        };
        Self {
            processes: limit("processes", default.processes),
            memory: limit("memory", default.memory),
            file_size: limit("file_size", default.file_size),
            descriptors: limit("descriptors", default.descriptors),
            output: limit("output", default.output),
            time: limit("time", Some(DEFAULT_TIME)).map(Duration::from_millis),
        }
    }
}

const DEFAULT_TIME: u64 = 30 * MINUTE;
