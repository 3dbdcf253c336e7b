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
    /// A command to run first.
    First(String),
    /// Another word in the place of the one that the message quotes.
    Instead(String),
    /// A flag for the command of jig.
    With(String),
    /// A flag that it must not have.
    Without(String),
    /// A key of the tool.
    Set(String),
    /// What is underlined in `jig.toml` replaced by this.
    Underlined(String),
    /// Another command, which shows what is needed.
    Ask(String),
    /// Words to add at the end of the command.
    More(String),
    /// A word to add to the `command` of the tool.
    Word(String),
    /// A last line for the script of the tool.
    End(String),
    /// What each line of the script of the tool becomes; the line stands there as `PROGRAM`.
    Lines(String),
    /// What `jig run` is given in the place of its command, which stands there as `SERVER`.
    Within(String),
}

impl Remedy {
    /// All that a message says is to be done, each thing once.
    pub(crate) fn find(message: &str) -> Option<Self> {
        let flags = Self::flags(message);
        if !flags.is_empty() {
            return Some(Remedy::Flags(flags.join(" ")));
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
            if let Some(said) = said(message) {
                return Some(said);
            }
            return message
                .contains(WITHOUT)
                .then_some(Remedy::Remove("path_prefix"));
        }
        Some(Remedy::Add(blocks.join("\n\n")))
    }

    /// The flags that a message says are to be given, line by line, each line once.
    pub(crate) fn flags(message: &str) -> Vec<&str> {
        let mut all = Vec::new();
        for line in message.lines() {
            let mut marks = FLAGS.iter();
            if let Some((_, flags)) = marks.find_map(|mark| line.split_once(mark))
                && !all.contains(&flags.trim())
            {
                all.push(flags.trim());
            }
        }
        all
    }

    /// The command as it is given afterwards, `message` being what was said to it.
    pub(crate) fn command(&self, command: &str, message: &str) -> String {
        match self {
            Remedy::Add(_)
            | Remedy::Remove(_)
            | Remedy::Set(_)
            | Remedy::Underlined(_)
            | Remedy::Word(_) => command.to_owned(),
            Remedy::More(words) => format!("{command} {words}"),
            Remedy::End(line) => format!("echo {line} >> tool.sh && {command}"),
            Remedy::Lines(line) => {
                let line = line.replace("PROGRAM", "&");
                format!("sed -i 's/.*/{line}/' tool.sh && {command}")
            }
            Remedy::Within(words) => {
                let (before, server) = command.split_once("jig run ").unwrap();
                format!("{before}jig run {}", words.replace("SERVER", server))
            }
            Remedy::First(first) => format!("{first} && {command}"),
            Remedy::Ask(other) => other.clone(),
            Remedy::Instead(word) => {
                let wrong = quoted(message).unwrap();
                let written = format!("'{wrong}'");
                match command.contains(&written) {
                    true => command.replacen(&written, word, 1),
                    false => command.replacen(&wrong, word, 1),
                }
            }
            Remedy::Without(flag) => command.replacen(&format!(" {flag}"), "", 1),
            Remedy::With(flag) => {
                let (before, after) = command.split_once("jig ").unwrap();
                let (verb, after) = after.split_once(' ').unwrap_or((after, ""));
                format!("{before}jig {verb} {flag} {after}")
            }
            Remedy::Flags(flags) => {
                // A flag that is there already gets its new value.
                let flag = flags.split(' ').next().unwrap_or_default();
                let (before, after) = command.split_once("jig run").unwrap();
                let after = match after.trim_start().strip_prefix(flag) {
                    Some(rest) if is_limit(flag) => rest.trim_start().split_once(' ').unwrap().1,
                    _ => after,
                };
                format!("{before}jig run {flags} {after}")
            }
        }
    }

    /// The flag that chooses the workspace, if it is another one afterwards.
    pub(crate) fn workspace(&self) -> &str {
        match self {
            Remedy::With(flag) if flag.starts_with("-C ") => flag,
            _ => "",
        }
    }

    /// The configuration as it is afterwards.
    pub(crate) fn config(&self, config: &str, message: &str) -> String {
        match self {
            Remedy::Add(lines) => added(config, lines),
            Remedy::Set(line) => added(config, &format!("[tools.check]\n{line}\n")),
            Remedy::Underlined(text) => edited(config, message, text),
            Remedy::Remove(key) => {
                let lines = config.lines().filter(|line| !line.starts_with(key));
                lines.collect::<Vec<&str>>().join("\n")
            }
            Remedy::Word(word) => {
                let word = |line: &str| match line.starts_with("command = ") {
                    true => format!("{} {word}\"\n", line.strip_suffix('"').unwrap()),
                    false => format!("{line}\n"),
                };
                config.lines().map(word).collect()
            }
            Remedy::Flags(_)
            | Remedy::First(_)
            | Remedy::Instead(_)
            | Remedy::With(_)
            | Remedy::Without(_)
            | Remedy::Ask(_)
            | Remedy::More(_)
            | Remedy::End(_)
            | Remedy::Lines(_)
            | Remedy::Within(_) => config.to_owned(),
        }
    }
}

