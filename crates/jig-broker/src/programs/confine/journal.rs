//! [`CallJournal`]: a note on disk of what one call may not leave behind, for the case that jig is killed before
//! it can look.
//!
//! The first record of the [`Journal`] is the note. Each further one is a name that another call beside this one may
//! make; the jig of that call appends it.

use std::io;
use std::path::{Path, PathBuf};

use jig_files::{FoundJournal, Journal, JournalFolder};
use jig_policy::{
    Capability, DeclaredAccess, DeclaredFsRule, DefaultAccess, FileCapabilities, Guards, Planters,
    Policy, RuleOrigin, Sensitive, Workspace,
};
use jig_proto::ProjectPath;
use serde::{Deserialize, Serialize};

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
    /// Guarded names that a rule of the call opens. What appears there is not the doing of another call.
    pub(super) named: Vec<PathBuf>,
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
    /// The names that other calls were allowed to make while this one ran.
    pub(super) excused: Vec<PathBuf>,
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
    pub(super) names: Vec<PathBuf>,
    /// Directories that could not be looked into.
    #[serde(with = "encoded")]
    pub(super) closed: Vec<PathBuf>,
    /// Places below the workspace at which git found a repository.
    #[serde(with = "encoded")]
    pub(super) gits: Vec<PathBuf>,
    /// Whether every directory was looked into.
    pub(super) complete: bool,
    /// What tells these and bare repositories from others, by whatever name.
    pub(super) repositories: Vec<String>,
    /// The time, in nanoseconds since 1970.
    pub(super) time: i64,
}

/// A name that may not come into being.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ForbiddenName {
    #[serde(with = "encoded")]
    base: Option<PathBuf>,
    always: bool,
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
            always: name.always,
            path: name.path.to_string(),
            link: name.link.clone(),
            reason: name.reason.clone(),
        });
        Self {
            root: root.to_owned(),
            forbidden: forbidden.collect(),
            before,
            named: named(policy),
            rules: rules.collect(),
            sensitive: policy.sensitive().patterns().map(str::to_owned).collect(),
            git: policy.protects_repositories(),
        }
    }

    /// Writes it to a new file in the state directory.
    pub(super) fn write(&self, state: &Path) -> io::Result<Journal> {
        let folder = JournalFolder::make(&state.join(CALLS))?;
        let record = serde_json::to_vec(self)?;
        let mut journal = folder.create(&Journal::random_name(), [record])?;
        let known = self.make_known(state, &mut journal);
        if let Err(error) = known {
            journal.remove();
            return Err(error);
        }
        Ok(journal)
    }

    /// Writes it in the place of an earlier one of the same call.
    pub(super) fn replace(&self, state: &Path, earlier: &mut Journal) -> io::Result<()> {
        earlier.replace([serde_json::to_vec(self)?])?;
        // Without all the names of others, more is moved away than has to be, never less.
        let _ = self.make_known(state, earlier);
        Ok(())
    }

    /// Notes which names other calls in the same workspace may make while this one runs, whose file is `own`, and
    /// gives those the names that this one may make.
    fn make_known(&self, state: &Path, own: &mut Journal) -> io::Result<()> {
        for other in Self::all(state, &self.root)? {
            if other.is_live && other.file.name() != own.name() {
                for record in records(&other.journal.named)? {
                    own.append(&record)?;
                }
                other.excuse(&self.named)?;
            }
        }
        Ok(())
    }

    /// The names that other calls were allowed to make while the one ran whose journal it is.
    pub(super) fn excused(journal: &Journal) -> Vec<PathBuf> {
        let records = journal.appended().unwrap_or_default();
        let names = records.iter();
        names
            .filter_map(|name| serde_json::from_slice(name).ok())
            .collect()
    }

    /// The journals of a workspace in a state directory.
    ///
    /// # Errors
    ///
    /// If one cannot be read: it may be of this workspace, and say what has to go.
    pub(super) fn all(state: &Path, root: &Path) -> io::Result<Vec<FoundCall>> {
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
            if journal.root == root {
                let excused = records.filter_map(|name| serde_json::from_slice(name).ok());
                calls.push(FoundCall {
                    excused: excused.collect(),
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
                always: name.always,
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
    /// Adds names to those for which the call is not to blame.
    fn excuse(&self, names: &[PathBuf]) -> io::Result<()> {
        if names.is_empty() {
            return Ok(());
        }
        match self.file.append(records(names)?) {
            // The call is over.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            appended => appended,
        }
    }

    /// Removes the journal.
    pub(super) fn remove(&self) {
        self.file.remove();
    }
}

fn records(names: &[PathBuf]) -> io::Result<Vec<Vec<u8>>> {
    let names = names.iter();
    names.map(|name| Ok(serde_json::to_vec(name)?)).collect()
}

/// Paths as text, whatever bytes are in them: a tool can choose names that are no text, and must not keep
/// jig from noting them.
mod encoded {
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

/// The guarded names that rules open for making something.
fn named(policy: &Policy) -> Vec<PathBuf> {
    let guarded = |path: &ProjectPath| {
        policy.sensitive().find(path).is_some() || policy.protection(path).is_some()
    };
    let rules = policy.fs_rules().iter();
    let rules = rules.filter(|rule| guarded(rule.path()));
    let opening = rules.filter(|rule| policy.granted(rule.path()).has(Capability::Create));
    let opening = opening.map(|rule| PathBuf::from(rule.path().as_str()));
    let any_repository = (!policy.protects_repositories()).then(|| ANY_REPOSITORY.into());
    opening.chain(any_repository).collect()
}

/// What a call is said to make that may make repositories anywhere, as the preset `git` allows.
pub(super) const ANY_REPOSITORY: &str = "**/.git";

/// Where journals are, in the state directory.
const CALLS: &str = "calls";
