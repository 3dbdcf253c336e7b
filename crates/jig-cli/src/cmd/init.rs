//! `jig init`: three questions, and a `jig.toml` to start from.

mod kind;
mod page;

use std::io::{self, IsTerminal as _, Write as _};

use anyhow::{Context, anyhow, bail};
use camino::Utf8Path;
use jig_policy::NetTarget;
use jig_project::{Environment, locate};
use jig_proto::hint;
use jig_proto::visible_lines;
use serde_json::json;

use self::kind::{Found, Kind};
use crate::args::{Changes, Global, InitArgs};
use crate::cmd::run::hosts;
use crate::exit::Done;
use crate::output::{BOLD, DIM, GREEN, Output};
use crate::prompt::Terminal;

/// What somebody wants, or the defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Answers {
    /// The toolchains that commands may use.
    presets: Vec<String>,
    changes: Changes,
    /// The hosts that commands may reach, as people write them.
    hosts: Vec<String>,
}

pub(crate) fn run(args: &InitArgs, global: &Global, out: &mut Output) -> anyhow::Result<Done> {
    let root = locate::root(global.workspace.as_deref())?;
    let found = kind::find(&root);
    let given = Given::of(args, &found)?;
    if args.print {
        let page = page::page(&found, &given.or_defaults(&found));
        out.raw(&page)?;
        return Ok(Done::Ok);
    }
    vacant(&root)?;
    let answers = match args.yes || given.is_complete() {
        true => given.or_defaults(&found),
        false => ask(&root, &found, &given)?,
    };
    write(&root, &page::page(&found, &answers))?;
    report(&root, &found, &answers, out)?;
    Ok(Done::Ok)
}

/// What the command line answers.
struct Given {
    presets: Option<Vec<String>>,
    changes: Option<Changes>,
    hosts: Option<Vec<String>>,
}

impl Given {
    fn of(args: &InitArgs, found: &[Found]) -> anyhow::Result<Self> {
        let given = |words: &[String]| (!words.is_empty()).then(|| words.join(" "));
        let presets = match given(&args.preset) {
            Some(text) => Some(read_presets(&text).map_err(|why| anyhow!("--preset: {why}"))?),
            None => None,
        };
        let chosen = presets.clone().unwrap_or_else(|| default_presets(found));
        let hosts = match given(&args.net) {
            Some(text) => Some(read_hosts(&text, &chosen).map_err(|why| anyhow!("--net: {why}"))?),
            None => None,
        };
        Ok(Self {
            presets,
            changes: args.changes,
            hosts,
        })
    }

    fn is_complete(&self) -> bool {
        self.presets.is_some() && self.changes.is_some() && self.hosts.is_some()
    }

    fn or_defaults(&self, found: &[Found]) -> Answers {
        let presets = self.presets.clone();
        Answers {
            presets: presets.unwrap_or_else(|| default_presets(found)),
            changes: self.changes.unwrap_or(Changes::Ask),
            hosts: self.hosts.clone().unwrap_or_default(),
        }
    }
}

fn default_presets(found: &[Found]) -> Vec<String> {
    let kinds = found.iter();
    kinds.map(|one| one.kind.preset().to_owned()).collect()
}

/// The names of presets. `none` is none of them.
fn read_presets(text: &str) -> Result<Vec<String>, String> {
    let mut presets = Vec::new();
    for name in words(text).filter(|name| *name != NONE) {
        if !PRESETS.contains(&name) {
            return Err(format!(
                "`{name}` is not a toolchain; there are {}, or {NONE}",
                PRESETS.join(", ")
            ));
        }
        if !presets.iter().any(|other| other == name) {
            presets.push(name.to_owned());
        }
    }
    Ok(presets)
}

/// Hosts as people write them. `registry` is those of the toolchains, `none` is none.
fn read_hosts(text: &str, presets: &[String]) -> Result<Vec<String>, String> {
    let mut hosts = Vec::new();
    for word in words(text).filter(|word| *word != NONE) {
        if word == REGISTRY {
            let registries = registries(presets);
            if registries.is_empty() {
                return Err("no toolchain was chosen, so there is no registry".to_owned());
            }
            hosts.extend(registries.into_iter().map(str::to_owned));
            continue;
        }
        let host = hosts::parse(word).map_err(|error| error.to_string())?;
        if host.path.is_some() {
            return Err(format!(
                "`{word}` has a path; write only the host: {}",
                host.host
            ));
        }
        NetTarget::parse(&format!("https://{}/", host.host)).map_err(|_| {
            format!("`{word}` is not a host; write HOST, HOST:PORT or SCHEME://HOST")
        })?;
        hosts.push(word.to_owned());
    }
    let mut seen = std::collections::HashSet::new();
    hosts.retain(|host| seen.insert(host.clone()));
    Ok(hosts)
}

