//! The user's settings of package managers, without what is secret in them.
//!
//! What is passed on is listed, where a file can hold anything; what is not known stays out.

use std::path::Path;

use super::super::host_files;

#[cfg(test)]
mod tests;

/// Whether a value holds no password that anybody could see in it: none in an address, and none that would be
/// filled in.
pub(super) fn is_open(value: &str) -> bool {
    let mut addresses = value.split("://").skip(1);
    let has_user = |rest: &str| {
        let end = rest.find(|c: char| c == '/' || c == '?' || c == '#' || c.is_whitespace());
        rest[..end.unwrap_or(rest.len())].contains('@')
    };
    !addresses.any(has_user) && !value.contains("${") && !value.contains('\0')
}

/// Whether a file holds certificates, and no key.
pub(super) fn is_certificates(path: &Path) -> bool {
    let has = |text: &[u8], word: &str| memchr::memmem::find(text, word.as_bytes()).is_some();
    host_files::head(path, LONGEST_CERTIFICATES + 1).is_some_and(|text| {
        text.len() <= LONGEST_CERTIFICATES
            && has(&text, "-----BEGIN CERTIFICATE-----")
            && !has(&text, "PRIVATE KEY")
    })
}

/// The settings of npm and pnpm.
pub(super) fn npmrc(text: &str) -> String {
    lines(text, |key| {
        let is_scope = key.starts_with('@') && key.ends_with(":registry");
        is_scope || NPM.contains(&key)
    })
}

/// The settings of pip.
pub(super) fn ini(text: &str) -> String {
    let mut kept = String::new();
    let mut goes_on = false;
    for line in text.lines() {
        let is_section = line.starts_with('[') && line.trim_end().ends_with(']');
        // What is set in goes on with the value before it.
        goes_on = match line.starts_with([' ', '\t']) {
            true => goes_on,
            false => {
                let key = line.split(['=', ':']).next().unwrap_or_default().trim();
                is_section || PIP.contains(&key.replace('_', "-").as_str())
            }
        };
        if goes_on && is_open(line) {
            kept.push_str(line);
            kept.push('\n');
        }
    }
    kept
}

/// The settings that `go env -w` makes.
pub(super) fn go_env(text: &str) -> String {
    lines(text, |key| GO.contains(&key))
}

fn lines(text: &str, is_known: impl Fn(&str) -> bool) -> String {
    let mut kept = String::new();
    for line in text.lines() {
        if let Some((key, value)) = line.split_once('=')
            && is_known(key.trim())
            && is_open(value)
        {
            kept.push_str(line.trim());
            kept.push('\n');
        }
    }
    kept
}

/// The settings of cargo, or of poetry: everything but what may be secret. `None` for what is not TOML.
pub(super) fn toml(text: &str) -> Option<String> {
    let mut table: toml::Table = text.parse().ok()?;
    if let Some(build) = table.get_mut("build").and_then(toml::Value::as_table_mut) {
        // Nothing can be written where that leads to.
        build.remove("target-dir");
    }
    // Variables can hold anything.
    table.remove("env");
    purge(&mut table);
    toml::to_string(&table).ok()
}

fn purge(table: &mut toml::Table) {
    // A proxy may stand there without `http://`, and with a password.
    let has_user = |value: &toml::Value| value.as_str().is_some_and(|text| text.contains('@'));
    table.retain(|key, value| {
        let is_open = key != "proxy" || !has_user(value);
        is_open && !is_secret(key) && keep(value)
    });
}

/// Whether a value is kept, after what is secret in it was taken out.
fn keep(value: &mut toml::Value) -> bool {
    match value {
        toml::Value::String(text) => is_open(text),
        toml::Value::Array(values) => {
            values.retain_mut(keep);
            true
        }
        toml::Value::Table(table) => {
            purge(table);
            true
        }
        _ => true,
    }
}

fn is_secret(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    SECRET.iter().any(|word| key.contains(word))
}

/// Parts of the names of what nobody else should know.
const SECRET: &[&str] = &[
    "auth",
    "credential",
    "passphrase",
    "password",
    "passwd",
    "secret",
    "token",
    "private",
    "api-key",
    "api_key",
    "apikey",
    "access_key",
    "username",
];

/// The settings of npm and pnpm that say where packages come from, or how they are laid out.
const NPM: &[&str] = &[
    "audit",
    "auto-install-peers",
    "cafile",
    "engine-strict",
    "fund",
    "hoist",
    "ignore-scripts",
    "install-links",
    "legacy-peer-deps",
    "link-workspace-packages",
    "node-linker",
    "nodedir",
    "omit-lockfile-registry-resolved",
    "prefer-offline",
    "public-hoist-pattern[]",
    "registry",
    "save-exact",
    "save-prefix",
    "shamefully-hoist",
    "strict-peer-dependencies",
    "strict-ssl",
    "yes",
];

/// The same of pip.
const PIP: &[&str] = &[
    "cert",
    "constraint",
    "disable-pip-version-check",
    "extra-index-url",
    "find-links",
    "index-url",
    "no-binary",
    "no-index",
    "only-binary",
    "prefer-binary",
    "timeout",
    "trusted-host",
];

/// The same of Go.
const GO: &[&str] = &[
    "GOFLAGS",
    "GONOPROXY",
    "GONOSUMDB",
    "GOPRIVATE",
    "GOPROXY",
    "GOSUMDB",
    "GOVCS",
];

/// Far above all certificates that there are.
const LONGEST_CERTIFICATES: usize = 4 << 20;
