//! What would allow what a command was refused, as flags of `jig run`.
//!
//! Whoever explains a refusal offers a rule as TOML. A command that belongs to no tool has no
//! configuration to paste it into, so the same is said here by flags.

use jig_proto::Denial;
use toml::{Table, Value};

#[cfg(test)]
mod tests;

/// The flags that stand for all of the hints, each once; `None` for those that cannot be said by flags.
pub(super) fn flags(denials: &[Denial]) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for denial in denials {
        let of_one = denial.hint.as_deref().and_then(of_hint);
        for flag in of_one.unwrap_or_default() {
            if !all.contains(&flag) {
                all.push(flag);
            }
        }
    }
    all
}

/// An advice to name a path in the configuration, as one to give a flag. Others stay as they are.
pub(super) fn advice(text: &str) -> String {
    let told = |text: &str| {
        let (before, rest) = text.split_once("add \"")?;
        let (path, after) = rest.split_once("\" to `sandbox.system`")?;
        // A path that had to be escaped would not be the same for a shell.
        let is_plain = !path.contains('\\');
        is_plain.then(|| format!("{before}run it with {}{after}", file(path, false)))
    };
    told(text).unwrap_or_else(|| text.to_owned())
}

/// The flags that stand for a hint; `None` if it says more than flags can.
pub(super) fn of_hint(hint: &str) -> Option<Vec<String>> {
    let table: Table = hint.parse().ok()?;
    let tools = table.get("tools")?.as_table()?;
    let mut flags = Vec::new();
    for tool in tools.values() {
        for (key, value) in tool.as_table()? {
            match key.as_str() {
                "access" => access(value.as_table()?, &mut flags)?,
                "sandbox" => sandbox(value.as_table()?, &mut flags)?,
                _ => return None,
            }
        }
    }
    Some(flags)
}

fn access(access: &Table, flags: &mut Vec<String>) -> Option<()> {
    for (key, rules) in access {
        for rule in rules.as_array()? {
            let rule = rule.as_table()?;
            flags.push(match key.as_str() {
                "fs" => {
                    let changes = ["write", "create", "update", "delete"];
                    let path = text(rule, "path")?;
                    file(path, changes.iter().any(|change| is_set(rule, change)))
                }
                "net" => {
                    let host = text(rule, "host")?;
                    let host = match host.contains(':') {
                        true => format!("[{host}]"),
                        false => host.to_owned(),
                    };
                    let scheme = text(rule, "scheme").map(|scheme| format!("{scheme}://"));
                    let port = rule.get("port").and_then(Value::as_integer);
                    let port = port.map(|port| format!(":{port}"));
                    let place =
                        [scheme.unwrap_or_default(), host, port.unwrap_or_default()].concat();
                    format!("--net {}", quoted(&place))
                }
                "env" => format!("--env {}", quoted(text(rule, "name")?)),
                _ => return None,
            });
        }
    }
    Some(())
}

fn sandbox(sandbox: &Table, flags: &mut Vec<String>) -> Option<()> {
    for (key, value) in sandbox {
        match key.as_str() {
            "system" => {
                for entry in value.as_array()? {
                    flags.push(match entry {
                        Value::String(path) => file(path, false),
                        entry => {
                            let entry = entry.as_table()?;
                            file(text(entry, "path")?, is_set(entry, "write"))
                        }
                    });
                }
            }
            "presets" => {
                for preset in value.as_array()? {
                    flags.push(format!("--preset {}", quoted(preset.as_str()?)));
                }
            }
            "limits" => {
                for (limit, value) in value.as_table()? {
                    let value = match value {
                        Value::String(text) => text.clone(),
                        value => value.to_string(),
                    };
                    flags.push(format!("--{} {}", limit.replace('_', "-"), quoted(&value)));
                }
            }
            _ => return None,
        }
    }
    Some(())
}

fn file(path: &str, changes: bool) -> String {
    let flag = if changes { "--write" } else { "--read" };
    format!("{flag} {}", quoted(path))
}

fn text<'t>(table: &'t Table, key: &str) -> Option<&'t str> {
    table.get(key)?.as_str()
}

fn is_set(table: &Table, key: &str) -> bool {
    table.get(key).and_then(Value::as_bool) == Some(true)
}

/// As a shell takes it: in quotes if it has to be. A leading `~/` stays outside of them.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,[]".contains(c);
    let (start, rest) = match word.strip_prefix("~/") {
        Some(rest) => ("~/", rest),
        None => ("", word),
    };
    if !rest.is_empty() && rest.chars().all(is_plain) {
        return format!("{start}{rest}");
    }
    format!("{start}'{}'", rest.replace('\'', r"'\''"))
}
