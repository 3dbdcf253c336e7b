//! What a message says is to be done, and doing it, without any understanding.

use std::fmt;

use toml::{Table, Value};

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Remedy {
    /// Lines to add to `jig.toml`.
    Add(String),
    /// Flags to give to `jig run`.
    Flags(String),
    /// A key that rules in `jig.toml` must not have.
    Remove(&'static str),
}

impl Remedy {
    /// All that a message says is to be done, each thing once.
    pub(crate) fn find(message: &str) -> Option<Self> {
        let flags = message.lines().find_map(|line| {
            let mut marks = FLAGS.iter();
            marks.find_map(|mark| line.split_once(mark))
        });
        if let Some((_, flags)) = flags {
            return Some(Remedy::Flags(flags.trim().to_owned()));
        }
        let lines: Vec<&str> = message.lines().collect();
        let mut blocks: Vec<String> = Vec::new();
        for (index, line) in lines.iter().enumerate() {
            let block = block(line.trim(), &lines[index + 1..]);
            if let Some(block) = block.filter(|block| !blocks.contains(block)) {
                blocks.push(block);
            }
        }
        if blocks.is_empty() {
            return message
                .contains(WITHOUT)
                .then_some(Remedy::Remove("path_prefix"));
        }
        Some(Remedy::Add(blocks.join("\n\n")))
    }

    /// The command as it is given afterwards.
    pub(crate) fn command(&self, command: &str) -> String {
        match self {
            Remedy::Add(_) | Remedy::Remove(_) => command.to_owned(),
            Remedy::Flags(flags) => {
                // A flag that is there already gets its new value.
                let flag = flags.split(' ').next().unwrap_or_default();
                let (before, after) = command.split_once("jig run").unwrap();
                let after = match after.trim_start().strip_prefix(flag) {
                    Some(rest) => rest.trim_start().split_once(' ').unwrap().1,
                    None => after,
                };
                format!("{before}jig run {flags} {after}")
            }
        }
    }

    /// The configuration as it is afterwards.
    pub(crate) fn config(&self, config: &str) -> String {
        match self {
            Remedy::Add(lines) => added(config, lines),
            Remedy::Flags(_) => config.to_owned(),
            Remedy::Remove(key) => {
                let lines = config.lines().filter(|line| !line.starts_with(key));
                lines.collect::<Vec<&str>>().join("\n")
            }
        }
    }
}

/// As people are told it.
impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remedy::Add(text) | Remedy::Flags(text) => f.write_str(text),
            Remedy::Remove(key) => write!(f, "the rule without {key}"),
        }
    }
}

/// The lines of TOML that a line announces, or the path that it names.
fn block(line: &str, rest: &[&str]) -> Option<String> {
    let lines: Vec<&str> = if line == ADD {
        rest.iter()
            .map_while(|line| line.strip_prefix("    "))
            .collect()
    } else if line.ends_with(WOULD) {
        rest.to_vec()
    } else {
        let (path, _) = line.split_once(NAME)?.1.split_once(LIST)?;
        return Some(format!("[tools.check.sandbox]\nsystem = [\"{path}\"]"));
    };
    Some(lines.join("\n").trim().to_owned())
}

/// The lines at the end of the file. Where a table that they begin is there already, their keys go into
/// it, as whoever writes TOML has to do.
fn added(config: &str, lines: &str) -> String {
    let appended = format!("{config}\n{lines}\n");
    if appended.parse::<Table>().is_ok() {
        return appended;
    }
    let mut whole: Table = config.parse().unwrap();
    merge(&mut whole, lines.parse().unwrap());
    toml::to_string(&whole).unwrap()
}

fn merge(whole: &mut Table, more: Table) {
    for (key, value) in more {
        match (whole.get_mut(&key), value) {
            (Some(Value::Table(table)), Value::Table(more)) => merge(table, more),
            (Some(Value::Array(rules)), Value::Array(more)) if more.iter().all(Value::is_table) => {
                rules.extend(more);
            }
            (_, value) => {
                whole.insert(key, value);
            }
        }
    }
}

/// What stands before lines of TOML, which are indented.
const ADD: &str = "to allow it, add:";

/// What stands before nothing but TOML.
const WOULD: &str = "this would allow it:";

/// What stands around a path for which no rule is offered.
const NAME: &str = "add \"";
const LIST: &str = "\" to `sandbox.system`";

/// What stands where a rule says too much.
const WITHOUT: &str = "a rule without `path_prefix`";

/// What stands before flags.
const FLAGS: [&str; 2] = ["to allow it, run it with: ", "allow more with "];
