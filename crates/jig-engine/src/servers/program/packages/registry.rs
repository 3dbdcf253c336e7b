//! [`Registry`]: where a launcher downloads from, and what it needs for that.
//!
//! What the user's own settings say counts as it does for them: a name that their registry has must not be taken
//! from another one. Of these settings only addresses are read, no passwords. Where an address cannot be had
//! without one, or cannot be told, there is no registry: the usual one would be another.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use jig_broker::{HostEnv, SystemAccess};
use jig_policy::DeclaredNetRule;
use jig_programs::{Download, Launcher, host_rule, registry_rule};

use super::canonical;

/// Where a launcher downloads from.
#[derive(Debug, Default)]
pub(super) struct Registry {
    /// What it may reach.
    pub(super) rules: Vec<DeclaredNetRule>,
    /// What it is told about that.
    pub(super) env: Vec<(String, String)>,
    /// The certificates that it trusts.
    pub(super) system: Vec<SystemAccess>,
}

/// A setting of the user that names a registry which cannot be used. It holds nothing of the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct UnusableRegistry {
    setting: String,
    /// The variable by which an entry says the same.
    variable: String,
}

impl fmt::Display for UnusableRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { setting, variable } = self;
        write!(
            f,
            "`{setting}` of your settings names a registry in a way jig cannot use: set it by "
        )?;
        match variable.contains(['@', ':']) {
            true => write!(f, "`env.\"{variable}\"` of the entry"),
            false => write!(f, "`env.{variable}` of the entry"),
        }
    }
}

impl Registry {
    /// `given` are the variables of the server's entry, which stand above those of the host.
    ///
    /// # Errors
    ///
    /// If the host names a registry that cannot be used, and the entry none in its place.
    pub(super) fn of(
        download: &Download,
        given: &[(String, String)],
        host: &HostEnv,
        home: Option<&Path>,
    ) -> Result<Self, UnusableRegistry> {
        let mut registry = Self::default();
        let launcher = download.launcher;
        let given = given.iter().filter(|(name, _)| is_for(launcher, name));
        let given: Vec<(String, String)> = given.cloned().collect();
        let is_given = |variable: &str| {
            let mut names = given.iter().map(|(name, _)| name);
            let is_option = launcher == Launcher::Npx && !download.registries.is_empty();
            names.any(|name| name.eq_ignore_ascii_case(variable))
                || is_option && variable.eq_ignore_ascii_case(NPM)
        };
        // An entry that names any says which of those in a file of uv it means.
        let mut names = given.iter().map(|(name, _)| name);
        let skips_file =
            launcher == Launcher::Uvx && names.any(|name| names_registry(launcher, name));
        for setting in settings(launcher, host, home) {
            if is_given(&setting.variable) || skips_file && setting.value.is_none() {
                continue;
            }
            let value = setting.value.as_deref().filter(|value| is_usable(value));
            let Some(value) = value else {
                return Err(setting.unusable());
            };
            registry.tell(setting.variable, value.to_owned());
        }
        for (name, value) in given {
            registry.tell(name, value);
        }
        let told = registry.env.iter();
        let told = told.filter(|(name, _)| names_registry(launcher, name));
        // uv takes several in one variable.
        let told = told.flat_map(|(_, value)| value.split_whitespace());
        let urls = download.registries.iter().map(String::as_str).chain(told);
        let rules = urls.filter_map(|url| registry_rule(&without_password(url)));
        registry.rules = rules.collect();
        let is_replaced = match launcher {
            Launcher::Npx => registry.tells(NPM),
            Launcher::Uvx => registry.tells("UV_DEFAULT_INDEX") || registry.tells("UV_INDEX_URL"),
        };
        if !is_replaced && (download.registries.is_empty() || launcher == Launcher::Uvx) {
            let usual = launcher.hosts().iter();
            let usual = usual.map(|host| host_rule(host, "https", None));
            registry.rules.extend(usual);
        }
        registry.trust(host);
        Ok(registry)
    }

