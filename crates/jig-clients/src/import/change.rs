//! The file of jig that servers are added to.

use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use camino::{Utf8Path, Utf8PathBuf};
use jig_config::{Config, ConfigEdit, Problem, Sources};
use jig_project::{CommandEnvironment, Project, Selection, engines, servers};
use jig_proto::ProjectPath;

use super::conversion::{ImportItem, ImportOutcome};
use super::toml_block;
use crate::settings_file::SettingsFile;

/// The file of jig that the servers go into.
pub struct ImportTarget {
    /// As it is now.
    pub file: SettingsFile,
    /// Where it lies.
    pub path: Utf8PathBuf,
    /// The configuration that it is a part of.
    pub sources: Sources,
}

impl ImportTarget {
    /// Opens it: the user's own file if it is to count everywhere.
    pub fn new(
        is_global: bool,
        selection: &Selection,
        root: &Utf8Path,
        env: &CommandEnvironment,
    ) -> anyhow::Result<Self> {
        // The file is not written while something in it waits for a person.
        let sources = Sources {
            lint: false,
            files: selection.files.clone(),
            sets: selection.sets.clone(),
            ..Sources::from_environment(root)
        };
        let (file, path) = match (is_global, &sources.user_config) {
            (false, _) => (SettingsFile::of_project(root, FILE, env)?, root.join(FILE)),
            (true, Some(path)) => (SettingsFile::of_user(path, env)?, path.clone()),
            (true, None) => {
                return Err(anyhow!(
                    "there is no home folder, so there is no configuration of a user"
                ));
            }
        };
        Ok(Self {
            file,
            path,
            sources,
        })
    }
}

/// What becomes of the file.
pub struct Change {
    /// Its new text.
    pub after: String,
    /// The configuration with it.
    pub config: Config,
    /// What `jig config check` says about it that it did not say before.
    pub warnings: Vec<Problem>,
}

/// An import under way.
pub struct ImportRun<'a> {
    /// The workspace.
    pub root: &'a Utf8Path,
    /// The variables of the person.
    pub env: &'a CommandEnvironment,
    /// The file of jig.
    pub target: &'a ImportTarget,
    /// Whether rules are taken from commands alone.
    pub no_suggest: bool,
    /// Whether servers that a file of the workspace names may be run.
    pub may_run_strangers: bool,
}

impl ImportRun<'_> {
    /// What becomes of the file; `None` if nothing does. A server that the configuration cannot have is left out.
    pub fn change(&self, items: &mut [ImportItem]) -> anyhow::Result<Option<Change>> {
        let before = self.target.file.text.as_deref().unwrap_or_default();
        let mut blocks: Vec<String> = Vec::new();
        for item in items.iter_mut() {
            let ImportOutcome::New(imported, access) = &item.fate else {
                continue;
            };
            blocks.push(toml_block::of(imported, &access.additions));
            if let Err(why) = self.checked(before, &blocks) {
                blocks.pop();
                item.fate = ImportOutcome::Left(why);
            }
        }
        if blocks.is_empty() {
            return Ok(None);
        }
        let shown = &self.target.file.shown;
        let after = toml_block::appended(before, &blocks).with_context(|| by_hand(shown))?;
        let sources = Sources {
            lint: true,
            ..self.target.sources.clone()
        };
        let loaded = ConfigEdit::new(Some(&after))?.check(&sources, &self.target.path)?;
        let was = ConfigEdit::new(self.target.file.text.as_deref())?
            .check(&sources, &self.target.path)?;
        let is_known = |warning: &Problem| {
            was.warnings
                .iter()
                .any(|other| other.message() == warning.message())
        };
        let warnings = loaded
            .warnings
            .into_iter()
            .filter(|warning| !is_known(warning))
            .collect();
        Ok(Some(Change {
            after,
            config: loaded.config,
            warnings,
        }))
    }

    /// Why a configuration with these entries is none.
    fn checked(&self, before: &str, blocks: &[String]) -> Result<(), String> {
        let after =
            toml_block::appended(before, blocks).ok_or_else(|| by_hand(&self.target.file.shown))?;
        let edit = ConfigEdit::new(Some(&after)).map_err(|error| error.to_string())?;
        match edit.check(&self.target.sources, &self.target.path) {
            Ok(_) => Ok(()),
            Err(errors) => {
                let first = errors
                    .problems()
                    .first()
                    .map(|problem| problem.message().to_owned());
                Err(format!("jig cannot have it: {}", first.unwrap_or_default()))
            }
        }
    }

    /// Makes the directories that rules speak of.
    pub fn make(&self, items: &[ImportItem]) -> Vec<ProjectPath> {
        let wanted = items.iter().flat_map(|item| match &item.fate {
            ImportOutcome::New(_, access) => access.make.as_slice(),
            _ => &[],
        });
        let mut made = Vec::new();
        for path in wanted {
            if !made.contains(path) && create(&path.under(self.root)) {
                made.push(path.clone());
            }
        }
        made
    }
}

/// Accepts the servers that were written, in this workspace. An entry that is another by now is not what was
/// shown.
pub fn accept(
    items: &[ImportItem],
    change: &Change,
    root: &Utf8Path,
    selection: &Selection,
    env: &CommandEnvironment,
) -> Result<Vec<String>, String> {
    let told = |error: anyhow::Error| format!("{error:#}");
    let project = Project::load_at(root.to_owned(), selection, &[]).map_err(told)?;
    let servers = servers::new(root, env);
    let config = Arc::new(project.config().clone());
    servers.attach(Arc::new(
        engines::for_config(root, config, env).map_err(told)?,
    ));
    let mut accepted = Vec::new();
    for item in items {
        let ImportOutcome::New(imported, _) = &item.fate else {
            continue;
        };
        let name = imported.name.as_str();
        let (shown, now) = (change.config.server(name), project.config().server(name));
        match (shown, now) {
            (Some(shown), Some(now)) if shown.fingerprint() == now.fingerprint() => {
                if now.needs_acceptance() {
                    servers.accept_server(name)?;
                }
                accepted.push(name.to_owned());
            }
            _ => {
                return Err(format!(
                    "`{name}` was changed by somebody else in the meantime"
                ));
            }
        }
    }
    Ok(accepted)
}

fn by_hand(shown: &Utf8Path) -> String {
    format!(
        "`{shown}` is written in a way to which no server can be added without changing something else: add it by hand"
    )
}

#[expect(
    clippy::disallowed_methods,
    reason = "the user asked for it, in a workspace in which nothing runs"
)]
fn create(path: &Utf8Path) -> bool {
    std::fs::create_dir(path).is_ok()
}

/// The file of the workspace that servers are written to.
const FILE: &str = "jig.toml";
