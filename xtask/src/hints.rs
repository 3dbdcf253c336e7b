//! Every hint that the tests saw, and whether one of them followed it.
//!
//! Debug builds of jig record each hint where it is made (`jig_proto::hint!`), each rule and each flag that
//! they offer, in `target/hints.jsonl`. A test that does what a hint says records that too. Afterwards:
//!
//! - a hint of the source that no test followed fails, unless [`EXCEPTIONS`] says why none can;
//! - a rule that is offered loads, and names no single path where a preset stands for it;
//! - a flag that is offered is accepted by `jig run`, and was not given already.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "the record and the sources are files, and the person who runs the tests is told of them"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value as Json;

use crate::{foreign_programs, root};

/// Begins a new record.
pub(crate) fn start() -> Result<(), String> {
    let record = record();
    let made = fs::create_dir_all(root().join("target")).and_then(|()| fs::write(&record, ""));
    // Tests run as other users too.
    #[cfg(unix)]
    let made = made.and_then(|()| {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&record, fs::Permissions::from_mode(0o666))
    });
    made.map_err(|error| format!("{}: {error}", record.display()))
}

/// Ends the record if there is one, and looks at what is in the last.
pub(crate) fn check() -> Result<(), String> {
    let kept = record().with_extension("last.jsonl");
    // Without one, the last is looked at again.
    let _ = fs::rename(record(), &kept);
    let text = fs::read_to_string(&kept).map_err(|error| error.to_string())?;
    let seen = HintRecord::read(&text)?;
    let mut problems = seen.unfollowed(&in_source()?);
    problems.extend(seen.bad_rules()?);
    problems.extend(seen.bad_flags());
    eprintln!(
        "+ hints: {} seen, {} followed; {} rules and {} lists of flags offered",
        seen.hints.len(),
        seen.followed.len(),
        seen.rules.len(),
        seen.flags.len()
    );
    match problems.is_empty() {
        true => Ok(()),
        false => Err(format!(
            "{}\nall of them: {}",
            problems.join("\n"),
            kept.display()
        )),
    }
}

/// What a record holds.
struct HintRecord {
    /// By their templates, each with one of its texts.
    hints: BTreeMap<String, String>,
    followed: BTreeSet<String>,
    /// Each with the place where it is made.
    rules: BTreeMap<String, String>,
    flags: Vec<Json>,
}

impl HintRecord {
    fn read(text: &str) -> Result<Self, String> {
        let mut seen = Self {
            hints: BTreeMap::new(),
            followed: BTreeSet::new(),
            rules: BTreeMap::new(),
            flags: Vec::new(),
        };
        for line in text.lines() {
            let line: Json = serde_json::from_str(line)
                .map_err(|error| format!("a line of the record is broken: {error}: {line}"))?;
            let text = |key: &str| line[key].as_str().map(ToOwned::to_owned);
            if let Some(template) = text("template") {
                let text = text("text").unwrap_or_default();
                seen.hints.insert(template, text);
            } else if let Some(template) = text("followed") {
                seen.followed.insert(template);
            } else if let Some(rule) = text("rule") {
                let place = format!("{}:{}", line["file"], line["line"]);
                seen.rules.insert(rule, place);
            } else {
                seen.flags.push(line);
            }
        }
        Ok(seen)
    }

    fn unfollowed(&self, source: &BTreeMap<String, String>) -> Vec<String> {
        let excepted: BTreeSet<&str> = EXCEPTIONS
            .iter()
            .flat_map(|(_, all)| *all)
            .copied()
            .collect();
        let mut problems = Vec::new();
        for (template, place) in source {
            if self.followed.contains(template) || excepted.contains(template.as_str()) {
                continue;
            }
            let seen = match self.hints.get(template) {
                Some(text) => format!("tests saw it: {text}"),
                None => "no test sees it".to_owned(),
            };
            problems.push(format!(
                "no test follows the hint at {place}\n  {seen}\n  add a row to crates/jig-cli/tests/follow, or call \
                 `follow` in a test that does what it says: {template:?}"
            ));
        }
        for template in excepted {
            if self.followed.contains(template) || !source.contains_key(template) {
                problems.push(format!(
                    "it is followed or gone, and is no exception: {template:?}"
                ));
            }
        }
        for template in self
            .followed
            .iter()
            .filter(|one| !source.contains_key(*one))
        {
            problems.push(format!("a test follows what no source says: {template:?}"));
        }
        problems
    }

