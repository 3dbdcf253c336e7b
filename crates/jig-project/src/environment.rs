//! [`CommandEnvironment`]: the variables that count for a command. They are those of this process, or in a
//! station those of the client that it works for.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;

use camino::Utf8PathBuf;
use jig_broker::HostEnv;
use jig_config::Sources;
use serde::{Deserialize, Serialize};

/// Variables and their values. What is not UTF-8 is left out: no rule can name it.
#[derive(Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CommandEnvironment(BTreeMap<String, String>);

impl CommandEnvironment {
    /// The variables of this process.
    pub fn of_this_process() -> Self {
        let variables = std::env::vars_os().filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        });
        Self(variables.collect())
    }

    /// Whether the files of the workspace count as accepted: the person said so for what starts with this variable.
    pub fn trusts(&self) -> bool {
        self.get(TRUST) == Some("1")
    }

    /// The same with the files of the workspace accepted.
    pub fn trusting(mut self) -> Self {
        self.0.insert(TRUST.to_owned(), "1".to_owned());
        self
    }

    /// The same without one variable.
    pub fn without(mut self, name: &str) -> Self {
        self.0.remove(name);
        self
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The absolute path that a variable holds.
    pub fn path(&self, name: &str) -> Option<Utf8PathBuf> {
        let path = Utf8PathBuf::from(self.get(name)?);
        path.is_absolute().then_some(path)
    }

    /// The absolute entries of the search path, if there are any.
    pub fn search_path(&self) -> Option<OsString> {
        let entries = std::env::split_paths(self.get("PATH")?);
        let path = std::env::join_paths(entries.filter(|entry| entry.is_absolute())).ok()?;
        Some(path).filter(|path| !path.is_empty())
    }

    /// Some of the variables.
    pub fn some(&self, wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = (&str, &str)> {
        let variables = self.0.iter().filter(move |(name, _)| wanted(name));
        variables.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The folder of jig's own state; `None` without a home.
    pub fn state(&self) -> Option<Utf8PathBuf> {
        let below_home = || Some(self.path("HOME")?.join(".local/state"));
        let state = self.path("XDG_STATE_HOME").or_else(below_home)?;
        Some(state.join("jig"))
    }

    /// The folder of what jig could make anew; `None` without a home.
    #[cfg(feature = "wasm-tools")]
    fn cache(&self) -> Option<Utf8PathBuf> {
        let below_home = || Some(self.path("HOME")?.join(".cache"));
        let cache = self.path("XDG_CACHE_HOME").or_else(below_home)?;
        Some(cache.join("jig"))
    }

    /// How components are run: their compiled code is kept in the user's cache, and the key that vouches for
    /// it elsewhere, so that a program that may write caches cannot make code of its own run.
    #[cfg(feature = "wasm-tools")]
    pub fn wasm_settings(&self) -> jig_wasm::Settings {
        let dirs = || {
            Some(jig_wasm::CacheDirs {
                code: self.cache()?.join("wasm").into(),
                key: self.state()?.join("wasm.key").into(),
            })
        };
        let mut settings = jig_wasm::Settings::default();
        settings.cache = dirs();
        settings
    }

    /// The variables that rules decide about.
    pub fn host(&self) -> HostEnv {
        let variables = self.0.iter();
        variables
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    /// The folder of the person's configuration, whether it exists or not.
    pub fn config(&self) -> Option<Utf8PathBuf> {
        let below_home = self.path("HOME").map(|home| home.join(".config"));
        let folder = self.path("XDG_CONFIG_HOME").or(below_home)?;
        Some(folder.join("jig"))
    }

    /// What configures the workspace at `root` besides its files, as
    /// [`Sources::from_environment`] finds it for the process itself.
    pub fn sources(&self, root: Utf8PathBuf) -> Sources {
        let home = self.path("HOME");
        let os = |text: &String| OsString::from(text);
        let search_path = self.get("PATH").into_iter().flat_map(std::env::split_paths);
        let search_path = search_path.filter_map(|folder| Utf8PathBuf::from_path_buf(folder).ok());
        Sources {
            home,
            search_path: search_path.filter(|folder| folder.is_absolute()).collect(),
            state: self.state(),
            user_config: self.config().map(|folder| folder.join("config.toml")),
            environment: self
                .0
                .iter()
                .map(|(name, value)| (os(name), os(value)))
                .collect(),
            ..Sources::new(root)
        }
    }
}

/// The variable by which a person accepts what the files of a workspace say, for what they start with it.
const TRUST: &str = "JIG_TRUST";

/// Only how many there are: values are secrets.
impl fmt::Debug for CommandEnvironment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Environment({} variables)", self.0.len())
    }
}

#[cfg(test)]
mod tests;
