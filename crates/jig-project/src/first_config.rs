//! The first `jig.toml` of a workspace: what a folder holds, what a person wants, and the file for that.

mod page;
mod project_kinds;

use std::io::{self, Write as _};

use anyhow::{Context, anyhow};
use camino::Utf8Path;
use jig_policy::is_rule_host;
use jig_proto::hint;

use crate::hosts;

pub use page::{names as tool_names, page};
pub use project_kinds::{DetectedLanguage, ProjectLanguage, find};

/// What somebody wants, or the defaults.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answers {
    /// The toolchains that commands may use.
    pub presets: Vec<String>,
    /// Whether agents may change files.
    pub changes: Changes,
    /// The hosts that commands may reach, as people write them.
    pub hosts: Vec<String>,
}

/// Whether agents may change files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
// Exhaustive: whoever writes a configuration must have an answer to each.
pub enum Changes {
    /// A person approves every change.
    Ask,
    /// Files are created, changed and moved without asking; deleting asks.
    Allow,
    /// The tools that change files never run.
    Never,
}

impl Changes {
    /// The word for it, as in `jig init --changes`.
    pub fn name(self) -> &'static str {
        match self {
            Changes::Ask => "ask",
            Changes::Allow => "allow",
            Changes::Never => "never",
        }
    }
}

/// The presets of the projects that were found.
pub fn default_presets(found: &[DetectedLanguage]) -> Vec<String> {
    let kinds = found.iter();
    kinds.map(|one| one.kind.preset().to_owned()).collect()
}

/// The names of presets. `none` is none of them.
pub fn read_presets(text: &str) -> Result<Vec<String>, String> {
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
pub fn read_hosts(text: &str, presets: &[String]) -> Result<Vec<String>, String> {
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
        if !is_rule_host(host.host) {
            return Err(format!(
                "`{word}` is not a host; write HOST, HOST:PORT or SCHEME://HOST"
            ));
        }
        hosts.push(word.to_owned());
    }
    let mut seen = std::collections::HashSet::new();
    hosts.retain(|host| seen.insert(host.clone()));
    Ok(hosts)
}

/// The hosts from which the toolchains of these presets download packages.
pub fn registries(presets: &[String]) -> Vec<&'static str> {
    let kinds = presets
        .iter()
        .filter_map(|name| ProjectLanguage::of_preset(name));
    kinds.flat_map(ProjectLanguage::registry).copied().collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split([',', ' ', '\t']);
    words.filter(|word| !word.is_empty())
}

/// An error if the workspace has a configuration already.
#[expect(
    clippy::disallowed_methods,
    reason = "a person has this folder looked at, before anything runs"
)]
pub fn vacant(root: &Utf8Path) -> anyhow::Result<()> {
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
pub fn write(root: &Utf8Path, text: &str) -> anyhow::Result<()> {
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

/// The file that is written.
pub const FILE: &str = "jig.toml";

/// The toolchains that there are.
pub const PRESETS: [&str; 5] = ["rust", "node", "python", "go", "git"];

/// The answer that names nothing.
pub const NONE: &str = "none";

/// The answer that names the hosts of the chosen toolchains.
pub const REGISTRY: &str = "registry";
