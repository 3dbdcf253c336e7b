//! [`RunSurroundings`]: what is known of a run that is explained, and of the host around it.

use std::borrow::Cow;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use camino::Utf8Path;
use jig_proto::ProjectPath;
use rustix::fs::{self, Access, AtFlags, FileType};

use super::profile_rights::ProfileGrants;
use crate::broker::BrokerCore;
use crate::programs::confine::{ConfineSettings, Confined, FoundPreset};

/// What is known of a run.
pub(super) struct RunSurroundings<'a> {
    pub(super) inner: &'a BrokerCore,
    pub(super) settings: &'a ConfineSettings,
    pub(super) given: ProfileGrants<'a>,
    /// The canonical root of the workspace.
    pub(super) root: PathBuf,
    /// The user's home, canonical.
    pub(super) home: Option<PathBuf>,
    /// The home that the program had.
    pub(super) private_home: &'a Path,
    /// Where the program looked for others.
    pub(super) search_path: Vec<PathBuf>,
    /// The presets that it had without being named.
    pub(super) found: &'a [FoundPreset],
    /// Directories in which it could make and remove nothing, whatever the rules say.
    pub(super) unchangeable: Vec<PathBuf>,
}

impl<'a> RunSurroundings<'a> {
    pub(super) fn of(
        inner: &'a BrokerCore,
        confined: &'a Confined,
        root: &Utf8Path,
    ) -> Option<Self> {
        let settings = inner.process.confine.as_ref()?;
        let path = confined.env.get(&OsString::from("PATH"));
        let path = path.map(std::env::split_paths);
        Some(Self {
            inner,
            settings,
            given: ProfileGrants::of(&confined.profile),
            root: canonical(root.as_std_path())?,
            home: settings.home.as_deref().and_then(canonical),
            private_home: &confined.home,
            search_path: path.into_iter().flatten().collect(),
            found: &confined.found,
            unchangeable: jig_sandbox::unchangeable(&confined.profile),
        })
    }

