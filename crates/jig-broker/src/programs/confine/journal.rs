//! [`CallJournal`]: a note on disk of what one call may not leave behind, for the case that jig is killed before
//! it can look.

use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use jig_policy::{
    Capability, DeclaredAccess, DeclaredFsRule, DefaultAccess, FileCapabilities, Guards, Policy,
    RuleOrigin, Sensitive, Workspace,
};
use jig_proto::ProjectPath;
use rustix::fs::{self, Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};

use super::host_files;
use super::workspace_rules::ForbiddenPath;

/// What one call may not leave behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct CallJournal {
    /// The jig that made the call.
    pub(super) process: u32,
    /// When that started, in the kernel's ticks, so that a later process of the same number is told apart.
    pub(super) started: Option<u64>,
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
        let process = std::process::id();
        let rules = policy.fs_rules().iter().map(|rule| JournalRule {
            path: rule.path().to_string(),
            capabilities: rule
                .capabilities()
                .iter()
                .map(|one| one.name().to_owned())
                .collect(),
        });
        let forbidden = forbidden.iter().map(|name| ForbiddenName {
            base: name.base.clone(),
            always: name.always,
            path: name.path.to_string(),
            link: name.link.clone(),
            reason: name.reason.clone(),
        });
        Self {
            process,
            started: started(process),
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
    pub(super) fn write(&self, state: &Path) -> io::Result<PathBuf> {
        let directory = state.join(CALLS);
        make_directories(&directory)?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let started = self.started.unwrap_or_default();
        let path = directory.join(format!("{}-{started}-{number}.json", self.process));
        let text = serde_json::to_vec(self)?;
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = fs::open(&path, flags, Mode::RUSR | Mode::WUSR)?;
        write_all(&file, &text)?;
        Ok(path)
    }

    /// Notes which names other calls in the same workspace may make while this one runs, whose file is at
    /// `own`, and gives those the names that this one may make.
    pub(super) fn make_known(&self, state: &Path, own: &Path) -> io::Result<()> {
        for (path, other) in Self::others(state, &self.root, Some(own)) {
            if other.is_live() {
                excuse(own, &other.named)?;
                excuse(&path, &self.named)?;
            }
        }
        Ok(())
    }

    /// The names that other calls were allowed to make while the one ran whose journal is at `path`.
    pub(super) fn excused(path: &Path) -> Vec<PathBuf> {
        let text = host_files::head(&excuses(path), LONGEST).unwrap_or_default();
        let lines = text.split(|byte| *byte == b'\n');
        lines
            .filter_map(|line| serde_json::from_slice(line).ok())
            .collect()
    }

    /// Removes the journal at `path`.
    pub(super) fn remove(path: &Path) {
        // What cannot be removed is swept by the next jig, which then finds nothing.
        let _ = fs::unlink(path);
        let _ = fs::unlink(excuses(path));
    }

    /// The journals of a workspace in a state directory, with their files.
    pub(super) fn all(state: &Path, root: &Path) -> Vec<(PathBuf, Self)> {
        Self::others(state, root, None)
    }

    fn others(state: &Path, root: &Path, own: Option<&Path>) -> Vec<(PathBuf, Self)> {
        let directory = state.join(CALLS);
        let paths = host_files::names(&directory)
            .into_iter()
            .map(|name| directory.join(name));
        paths
            .filter(|path| Some(path.as_path()) != own)
            .filter(|path| {
                path.extension()
                    .is_some_and(|extension| extension == "json")
            })
            .filter_map(|path| {
                let text = host_files::head(&path, LONGEST)?;
                let journal: Self = serde_json::from_slice(&text).ok()?;
                (journal.root == root).then_some((path, journal))
            })
            .collect()
    }

    /// Whether the jig that made the call still runs.
    pub(super) fn is_live(&self) -> bool {
        let now = started(self.process);
        now.is_some() && (self.started.is_none() || now == self.started)
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
        let guards = Guards {
            sensitive,
            repository: self.git,
            ..Guards::default()
        };
        let root = camino::Utf8PathBuf::from_path_buf(self.root.clone()).ok()?;
        let workspace = Workspace::on_disk(root).ok()?;
        Policy::compile(&access, DefaultAccess::NOTHING, &guards, &workspace).ok()
    }
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
        let mut protected = policy.protected().iter();
        policy.sensitive().find(path).is_some()
            || protected.any(|guard| path.starts_with(&guard.path))
    };
    let rules = policy.fs_rules().iter();
    let rules = rules.filter(|rule| guarded(rule.path()));
    let opening = rules.filter(|rule| policy.granted(rule.path()).has(Capability::Create));
    let opening = opening.map(|rule| PathBuf::from(rule.path().as_str()));
    let any_repository = (!policy.protects_repositories()).then(|| ANY_REPOSITORY.into());
    opening.chain(any_repository).collect()
}

/// Adds names to those for which the call with a journal at `path` is not to blame.
fn excuse(path: &Path, names: &[PathBuf]) -> io::Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    let mut lines = Vec::new();
    for name in names {
        serde_json::to_writer(&mut lines, name)?;
        lines.push(b'\n');
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND | OFlags::CLOEXEC;
    let file = fs::open(excuses(path), flags, Mode::RUSR | Mode::WUSR)?;
    Ok(write_all(&file, &lines)?)
}

fn excuses(journal: &Path) -> PathBuf {
    journal.with_extension("excused")
}

/// When a process started, in the kernel's ticks since boot; `None` if there is no such process, or if this
/// cannot be told.
fn started(process: u32) -> Option<u64> {
    let stat = host_files::text(Path::new(&format!("/proc/{process}/stat")))?;
    // The name of the program is in parentheses, and may hold anything.
    let (_, rest) = stat.rsplit_once(')')?;
    rest.split_ascii_whitespace().nth(19)?.parse().ok()
}

/// Makes a directory with those above it, for its owner alone.
pub(super) fn make_directories(directory: &Path) -> Result<(), Errno> {
    match (fs::mkdir(directory, Mode::RWXU), directory.parent()) {
        (Ok(()) | Err(Errno::EXIST), _) => Ok(()),
        (Err(Errno::NOENT), Some(parent)) => {
            make_directories(parent)?;
            match fs::mkdir(directory, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => Ok(()),
                Err(error) => Err(error),
            }
        }
        (Err(error), _) => Err(error),
    }
}

pub(super) fn write_all(file: &OwnedFd, mut content: &[u8]) -> Result<(), Errno> {
    while !content.is_empty() {
        match rustix::io::write(file, content) {
            Ok(length) => content = &content[length..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// What a call is said to make that may make repositories anywhere, as the preset `git` allows.
pub(super) const ANY_REPOSITORY: &str = "**/.git";

static NEXT: AtomicU64 = AtomicU64::new(0);

/// Where journals are, in the state directory.
const CALLS: &str = "calls";

/// More than a journal ever is: a workspace has a few sensitive files, not millions.
const LONGEST: usize = 16 << 20;
