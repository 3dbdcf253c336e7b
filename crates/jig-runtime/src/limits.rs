//! What a run of a tool may take, and what it came up against.

use std::fmt;
use std::time::Duration;

use jig_broker::limit_denial;
use jig_proto::Denial;
use jig_sandbox::{ByteSize, Child, Exit, ProcessLimit, ProcessLimits};

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
    pub tree: ProcessLimits,
}

/// Half an hour, 64 MiB of output, and [`ProcessLimits::ROOMY`].
impl Default for RunLimits {
    fn default() -> Self {
        Self {
            time: Some(Duration::from_secs(30 * 60)),
            output: Some(64 << 20),
            tree: ProcessLimits::ROOMY,
        }
    }
}

/// A limit that a run came up against, with its height.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReachedLimit {
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
    /// The disk became fuller by more bytes than that meanwhile, and its processes were ended.
    Disk(u64),
    /// More files than that were added to the disk meanwhile, and its processes were ended.
    Files(u64),
}

impl ReachedLimit {
    /// What a child that has ended came up against, so far as the sandbox noticed.
    pub(crate) fn by(child: &Child, limits: &ProcessLimits) -> Vec<Self> {
        let reached = child.reached().into_iter();
        reached
            .filter_map(|limit| match limit {
                ProcessLimit::Tasks => limits.tasks.map(Self::Tasks),
                ProcessLimit::Memory => limits.memory.map(Self::Memory),
                ProcessLimit::Descriptors => limits.descriptors.map(Self::Descriptors),
                ProcessLimit::FileSize => limits.file_size.map(Self::FileSize),
                ProcessLimit::Disk => limits.disk.map(Self::Disk),
                ProcessLimit::Files => limits.files.map(Self::Files),
                _ => None,
            })
            .collect()
    }

    /// What a program that failed says it came up against. What it survives for a moment only is not noticed
    /// by looking at it now and then.
    pub(crate) fn told_by(said: &str, limits: &ProcessLimits) -> Vec<Self> {
        let says = |words: &[&str]| words.iter().any(|words| said.contains(words));
        let no_fork = says(&["fork", "thread"]) && says(&["Resource temporarily unavailable"]);
        let descriptors = limits.descriptors.map(Self::Descriptors);
        let tasks = limits.tasks.map(Self::Tasks);
        let descriptors = descriptors.filter(|_| says(&["Too many open files"]));
        let tasks = tasks.filter(|_| no_fork || says(&["Cannot fork", "can't start new thread"]));
        descriptors.into_iter().chain(tasks).collect()
    }

    /// The one of these for which a program was ended, if there is one.
    pub(crate) fn deadly(reached: &[Self], exit: Exit) -> Option<Self> {
        let Exit::Killed { signal, .. } = exit else {
            return None;
        };
        let is_deadly = |reached: &Self| match reached {
            Self::FileSize(_) => signal == SIGXFSZ,
            Self::Time(_) | Self::Output(_) | Self::Memory(_) => true,
            Self::Disk(_) | Self::Files(_) => true,
            Self::Tasks(_) | Self::Descriptors(_) => false,
        };
        reached.iter().copied().find(is_deadly)
    }

    /// What is to be told of it: with twice as much the tool may get further.
    pub fn denial(self, tool: &str) -> Denial {
        let key = self.key();
        let key = key.rsplit('.').next().unwrap_or(key);
        let higher = match self {
            Self::Time(time) => written_time(time.saturating_mul(2)),
            Self::Output(bytes)
            | Self::Memory(bytes)
            | Self::FileSize(bytes)
            | Self::Disk(bytes) => written_bytes(bytes.saturating_mul(2)),
            Self::Tasks(count) | Self::Descriptors(count) | Self::Files(count) => {
                count.saturating_mul(2).to_string()
            }
        };
        limit_denial(tool, key, format!("it {self}"), &higher)
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
            Self::Disk(_) => "sandbox.limits.disk",
            Self::Files(_) => "sandbox.limits.files",
        }
    }
}

/// `ran longer than 30m and was ended`, to follow the name of a tool.
impl fmt::Display for ReachedLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Time(time) => write!(f, "ran longer than {} and was ended", LimitSpelling(time)),
            Self::Output(bytes) => write!(f, "printed more than {} and was ended", ByteSize(bytes)),
            Self::Memory(bytes) => f.write_str(&ProcessLimit::Memory.told(bytes)),
            Self::Tasks(count) => f.write_str(&ProcessLimit::Tasks.told(count)),
            Self::Descriptors(count) => f.write_str(&ProcessLimit::Descriptors.told(count)),
            Self::FileSize(bytes) => f.write_str(&ProcessLimit::FileSize.told(bytes)),
            Self::Disk(bytes) => f.write_str(&ProcessLimit::Disk.told(bytes)),
            Self::Files(count) => f.write_str(&ProcessLimit::Files.told(count)),
        }
    }
}

/// A number of bytes as the configuration has it: `"64MiB"`.
fn written_bytes(bytes: u64) -> String {
    match ByteSize(bytes).to_string().split_once(' ') {
        Some((count, unit)) if unit != "bytes" => format!("\"{count}{unit}\""),
        _ => bytes.to_string(),
    }
}

/// A time as the configuration has it, in one unit: `"90m"`.
fn written_time(time: Duration) -> String {
    let milliseconds = time.as_millis();
    let units = [(3_600_000, "h"), (60_000, "m"), (1000, "s"), (1, "ms")];
    let exact = units
        .into_iter()
        .find(|(unit, _)| milliseconds.is_multiple_of(*unit));
    let (unit, name) = exact.unwrap_or((1, "ms"));
    format!("\"{}{name}\"", milliseconds / unit)
}

/// `1h 30m`, `2s`, `150ms`.
struct LimitSpelling(Duration);

impl fmt::Display for LimitSpelling {
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
