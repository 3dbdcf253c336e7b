//! A limit that a program came up against, as a denial.

use jig_policy::toml_key;
use jig_proto::{Denial, offered_rule};
use jig_sandbox::{ByteSize, ProcessLimit};

/// A limit of a tool that was reached: `key` is its name below `sandbox.limits`, `why` what happened, and
/// `higher` a value, as TOML, under which it might not.
pub fn limit_denial(tool: &str, key: &str, why: String, higher: &str) -> Denial {
    limit_denial_in(&format!("tools.{}", toml_key(tool)), key, why, higher)
}

/// The same for the table of this dotted name, such as `mcp.servers.git`, which stands as it is.
pub fn limit_denial_in(table: &str, key: &str, why: String, higher: &str) -> Denial {
    let lines = format!("[{table}.sandbox.limits]\n{key} = {higher}\n");
    Denial {
        hint: Some(offered_rule(lines)),
        ..Denial::new("use", key.replace('_', " "), why)
    }
}

/// The same for what the sandbox itself holds a tree of processes to.
pub(crate) fn of_tree(table: &str, limit: ProcessLimit, height: u64) -> Denial {
    let why = format!("it {}", limit.told(height));
    let higher = height.saturating_mul(2);
    let (key, higher) = match limit {
        ProcessLimit::Memory => ("memory", bytes(higher)),
        ProcessLimit::FileSize => ("file_size", bytes(higher)),
        ProcessLimit::Disk => ("disk", bytes(higher)),
        ProcessLimit::Files => ("files", higher.to_string()),
        ProcessLimit::Descriptors => ("descriptors", higher.to_string()),
        _ => ("processes", higher.to_string()),
    };
    limit_denial_in(table, key, why, &higher)
}

/// A number of bytes as the configuration writes it, `"64MiB"`.
fn bytes(number: u64) -> String {
    match ByteSize(number).to_string().split_once(' ') {
        Some((count, unit)) if unit != "bytes" => format!("\"{count}{unit}\""),
        _ => number.to_string(),
    }
}
