//! What an import comes to, as text and as JSON.

use std::time::Duration;

use camino::Utf8PathBuf;
use jig_clients::import::ImportFrom;
use jig_clients::import::change::{Change, ImportTarget};
use jig_clients::import::conversion::{AccessEvidence, ImportItem, ImportOutcome, ImportedAccess};
use jig_clients::import::declared::{ClientFileScope, SourceFile};
use jig_clients::import::imported_server::EntryReach;
use jig_clients::import::secret::SecretVariables;
use jig_proto::{ProjectPath, visible_line, visible_lines, visible_words};
use serde_json::{Value as Json, json};
use similar::TextDiff;

use crate::diff;
use crate::output::{BOLD, CliOutput, DIM, GREEN, YELLOW, indented};

/// What an import comes to.
pub(super) struct ImportReport<'a> {
    pub(super) client: ImportFrom,
    pub(super) files: &'a [SourceFile],
    pub(super) items: &'a [ImportItem],
    pub(super) secrets: &'a SecretVariables,
    pub(super) target: &'a ImportTarget,
    pub(super) change: Option<&'a Change>,
    pub(super) is_global: bool,
    pub(super) written: Option<ImportResult>,
}

/// What was written.
pub(super) struct ImportResult {
    pub(super) backup: Option<Utf8PathBuf>,
    /// Directories that were made.
    pub(super) made: Vec<ProjectPath>,
    /// The servers that may be started in this workspace now, or why none may.
    pub(super) accepted: Result<Vec<String>, String>,
}

