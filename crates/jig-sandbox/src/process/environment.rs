//! [`minimal_environment`]: what a program needs to find its way, and nothing that tells of the host.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

#[cfg(test)]
mod tests;

/// Names and values, in the order of the names.
pub type ProgramEnvironment = BTreeMap<OsString, OsString>;

/// The sandbox's own small set: `PATH`, `HOME`, `USER`, `LANG`, `LC_*` and `TERM`.
///
/// `HOME` is the directory given here. The others are the host's, where they are harmless: of `PATH`
/// the absolute entries, and the rest only if they look like a name, because a locale or a terminal
/// that is spelled as a path makes libraries load files. Other variables of the host stay behind.
pub fn minimal_environment(home: &Path) -> ProgramEnvironment {
    minimal(home, std::env::vars_os())
}

fn minimal(
    home: &Path,
    host: impl IntoIterator<Item = (OsString, OsString)>,
) -> ProgramEnvironment {
    let mut env: ProgramEnvironment = host
        .into_iter()
        .filter_map(|(name, value)| {
            let value = match name.to_str()? {
                "PATH" => absolute_entries(&value)?,
                "USER" | "LANG" | "TERM" => harmless(value)?,
                name if is_locale(name) => harmless(value)?,
                _ => return None,
            };
            Some((name, value))
        })
        .collect();
    env.entry("PATH".into())
        .or_insert_with(|| DEFAULT_PATH.into());
    env.insert("HOME".into(), home.into());
    env
}

fn is_locale(name: &str) -> bool {
    name.strip_prefix("LC_").is_some_and(|kind| {
        !kind.is_empty()
            && kind
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte == b'_')
    })
}

/// `de_DE.UTF-8@euro`, `xterm-256color`, `alice`: no slash, no blank, no control character.
fn harmless(value: OsString) -> Option<OsString> {
    let text = value.to_str()?;
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_.@+-".contains(c);
    (!text.is_empty() && text.len() <= LONGEST_NAME && text.chars().all(is_name)).then_some(value)
}

fn absolute_entries(path: &OsStr) -> Option<OsString> {
    let kept = std::env::split_paths(path).filter(|directory| directory.is_absolute());
    std::env::join_paths(kept)
        .ok()
        .filter(|path| !path.is_empty())
}

/// What a login shell has on most systems.
const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Far above any real locale, terminal or user name.
const LONGEST_NAME: usize = 128;
