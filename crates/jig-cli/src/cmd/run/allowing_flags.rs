//! What would allow what a command was refused, as flags of `jig run`.
//!
//! Whoever explains a refusal offers a rule as TOML. A command that belongs to no tool has no
//! configuration to paste it into, so the same is said here by flags.

use std::fmt;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Parser as _;
use jig_project::{CommandEnvironment, hosts, locate, shell_word};
use jig_proto::Denial;
use toml::{Table, Value};

use crate::args::{Args, CliCommand, RunArgs};

#[cfg(test)]
mod tests;

/// A flag of `jig run`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::cmd) enum RunFlag {
    /// `--read`, or `--write` if it may be changed.
    Path { path: String, write: bool },
    /// Any other flag that takes a value: its name without dashes, and the value.
    Other { name: String, value: String },
}

/// Where flags are given: paths of the workspace at `root` are written as they are meant from `current`.
#[derive(Debug, Clone, Copy)]
pub(in crate::cmd) struct FlagContext<'a> {
    pub(in crate::cmd) root: &'a Utf8Path,
    pub(in crate::cmd) current: &'a Utf8Path,
}

/// The flags that stand for all of the hints, each once, without those that were given already.
pub(super) fn flags(denials: &[Denial], args: &RunArgs, place: FlagContext<'_>) -> Vec<RunFlag> {
    let mut all: Vec<RunFlag> = Vec::new();
    for denial in denials {
        let of_one = denial.hint.as_deref().and_then(|hint| of_hint(hint, place));
        for flag in of_one.unwrap_or_default() {
            if !all.contains(&flag) && !is_given(&flag, args, place) {
                all.push(flag);
            }
        }
    }
    all
}

/// What is to be said about flags: the line that offers them.
pub(in crate::cmd) fn offer(flags: &[RunFlag]) -> String {
    let words: Vec<String> = flags.iter().map(ToString::to_string).collect();
    let given: Vec<String> = std::env::args().collect();
    jig_proto::offered_flags(&words, &given, || is_accepted(flags));
    format!("to allow it, run it with: {}", words.join(" "))
}

/// Whether `jig run` takes the flags, for the record of the tests.
fn is_accepted(flags: &[RunFlag]) -> bool {
    let mut words = vec!["jig".to_owned(), "run".to_owned()];
    for flag in flags {
        let (name, value) = match flag {
            RunFlag::Path { path, write: true } => ("write", path),
            RunFlag::Path { path, write: false } => ("read", path),
            RunFlag::Other { name, value } => (name.as_str(), value),
        };
        words.extend([format!("--{name}"), value.clone()]);
    }
    words.extend(["--".to_owned(), "true".to_owned()]);
    match Args::try_parse_from(words).map(|args| args.command) {
        Ok(CliCommand::Run(args)) => args.net.iter().all(|host| hosts::parse(host).is_ok()),
        _ => false,
    }
}

/// Whether the command was started with the flag, or with one that allows more.
fn is_given(flag: &RunFlag, args: &RunArgs, place: FlagContext<'_>) -> bool {
    match flag {
        RunFlag::Path { path, write } => {
            let wanted = real(path, place);
            let given = args.write.iter().chain(args.read.iter().filter(|_| !write));
            wanted.is_some()
                && given
                    .into_iter()
                    .any(|path| real(path.as_str(), place) == wanted)
        }
        RunFlag::Other { name, value } => {
            let given = match name.as_str() {
                "net" => &args.net,
                "env" => &args.env,
                "preset" => &args.hold.preset,
                _ => return false,
            };
            given.contains(value)
        }
    }
}

