//! `jig setup`: the line that connects a client to `jig mcp`.
//!
//! It shows what it would write, and writes only with `--write`. What it adds is checked before: the new text
//! has to say what the old one said and the entry, and nothing else.

mod list;

use std::time::Duration;

use anyhow::anyhow;
use camino::{Utf8Path, Utf8PathBuf};
use jig_clients::AgentClient;
use jig_clients::entry::{ExistingEntry, ServerEntry, SettingsSyntaxError};
use jig_clients::settings_file::{CopyName, SettingsFile};
use jig_clients::way_to_server::{address, arguments, command};
use jig_project::{CommandEnvironment, locate, shell_word};
use jig_proto::hint;
use jig_proto::visible_lines;
use serde_json::{Value as Json, json};
use similar::TextDiff;

use crate::args::{GlobalArgs, SetupArgs};
use crate::diff;
use crate::exit::Done;
use crate::output::{BOLD, CliOutput, DIM, GREEN, YELLOW, indented};

pub(crate) fn run(
    args: &SetupArgs,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    let env = CommandEnvironment::of_this_process();
    let root = locate::root(global.workspace.as_deref())?;
    let Some(client) = args.client else {
        return list::run(&args.name, &root, &env, out);
    };
    let setup = ClientSetup::new(client, args, global, &root, &env)?;
    if client == AgentClient::ClaudeCode && args.global {
        return setup.by_command(args.write, out);
    }
    let file = match args.global {
        false => SettingsFile::of_project(&root, client.project_file(), &env)?,
        true => SettingsFile::of_user(&user_file(client, &env)?, &env)?,
    };
    let fault =
        |fault: SettingsSyntaxError| anyhow!("`{}`, {fault}: nothing was written", file.shown);
    let before = file.text.as_deref();
    let found = client.find(before.unwrap_or_default(), &setup.entry);
    let found = found.map_err(fault)?;
    let after = match found {
        ExistingEntry::Same => None,
        _ => {
            let text = client.edit(before.unwrap_or_default(), &setup.entry);
            Some(text.map_err(fault)?)
        }
    };
    if let (ExistingEntry::Other(_), true, false) = (&found, args.write, args.force) {
        let shown = &file.shown;
        let hint =
            hint!("see both without --write; replace it with --force, or take another --name");
        return Err(anyhow!(hint).context(format!(
            "`{shown}` has another entry `{}`: nothing was written",
            args.name
        )));
    }
    let change = SettingsChange {
        found: &found,
        before,
        after: after.as_deref(),
        file: &file,
    };
    let written = match &after {
        Some(after) if args.write => Some(file.write(after, CopyName::Numbered)?),
        _ => None,
    };
    setup.report(&change, written.as_ref(), out)?;
    Ok(Done::Ok)
}

/// What is to be connected with what.
struct ClientSetup {
    client: AgentClient,
    entry: ServerEntry,
    is_global: bool,
    is_http: bool,
    notes: Vec<String>,
}

/// What becomes of a file.
struct SettingsChange<'a> {
    found: &'a ExistingEntry,
    before: Option<&'a str>,
    /// `None` if nothing has to be changed.
    after: Option<&'a str>,
    file: &'a SettingsFile,
}

impl ClientSetup {
    fn new(
        client: AgentClient,
        args: &SetupArgs,
        global: &GlobalArgs,
        root: &Utf8Path,
        env: &CommandEnvironment,
    ) -> anyhow::Result<Self> {
        let mut notes = Vec::new();
        let (value, input) = match &args.http {
            Some(url) => {
                let url = address(url, &mut notes)?;
                client.reaches(&url, &args.name).ok_or_else(|| {
                    let hint = hint!("let Zed start jig itself: `jig setup zed`");
                    anyhow!(hint).context(
                        "Zed takes the token of a server from its settings only, as it is, and jig writes none there",
                    )
                })?
            }
            None => {
                let command = command(args.global, env, &mut notes)?;
                let args = arguments(
                    client,
                    args.global,
                    args.headless,
                    &global.selection(),
                    root,
                )?;
                (client.starts(&command, &args, env), None)
            }
        };
        Ok(Self {
            client,
            entry: ServerEntry {
                name: args.name.clone(),
                value,
                input,
            },
            is_global: args.global,
            is_http: args.http.is_some(),
            notes,
        })
    }