fn registries(presets: &[String]) -> Vec<&'static str> {
    let kinds = presets.iter().filter_map(|name| Kind::of_preset(name));
    kinds.flat_map(Kind::registry).copied().collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split([',', ' ', '\t']);
    words.filter(|word| !word.is_empty())
}

/// Asks what the command line did not answer.
fn ask(root: &Utf8Path, found: &[Found], given: &Given) -> anyhow::Result<Answers> {
    let terminal = io::stdin()
        .is_terminal()
        .then(|| Terminal::open(false, true));
    let Some(mut terminal) = terminal.flatten() else {
        let defaults = given.or_defaults(found);
        let presets = match defaults.presets.is_empty() {
            true => NONE.to_owned(),
            false => defaults.presets.join(","),
        };
        let hint = hint!(
            "`jig init --yes` takes the defaults (--preset {presets} --changes ask --net none); with all three \
             options nothing is asked"
        );
        return Err(anyhow!(hint).context("there is no terminal to ask on"));
    };
    terminal.show(&format!(
        "Three questions, then jig writes {BOLD}{}{BOLD:#}. Enter takes the default.\n",
        root.join(FILE)
    ));
    let presets = match &given.presets {
        Some(presets) => presets.clone(),
        None => ask_presets(&mut terminal, found)?,
    };
    let changes = match given.changes {
        Some(changes) => changes,
        None => ask_changes(&mut terminal)?,
    };
    let hosts = match &given.hosts {
        Some(hosts) => hosts.clone(),
        None => ask_hosts(&mut terminal, &presets)?,
    };
    Ok(Answers {
        presets,
        changes,
        hosts,
    })
}

fn ask_presets(terminal: &mut Terminal, found: &[Found]) -> anyhow::Result<Vec<String>> {
    let default = default_presets(found);
    let seen: Vec<String> = found
        .iter()
        .map(|one| format!("{} ({} is here)", one.kind.preset(), one.file))
        .collect();
    let enter = match seen.is_empty() {
        true => NONE.to_owned(),
        false => seen.join(", "),
    };
    let head = format!(
        "\n{BOLD}1. Which toolchains may commands use?{BOLD:#}\n   Enter: {enter}. Others: {}, or {NONE}.\n",
        PRESETS.join(", ")
    );
    until_read(terminal, &head, |text| match text {
        "" => Ok(default.clone()),
        text => read_presets(text),
    })
}

fn ask_changes(terminal: &mut Terminal) -> anyhow::Result<Changes> {
    let head = format!(
        "\n{BOLD}2. May agents change files here?{BOLD:#}\n   Enter: [a]sk you each time. Others: [y]es without \
         asking, [n]ever.\n"
    );
    until_read(terminal, &head, |text| match text.to_lowercase().as_str() {
        "" | "a" | "ask" => Ok(Changes::Ask),
        "y" | "yes" | "allow" => Ok(Changes::Allow),
        "n" | "no" | "never" => Ok(Changes::Never),
        _ => Err("type a, y or n".to_owned()),
    })
}

fn ask_hosts(terminal: &mut Terminal, presets: &[String]) -> anyhow::Result<Vec<String>> {
    let registries = registries(presets);
    let registry = match registries.is_empty() {
        true => String::new(),
        false => format!(", or `{REGISTRY}` for {}", registries.join(", ")),
    };
    let head = format!(
        "\n{BOLD}3. Which hosts may commands reach?{BOLD:#}\n   Enter: {NONE}. Others: names such as \
         api.example.com{registry}.\n"
    );
    until_read(terminal, &head, |text| read_hosts(text, presets))
}

/// Asks until the answer is understood.
fn until_read<T>(
    terminal: &mut Terminal,
    head: &str,
    read: impl Fn(&str) -> Result<T, String>,
) -> anyhow::Result<T> {
    let mut head = head.to_owned();
    loop {
        let Some(line) = terminal.line(&format!("{head}{DIM}>{DIM:#} ")) else {
            bail!("there was no answer: nothing was written");
        };
        match read(line.trim()) {
            Ok(answer) => return Ok(answer),
            Err(why) => head = format!("   {}\n", visible_lines(&why)),
        }
    }
}

