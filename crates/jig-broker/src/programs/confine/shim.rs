//! Programs that only stand for others: shims of version managers, proxies of rustup, and `env`.
//!
//! Running a shim takes the whole version manager, with its scripts and settings under the hidden home. So
//! the program behind it is found by the same files that the shim would read, and started itself.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::host_files;
use super::program::ProgramSurroundings;

#[cfg(test)]
mod tests;

/// What is behind a shim.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ShimTarget {
    /// This program.
    Program(PathBuf),
    /// Nothing that is installed: the search goes on.
    Nothing,
}

/// What is behind the program at `place`; `None` if it stands for itself.
pub(super) fn behind(
    place: &Path,
    name: &OsStr,
    around: &ProgramSurroundings<'_>,
) -> Option<ShimTarget> {
    let directory = place.parent()?;
    if directory.file_name() == Some(OsStr::new("shims")) {
        let manager = directory.parent()?;
        let real = version_manager(manager, name, around);
        return Some(real.map_or(ShimTarget::Nothing, ShimTarget::Program));
    }
    // rustup stands under many names: by links, and in older installations by hard links.
    let proxy = directory.join("rustup");
    if name != "rustup" && host_files::is_same_file(place, &proxy) {
        return rustup(name, around).map(ShimTarget::Program);
    }
    None
}

/// The program that pyenv, rbenv, nodenv and the like would start: `versions/V/bin/NAME`.
fn version_manager(
    manager: &Path,
    name: &OsStr,
    around: &ProgramSurroundings<'_>,
) -> Option<PathBuf> {
    let versions = manager.join("versions");
    let kind = manager.file_name()?.to_str()?.trim_start_matches('.');
    let (language, variable) = match kind {
        "pyenv" => ("python", "PYENV_VERSION"),
        "rbenv" => ("ruby", "RBENV_VERSION"),
        "nodenv" => ("node", "NODENV_VERSION"),
        "goenv" => ("go", "GOENV_VERSION"),
        _ => ("", ""),
    };
    let file = format!(".{language}-version");
    let mut above = around.start.ancestors();
    let chosen = (around.variable)(variable)
        .or_else(|| above.find_map(|above| host_files::text(&above.join(&file))))
        .or_else(|| host_files::text(&manager.join("version")))?;
    // Several versions may be chosen; the first that has the program counts.
    let words = chosen.split(|c: char| c.is_whitespace() || c == ':');
    words
        .filter(|word| is_plain_name(word))
        .find_map(|version| {
            let exact = versions.join(version).join("bin").join(name);
            if host_files::is_file(&exact) {
                return Some(exact);
            }
            // `3.11` means the latest of that line.
            let start = format!("{version}.");
            let matching = host_files::names(&versions)
                .into_iter()
                .filter(|installed| {
                    let installed = installed.to_str().unwrap_or_default();
                    installed.starts_with(&start)
                });
            let latest = matching.max_by_key(|installed| numbers(&installed.to_string_lossy()))?;
            let latest = versions.join(latest).join("bin").join(name);
            host_files::is_file(&latest).then_some(latest)
        })
}

/// The program of the toolchain that rustup would choose. With `+nightly` before its arguments it is rustup's
/// own, which understands that.
fn rustup(name: &OsStr, around: &ProgramSurroundings<'_>) -> Option<PathBuf> {
    if around.toolchain.is_some() {
        return None;
    }
    let bin = toolchain(around)?.directory.join("bin").join(name);
    host_files::is_file(&bin).then_some(bin)
}

/// A toolchain of rustup.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RustupToolchain {
    pub(super) directory: PathBuf,
    /// One that is chosen and not installed, in whose place this one stands.
    pub(super) missing: Option<String>,
}