    /// Each rule is added to the configuration of a workspace, as the message says, and loads.
    fn bad_rules(&self) -> Result<Vec<String>, String> {
        let mut problems = Vec::new();
        let rules: Vec<(&String, &String)> = self.rules.iter().collect();
        for (rule, place) in &rules {
            for path in rule.split('"').skip(1).step_by(2) {
                if OF_PRESETS
                    .iter()
                    .any(|of_preset| path.starts_with(of_preset))
                {
                    problems.push(format!(
                        "{place} offers a path, and a preset stands for it:\n{rule}"
                    ));
                }
            }
        }
        for some in rules.chunks(AT_ONCE) {
            let together = some
                .iter()
                .enumerate()
                .map(|(number, (rule, _))| declared(rule, Some(number)));
            if config_check(&together.collect::<String>())?
                .status
                .success()
            {
                continue;
            }
            for (rule, place) in some {
                let config = declared(rule, None);
                let checked = config_check(&config)?;
                if !checked.status.success() {
                    let mut problem =
                        format!("{place} offers a rule that does not load:\n{config}\n");
                    let _ = write!(problem, "{}", String::from_utf8_lossy(&checked.stderr));
                    problems.push(problem);
                }
            }
        }
        Ok(problems)
    }

    fn bad_flags(&self) -> Vec<String> {
        let mut problems = Vec::new();
        for offer in &self.flags {
            if offer["accepted"] != true {
                problems.push(format!(
                    "`jig run` does not accept what was offered: {offer}"
                ));
            }
            let words = |key: &str| {
                let words = offer[key].as_array().map(Vec::as_slice).unwrap_or_default();
                words.iter().filter_map(Json::as_str).collect::<Vec<&str>>()
            };
            let given = words("given").join(" ");
            for flag in words("flags") {
                if format!("{given} ").contains(&format!(" {flag} ")) {
                    problems.push(format!("{flag} was given, and is offered again: {given}"));
                }
                let path = flag.split_once(' ').map_or("", |(_, path)| path);
                if OF_PRESETS
                    .iter()
                    .any(|of_preset| path.starts_with(of_preset))
                {
                    problems.push(format!(
                        "{flag} is offered, and a preset stands for it: {given}"
                    ));
                }
            }
        }
        problems
    }
}

/// What `jig config check` says of a configuration.
fn config_check(config: &str) -> Result<std::process::Output, String> {
    let beside = foreign_programs::target().join("tmp/hints");
    let (folder, home) = (beside.join("workspace"), beside.join("home"));
    let made = fs::create_dir_all(&folder).and_then(|()| fs::create_dir_all(&home));
    made.and_then(|()| fs::write(folder.join("jig.toml"), config))
        .map_err(|error| error.to_string())?;
    let checked = Command::new(foreign_programs::target().join("debug/jig"))
        .args(["config", "check"])
        .current_dir(&folder)
        .env("HOME", &home)
        .output();
    checked.map_err(|error| error.to_string())
}

/// A rule, below the tool or the server to which it is added. With a number they get a name that no other has.
fn declared(rule: &str, number: Option<usize>) -> String {
    let (mut heads, mut lines) = (BTreeSet::new(), String::new());
    for line in rule.lines() {
        let header = line.trim_start_matches('[');
        let brackets = &line[..line.len() - header.len()];
        let parts = [".access", ".sandbox"];
        let found = parts
            .iter()
            .find_map(|part| header.find(part))
            .filter(|_| !brackets.is_empty());
        let Some(end) = found else {
            let _ = writeln!(lines, "{line}");
            continue;
        };
        let (table, rest) = header.split_at(end);
        let kind = if table.starts_with("tools.") {
            "tools"
        } else {
            "mcp.servers"
        };
        let table = number.map_or(table.to_owned(), |number| format!("{kind}.r{number}"));
        let _ = writeln!(lines, "{brackets}{table}{rest}");
        let source = if kind == "tools" {
            "source = \"local\"\n"
        } else {
            ""
        };
        heads.insert(format!("[{table}]\n{source}command = \"true\"\n"));
    }
    heads.into_iter().collect::<String>() + &lines + "\n"
}

/// The templates of `hint!` in the source of all crates, each with its place.
fn in_source() -> Result<BTreeMap<String, String>, String> {
    let mut hints = BTreeMap::new();
    for folder in ["crates", "tools"] {
        for entry in entries(&root().join(folder))? {
            // Its programs speak only to tests.
            if !entry.ends_with("jig-testkit") && entry.join("src").is_dir() {
                collect(&entry.join("src"), &mut hints)?;
            }
        }
    }
    Ok(hints)
}