/// An error if the workspace has a configuration already.
#[expect(
    clippy::disallowed_methods,
    reason = "a person has this folder looked at, before anything runs"
)]
fn vacant(root: &Utf8Path) -> anyhow::Result<()> {
    for file in [FILE, ".jig/config.toml"] {
        let path = root.join(file);
        if path.symlink_metadata().is_ok() {
            return Err(taken(&path));
        }
    }
    Ok(())
}

fn taken(path: &Utf8Path) -> anyhow::Error {
    let hint = hint!(
        "`jig config check` says whether it is right, `jig init --print` shows what a new one would be; a \
                folder below gets one of its own by `jig -C FOLDER init`"
    );
    anyhow!(hint).context(format!("`{path}` is there already: nothing was written"))
}

/// Writes a file that does not exist.
#[expect(
    clippy::disallowed_types,
    reason = "a person has this file written, before anything runs"
)]
fn write(root: &Utf8Path, text: &str) -> anyhow::Result<()> {
    let path = root.join(FILE);
    // Whatever has come there since it was looked for, also a link, is not written to.
    let file = std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path);
    let mut file = match file {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(taken(&path)),
        file => file.with_context(|| format!("cannot write `{path}`"))?,
    };
    file.write_all(text.as_bytes())
        .with_context(|| format!("cannot write `{path}`"))
}

/// Says what was written, and what to do next.
fn report(
    root: &Utf8Path,
    found: &[Found],
    answers: &Answers,
    out: &mut Output,
) -> anyhow::Result<()> {
    let tools = page::names(found);
    let call = match tools.first() {
        Some((name, _)) => format!("jig call {name}"),
        None => "jig call word_count path=jig.toml".to_owned(),
    };
    let setup = match client(root) {
        Some(client) => format!("jig setup {client} --write"),
        None => "jig setup".to_owned(),
    };
    let names: Vec<&str> = match tools.is_empty() {
        true => vec!["word_count"],
        false => tools.iter().map(|(name, _)| name.as_str()).collect(),
    };
    let path = root.join(FILE);
    if out.is_json() {
        return out.json(&json!({
            "path": path,
            "tools": names,
            "presets": answers.presets,
            "changes": changes_word(answers.changes),
            "hosts": answers.hosts,
            "next": [call, setup],
        }));
    }
    let list = |words: &[String]| match words.is_empty() {
        true => NONE.to_owned(),
        false => words.join(", "),
    };
    let tools = if names.len() == 1 { "tool" } else { "tools" };
    let names = names.join("`, `");
    let width = call.len().max(setup.len()) + 2;
    out.text(&format!(
        "{GREEN}wrote{GREEN:#} {path}: the {tools} `{names}`; toolchains: {}; changes: {}; hosts: {}\n\
         next:\n  {BOLD}{call:width$}{BOLD:#}{DIM}run it, confined{DIM:#}\n  \
         {BOLD}{setup:width$}{BOLD:#}{DIM}connect an agent{DIM:#}\n",
        list(&answers.presets),
        changes_word(answers.changes),
        list(&answers.hosts),
    ))
}

fn changes_word(changes: Changes) -> &'static str {
    match changes {
        Changes::Ask => "ask",
        Changes::Allow => "allow",
        Changes::Never => "never",
    }
}

/// The agent that somebody seems to use.
#[expect(
    clippy::disallowed_methods,
    reason = "a person has their own settings looked for, before anything runs"
)]
fn client(root: &Utf8Path) -> Option<&'static str> {
    let home = Environment::of_this_process().path("HOME")?;
    let known = [
        ("claude-code", home.join(".claude")),
        ("codex", home.join(".codex")),
        ("cursor", home.join(".cursor")),
        ("zed", home.join(".config/zed")),
        ("vscode", root.join(".vscode")),
    ];
    let found = known.into_iter().find(|(_, folder)| folder.is_dir());
    found.map(|(client, _)| client)
}

/// The file that is written.
const FILE: &str = "jig.toml";

/// The toolchains that there are.
const PRESETS: [&str; 5] = ["rust", "node", "python", "go", "git"];

/// The answer that names nothing.
const NONE: &str = "none";

/// The answer that names the hosts of the chosen toolchains.
const REGISTRY: &str = "registry";