/// The toolchain that rustup would choose, of those that are installed.
pub(super) fn toolchain(around: &ProgramSurroundings<'_>) -> Option<RustupToolchain> {
    let home = rustup_home(around)?;
    let settings = host_files::text(&home.join("settings.toml")).unwrap_or_default();
    let word = around
        .toolchain
        .map(|word| word.trim_start_matches('+').to_owned());
    let chosen = [
        word,
        (around.variable)("RUSTUP_TOOLCHAIN"),
        overridden(around.start, &settings),
        value_of(&settings, "default_toolchain"),
    ];
    let mut missing = None;
    for chosen in chosen.into_iter().flatten() {
        match installed(&home.join("toolchains"), &chosen) {
            Some(directory) => return Some(RustupToolchain { directory, missing }),
            None => missing = missing.or(Some(chosen)),
        }
    }
    None
}

/// The toolchain that is chosen for a directory: by the nearest override or toolchain file.
fn overridden(start: &Path, settings: &str) -> Option<String> {
    let overrides = settings.split("[overrides]").nth(1).unwrap_or_default();
    let overrides = overrides.split("\n[").next().unwrap_or_default();
    start.ancestors().find_map(|directory| {
        let quoted = format!("\"{}\"", directory.display());
        value_of(overrides, &quoted)
            .or_else(|| toolchain_file(&directory.join("rust-toolchain")))
            .or_else(|| toolchain_file(&directory.join("rust-toolchain.toml")))
    })
}

/// The directory of an installed toolchain.
fn installed(toolchains: &Path, chosen: &str) -> Option<PathBuf> {
    if !is_plain_name(chosen) {
        return None;
    }
    let exact = toolchains.join(chosen);
    if host_files::is_directory(&exact) {
        return Some(exact);
    }
    // `stable` means `stable-x86_64-unknown-linux-gnu`.
    let start = format!("{chosen}-");
    let mut names = host_files::names(toolchains).into_iter();
    let found = names.find(|name| name.to_str().is_some_and(|name| name.starts_with(&start)));
    found.map(|name| toolchains.join(name))
}

pub(super) fn rustup_home(around: &ProgramSurroundings<'_>) -> Option<PathBuf> {
    let given = (around.variable)("RUSTUP_HOME").map(PathBuf::from);
    given.or_else(|| Some(around.home?.join(".rustup")))
}

/// The channel of a toolchain file, which is TOML or a bare name.
fn toolchain_file(path: &Path) -> Option<String> {
    let text = host_files::text(path)?;
    let bare = text.trim();
    value_of(&text, "channel").or_else(|| is_plain_name(bare).then(|| bare.to_owned()))
}

/// The text value of a key, where it stands on a line of its own.
fn value_of(toml: &str, key: &str) -> Option<String> {
    toml.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        let value = value.split('#').next()?.trim();
        let inner = value.trim_matches(['"', '\'']);
        (name.trim() == key && inner.len() + 2 == value.len()).then(|| inner.to_owned())
    })
}

/// What `env` with these words starts.
pub(super) fn started_by_env<'a>(words: &[&'a OsStr]) -> Option<&'a OsStr> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let text = word.to_str()?;
        if let Some(split) = text.strip_prefix("-S").filter(|split| !split.is_empty()) {
            return Some(OsStr::new(split));
        }
        match text {
            "-u" | "--unset" | "-C" | "--chdir" => {
                words.next();
            }
            _ if text.starts_with('-') || text.contains('=') => {}
            _ => return Some(word),
        }
    }
    None
}

/// One component, and none that leads elsewhere.
fn is_plain_name(text: &str) -> bool {
    let harmless = |c: char| c.is_ascii_alphanumeric() || "._+-@".contains(c);
    !text.is_empty() && text.len() < 100 && !text.starts_with('.') && text.chars().all(harmless)
}

/// The numbers in a version, to find the latest.
pub(super) fn numbers(version: &str) -> Vec<u64> {
    let parts = version.split(|c: char| !c.is_ascii_digit());
    parts.filter_map(|part| part.parse().ok()).collect()
}