impl ImportReport<'_> {
    pub(super) fn print(&self, out: &mut CliOutput) -> anyhow::Result<()> {
        if out.is_json() {
            return out.json(&self.json());
        }
        if let Some(change) = self.change {
            out.warnings(&change.warnings);
        }
        out.text(&self.text())
    }

    fn diff(&self) -> Option<String> {
        let shown = &self.target.file.shown;
        let before = self.target.file.text.as_deref().unwrap_or_default();
        let diff = TextDiff::configure()
            .timeout(PATIENCE)
            .diff_lines(before, &self.change?.after)
            .unified_diff()
            .header(&format!("a/{shown}"), &format!("b/{shown}"))
            .to_string();
        Some(visible_lines(&diff))
    }

    fn text(&self) -> String {
        let title = self.client.client().title();
        let files: Vec<String> = self
            .files
            .iter()
            .filter(|file| !file.servers.is_empty())
            .map(|file| format!("`{}`", file.shown))
            .collect();
        let mut text = format!(
            "{BOLD}{title}{BOLD:#}: servers in {}\n",
            visible_line(&files.join(", "))
        );
        for item in self.items {
            text.push_str(&self.entry(item));
        }
        text.push('\n');
        if self.written.is_none()
            && let Some(diff) = self.diff()
        {
            text.push_str(&diff::coloured(&diff));
            text.push('\n');
        }
        text.push_str(&self.exports());
        text.push_str(&self.outcome());
        text
    }

    /// The variables that a person has to set.
    fn exports(&self) -> String {
        let mut lines = String::new();
        for (server, export) in self.all_exports() {
            let line = format!("{}  {} of `{server}`", export.variable, export.from);
            lines.push_str(&format!("  {}\n", visible_line(&line)));
        }
        match lines.as_str() {
            "" => lines,
            _ => format!(
                "{YELLOW}note:{YELLOW:#} set these variables before jig starts the servers; their values were not copied:\n{lines}"
            ),
        }
    }

    fn all_exports(&self) -> impl Iterator<Item = (&str, &jig_clients::import::secret::Export)> {
        self.items.iter().flat_map(|item| {
            let imported = match &item.fate {
                ImportOutcome::New(imported, _) => Some(imported),
                _ => None,
            };
            imported.into_iter().flat_map(|imported| {
                imported
                    .exports
                    .iter()
                    .map(|export| (imported.name.as_str(), export))
            })
        })
    }

    fn outcome(&self) -> String {
        let shown = visible_line(self.target.file.shown.as_str());
        let count = self.added().count();
        let noun = if count == 1 { "server" } else { "servers" };
        let mut text = String::new();
        let is_personal = self
            .added()
            .any(|(imported, _)| imported.scope == ClientFileScope::User);
        if is_personal && !self.is_global && self.change.is_some() {
            text.push_str(&format!(
                "{YELLOW}note:{YELLOW:#} some of these are from your own settings, and `{shown}` is for everybody who \
                 works here: --global puts them into yours\n"
            ));
        }
        let Some(written) = &self.written else {
            text.push_str(&match (self.change, self.is_global) {
                (None, _) => format!("Nothing is to be added to `{shown}`.\n"),
                (Some(_), true) => "Nothing was written yet: --write does it.\n".to_owned(),
                (Some(_), false) => {
                    "Nothing was written yet: --write does it, and accepts these servers in this workspace.\n".to_owned()
                }
            });
            return text;
        };
        text.push_str(&format!(
            "{GREEN}written{GREEN:#}: `{shown}` has {count} {noun} more\n"
        ));
        if let Some(backup) = &written.backup {
            let backup = visible_line(backup.as_str());
            text.push_str(&format!(
                "{DIM}what was there is kept in `{backup}`{DIM:#}\n"
            ));
        }
        for path in &written.made {
            text.push_str(&visible_lines(&format!("made the directory `{path}`\n")));
        }
        match &written.accepted {
            Err(why) => text.push_str(&format!(
                "{YELLOW}note:{YELLOW:#} they were not accepted: {}; `jig servers accept NAME` does it\n",
                visible_lines(why)
            )),
            Ok(names) if names.is_empty() => {}
            Ok(names) => text.push_str(&format!("accepted in this workspace: {}\n", names.join(", "))),
        }
        let title = self.client.client().title();
        text.push_str(&format!(
            "Then:\n  - See them: jig servers\n  - {title} still starts them itself: remove them there, and connect it to jig: jig setup\n"
        ));
        text
    }

    fn added(
        &self,
    ) -> impl Iterator<
        Item = (
            &jig_clients::import::imported_server::ImportedServer,
            &ImportedAccess,
        ),
    > {
        self.items.iter().filter_map(|item| match &item.fate {
            ImportOutcome::New(imported, access) => Some((&**imported, access)),
            _ => None,
        })
    }

    /// What is said about a server.
    fn entry(&self, item: &ImportItem) -> String {
        let original = visible_line(&jig_clients::import::imported_server::short(&item.original));
        let mut text = String::new();
        let mut notes: Vec<String> = Vec::new();
        match &item.fate {
            ImportOutcome::Left(why) => {
                let from = visible_line(&item.from);
                let why = visible_words(why);
                return format!(
                    "  {BOLD}{original}{BOLD:#} {DIM}({from}){DIM:#} is not taken over: {why}\n"
                );
            }
            ImportOutcome::Present(name) => {
                return format!("  {BOLD}{name}{BOLD:#} is there already\n");
            }
            ImportOutcome::New(imported, access) => {
                let name = &imported.name;
                let from = visible_line(&item.from);
                let how = match &access.how {
                    AccessEvidence::Remote => {
                        "reached at its address, with no access of its own".to_owned()
                    }
                    AccessEvidence::Learned(1) => {
                        "was run: these rules are enough for its start and its list of one tool"
                            .to_owned()
                    }
                    AccessEvidence::Learned(count) => {
                        format!(
                            "was run: these rules are enough for its start and its list of {count} tools"
                        )
                    }
                    AccessEvidence::Guessed(why, _) => format!("has rules that are a guess: {why}"),
                };
                text.push_str(&format!(
                    "  {BOLD}{name}{BOLD:#} {DIM}({from}){DIM:#} {}\n",
                    visible_words(&how)
                ));
                if *name != imported.original {
                    notes.push(format!("it is called `{original}` there"));
                }
                if !imported.enable {
                    notes.push("it is switched off, as it is there".to_owned());
                }
                notes.extend(imported.notes.iter().cloned());
                notes.extend(
                    access
                        .withheld
                        .iter()
                        .map(|what| format!("not proposed: {what}")),
                );
                if let AccessEvidence::Guessed(_, tail) = &access.how
                    && !tail.is_empty()
                {
                    // It was given the secrets, and may have repeated them.
                    let tail = self.secrets.scrubbed(tail);
                    notes.push(format!("the end of what it said:\n{tail}"));
                }
                if matches!(imported.reach, EntryReach::Program { .. }) && !access.make.is_empty() {
                    let names: Vec<String> = access.make.iter().map(ToString::to_string).collect();
                    notes.push(format!("it needs these directories: {}", names.join(", ")));
                }
            }
        }
        for note in notes {
            let note = indented(&visible_lines(&note), 6);
            text.push_str(&format!("    {DIM}-{DIM:#} {}\n", note.trim()));
        }
        text
    }

    fn json(&self) -> Json {
        let servers: Vec<Json> = self.items.iter().map(|item| self.item(item)).collect();
        let exports = self.all_exports().map(|(server, export)| {
            json!({ "variable": export.variable, "server": server, "from": export.from })
        });
        let warnings = self.change.map(|change| {
            let warnings = change.warnings.iter();
            warnings
                .map(|warning| warning.message().to_owned())
                .collect::<Vec<String>>()
        });
        let written = self.written.as_ref();
        json!({
            "client": self.client.name(),
            "files": self.files.iter().map(|file| file.shown.as_str()).collect::<Vec<&str>>(),
            "target": self.target.file.shown,
            "servers": servers,
            "exports": exports.collect::<Vec<Json>>(),
            "diff": self.diff(),
            "warnings": warnings.unwrap_or_default(),
            "written": written.is_some(),
            "backup": written.and_then(|written| written.backup.as_ref()),
            "made": written.map(|written| written.made.iter().map(ToString::to_string).collect::<Vec<_>>()),
            "accepted": written.and_then(|written| written.accepted.as_ref().ok()),
            "not_accepted": written.and_then(|written| written.accepted.as_ref().err()),
        })
    }

    fn item(&self, item: &ImportItem) -> Json {
        let mut value = json!({ "original": item.original, "from": item.from });
        match &item.fate {
            ImportOutcome::Left(why) => {
                value["state"] = json!("left");
                value["why"] = json!(why);
            }
            ImportOutcome::Present(name) => {
                value["state"] = json!("present");
                value["name"] = json!(name);
            }
            ImportOutcome::New(imported, access) => {
                value["state"] = json!("new");
                value["name"] = json!(imported.name);
                value["enable"] = json!(imported.enable);
                value["notes"] = json!(imported.notes);
                value["withheld"] = json!(access.withheld);
                let (how, why, tools, tail) = match &access.how {
                    AccessEvidence::Remote => ("none", None, None, None),
                    AccessEvidence::Learned(tools) => ("learned", None, Some(tools), None),
                    AccessEvidence::Guessed(why, tail) => (
                        "guessed",
                        Some(why),
                        None,
                        Some(self.secrets.scrubbed(tail)),
                    ),
                };
                value["access"] = json!({ "how": how, "why": why, "tools": tools, "said": tail });
            }
        }
        value
    }
}

/// A diff of settings takes milliseconds; a hostile file does not get more than this.
const PATIENCE: Duration = Duration::from_secs(1);