    /// The addresses that it is told, each with the variable that says so.
    pub(super) fn told(self) -> impl Iterator<Item = (String, String)> {
        let names = |name: &str| ALL.iter().any(|launcher| names_registry(*launcher, name));
        self.env.into_iter().filter(move |(name, _)| names(name))
    }

    /// What is told later stands above what was told before.
    fn tell(&mut self, name: String, value: String) {
        let env = &mut self.env;
        env.retain(|(other, _)| !other.eq_ignore_ascii_case(&name));
        env.push((name, value));
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
            name == NPM || name.starts_with("npm_config_@") && name.ends_with(":registry")
        }
        Launcher::Uvx => INDEXES.contains(&name),
    }
}

/// What the host says about registries.
struct RegistrySetting {
    /// As the user knows it.
    name: String,
    /// The variable that says the same.
    variable: String,
    /// `None` if it cannot be said by a variable.
    value: Option<String>,
}

impl RegistrySetting {
    fn unsaid(name: &str, variable: &str) -> Self {
        Self {
            name: name.to_owned(),
            variable: variable.to_owned(),
            value: None,
        }
    }

    fn unusable(self) -> UnusableRegistry {
        UnusableRegistry {
            setting: self.name,
            variable: self.variable,
        }
    }
}

/// The registries that the user's settings name. Later ones stand above earlier ones.
fn settings(launcher: Launcher, host: &HostEnv, home: Option<&Path>) -> Vec<RegistrySetting> {
    let mut settings = match launcher {
        Launcher::Npx => npmrc(host, home),
        Launcher::Uvx => uv_toml(host, home),
    };
    let variables = host.iter().filter(|(name, value)| {
        // Neither launcher heeds one that is empty.
        names_registry(launcher, name) && !value.trim().is_empty()
    });
    let mut variables: Vec<(&str, &str)> = variables.collect();
    variables.sort_unstable();
    settings.extend(variables.into_iter().map(|(name, value)| RegistrySetting {
        name: name.to_owned(),
        variable: name.to_owned(),
        value: Some(value.to_owned()),
    }));
    settings
}

/// Whether these are addresses, of which each says all that is needed and nothing that is secret.
fn is_usable(value: &str) -> bool {
    // What npm would fill in, or what is asked for besides, may be a password as well.
    let is_plain = |url: &str| !url.contains(['?', '#']) && !url.contains("${");
    let mut urls = value.split_whitespace();
    urls.all(|url| is_plain(url) && registry_rule(url).is_some())
}

/// An address that an entry gives, for the rule on its host.
fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let host = rest.split(['/', '\\', '?', '#']).next().unwrap_or(rest);
    match host.rfind('@').and_then(|at| rest.get(at + 1..)) {
        Some(rest) => format!("{scheme}://{rest}"),
        None => url.to_owned(),
    }
}

/// The registries that the user's settings of npm name.
fn npmrc(host: &HostEnv, home: Option<&Path>) -> Vec<RegistrySetting> {
    let mut named = host.iter().filter(|(name, value)| {
        name.eq_ignore_ascii_case("npm_config_userconfig") && !value.is_empty()
    });
    let text = match (named.next(), home) {
        (Some((_, path)), home) => placed(path, home).and_then(|path| text(&path)),
        (None, Some(home)) => text(&home.join(".npmrc")),
        (None, None) => return Vec::new(),
    };
    let Some(text) = text else {
        return vec![RegistrySetting::unsaid(".npmrc", NPM)];
    };
    let is_quote = |c: char| c == '"' || c == '\'';
    let lines = text.lines().filter_map(|line| line.split_once('='));
    let pairs = lines.map(|(key, value)| {
        let value = match value.trim().starts_with(is_quote) {
            true => value,
            // A comment ends it.
            false => value.split([';', '#']).next().unwrap_or(value),
        };
        let bare = |text: &str| text.trim().trim_matches(is_quote).trim().to_owned();
        (bare(key), bare(value))
    });
    let pairs = pairs.filter(|(key, value)| {
        let is_scope = key.starts_with('@') && key.ends_with(":registry");
        (key == "registry" || is_scope) && !value.is_empty()
    });
    let settings = pairs.map(|(key, value)| {
        // In the name of a variable, npm takes these for others.
        let can_be_said = !key.contains(|c: char| c == '_' || c.is_ascii_uppercase());
        if !can_be_said {
            return RegistrySetting::unsaid(&key, NPM);
        }
        RegistrySetting {
            variable: format!("npm_config_{key}"),
            name: key,
            value: Some(value),
        }
    });
    settings.collect()
}

