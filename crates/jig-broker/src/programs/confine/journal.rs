//! [`CallJournal`]: a note on disk of what one call may not leave behind, for the case that jig is killed before
//! it can look.
//!
//! The only record of the [`Journal`] is the note.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use jig_files::{FoundJournal, Journal, JournalFolder};
use jig_policy::{
    Capability, DeclaredAccess, DeclaredFsRule, DefaultAccess, FileCapabilities, Guards, Planters,
    Policy, RuleOrigin, Sensitive, Workspace,
};
use jig_proto::ProjectPath;
use rustix::fs::{self, AtFlags, FileType};
use serde::{Deserialize, Serialize};

use super::repository;
use super::walk::WalkFindings;
use super::workspace_rules::ForbiddenPath;

/// What one call may not leave behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CallJournal {
    /// The workspace.
    #[serde(with = "encoded")]
    pub(super) root: PathBuf,
    /// Names that may not come into being.
    pub(super) forbidden: Vec<ForbiddenName>,
    /// What was there before.
    pub(super) before: CallBaseline,
    /// The rules on files, with which sensitive paths are judged.
    rules: Vec<JournalRule>,
    /// The list of sensitive paths.
    sensitive: Vec<String>,
    /// Whether what git obeys is guarded.
    git: bool,
}

/// The journal of a call in a workspace, as it was found.
#[derive(Debug)]
pub(super) struct FoundCall {
    file: FoundJournal,
    pub(super) journal: CallJournal,
    /// The jig that made the call.
    pub(super) process: u32,
    /// Whether that still runs.
    pub(super) is_live: bool,
}

/// What was there before a call.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CallBaseline {
    /// Sensitive paths, and links with such names.
    #[serde(with = "encoded")]
    pub(super) names: BTreeSet<PathBuf>,
    /// Directories that could not be looked into.
    #[serde(with = "encoded")]
    pub(super) closed: BTreeSet<PathBuf>,
    /// Places below the workspace at which git found a repository.
    #[serde(with = "encoded")]
    pub(super) gits: BTreeSet<PathBuf>,
    /// Directories that were not looked into, because there are too many, or too deep.
    #[serde(with = "encoded", default)]
    pub(super) unseen: BTreeSet<PathBuf>,
    /// What tells the directories among `gits` and the bare repositories from others, by whatever name.
    pub(super) repositories: BTreeSet<String>,
}

impl CallBaseline {
    /// What a walk over the workspace at `root` has found.
    pub(super) fn of(root: &Path, walked: &WalkFindings) -> Self {
        let bare = walked.heads.iter();
        let bare = bare.filter(|folder| repository::is_bare(&root.join(folder)));
        let repositories = walked.repositories.iter().chain(bare);
        Self {
            names: walked.names().into_iter().collect(),
            closed: walked.closed.iter().cloned().collect(),
            gits: walked.gits().into_iter().collect(),
            unseen: walked.unseen.iter().cloned().collect(),
            repositories: repositories
                .filter_map(|path| identity(root, path))
                .collect(),
        }
    }
}

/// What tells a directory from all others, wherever it is moved; `None` if none is there. A file can have two names.
pub(super) fn identity(root: &Path, path: &Path) -> Option<String> {
    let full = root.join(path);
    let stat = fs::lstat(&full).ok()?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Directory {
        return None;
    }
    // File systems give the number of what was removed to what is made next.
    let born = born(&full).unwrap_or_default();
    Some(format!("{}:{}:{born}", stat.st_dev, stat.st_ino))
}

/// When something was made, in nanoseconds since 1970, if the file system says so.
#[cfg(target_os = "linux")]
fn born(path: &Path) -> Option<i128> {
    let flags = AtFlags::SYMLINK_NOFOLLOW;
    let stat = fs::statx(fs::CWD, path, flags, fs::StatxFlags::BTIME).ok()?;
    let known = fs::StatxFlags::from_bits_retain(stat.stx_mask);
    let born = stat.stx_btime;
    known
        .contains(fs::StatxFlags::BTIME)
        .then(|| i128::from(born.tv_sec) * 1_000_000_000 + i128::from(born.tv_nsec))
}

#[cfg(not(target_os = "linux"))]
fn born(_path: &Path) -> Option<i128> {
    None
}

/// A name that may not come into being.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ForbiddenName {
    #[serde(with = "encoded")]
    base: Option<PathBuf>,
    path: String,
    #[serde(with = "encoded")]
    link: Option<PathBuf>,
    reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct JournalRule {
    path: String,
    capabilities: Vec<String>,
}

impl CallJournal {
    pub(super) fn new(
        policy: &Policy,
        root: &Path,
        forbidden: &[ForbiddenPath],
        before: CallBaseline,
    ) -> Self {
        let rules = policy.canonical_fs_rules();
        let rules = rules.map(|(path, granted)| JournalRule {
            path: path.to_string(),
            capabilities: granted.iter().map(|one| one.name().to_owned()).collect(),
        });
        let forbidden = forbidden.iter().map(|name| ForbiddenName {
            base: name.base.clone(),
            path: name.path.to_string(),
            link: name.link.clone(),
            reason: name.reason.clone(),
        });
        Self {
            root: root.to_owned(),
            forbidden: forbidden.collect(),
            before,
            rules: rules.collect(),
            sensitive: policy.sensitive().patterns().map(str::to_owned).collect(),
            git: policy.protects_repositories(),
        }
    }

    /// Writes it to a new file in the state directory.
    pub(super) fn write(&self, state: &Path) -> io::Result<Journal> {
        let folder = JournalFolder::make(&state.join(CALLS))?;
        folder.create(&Journal::random_name(), [serde_json::to_vec(self)?])
    }

