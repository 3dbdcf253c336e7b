//! What becomes of each server of a client.

use std::collections::BTreeSet;

use camino::Utf8Path;
use jig_config::{Additions, Config, ServerReach as Reached};
use jig_project::CommandEnvironment;
use jig_proto::ProjectPath;

use super::declared::{ClientFileScope, ImportContext, SourceFile};
use super::filled_text::{self, is_variable};
use super::imported_server::{self, DeclaredServer, EntryReach, ImportedServer, LeftOutReason};
use super::secret::SecretVariables;
use super::{ImportFrom, server_name};
use crate::settings_file::SettingsFile;

/// A server of the client, and what becomes of it.
pub struct ImportItem {
    /// Its name at the client.
    pub original: String,
    /// The file that it comes from, as people are shown it.
    pub from: String,
    /// What becomes of it.
    pub fate: ImportOutcome,
}

/// What becomes of a server.
pub enum ImportOutcome {
    /// It is added.
    New(Box<ImportedServer>, ImportedAccess),
    /// jig has the very same.
    Present(String),
    /// It is not taken over, and why.
    Left(String),
}

/// What a server may do, and how that is known.
#[derive(Default)]
pub struct ImportedAccess {
    /// The rules.
    pub additions: Additions,
    /// Directories that must be there.
    pub make: Vec<ProjectPath>,
    /// How they are known.
    pub how: AccessEvidence,
    /// What it wanted and is not proposed.
    pub withheld: Vec<String>,
}

/// How it is known what a server needs.
#[derive(Default)]
pub enum AccessEvidence {
    /// It has no program here.
    #[default]
    Remote,
    /// It was run, and has so many tools.
    Learned(usize),
    /// From its command, because of this; and what it said at the end if it was run.
    Guessed(String, String),
}

/// Turns the servers of a client into those of jig; if names are given, only those that have one at the client.
pub fn converted(
    (client, only): (ImportFrom, &[String]),
    files: &[SourceFile],
    root: &Utf8Path,
    env: &CommandEnvironment,
    config: &Config,
    secrets: &mut SecretVariables,
) -> Vec<ImportItem> {
    let home = env.path("HOME");
    let mut items: Vec<ImportItem> = Vec::new();
    let mut taken = BTreeSet::new();
    for file in files {
        let context = ImportContext {
            client,
            root,
            home: home.as_deref(),
            inputs: &file.inputs,
        };
        for (original, value) in &file.servers {
            if !only.is_empty() && !only.contains(original) {
                continue;
            }
            let preferred = items.iter().find(|item| item.original == *original);
            let fate = match preferred {
                Some(other) => ImportOutcome::Left(format!(
                    "`{}` has one of the same name, which counts",
                    other.from
                )),
                None => {
                    let declared = DeclaredServer {
                        original,
                        name: server_name::fit(original, &taken),
                        value,
                        from: &file.shown,
                        scope: file.scope,
                        is_off: file.off.contains(original),
                        names_in: &|path| names_in(path, file.scope, root, env),
                    };
                    taken.insert(declared.name.clone());
                    match imported_server::convert(&declared, &context, secrets) {
                        Ok(imported) => {
                            ImportOutcome::New(Box::new(imported), ImportedAccess::default())
                        }
                        Err(LeftOutReason::Itself) => ImportOutcome::Left("it is jig".to_owned()),
                        Err(LeftOutReason::Unfit(why)) => ImportOutcome::Left(why),
                    }
                }
            };
            items.push(ImportItem {
                original: original.clone(),
                from: file.shown.clone(),
                fate,
            });
        }
    }
    // All secrets are known only now, and one may stand where nobody looked for it.
    let all = items.into_iter().map(|mut item| {
        if let ImportOutcome::New(mut imported, _) = item.fate {
            imported.hide(secrets);
            item.fate = met(imported, config);
        }
        item
    });
    all.collect()
}

/// What becomes of a server that can be taken over: jig may have one of its name.
fn met(imported: Box<ImportedServer>, config: &Config) -> ImportOutcome {
    match config.server(&imported.name) {
        None => ImportOutcome::New(imported, ImportedAccess::default()),
        Some(known) if is_same(known, &imported) => ImportOutcome::Present(imported.name),
        Some(known) => {
            let at = known.declared_at();
            let name = &imported.name;
            ImportOutcome::Left(format!(
                "jig has another server `{name}`, declared in {at}: give one of them another name"
            ))
        }
    }
}

/// Whether a server of jig is this one, whatever it may do.
fn is_same(known: &jig_config::Server, imported: &ImportedServer) -> bool {
    let pairs = |pairs: &[(String, filled_text::ImportText)]| -> BTreeSet<(String, String)> {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| (name.clone(), value.written()))
            .collect()
    };
    match (&known.reach, &imported.reach) {
        (Reached::Program { command: words, .. }, EntryReach::Program { command, env, .. }) => {
            let known_env = known.env.iter();
            let known_env = known_env.map(|(name, value)| (name.clone(), value.to_string()));
            let words = words.iter().map(ToString::to_string);
            words.eq(command.iter().map(filled_text::ImportText::written))
                && pairs(env) == known_env.collect()
        }
        (
            Reached::Remote {
                url: at,
                headers: said,
            },
            EntryReach::Remote { url, headers },
        ) => {
            let said = said
                .iter()
                .map(|(name, value)| (name.clone(), value.to_string()));
            at.to_string() == url.written() && pairs(headers) == said.collect()
        }
        _ => false,
    }
}

/// The names of the variables that a file sets, line by line.
fn names_in(
    path: &str,
    scope: ClientFileScope,
    root: &Utf8Path,
    env: &CommandEnvironment,
) -> Result<Vec<String>, String> {
    let full = root.join(path);
    let file = match full.strip_prefix(root) {
        Ok(inside) => SettingsFile::of_project(root, inside.as_str(), env),
        // A file of the workspace must not have jig read files elsewhere.
        Err(_) if scope == ClientFileScope::Project => {
            return Err("it leads out of the workspace".to_owned());
        }
        Err(_) => SettingsFile::of_user(&full, env),
    };
    let text = file.map_err(|error| error.to_string())?.text;
    let text = text.ok_or_else(|| "it is not there".to_owned())?;
    let mut names = Vec::new();
    for line in text.lines() {
        let line = line.trim_start();
        let line = line.strip_prefix("export ").unwrap_or(line);
        let name = line.split_once('=').map(|(name, _)| name.trim());
        if let Some(name) = name.filter(|name| is_variable(name))
            && !names.iter().any(|other| other == name)
        {
            names.push(name.to_owned());
        }
        if names.len() > MOST_NAMES {
            return Err(format!("it sets more than {MOST_NAMES} variables"));
        }
    }
    Ok(names)
}

/// How many variables a file sets at most.
const MOST_NAMES: usize = 200;
