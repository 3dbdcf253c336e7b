//! [`HostPaths`]: what the host has where a command looked. Names are looked at, and nothing is opened.

use std::path::{Component, Path, PathBuf};

use camino::{Utf8Path, Utf8PathBuf};
use jig_policy::Sensitive;
use jig_proto::ProjectPath;

use crate::engine::Engine;

/// What the host has.
#[derive(Debug)]
pub(super) struct HostPaths {
    /// The root of the workspace.
    pub(super) root: Utf8PathBuf,
    /// The user's home.
    pub(super) home: Option<PathBuf>,
    /// Where jig keeps its own files.
    state: Option<PathBuf>,
    /// The home of confined programs.
    pub(super) private_home: PathBuf,
    /// Where programs are looked for.
    search_path: Vec<PathBuf>,
}

/// What stands at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HostEntryKind {
    Directory,
    /// A file, or a link.
    File,
}

impl HostPaths {
    pub(super) fn new(engine: &Engine, root: &Utf8Path, private_home: PathBuf) -> Self {
        let search_path = std::env::split_paths(&engine.confine.search_path);
        Self {
            root: root.to_owned(),
            home: engine.confine.home.as_deref().and_then(real),
            state: engine.confine.state.as_deref().and_then(real),
            private_home,
            search_path: search_path.filter_map(|path| real(&path)).collect(),
        }
    }

    /// What stands at a path of the workspace.
    pub(super) fn inside(&self, path: &ProjectPath) -> Option<HostEntryKind> {
        kind(path.under(&self.root).as_std_path())
    }

    /// The names in the workspace's own directory.
    pub(super) fn top(&self) -> Vec<ProjectPath> {
        let names = names(self.root.as_std_path()).into_iter();
        let mut top: Vec<ProjectPath> = names
            .filter_map(|name| ProjectPath::normalize(name.to_str()?).ok())
            .collect();
        top.sort();
        top
    }

    /// A path of the host as one of the workspace.
    pub(super) fn relative(&self, path: &Path) -> Option<ProjectPath> {
        let below = path.strip_prefix(&self.root).ok()?;
        match below.to_str()? {
            "" => Some(ProjectPath::root()),
            below => ProjectPath::normalize(below).ok(),
        }
    }

    /// Whether programs are looked for in a directory.
    pub(super) fn is_on_search_path(&self, directory: &Path) -> bool {
        self.search_path.iter().any(|entry| entry == directory)
    }

    /// Whether a directory holds so much that no rule is to open it as a whole.
    pub(super) fn is_too_much(&self, directory: &Path) -> bool {
        let is_above = |other: &PathBuf| other.starts_with(directory);
        let depth = directory.components().count();
        depth <= SHALLOWEST
            || self.home.as_ref().is_some_and(is_above)
            || self.state.as_ref().is_some_and(is_above)
            || self.root.as_std_path().starts_with(directory)
    }

    /// Whether a path lies in the user's home.
    pub(super) fn is_of_home(&self, path: &Path) -> bool {
        let is_above = |home: &PathBuf| path.starts_with(home);
        self.home.as_ref().is_some_and(is_above)
    }

    /// Whether a path is one of jig's own, which no tool is shown.
    pub(super) fn is_ours(&self, path: &Path) -> bool {
        let is_ours = |state: &PathBuf| path.starts_with(state);
        self.state.as_ref().is_some_and(is_ours)
    }

    /// A path outside the workspace as a configuration names it: `~/` stands for the home.
    pub(super) fn shown(&self, path: &Path) -> String {
        let below = self
            .home
            .as_ref()
            .and_then(|home| path.strip_prefix(home).ok());
        match below {
            Some(below) => format!("~/{}", below.display()),
            None => path.display().to_string(),
        }
    }
}

/// What stands at a path, links not followed.
#[expect(
    clippy::disallowed_methods,
    reason = "only whether something is there is asked, of the host, whose files have no backend"
)]
pub(crate) fn kind(path: &Path) -> Option<HostEntryKind> {
    let about = path.symlink_metadata().ok()?;
    Some(match about.is_dir() {
        true => HostEntryKind::Directory,
        false => HostEntryKind::File,
    })
}

/// The names in a directory, at most [`MOST_NAMES`]; none if it cannot be read.
#[expect(
    clippy::disallowed_methods,
    reason = "names of the host are listed, whose files have no backend"
)]
pub(crate) fn names(directory: &Path) -> Vec<std::ffi::OsString> {
    let Ok(entries) = directory.read_dir() else {
        return Vec::new();
    };
    let names = entries.filter_map(|entry| Some(entry.ok()?.file_name()));
    names.take(MOST_NAMES).collect()
}

/// A path without links; `None` if nothing is there.
#[expect(
    clippy::disallowed_methods,
    reason = "the user's own directories are found before anything runs"
)]
pub(crate) fn real(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// Why a path of the host is sensitive: the pattern of the list. A link to something sensitive is as
/// sensitive as that.
pub(super) fn sensitive<'a>(list: &'a Sensitive, path: &Path) -> Option<&'a str> {
    let by_link = || by_name(list, &real(path)?);
    by_name(list, path).or_else(by_link)
}

/// Whether a directory holds something sensitive, by the names in it.
pub(super) fn holds_sensitive(list: &Sensitive, directory: &Path) -> bool {
    let mut names = names(directory).into_iter();
    let literal = list.patterns().filter(|pattern| !pattern.contains('*'));
    let mut literal =
        literal.map(|pattern| pattern.trim_start_matches("./").trim_start_matches('/'));
    names.any(|name| by_name(list, &directory.join(name)).is_some())
        // Some are sensitive in a directory of a certain name only.
        || literal.any(|below| kind(&directory.join(below)).is_some())
}

fn by_name<'a>(list: &'a Sensitive, path: &Path) -> Option<&'a str> {
    let names = path
        .components()
        .filter(|part| matches!(part, Component::Normal(_)));
    let relative: PathBuf = names.collect();
    let relative = ProjectPath::normalize(relative.to_str()?).ok()?;
    list.find(&relative).map(|found| found.pattern)
}

/// `/` has one component, `/usr` two: neither is opened as a whole.
const SHALLOWEST: usize = 2;

/// A directory with millions of files must not make a proposal expensive.
const MOST_NAMES: usize = 10_000;
