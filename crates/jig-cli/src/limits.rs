//! The limits of a tool, in words.

use std::time::Duration;

use jig_config::{ProtocolLimits, SandboxLimits};
pub(crate) use jig_project::{age, time};
use jig_sandbox::ByteSize;
use serde_json::{Value as Json, json};

/// All that are set, in one line.
pub(crate) fn listed(limits: &SandboxLimits) -> String {
    let counted = |count: Option<u64>, what| count.map(|count| format!("{count} {what}"));
    let set = [
        limits.time.map(|limit| format!("{} of time", time(limit))),
        limits
            .memory
            .map(|limit| format!("{} of memory", ByteSize(limit))),
        counted(limits.processes, "processes and threads"),
        limits
            .file_size
            .map(|limit| format!("files of {}", ByteSize(limit))),
        limits
            .disk
            .map(|limit| format!("{} of disk", ByteSize(limit))),
        counted(limits.files, "more files"),
        counted(limits.descriptors, "descriptors"),
        limits
            .output
            .map(|limit| format!("{} of output", ByteSize(limit))),
    ];
    let protocol = protocol(&limits.protocol).into_iter();
    let protocol = protocol.map(|(name, limit)| format!("`{name}` {limit}"));
    let set: Vec<String> = set.into_iter().flatten().chain(protocol).collect();
    match set.is_empty() {
        true => "none".to_owned(),
        false => set.join(", "),
    }
}

/// Those of its protocol that somebody has declared.
fn protocol(limits: &ProtocolLimits) -> Vec<(&'static str, String)> {
    let times = [
        ("cancel_grace", limits.cancel_grace),
        ("kill_grace", limits.kill_grace),
        ("silence", limits.silence),
        ("response", limits.response),
        ("http_time", limits.http_time),
        ("program_time", limits.program_time),
    ];
    let sizes = [
        ("message", limits.message),
        ("file", limits.file),
        ("frame", limits.frame),
        ("chunk", limits.chunk),
    ];
    let shown = |limit: Duration| match limit {
        Duration::MAX => "none".to_owned(),
        limit => time(limit),
    };
    let times = times.map(|(name, limit)| Some((name, shown(limit?))));
    let sizes = sizes.map(|(name, limit)| Some((name, ByteSize(limit?).to_string())));
    times.into_iter().chain(sizes).flatten().collect()
}

/// The same for programs: bytes and milliseconds, or null.
pub(crate) fn json(limits: &SandboxLimits) -> Json {
    let protocol = limits.protocol;
    let millis = |time: Option<Duration>| {
        let time = time.filter(|time| *time != Duration::MAX);
        time.map(|time| time.as_millis() as u64)
    };
    let mut all = json!({
        "time_ms": limits.time.map(|time| time.as_millis() as u64),
        "memory": limits.memory,
        "processes": limits.processes,
        "file_size": limits.file_size,
        "disk": limits.disk,
        "files": limits.files,
        "descriptors": limits.descriptors,
        "output": limits.output,
    });
    let declared = [
        ("cancel_grace_ms", millis(protocol.cancel_grace)),
        ("kill_grace_ms", millis(protocol.kill_grace)),
        ("silence_ms", millis(protocol.silence)),
        ("response_ms", millis(protocol.response)),
        ("http_time_ms", millis(protocol.http_time)),
        ("program_time_ms", millis(protocol.program_time)),
        ("message", protocol.message),
        ("file", protocol.file),
        ("frame", protocol.frame),
        ("chunk", protocol.chunk),
    ];
    for (name, limit) in declared {
        if let Some(limit) = limit {
            all[name] = limit.into();
        }
    }
    all
}

/// How long something takes, as people write it: `500` and `500ms`, `5s`, `2m`, `1h`. Without a unit it is
/// in milliseconds.
pub(crate) fn parse_time(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.');
    let (number, unit) = text.split_at(digits.unwrap_or(text.len()));
    let unit = match unit {
        "" | "ms" => 0.001,
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("write 500, 500ms, 5s, 2m or 1h".to_owned()),
    };
    let number: f64 = number
        .parse()
        .map_err(|_| "write 500, 500ms, 5s, 2m or 1h".to_owned())?;
    Duration::try_from_secs_f64(number * unit).map_err(|_| "this is too long".to_owned())
}

/// A number of bytes, roughly.
pub(crate) fn size(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = UNITS.into_iter().find(|(size, _)| bytes >= *size);
    unit.map_or(format!("{bytes} B"), |(size, name)| {
        format!("{:.1} {name}", bytes as f64 / size as f64)
    })
}

#[cfg(test)]
mod tests;
