//! What a run of a tool may take, and what it came up against.

use std::fmt;
use std::time::Duration;

use jig_sandbox::{Bytes, Child, Exit, Limit, Limits};

#[cfg(test)]
mod tests;

/// What one run of a program may take. `None` means no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunLimits {
    /// How long it may take. The time in which somebody is asked does not count.
    pub time: Option<Duration>,
    /// How many bytes it may print, on both streams together.
    pub output: Option<u64>,
    /// What its processes may use together.
    pub tree: Limits,
}

/// Half an hour, 64 MiB of output, and [`Limits::ROOMY`].
impl Default for RunLimits {
    fn default() -> Self {
        Self {
            time: Some(Duration::from_secs(30 * 60)),
            output: Some(64 << 20),
            tree: Limits::ROOMY,
        }
    }
}

/// A limit that a run came up against, with its height.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reached {
    /// It took longer than that, and was ended.
    Time(Duration),
    /// It printed more bytes than that, and was ended.
    Output(u64),
    /// Its processes used more bytes of memory than that together, and were ended.
    Memory(u64),
    /// It had as many processes and threads as that, and could start no more.
    Tasks(u64),
    /// One of its processes had as many descriptors as that open, and could open no more.
    Descriptors(u64),
    /// One of its files came to as many bytes as that, and could grow no more.
    FileSize(u64),
}

impl Reached {
    /// What a child that has ended came up against, so far as the sandbox noticed.
    pub(crate) fn by(child: &Child, limits: &Limits) -> Vec<Self> {
        let reached = child.reached().into_iter();
        reached
            .filter_map(|limit| match limit {
                Limit::Tasks => limits.tasks.map(Self::Tasks),
                Limit::Memory => limits.memory.map(Self::Memory),
                Limit::Descriptors => limits.descriptors.map(Self::Descriptors),
                Limit::FileSize => limits.file_size.map(Self::FileSize),
                _ => None,
            })
            .collect()
    }

    /// The one of these for which a program was ended, if there is one.
    pub(crate) fn deadly(reached: &[Self], exit: Exit) -> Option<Self> {
        let Exit::Killed { signal, .. } = exit else {
            return None;
        };
        let is_deadly = |reached: &Self| match reached {
            Self::FileSize(_) => signal == SIGXFSZ,
            Self::Time(_) | Self::Output(_) | Self::Memory(_) => true,
            Self::Tasks(_) | Self::Descriptors(_) => false,
        };
        reached.iter().copied().find(is_deadly)
    }

    /// The key of the configuration that sets it.
    pub fn key(self) -> &'static str {
        match self {
            Self::Time(_) => "sandbox.limits.time",
            Self::Output(_) => "sandbox.limits.output",
            Self::Memory(_) => "sandbox.limits.memory",
            Self::Tasks(_) => "sandbox.limits.processes",
            Self::Descriptors(_) => "sandbox.limits.descriptors",
            Self::FileSize(_) => "sandbox.limits.file_size",
        }
    }
}

/// `ran longer than 30m and was ended`, to follow the name of a tool.
impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Time(time) => write!(f, "ran longer than {} and was ended", Spell(time)),
            Self::Output(bytes) => write!(f, "printed more than {} and was ended", Bytes(bytes)),
            Self::Memory(bytes) => f.write_str(&Limit::Memory.told(bytes)),
            Self::Tasks(count) => f.write_str(&Limit::Tasks.told(count)),
            Self::Descriptors(count) => f.write_str(&Limit::Descriptors.told(count)),
            Self::FileSize(bytes) => f.write_str(&Limit::FileSize.told(bytes)),
        }
    }
}

/// `1h 30m`, `2s`, `150ms`.
struct Spell(Duration);

impl fmt::Display for Spell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, milliseconds) = (self.0.as_secs(), self.0.subsec_millis());
        let parts = [
            (seconds / 3600, "h"),
            (seconds / 60 % 60, "m"),
            (seconds % 60, "s"),
            (u64::from(milliseconds), "ms"),
        ];
        let parts = parts.into_iter().filter(|(count, _)| *count > 0);
        let parts: Vec<String> = parts
            .map(|(count, unit)| format!("{count}{unit}"))
            .collect();
        match parts.as_slice() {
            [] => f.write_str("no time"),
            parts => f.write_str(&parts.join(" ")),
        }
    }
}

/// The signal for a file that would grow beyond its limit.
pub(crate) const SIGXFSZ: i32 = 25;