    /// Claude Code keeps more than settings in the file of the user, and writes it while it runs: only it can
    /// add to it without losing something.
    fn by_command(&self, write: bool, out: &mut CliOutput) -> anyhow::Result<Done> {
        let entry = &self.entry.value;
        let text = |value: &Json| value.as_str().unwrap_or_default().to_owned();
        let mut words: Vec<String> = ["claude", "mcp", "add", "--scope", "user"]
            .map(str::to_owned)
            .into();
        if self.is_http {
            let header = format!(
                "Authorization: {}",
                text(&entry["headers"]["Authorization"])
            );
            words.extend([
                "--transport".to_owned(),
                "http".to_owned(),
                self.entry.name.clone(),
            ]);
            words.extend([text(&entry["url"]), "--header".to_owned(), header]);
        } else {
            words.extend([
                self.entry.name.clone(),
                "--".to_owned(),
                text(&entry["command"]),
            ]);
            words.extend(entry["args"].as_array().into_iter().flatten().map(text));
        }
        let words: Vec<String> = words.iter().map(|word| shell_word(word)).collect();
        let command = words.join(" ");
        if write {
            let hint = hint!("run {command}");
            return Err(anyhow!(hint).context(
                "Claude Code keeps its own state in ~/.claude.json, and only it can change that safely: nothing was written",
            ));
        }
        if out.is_json() {
            out.json(&json!({
                "client": self.client.name(),
                "scope": "user",
                "command": command,
                "entry": entry,
                "written": false,
                "notes": self.notes,
            }))?;
            return Ok(Done::Ok);
        }
        let mut shown = format!(
            "{BOLD}Claude Code{BOLD:#} keeps its own state beside your servers, and adds to them itself. For all your \
             projects, run:\n\n    {}\n",
            visible_lines(&command)
        );
        for note in &self.notes {
            shown.push_str(&format!(
                "\n{YELLOW}note:{YELLOW:#} {}\n",
                visible_lines(note)
            ));
        }
        out.text(&shown)?;
        Ok(Done::Ok)
    }

    fn report(
        &self,
        change: &SettingsChange<'_>,
        written: Option<&Option<Utf8PathBuf>>,
        out: &mut CliOutput,
    ) -> anyhow::Result<()> {
        let shown = &change.file.shown;
        let next = match change.found {
            ExistingEntry::Same => Vec::new(),
            _ => self.client.next(self.is_http, shown),
        };
        let diff = change.after.map(|after| {
            let diff = TextDiff::configure()
                .timeout(PATIENCE)
                .diff_lines(change.before.unwrap_or_default(), after)
                .unified_diff()
                .header(&format!("a/{shown}"), &format!("b/{shown}"))
                .to_string();
            visible_lines(&diff)
        });
        if out.is_json() {
            let state = match change.found {
                _ if written.is_some() => "connected",
                ExistingEntry::Same => "connected",
                ExistingEntry::Missing => "missing",
                ExistingEntry::Other(_) => "different",
            };
            return out.json(&json!({
                "client": self.client.name(),
                "scope": if self.is_global { "user" } else { "project" },
                "file": shown,
                "exists": change.before.is_some(),
                "state": state,
                "entry": self.entry.value,
                "diff": diff,
                "written": written.is_some(),
                "backup": written.and_then(Option::as_ref),
                "notes": self.notes,
                "next": next,
            }));
        }
        let title = self.client.title();
        let name = &self.entry.name;
        let mut text = match change.found {
            ExistingEntry::Same => {
                format!("{GREEN}connected{GREEN:#}: {title} has the entry `{name}` in `{shown}`\n")
            }
            _ if written.is_some() => {
                format!("{GREEN}written{GREEN:#}: `{shown}` connects {title} to jig\n")
            }
            ExistingEntry::Missing if change.before.is_none() => {
                format!("{BOLD}{title}{BOLD:#} would be connected by a new file, `{shown}`:\n\n")
            }
            ExistingEntry::Missing => {
                format!("{BOLD}{title}{BOLD:#} would be connected by an entry in `{shown}`:\n\n")
            }
            ExistingEntry::Other(_) => format!(
                "{YELLOW}different{YELLOW:#}: `{shown}` has another entry `{name}`, which --write --force would replace:\n\n"
            ),
        };
        if written.is_none()
            && let Some(after) = change.after
        {
            match (&diff, change.before) {
                (Some(diff), Some(_)) => text.push_str(&diff::coloured(diff)),
                _ => text.push_str(&indented(&visible_lines(after), 4)),
            }
            text.push('\n');
        }
        if let Some(Some(backup)) = written {
            text.push_str(&format!(
                "{DIM}what was there is kept in `{backup}`{DIM:#}\n"
            ));
        }
        for note in &self.notes {
            text.push_str(&format!(
                "{YELLOW}note:{YELLOW:#} {}\n",
                visible_lines(note)
            ));
        }
        if written.is_none() && change.after.is_some() {
            let flags = match change.found {
                ExistingEntry::Other(_) => "--write --force",
                _ => "--write",
            };
            text.push_str(&format!(
                "Nothing was written yet: {flags} does it. Then:\n"
            ));
        }
        for step in next {
            text.push_str(&format!("  - {step}\n"));
        }
        out.text(&text)
    }
}

fn user_file(client: AgentClient, env: &CommandEnvironment) -> anyhow::Result<Utf8PathBuf> {
    client
        .user_file(env)
        .ok_or_else(|| anyhow!("there is no home folder, so there are no settings of a user"))
}

/// A diff of settings takes milliseconds; a hostile file does not get more than this.
const PATIENCE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests;
