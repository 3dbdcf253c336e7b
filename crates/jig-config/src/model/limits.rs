//! [`SandboxLimits`]: how much a tool may use.

use std::time::Duration;

use crate::shape::keys;
use crate::shape::quantity::{Amount, GIB, MIB, MINUTE};
use crate::value::ConfigNode;

/// How much a tool and all that it starts may use. `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SandboxLimits {
    /// Processes and threads at once, in the whole tree.
    pub processes: Option<u64>,
    /// Memory of the whole tree, in bytes.
    pub memory: Option<u64>,
    /// The largest file that can be written, in bytes.
    pub file_size: Option<u64>,
    /// By how many bytes the disk of the workspace may become fuller meanwhile.
    pub disk: Option<u64>,
    /// How many files may be added to it meanwhile.
    pub files: Option<u64>,
    /// Open descriptors of each process.
    pub descriptors: Option<u64>,
    /// What is printed on standard output and standard error together, in bytes.
    pub output: Option<u64>,
    /// How long the tool runs, by the clock on the wall.
    pub time: Option<Duration>,
    /// What its protocol allows, so far as somebody has declared it.
    pub protocol: ProtocolLimits,
}

/// Limits and timers of the protocols that tools speak. `None` means that nobody has declared it, and the default
/// of the protocol holds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct ProtocolLimits {
    /// From asking a tool to end, or from its last word, to SIGTERM (V-112).
    pub cancel_grace: Option<Duration>,
    /// From SIGTERM to SIGKILL.
    pub kill_grace: Option<Duration>,
    /// Silence after which a tool counts as hung (V-142); [`Duration::MAX`] for never.
    pub silence: Option<Duration>,
    /// After which a tool may give a request up.
    pub response: Option<Duration>,
    /// The longest message, in bytes.
    pub message: Option<u64>,
    /// The most content of a file in one answer, in bytes (V-141).
    pub file: Option<u64>,
    /// How long a request to a server may take.
    pub http_time: Option<Duration>,
    /// How long a program of `process.run` may run.
    pub program_time: Option<Duration>,
    /// The longest message of a client of the FS proxy, in bytes.
    pub frame: Option<u64>,
    /// The most bytes of one read of such a client.
    pub chunk: Option<u64>,
}

impl ProtocolLimits {
    /// Reads the checked table `sandbox.limits`.
    fn read(node: Option<&ConfigNode>) -> Self {
        let amount = |name: &str| match node.and_then(|node| keys::LIMITS_TABLE.amount(node, name))
        {
            Some(Amount::Of(amount)) => Some(amount),
            Some(Amount::Unlimited) => Some(u64::MAX),
            Some(Amount::Default) | None => None,
        };
        let time = |name: &str| {
            amount(name).map(|amount| match amount {
                u64::MAX => Duration::MAX,
                amount => Duration::from_millis(amount),
            })
        };
        Self {
            cancel_grace: time("cancel_grace"),
            kill_grace: time("kill_grace"),
            silence: time("silence"),
            response: time("response"),
            message: amount("message"),
            file: amount("file"),
            http_time: time("http_time"),
            program_time: time("program_time"),
            frame: amount("frame"),
            chunk: amount("chunk"),
        }
    }
}

/// Room for real work, and an end to what runs away.
impl Default for SandboxLimits {
    fn default() -> Self {
        Self {
            processes: Some(4096),
            memory: Some(8 * GIB),
            file_size: Some(8 * GIB),
            disk: Some(256 * GIB),
            files: Some(10_000_000),
            descriptors: Some(4096),
            output: Some(64 * MIB),
            time: Some(Duration::from_millis(DEFAULT_TIME)),
            protocol: ProtocolLimits::default(),
        }
    }
}

impl SandboxLimits {
    /// Reads the checked table `sandbox.limits`.
    pub(super) fn read(node: Option<&ConfigNode>) -> Self {
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
            disk: limit("disk", default.disk),
            files: limit("files", default.files),
            descriptors: limit("descriptors", default.descriptors),
            output: limit("output", default.output),
            time: limit("time", Some(DEFAULT_TIME)).map(Duration::from_millis),
            protocol: ProtocolLimits::read(node),
        }
    }
}

const DEFAULT_TIME: u64 = 30 * MINUTE;
