//! `jig init`: three questions, and a `jig.toml` to start from.

use std::io::{self, IsTerminal as _};

use anyhow::{anyhow, bail};
use camino::Utf8Path;
use jig_project::first_config::{
    self, Answers, Changes, DetectedLanguage, FILE, NONE, PRESETS, REGISTRY, default_presets,
    read_hosts, read_presets, registries,
};
use jig_project::{CommandEnvironment, accepted, locate};
use jig_proto::hint;
use jig_proto::visible_lines;
use serde_json::json;

use crate::args::{GlobalArgs, InitArgs};
use crate::exit::Done;
use crate::output::{BOLD, CliOutput, DIM, GREEN};
use crate::prompt::PromptTerminal;

pub(crate) fn run(
    args: &InitArgs,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    let root = locate::root(global.workspace.as_deref())?;
    let found = first_config::find(&root);
    let given = InitAnswers::of(args, &found)?;
    if args.print {
        let page = first_config::page(&found, &given.or_defaults(&found));
        out.raw(&page)?;
        return Ok(Done::Ok);
    }
    first_config::vacant(&root)?;
    let answers = match args.yes || given.is_complete() {
        true => given.or_defaults(&found),
        false => ask(&root, &found, &given)?,
    };
    let page = first_config::page(&found, &answers);
    accepted::accept_written(&global.selection(), &root, &root.join(FILE), &page)?;
    first_config::write(&root, &page)?;
    report(&root, &found, &answers, out)?;
    Ok(Done::Ok)
}

/// What the command line answers.
struct InitAnswers {
    presets: Option<Vec<String>>,
    changes: Option<Changes>,
    hosts: Option<Vec<String>>,
}

impl InitAnswers {
    fn of(args: &InitArgs, found: &[DetectedLanguage]) -> anyhow::Result<Self> {
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
            changes: args.changes.map(Changes::from),
            hosts,
        })
    }

    fn is_complete(&self) -> bool {
        self.presets.is_some() && self.changes.is_some() && self.hosts.is_some()
    }

    fn or_defaults(&self, found: &[DetectedLanguage]) -> Answers {
        let presets = self.presets.clone();
        Answers {
            presets: presets.unwrap_or_else(|| default_presets(found)),
            changes: self.changes.unwrap_or(Changes::Ask),
            hosts: self.hosts.clone().unwrap_or_default(),
        }
    }
}

/// Asks what the command line did not answer.
fn ask(
    root: &Utf8Path,
    found: &[DetectedLanguage],
    given: &InitAnswers,
) -> anyhow::Result<Answers> {
    let terminal = io::stdin()
        .is_terminal()
        .then(|| PromptTerminal::open(false, true));
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

fn ask_presets(
    terminal: &mut PromptTerminal,
    found: &[DetectedLanguage],
) -> anyhow::Result<Vec<String>> {
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

fn ask_changes(terminal: &mut PromptTerminal) -> anyhow::Result<Changes> {
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

fn ask_hosts(terminal: &mut PromptTerminal, presets: &[String]) -> anyhow::Result<Vec<String>> {
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
    terminal: &mut PromptTerminal,
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

/// Says what was written, and what to do next.
fn report(
    root: &Utf8Path,
    found: &[DetectedLanguage],
    answers: &Answers,
    out: &mut CliOutput,
) -> anyhow::Result<()> {
    let tools = first_config::tool_names(found);
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
            "changes": answers.changes.name(),
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
        answers.changes.name(),
        list(&answers.hosts),
    ))
}

/// The agent that somebody seems to use.
#[expect(
    clippy::disallowed_methods,
    reason = "a person has their own settings looked for, before anything runs"
)]
fn client(root: &Utf8Path) -> Option<&'static str> {
    let home = CommandEnvironment::of_this_process().path("HOME")?;
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
