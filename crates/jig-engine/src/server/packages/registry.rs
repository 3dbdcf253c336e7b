//! [`Registry`]: where a launcher downloads from, and what it needs for that.
//!
//! What the user's own settings say counts as it does for them: a name that their registry has must not be taken
//! from another one. Of these settings only addresses are read, no passwords.

use std::path::Path;

use jig_broker::{HostEnv, SystemAccess};
use jig_config::{Download, Launcher, host_rule, registry_rule};
use jig_policy::NetRule;

use super::canonical;

/// Where a launcher downloads from.
#[derive(Debug, Default)]
pub(super) struct Registry {
    /// What it may reach.
    pub(super) rules: Vec<NetRule>,
    /// What it is told about that.
    pub(super) env: Vec<(String, String)>,
    /// The certificates that it trusts.
    pub(super) system: Vec<SystemAccess>,
}

impl Registry {
    /// `given` are the variables of the server's entry, which stand above those of the host.
    pub(super) fn of(
        download: &Download,
        given: &[(String, String)],
        host: &HostEnv,
        home: Option<&Path>,
    ) -> Self {
        let mut registry = Self::default();
        let mut urls = download.registries.clone();
        let npmrc = match download.launcher {
            Launcher::Npx => home.map(npmrc).unwrap_or_default(),
            Launcher::Uvx => Vec::new(),
        };
        let hosts = host
            .iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let hosts = hosts.filter(|(name, _)| names_registry(download.launcher, name));
        let given = given.iter().cloned();
        let given = given.filter(|(name, _)| is_for(download.launcher, name));
        // Later ones stand above earlier ones.
        for (name, value) in npmrc.into_iter().chain(hosts).chain(given) {
            registry
                .env
                .retain(|(other, _)| !other.eq_ignore_ascii_case(&name));
            registry.env.push((name, value));
        }
        let told = registry.env.iter();
        let told = told.filter(|(name, _)| names_registry(download.launcher, name));
        // uv takes several in one variable.
        let told: Vec<&str> = told
            .flat_map(|(_, value)| value.split_whitespace())
            .collect();
        urls.extend(told.iter().map(|url| (*url).to_owned()));
        registry.rules = urls.iter().filter_map(|url| registry_rule(url)).collect();
        let is_replaced = match download.launcher {
            Launcher::Npx => registry.tells("npm_config_registry"),
            Launcher::Uvx => registry.tells("UV_DEFAULT_INDEX") || registry.tells("UV_INDEX_URL"),
        };
        if !is_replaced && (download.registries.is_empty() || download.launcher == Launcher::Uvx) {
            let usual = download.launcher.hosts().iter();
            let usual = usual.map(|host| host_rule(host, "https", None));
            registry.rules.extend(usual);
        }
        registry.trust(host);
        registry
    }

    /// The addresses that it is told, each with the variable that says so.
    pub(super) fn told(self) -> impl Iterator<Item = (String, String)> {
        let names = |name: &str| ALL.iter().any(|launcher| names_registry(*launcher, name));
        self.env.into_iter().filter(move |(name, _)| names(name))
    }

    fn tells(&self, variable: &str) -> bool {
        let mut env = self.env.iter();
        env.any(|(name, _)| name.eq_ignore_ascii_case(variable))
    }

    /// Has it trust whom the user has programs trust, such as a proxy of their company.
    fn trust(&mut self, host: &HostEnv) {
        for name in CERTIFICATES {
            let path = host.get(name).map(Path::new);
            let path = path.filter(|path| path.is_absolute());
            let Some(path) = path.and_then(canonical) else {
                continue;
            };
            self.env
                .push((name.to_owned(), path.to_string_lossy().into_owned()));
            self.system.push(SystemAccess {
                path,
                write: false,
                execute: false,
            });
        }
    }
}

/// Whether a variable of an entry is meant for the launcher.
fn is_for(launcher: Launcher, name: &str) -> bool {
    let start = match launcher {
        Launcher::Npx => "npm_config_",
        Launcher::Uvx => "UV_",
    };
    let beginning = name.get(..start.len());
    beginning.is_some_and(|beginning| beginning.eq_ignore_ascii_case(start))
}

/// Whether the value of a variable is the address of a registry, or several.
fn names_registry(launcher: Launcher, name: &str) -> bool {
    match launcher {
        Launcher::Npx => {
            let name = name.to_ascii_lowercase();
            name == "npm_config_registry"
                || name.starts_with("npm_config_@") && name.ends_with(":registry")
        }
        Launcher::Uvx => INDEXES.contains(&name),
    }
}

/// The registries that the user's settings of npm name, as variables that say the same.
fn npmrc(home: &Path) -> Vec<(String, String)> {
    let lines = text(&home.join(".npmrc"));
    let lines = lines.lines().filter_map(|line| line.split_once('='));
    let pairs = lines.map(|(key, value)| (key.trim(), value.trim().trim_matches('"')));
    let pairs = pairs.filter(|(key, value)| {
        let is_scope = key.starts_with('@') && key.ends_with(":registry");
        (*key == "registry" || is_scope) && registry_rule(value).is_some()
    });
    pairs
        .map(|(key, value)| (format!("npm_config_{key}"), value.to_owned()))
        .collect()
}

#[expect(
    clippy::disallowed_types,
    reason = "the user's settings of npm are no file of a workspace"
)]
fn text(path: &Path) -> String {
    use std::io::Read as _;
    let mut text = String::new();
    if let Ok(file) = std::fs::File::open(path) {
        // Half of a file that is too long, or is no text, still says what it says.
        let _ = file.take(LONGEST_SETTINGS).read_to_string(&mut text);
    }
    text
}

const ALL: [Launcher; 2] = [Launcher::Npx, Launcher::Uvx];

/// The variables by which uv is told of registries.
const INDEXES: [&str; 4] = [
    "UV_DEFAULT_INDEX",
    "UV_INDEX_URL",
    "UV_INDEX",
    "UV_EXTRA_INDEX_URL",
];

/// The variables that name files with certificates to trust.
const CERTIFICATES: [&str; 2] = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"];

/// Nobody has more settings than that.
const LONGEST_SETTINGS: u64 = 64 << 10;

#[cfg(test)]
mod tests;
