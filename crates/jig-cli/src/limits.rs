//! The limits of a tool, in words.

use std::time::Duration;

use jig_config::SandboxLimits;
use jig_sandbox::Bytes;
use serde_json::{Value as Json, json};

/// All that are set, in one line.
pub(crate) fn listed(limits: &SandboxLimits) -> String {
    let counted = |count: Option<u64>, what| count.map(|count| format!("{count} {what}"));
    let set = [
        limits.time.map(|limit| format!("{} of time", time(limit))),
        limits
            .memory
            .map(|limit| format!("{} of memory", Bytes(limit))),
        counted(limits.processes, "processes and threads"),
        limits
            .file_size
            .map(|limit| format!("files of {}", Bytes(limit))),
        counted(limits.descriptors, "descriptors"),
        limits
            .output
            .map(|limit| format!("{} of output", Bytes(limit))),
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
