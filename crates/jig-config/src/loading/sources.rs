//! [`Sources`]: everything that is loaded, named by the caller.

use std::ffi::OsString;

use camino::{Utf8Path, Utf8PathBuf};

use crate::loading::acceptance::WorkspaceContent;
use crate::loading::overrides::PREFIX;
use crate::origin::Layer;

/// What [`load`](crate::load()) reads, lowest layer first. Above the built-in defaults come the
/// user's file, the files of the workspace, `files`, `environment` and `sets`.
#[derive(Debug, Clone)]
pub struct Sources {
    /// The root of the workspace, absolute. Its files `.jp/config.toml`, `jig.toml` and
    /// `.jig/config.toml` are read where they exist.
    pub workspace: Utf8PathBuf,
    /// The user's file; it need not exist.
    pub user_config: Option<Utf8PathBuf>,
    /// Further files, as given by `--config`; each must exist. Relative ones are found from the
    /// process's directory.
    pub files: Vec<Utf8PathBuf>,
    /// Variables; those that don't begin with `JIG_CFG__` are ignored.
    pub environment: Vec<(OsString, OsString)>,
    /// Assignments `KEY=VALUE`, as given by `--set`.
    pub sets: Vec<String>,
    /// The user's home directory, for which `~/` stands in `sandbox.system`. Without it nothing is
    /// known about such paths.
    pub home: Option<Utf8PathBuf>,
    /// Where names of programs are looked for, to say early that one is not there. Nothing is said if it is empty.
    pub search_path: Vec<Utf8PathBuf>,
    /// Where jig keeps its log, its journals and its sockets. If that lies in the workspace, no tool
    /// changes it, and none reads it by a broad rule.
    pub state: Option<Utf8PathBuf>,
    /// Of the predefined tools, only those that a layer mentions are loaded, and this one. Whoever asks
    /// about one tool does not wait for the rest. Default: all are.
    pub only: Option<String>,
    /// What a person accepted of what the files of this workspace may say, the newest first. What the files allow
    /// beyond the defaults, and beyond that, is [held back](crate::HeldBack). Default: `None`, the caller vouches for
    /// the files, whatever they say.
    pub accepted: Option<Vec<WorkspaceContent>>,
    /// Whether to look for rules that work, but probably not as they were meant. That takes longer
    /// than loading; whoever only wants the configuration leaves it out. Default: yes.
    pub lint: bool,
}

impl Sources {
    /// The files of a workspace and nothing else.
    pub fn new(workspace: impl Into<Utf8PathBuf>) -> Self {
        Self {
            workspace: workspace.into(),
            user_config: None,
            files: Vec::new(),
            environment: Vec::new(),
            sets: Vec::new(),
            home: None,
            search_path: Vec::new(),
            state: None,
            only: None,
            accepted: None,
            lint: true,
        }
    }

    /// The workspace with the user's file and the variables of this process.
    ///
    /// This is the one function of the crate that reads the environment: `JIG_CFG__…`, and
    /// `XDG_CONFIG_HOME` and `HOME` for the user's file, `jig/config.toml` below the first or
    /// `.config/jig/config.toml` below the second, and in the same way `XDG_STATE_HOME` and
    /// `.local/state` for the state. `HOME` is also what `~/` stands for, and `PATH` is where programs are looked for.
    pub fn from_environment(workspace: impl Into<Utf8PathBuf>) -> Self {
        let variable = |name: &str| {
            let value = std::env::var_os(name)?.into_string().ok()?;
            // The specification of XDG_CONFIG_HOME tells programs to ignore relative paths.
            let path = Utf8PathBuf::from(value);
            path.is_absolute().then_some(path)
        };
        let home = variable("HOME");
        let below_home = home.as_ref().map(|home| home.join(".config"));
        let user = variable("XDG_CONFIG_HOME").or(below_home);
        let below_home = home.as_ref().map(|home| home.join(".local/state"));
        let state = variable("XDG_STATE_HOME").or(below_home);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::env::split_paths(&path);
        let folders = folders.filter_map(|folder| Utf8PathBuf::from_path_buf(folder).ok());
        Self {
            home,
            search_path: folders.filter(|folder| folder.is_absolute()).collect(),
            state: state.map(|folder| folder.join("jig")),
            user_config: user.map(|folder| folder.join("jig").join("config.toml")),
            environment: std::env::vars_os()
                .filter(|(name, _)| name.as_encoded_bytes().starts_with(PREFIX.as_bytes()))
                .collect(),
            ..Self::new(workspace)
        }
    }

    /// The files in the order of their layers.
    pub(crate) fn all_files(&self) -> impl Iterator<Item = (Layer, Utf8PathBuf)> {
        let user = self
            .user_config
            .iter()
            .map(|path| (Layer::User, path.clone()));
        let workspace = WORKSPACE_FILES
            .iter()
            .map(|name| (Layer::Workspace, self.workspace.join(name)));
        let named = self.files.iter().map(|path| (Layer::File, absolute(path)));
        user.chain(workspace).chain(named)
    }

    /// The folders of the person's configuration: that of their file, and the usual one, which other commands of theirs
    /// may use.
    pub(crate) fn own_folders(&self) -> Vec<Utf8PathBuf> {
        let used = self.user_config.as_deref().and_then(Utf8Path::parent);
        // A file that an embedder names may lie beside anything.
        let used = used.filter(|folder| folder.file_name() == Some("jig"));
        let usual = self.home.as_ref().map(|home| home.join(".config/jig"));
        let mut folders: Vec<Utf8PathBuf> = used.map(Utf8Path::to_owned).into_iter().collect();
        folders.extend(usual.filter(|usual| used != Some(usual)));
        folders
    }

    /// Whether keys outside the tools belong to JP and are none of our business.
    pub(crate) fn belongs_to_jp(&self, path: &Utf8Path) -> bool {
        path.strip_prefix(&self.workspace)
            .unwrap_or(path)
            .starts_with(".jp")
    }
}

/// `path` from the process's directory; as it is where that can't be found out.
fn absolute(path: &Utf8Path) -> Utf8PathBuf {
    let absolute = std::path::absolute(path).ok();
    let absolute = absolute.and_then(|path| Utf8PathBuf::from_path_buf(path).ok());
    absolute.unwrap_or_else(|| path.to_owned())
}

/// The files of a workspace, lowest layer first.
pub const WORKSPACE_FILES: [&str; 3] = [".jp/config.toml", "jig.toml", ".jig/config.toml"];