    /// The journals in a state directory of calls in the workspace at `root`, or in one that it lies in.
    ///
    /// # Errors
    ///
    /// If one cannot be read: it may be of this workspace, and say what has to go.
    pub(super) fn around(state: &Path, root: &Path) -> io::Result<Vec<FoundCall>> {
        let folder = match JournalFolder::open(&state.join(CALLS)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            opened => opened?,
        };
        let mut calls = Vec::new();
        for file in folder.journals()? {
            let content = file.content().map_err(|error| {
                let path = state.join(CALLS).join(file.name());
                io::Error::new(error.kind(), format!("`{}`: {error}", path.display()))
            })?;
            let mut records = content.records();
            let journal = records.next().map(serde_json::from_slice::<Self>);
            let Some(Ok(journal)) = journal else {
                // One of another version of jig.
                continue;
            };
            if root.starts_with(&journal.root) {
                calls.push(FoundCall {
                    process: content.pid(),
                    is_live: file.is_writer_alive(&content),
                    journal,
                    file,
                });
            }
        }
        Ok(calls)
    }

    /// The names that may not come into being.
    pub(super) fn forbidden(&self) -> Vec<ForbiddenPath> {
        let names = self.forbidden.iter();
        let names = names.filter_map(|name| {
            Some(ForbiddenPath {
                base: name.base.clone(),
                path: ProjectPath::normalize(&name.path).ok()?,
                link: name.link.clone(),
                reason: name.reason.clone(),
            })
        });
        names.collect()
    }

    /// The policy of the call, as far as sensitive paths need it.
    pub(super) fn policy(&self) -> Option<Policy> {
        let fs = self.rules.iter().map(|rule| {
            let granted = Capability::ALL
                .into_iter()
                .filter(|one| rule.capabilities.iter().any(|name| name == one.name()));
            DeclaredFsRule {
                path: rule.path.clone(),
                capabilities: granted.collect::<FileCapabilities>(),
                origin: RuleOrigin::named("the rules of an earlier call"),
            }
        });
        let access = DeclaredAccess {
            fs: fs.collect(),
            ..DeclaredAccess::default()
        };
        let mut sensitive = Sensitive::default();
        for pattern in &self.sensitive {
            if !sensitive.patterns().any(|known| known == pattern) {
                sensitive.add(pattern).ok()?;
            }
        }
        let mut guards = Guards::of_workspace();
        if !self.git {
            guards = guards.without_git();
        }
        guards.sensitive = sensitive;
        // What the call has left on their paths is not followed.
        guards.planters = Planters::Anyone;
        let root = camino::Utf8PathBuf::from_path_buf(self.root.clone()).ok()?;
        let workspace = Workspace::on_disk(root).ok()?;
        Policy::compile(&access, DefaultAccess::NOTHING, &guards, &workspace).ok()
    }
}

impl FoundCall {
    /// Removes the journal.
    pub(super) fn remove(&self) {
        self.file.remove();
    }
}

/// Paths as text, whatever bytes are in them: a tool can choose names that are no text, and must not keep
/// jig from noting them.
mod encoded {
    use std::collections::BTreeSet;
    use std::ffi::OsString;
    use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
    use std::path::PathBuf;

    use percent_encoding::{AsciiSet, CONTROLS, percent_decode_str, percent_encode};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<P: JournalPaths, S: Serializer>(
        paths: &P,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        paths.to_texts().serialize(serializer)
    }

    pub(super) fn deserialize<'de, P: JournalPaths, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<P, D::Error> {
        let texts = Vec::deserialize(deserializer)?;
        P::from_texts(texts).ok_or_else(|| serde::de::Error::custom("a path is missing"))
    }

    /// One path, some, or perhaps one: in the file they are all lists.
    pub(super) trait JournalPaths: Sized {
        fn to_texts(&self) -> Vec<String>;
        fn from_texts(texts: Vec<String>) -> Option<Self>;
    }

    impl JournalPaths for Vec<PathBuf> {
        fn to_texts(&self) -> Vec<String> {
            let paths = self.iter().map(|path| path.as_os_str().as_bytes());
            paths
                .map(|path| percent_encode(path, ENCODED).to_string())
                .collect()
        }

        fn from_texts(texts: Vec<String>) -> Option<Self> {
            let paths = texts.iter().map(|text| {
                let path: Vec<u8> = percent_decode_str(text).collect();
                OsString::from_vec(path).into()
            });
            Some(paths.collect())
        }
    }

    impl JournalPaths for BTreeSet<PathBuf> {
        fn to_texts(&self) -> Vec<String> {
            self.iter().cloned().collect::<Vec<_>>().to_texts()
        }

        fn from_texts(texts: Vec<String>) -> Option<Self> {
            Some(Vec::from_texts(texts)?.into_iter().collect())
        }
    }

    impl JournalPaths for Option<PathBuf> {
        fn to_texts(&self) -> Vec<String> {
            self.iter().cloned().collect::<Vec<_>>().to_texts()
        }

        fn from_texts(texts: Vec<String>) -> Option<Self> {
            Some(Vec::from_texts(texts)?.pop())
        }
    }

    impl JournalPaths for PathBuf {
        fn to_texts(&self) -> Vec<String> {
            Some(self.clone()).to_texts()
        }

        fn from_texts(texts: Vec<String>) -> Option<Self> {
            Option::from_texts(texts)?
        }
    }

    const ENCODED: &AsciiSet = &CONTROLS.add(b'%');
}

/// Where journals are, in the state directory.
const CALLS: &str = "calls";