fn collect(path: &Path, hints: &mut BTreeMap<String, String>) -> Result<(), String> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if name == "tests" || name == "tests.rs" {
        return Ok(());
    }
    if path.is_dir() {
        for entry in entries(path)? {
            collect(&entry, hints)?;
        }
        return Ok(());
    }
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let shown = path
        .strip_prefix(root())
        .unwrap_or(path)
        .display()
        .to_string();
    for (number, line) in text.lines().enumerate() {
        let said = ["\"hint: ", "\\nhint: "]
            .iter()
            .filter_map(|mark| line.split_once(mark));
        let is_made = said
            .map(|(_, after)| after)
            .any(|after| after.starts_with(char::is_alphanumeric));
        if is_made && !line.trim_start().starts_with("//") {
            return Err(format!("{shown}:{}: a hint is made by `hint!`", number + 1));
        }
    }
    // What is not made by the macro is in no record.
    if text.contains("Hint::made(") && !path.ends_with("jig-proto/src/hints.rs") {
        return Err(format!("{shown}: a hint is made by `hint!`"));
    }
    for (at, call) in text.match_indices("hint!(") {
        let line = text[..at].matches('\n').count();
        let is_comment = text
            .lines()
            .nth(line)
            .unwrap_or_default()
            .trim_start()
            .starts_with("//");
        if is_comment {
            continue;
        }
        let rest = text[at + call.len()..].trim_start();
        let template = rest.strip_prefix('"').and_then(literal);
        let template =
            template.ok_or_else(|| format!("{shown}:{}: `hint!` without a literal", line + 1))?;
        hints.insert(template, format!("{shown}:{}", line + 1));
    }
    Ok(())
}

/// The literal that ends somewhere in the text, as the program has it.
fn literal(text: &str) -> Option<String> {
    let mut literal = String::new();
    let mut characters = text.chars().peekable();
    loop {
        match characters.next()? {
            '"' => return Some(literal),
            '\\' => match characters.next()? {
                'n' => literal.push('\n'),
                // It goes on in the next line.
                '\n' => while characters.next_if(|next| next.is_whitespace()).is_some() {},
                escaped => literal.push(escaped),
            },
            character => literal.push(character),
        }
    }
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let listed = fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut entries: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
    entries.retain(|path| path.is_dir() || path.extension().is_some_and(|end| end == "rs"));
    Ok(entries)
}

/// Where `jig_proto::hint!` looks for it.
fn record() -> PathBuf {
    root().join("target/hints.jsonl")
}

/// How many rules are checked in one configuration: a run for each of a thousand would take a minute.
const AT_ONCE: usize = 100;

/// What of the user's home a preset shows.
const OF_PRESETS: &[&str] = &[
    "~/.cargo/bin",
    "~/.cargo/git",
    "~/.cargo/registry",
    "~/.rustup",
    "~/.nvm",
    "~/.pyenv",
    "~/go/pkg",
    "~/.npm/",
];

/// The hints that no test follows, by the reason.
const EXCEPTIONS: &[(&str, &[&str])] = &[
    (
        "it takes another build or another version of jig",
        &[
            "`jig abort --all` ends it and what it runs; then this jig can start its own",
            "build jig with its default features",
            "install it with the feature `wasm-tools`, which is there by default",
        ],
    ),
    (
        "it refuses on purpose, and offers nothing",
        &[
            "it is a file of jig's own, which no tool is shown",
            "its name is no text, so that no rule can name it",
            "not everybody on this machine may read it, so no rule is offered",
        ],
    ),
    (
        "it takes a browser that hides the name of its host",
        &[
            "turn ECH off: Chromium by `--disable-features=EncryptedClientHello`, Firefox by `security.tls.ech.grease_probability = 0` and `network.dns.echconfig.enabled = false`",
        ],
    ),
    (
        "it takes the registry of npm",
        &[
            "if npx has to download `{}`, write `command = [\"npx\", \"-y\", …]`: then jig downloads it before, and starts it offline, without a rule for the registry",
        ],
    ),
    (
        "two things have to happen at one moment, and the same call is right the next time",
        &[
            "fetch `{id}` later; nothing more can be done to it",
            "install `{interpreter}`, or name another program in the first line of the script",
            "it goes on as long as this process does; a later call may find it ready",
            "read it again",
            "read it again, and repeat the change if it still fits",
            "try again in a moment",
        ],
    ),
    (
        "the configuration or jig itself refuses it before: only who embeds jig can meet it",
        &[
            "correct the rule, or remove it",
            "list every variable by its exact name",
            "set `input = \"argv\"` or `input = \"file\"` for the tool",
            "write a host name or an address",
            "write the exact name, or a prefix that ends in one `*`, such as `AWS_*`",
            "write the rules by hand; `jig run` says what a command is refused",
        ],
    ),
    (
        "the call is held before, by a hint that is followed: it takes an acceptance that is withdrawn at that moment",
        &["see what it may do and accept it with `jig servers accept {}`"],
    ),
];