/// What a path on the command line leads to.
fn real(path: &str, place: FlagContext<'_>) -> Option<Utf8PathBuf> {
    let home = || CommandEnvironment::of_this_process().path("HOME");
    let path = match path.strip_prefix("~/") {
        Some(below) => home()?.join(below),
        None if path == "~" => home()?,
        None => place.current.join(path),
    };
    locate::resolved(&path).ok()
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
pub(in crate::cmd) fn of_hint(hint: &str, place: FlagContext<'_>) -> Option<Vec<RunFlag>> {
    let table: Table = hint.parse().ok()?;
    let tools = table.get("tools")?.as_table()?;
    let mut flags = Vec::new();
    for tool in tools.values() {
        for (key, value) in tool.as_table()? {
            match key.as_str() {
                "access" => access(value.as_table()?, place, &mut flags)?,
                "sandbox" => sandbox(value.as_table()?, &mut flags)?,
                _ => return None,
            }
        }
    }
    Some(flags)
}

fn access(access: &Table, place: FlagContext<'_>, flags: &mut Vec<RunFlag>) -> Option<()> {
    for (key, rules) in access {
        for rule in rules.as_array()? {
            let rule = rule.as_table()?;
            flags.push(match key.as_str() {
                "fs" => {
                    let changes = ["write", "create", "update", "delete"];
                    let path = place.written(text(rule, "path")?);
                    file(&path, changes.iter().any(|change| is_set(rule, change)))
                }
                "net" => other("net", &host(rule)?),
                "env" => other("env", text(rule, "name")?),
                _ => return None,
            });
        }
    }
    Some(())
}

/// What a rule on a host is on, as `--net` takes it.
fn host(rule: &Table) -> Option<String> {
    let host = text(rule, "host")?;
    let host = match host.contains(':') {
        true => format!("[{host}]"),
        false => host.to_owned(),
    };
    // No flag says methods, and without them it would say more.
    if rule.contains_key("methods") {
        return None;
    }
    let scheme = text(rule, "scheme").map(|scheme| format!("{scheme}://"));
    let port = rule.get("port").and_then(Value::as_integer);
    let port = port.map(|port| format!(":{port}"));
    let path = text(rule, "path_prefix").unwrap_or_default();
    Some(
        [
            scheme.unwrap_or_default(),
            host,
            port.unwrap_or_default(),
            path.to_owned(),
        ]
        .concat(),
    )
}

fn sandbox(sandbox: &Table, flags: &mut Vec<RunFlag>) -> Option<()> {
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
                    flags.push(other("preset", preset.as_str()?));
                }
            }
            "limits" => {
                for (limit, value) in value.as_table()? {
                    let value = match value {
                        Value::String(text) => text.clone(),
                        value => value.to_string(),
                    };
                    flags.push(other(&limit.replace('_', "-"), &value));
                }
            }
            _ => return None,
        }
    }
    Some(())
}

impl FlagContext<'_> {
    /// A path of the workspace as it is written where flags are given.
    fn written(self, path: &str) -> String {
        let full = self.root.join(path);
        let Ok(below_root) = self.current.strip_prefix(self.root) else {
            return full.into_string();
        };
        let path = Utf8Path::new(if path == "." { "" } else { path });
        let mut shared = below_root.components().zip(path.components());
        let shared = shared
            .by_ref()
            .take_while(|(one, other)| one == other)
            .count();
        let up = below_root.components().skip(shared).map(|_| "..");
        let down = path.components().skip(shared);
        let steps: Vec<&str> = up.chain(down.map(|step| step.as_str())).collect();
        match steps.is_empty() {
            true => ".".to_owned(),
            false => steps.join("/"),
        }
    }
}

/// As it is typed.
impl fmt::Display for RunFlag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunFlag::Path { path, write } => {
                let flag = if *write { "--write" } else { "--read" };
                // What begins with a dash would be another flag.
                let here = if path.starts_with('-') { "./" } else { "" };
                write!(f, "{flag} {here}{}", quoted(path))
            }
            RunFlag::Other { name, value } => write!(f, "--{name} {}", quoted(value)),
        }
    }
}

fn file(path: &str, write: bool) -> RunFlag {
    RunFlag::Path {
        path: path.to_owned(),
        write,
    }
}

fn other(name: &str, value: &str) -> RunFlag {
    RunFlag::Other {
        name: name.to_owned(),
        value: value.to_owned(),
    }
}

fn text<'t>(table: &'t Table, key: &str) -> Option<&'t str> {
    table.get(key)?.as_str()
}

fn is_set(table: &Table, key: &str) -> bool {
    table.get(key).and_then(Value::as_bool) == Some(true)
}

/// As a shell takes it: in quotes if it has to be. A leading `~/` stays outside of them.
pub(in crate::cmd) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@%+=,[]".contains(c);
    let (start, rest) = match word.strip_prefix("~/") {
        Some(rest) => ("~/", rest),
        None => ("", word),
    };
    if !rest.is_empty() && rest.chars().all(is_plain) {
        return format!("{start}{rest}");
    }
    format!("{start}{}", shell_word(rest))
}