/// As people are told it.
impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remedy::Add(text)
            | Remedy::Flags(text)
            | Remedy::First(text)
            | Remedy::Instead(text)
            | Remedy::With(text)
            | Remedy::Set(text)
            | Remedy::Underlined(text)
            | Remedy::Ask(text)
            | Remedy::More(text)
            | Remedy::Word(text)
            | Remedy::End(text)
            | Remedy::Lines(text)
            | Remedy::Within(text) => f.write_str(text),
            Remedy::Without(flag) => write!(f, "without {flag}"),
            Remedy::Remove(key) => write!(f, "the rule without {key}"),
        }
    }
}

/// What a hint, or the help of a mistake in the configuration, says in words.
fn said(message: &str) -> Option<Remedy> {
    let mut lines = message.lines();
    if let Some((_, help)) = lines.find_map(|line| line.split_once("= help: ")) {
        let written = help
            .split_once("write ")
            .map_or(help, |(_, written)| written);
        return Some(Remedy::Underlined(quoted(written)?));
    }
    let mut lines = message.lines();
    let hint = lines.find_map(|line| line.strip_prefix("hint: "))?;
    // A command of a shell stands at the end.
    let last = hint.rsplit(": ").next()?;
    if last.contains("SERVER") {
        return Some(Remedy::Within(last.to_owned()));
    }
    if last.contains("PROGRAM") {
        return Some(Remedy::Lines(last.to_owned()));
    }
    if let Some((_, line)) = hint.split_once("end the script with ") {
        return Some(Remedy::End(quoted(line)?));
    }
    if let Some((_, flag)) = hint.split_once("to use it, add ") {
        return Some(Remedy::With(quoted(flag)?));
    }
    if hint.starts_with("add `") && hint.contains("` to `command`") {
        return Some(Remedy::Word(quoted(hint)?));
    }
    let added = hint
        .strip_prefix("add ")
        .and_then(|hint| hint.split_once("; "));
    if let Some((words, _)) = added.filter(|(words, _)| words.contains("=…")) {
        return Some(Remedy::More(words.to_owned()));
    }
    if SHELL.iter().any(|program| last.starts_with(program)) {
        return Some(Remedy::First(last.to_owned()));
    }
    if let Some((_, words)) = hint.split_once("without quotes: ") {
        return Some(Remedy::Instead(words.to_owned()));
    }
    if let Some((_, line)) = hint.split_once("have one read it: ") {
        return Some(Remedy::Instead(line.to_owned()));
    }
    if let Some((_, meant)) = hint.split_once("did you mean ") {
        return Some(Remedy::Instead(quoted(meant)?));
    }
    if let Some((_, line)) = hint.split_once("set `") {
        return Some(Remedy::Set(line.split_once('`')?.0.to_owned()));
    }
    if let Some(values) = hint.strip_prefix("write ") {
        if values.starts_with('`') {
            return Some(Remedy::Instead(quoted(values)?));
        }
        let (_, values) = values.split_once(": ")?;
        return Some(Remedy::Instead(values.split_once(',')?.0.to_owned()));
    }
    if let Some((_, flag)) = hint.split_once("without --") {
        let flag = flag.split(' ').next()?;
        return Some(Remedy::Without(format!("--{flag}")));
    }
    // The command that shows more, if there is one, else a flag.
    let mut commands = hint.split('`').skip(1).step_by(2);
    if let Some(command) = commands.find(|quoted| quoted.starts_with("jig ")) {
        return Some(Remedy::Ask(command.to_owned()));
    }
    let flag = hint.find("--").map(|at| &hint[at..])?;
    let flag = flag.split([',', ';', '`']).next()?;
    Some(Remedy::With(flag.trim().to_owned()))
}

/// The first thing that a text quotes.
fn quoted(text: &str) -> Option<String> {
    Some(text.split('`').nth(1)?.to_owned())
}

fn is_limit(flag: &str) -> bool {
    [
        "--time",
        "--memory",
        "--processes",
        "--file-size",
        "--descriptors",
    ]
    .contains(&flag)
}

/// The configuration with what the message underlines replaced by a text, which may repeat the key before it.
fn edited(config: &str, message: &str, text: &str) -> String {
    let mut lines = message.lines();
    let place = lines.find_map(|line| line.split_once("--> jig.toml:"));
    let (_, place) = place.unwrap();
    let (line, column) = place.split_once(':').unwrap();
    let (line, column): (usize, usize) = (line.parse().unwrap(), column.parse().unwrap());
    let marks = lines.find(|line| line.contains('^')).unwrap();
    let length = marks.matches('^').count();
    let mut lines: Vec<String> = config.lines().map(ToOwned::to_owned).collect();
    let line = &mut lines[line - 1];
    let (mut start, mut end) = (column - 1, column - 1 + length);
    // The message can quote a part of what is underlined.
    let wrong = quoted(message).unwrap_or_default();
    if wrong.starts_with("{{")
        && let Some(at) = line[start..end].find(&wrong)
    {
        (start, end) = (start + at, start + at + wrong.len());
    }
    if let Some((key, _)) = text.split_once(" = ")
        && line[..start].ends_with(&format!("{key} = "))
    {
        start -= key.len() + " = ".len();
    }
    line.replace_range(start..end, text);
    lines.join("\n") + "\n"
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
const FLAGS: [&str; 3] = [
    "to allow it, run it with: ",
    "if that is meant, run it with ",
    "allow more with ",
];

/// The programs of a shell by which something is mended.
const SHELL: [&str; 4] = ["chmod ", "sed ", "mkdir ", "touch "];