    /// The directory that a path lies in, if no name in it can be made or removed.
    pub(super) fn unchangeable_above<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        let parent = path.parent()?;
        self.unchangeable
            .iter()
            .any(|one| one == parent)
            .then_some(parent)
    }

    /// The path of the workspace that an absolute one is, if it is one.
    pub(super) fn in_workspace(&self, path: &Path) -> Option<ProjectPath> {
        let below = path.strip_prefix(&self.root).ok()?;
        ProjectPath::normalize(below.to_str()?).ok()
    }

    /// A path by which the program asked, with the workspace named as it is and not by a link that leads to it.
    pub(super) fn by_its_root<'p>(&self, path: &'p Path) -> Cow<'p, Path> {
        let mut aliases = self.settings.aliases.iter();
        match aliases.find_map(|alias| path.strip_prefix(alias).ok()) {
            Some(below) => Cow::Owned(self.root.join(below)),
            None => Cow::Borrowed(path),
        }
    }

    /// A path of the host as people write it: `~/` for their home.
    pub(super) fn shown(&self, path: &Path) -> String {
        let below = self.home.as_deref().map(|home| path.strip_prefix(home));
        match below {
            Some(Ok(below)) if below.as_os_str().is_empty() => "~".to_owned(),
            Some(Ok(below)) => format!("~/{}", below.display()),
            _ => path.display().to_string(),
        }
    }

    /// Whether a directory holds so much that has nothing to do with each other that nobody wants to open
    /// it as a whole.
    pub(super) fn is_broad(&self, path: &Path) -> bool {
        let below = self.home.as_deref();
        let below = below.and_then(|home| path.strip_prefix(home).ok());
        match below {
            Some(below) => BROAD_IN_HOME.iter().any(|broad| below == Path::new(broad)),
            None => {
                let above_home = |home: &PathBuf| home.starts_with(path);
                BROAD.iter().any(|broad| path == Path::new(broad))
                    || self.home.as_ref().is_some_and(above_home)
                    || self.root.starts_with(path)
            }
        }
    }

    /// Whether a path belongs to the system, which no tool has to change.
    pub(super) fn is_system(&self, path: &Path) -> bool {
        SYSTEM.iter().any(|system| path.starts_with(system))
    }

    /// Whether a path is one of jig's own.
    pub(super) fn is_ours(&self, path: &Path) -> bool {
        let ours = self.settings.state.iter().chain(&self.settings.config);
        let mut ours = ours.chain(&self.inner.process.hidden);
        ours.any(|ours| path.starts_with(ours))
            || self
                .home
                .as_ref()
                .is_some_and(|home| path.starts_with(home.join(".config/jig")))
    }

    /// Whether a directory holds something sensitive, so far as its names tell. It is not listed.
    pub(super) fn holds_sensitive(&self, directory: &Path) -> bool {
        let patterns = self.inner.policy.sensitive().patterns();
        let names = patterns.filter(|name| !name.contains('*')).chain([".env"]);
        let mut names = names.map(|name| name.trim_start_matches("./").trim_start_matches('/'));
        // Of `.docker/config.json` the directory itself may be the first part.
        names.any(|name| {
            let parts = name
                .match_indices('/')
                .map(|(slash, _)| name.split_at(slash));
            let mut below = parts
                .filter(|(above, _)| directory.ends_with(above))
                .map(|(_, below)| below.trim_start_matches('/'))
                .chain([name]);
            below.any(|below| stands(&directory.join(below)) != ExplainedPathKind::Nothing)
        })
    }

    /// Whether a directory holds something that is sensitive or of jig's own. Links do not hide it.
    pub(super) fn holds_what_is_withheld(&self, directory: &Path) -> bool {
        let Some(real) =
            canonical(directory).filter(|real| stands(real) == ExplainedPathKind::Directory)
        else {
            return false;
        };
        let ours = self.settings.state.iter().chain(&self.inner.process.hidden);
        let mut ours = ours.filter_map(|ours| canonical(ours));
        self.holds_sensitive(&real) || ours.any(|ours| ours.starts_with(&real))
    }

    /// The pattern by which a path is sensitive, if it is.
    pub(super) fn sensitive(&self, path: &Path) -> Option<&'a str> {
        let text = path.to_str()?.trim_start_matches('/');
        let path = ProjectPath::normalize(text).ok()?;
        let found = self.inner.policy.sensitive().find(&path)?;
        Some(found.pattern)
    }
}

/// What stands at a path of the host itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ExplainedPathKind {
    Nothing,
    Directory,
    Socket,
    Other,
}

pub(super) fn stands(path: &Path) -> ExplainedPathKind {
    let stat = fs::lstat(path);
    match stat.map(|stat| FileType::from_raw_mode(stat.st_mode)) {
        Ok(FileType::Directory) => ExplainedPathKind::Directory,
        Ok(FileType::Socket) => ExplainedPathKind::Socket,
        Ok(_) => ExplainedPathKind::Other,
        Err(_) => ExplainedPathKind::Nothing,
    }
}

/// Whether the user could do this themselves. What they cannot, jig has not refused.
pub(super) fn could(path: &Path, access: Access) -> bool {
    fs::accessat(fs::CWD, path, access, AtFlags::EACCESS).is_ok()
}

#[expect(
    clippy::disallowed_methods,
    reason = "what a program asked for lies outside of any workspace; nothing is opened"
)]
pub(super) fn canonical(path: &Path) -> Option<PathBuf> {
    std::fs::canonicalize(path).ok()
}

/// Directories outside the home that hold everything.
const BROAD: &[&str] = &[
    "/",
    "/home",
    "/root",
    "/tmp",
    "/var",
    "/var/tmp",
    "/var/lib",
    "/var/cache",
    "/run",
    "/mnt",
    "/media",
    "/srv",
    "/etc",
    "/usr",
    "/usr/local",
    "/opt",
];

/// The same in a home.
const BROAD_IN_HOME: &[&str] = &[
    "",
    ".config",
    ".cache",
    ".local",
    ".local/share",
    ".local/state",
    ".local/lib",
    "Documents",
    "Desktop",
    "Downloads",
];

/// What belongs to the system.
const SYSTEM: &[&str] = &[
    "/etc", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/boot", "/opt",
    "/nix", "/gnu",
];