/// The registries that the user's settings of uv name. There are too many ways to say it there, so that an entry has
/// to say it again.
fn uv_toml(host: &HostEnv, home: Option<&Path>) -> Vec<RegistrySetting> {
    let base = host.get("XDG_CONFIG_HOME").map(PathBuf::from);
    let base = base.filter(|base| base.is_absolute());
    let base = base.or_else(|| Some(home?.join(".config")));
    let text = match (host.get("UV_CONFIG_FILE"), base) {
        (Some(path), _) if !path.is_empty() => placed(path, home).and_then(|path| text(&path)),
        (_, Some(base)) => text(&base.join("uv/uv.toml")),
        (_, None) => return Vec::new(),
    };
    let Some(text) = text else {
        return vec![RegistrySetting::unsaid("uv.toml", "UV_DEFAULT_INDEX")];
    };
    let mut settings = Vec::new();
    // What is said for `uv pip` does not count for `uvx`.
    let mut counts = true;
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            counts = line.starts_with("[[");
        }
        let key = line.split(['=', ']']).next().unwrap_or(line);
        let key = key.trim_matches(['[', '"', '\'', ' ', '\t']);
        let mut known = TOML.iter().filter(|(name, _)| counts && *name == key);
        let found = known.next();
        settings.extend(found.map(|(name, variable)| RegistrySetting::unsaid(name, variable)));
    }
    settings
}

/// Where a file is that a variable names; `None` if that depends on where jig was started.
fn placed(path: &str, home: Option<&Path>) -> Option<PathBuf> {
    match path.strip_prefix("~/") {
        Some(rest) => Some(home?.join(rest)),
        None => Some(PathBuf::from(path)).filter(|path| path.is_absolute()),
    }
}

/// What a file says, which is nothing if there is none; `None` if that cannot be known.
#[expect(
    clippy::disallowed_types,
    reason = "the user's settings of npm and uv are no files of a workspace"
)]
fn text(path: &Path) -> Option<String> {
    use std::io::Read as _;
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Some(String::new()),
        Err(_) => return None,
    };
    let mut bytes = Vec::new();
    let read = file.take(LONGEST_SETTINGS + 1).read_to_end(&mut bytes);
    let is_whole = read.is_ok_and(|read| read as u64 <= LONGEST_SETTINGS);
    is_whole.then(|| String::from_utf8_lossy(&bytes).into_owned())
}

const ALL: [Launcher; 2] = [Launcher::Npx, Launcher::Uvx];

/// The variable by which npm is told of its registry.
const NPM: &str = "npm_config_registry";

/// The variables by which uv is told of registries.
const INDEXES: [&str; 4] = [
    "UV_DEFAULT_INDEX",
    "UV_INDEX_URL",
    "UV_INDEX",
    "UV_EXTRA_INDEX_URL",
];

/// The keys by which a file of uv names registries, each with the variable that says the same.
const TOML: [(&str, &str); 3] = [
    ("index", "UV_INDEX"),
    ("index-url", "UV_DEFAULT_INDEX"),
    ("extra-index-url", "UV_EXTRA_INDEX_URL"),
];

/// The variables that name files with certificates to trust.
const CERTIFICATES: [&str; 2] = ["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"];

/// Nobody has more settings than that.
const LONGEST_SETTINGS: u64 = 1 << 20;

#[cfg(test)]
mod tests;
