//! The limits of a tool, in words.

use std::time::Duration;

use jig_config::SandboxLimits;
use jig_sandbox::Limit;
use serde_json::{Value as Json, json};

/// All that are set, in one line.
pub(crate) fn listed(limits: &SandboxLimits) -> String {
    let counted = |count: Option<u64>, what| count.map(|count| format!("{count} {what}"));
    let set = [
        limits.time.map(|limit| format!("{} of time", time(limit))),
        limits
            .memory
            .map(|limit| format!("{} of memory", size(limit))),
        counted(limits.processes, "processes and threads"),
        limits
            .file_size
            .map(|limit| format!("files of {}", size(limit))),
        counted(limits.descriptors, "descriptors"),
        limits
            .output
            .map(|limit| format!("{} of output", size(limit))),
    ];
    let set: Vec<String> = set.into_iter().flatten().collect();
    match set.is_empty() {
        true => "none".to_owned(),
        false => set.join(", "),
    }
}

/// The same for programs: bytes and milliseconds, or null.
pub(crate) fn json(limits: &SandboxLimits) -> Json {
    json!({
        "time_ms": limits.time.map(|time| time.as_millis() as u64),
        "memory": limits.memory,
        "processes": limits.processes,
        "file_size": limits.file_size,
        "descriptors": limits.descriptors,
        "output": limits.output,
    })
}

/// A limit that was reached, in words.
pub(crate) fn told(limit: Limit, limits: &SandboxLimits) -> String {
    let size = |bytes: Option<u64>| bytes.map_or(String::new(), size);
    let count = |count: Option<u64>| count.map_or(String::new(), |count| count.to_string());
    match limit {
        Limit::Memory => format!(
            "the command used more than {} of memory and was ended",
            size(limits.memory)
        ),
        Limit::Tasks => format!(
            "the command could have no more than {} processes and threads at once",
            count(limits.processes)
        ),
        Limit::Descriptors => format!(
            "a process had all of the {} descriptors open that it may have",
            count(limits.descriptors)
        ),
        Limit::FileSize => format!(
            "a file would have become larger than {}",
            size(limits.file_size)
        ),
        _ => "a limit was reached".to_owned(),
    }
}

/// A number of bytes, in the largest unit that it is a multiple of.
pub(crate) fn size(bytes: u64) -> String {
    let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let unit = units
        .iter()
        .find(|(_, size)| bytes >= *size && bytes.is_multiple_of(*size));
    unit.map_or(format!("{bytes} bytes"), |(name, size)| {
        format!("{} {name}", bytes / size)
    })
}

/// A time, in the largest unit that it is a multiple of.
pub(crate) fn time(time: Duration) -> String {
    let millis = time.as_millis();
    let units = [("h", 3_600_000), ("m", 60_000), ("s", 1000)];
    let unit = units
        .iter()
        .find(|(_, size)| millis >= *size && millis.is_multiple_of(*size));
    unit.map_or(format!("{millis}ms"), |(name, size)| {
        format!("{}{name}", millis / size)
    })
}
