//! [`Change`]: one difference between a layer and what it lies on; [`ApplyReport`]: what became of them.

use std::fmt;
use std::path::PathBuf;

use jig_proto::ProjectPath;

/// One difference between a layer and the directory that it lies on. A path has at most one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// Where, relative to the directory.
    pub path: ProjectPath,
    /// How it differs.
    pub kind: ChangeKind,
    /// What is there now; for something that was deleted, what was there.
    pub what: PathKind,
    /// What was there before, unless it is new.
    pub was: Option<PathKind>,
    /// How many bytes it has now; for something that was deleted, how many it had.
    pub size: u64,
    /// Whether the bytes of a file, or where a link leads, are others than before.
    pub content: bool,
    /// The permissions before and now, if they differ.
    pub mode: Option<(u32, u32)>,
    /// Whether the time of the last modification of a file differs.
    pub time: bool,
    /// Whether extended attributes of the user (`user.*`), or lists of who has access, differ.
    pub attributes: bool,
    /// Whether somebody changed what is below since the layer was made. Such a change is not applied
    /// unless that is asked for.
    pub conflict: bool,
    /// Why it cannot be applied at all.
    pub unfit: Option<UnfitEntry>,
    /// What was below when it was compared.
    pub(super) seen: Option<FileStamp>,
}

impl Change {
    pub(super) fn new(path: ProjectPath, kind: ChangeKind, what: PathKind) -> Self {
        Self {
            path,
            kind,
            what,
            was: None,
            size: 0,
            content: false,
            mode: None,
            time: false,
            attributes: false,
            conflict: false,
            unfit: None,
            seen: None,
        }
    }

    /// Whether it would leave the content alone: only permissions, times or attributes differ.
    pub fn is_of_attributes(&self) -> bool {
        self.kind == ChangeKind::Modified && !self.content
    }
}

/// `modified src/main.rs`, `deleted directory old`, `modified run.sh (mode 644 to 755)`.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.name())?;
        match (self.kind, self.was) {
            (ChangeKind::Retyped, Some(was)) => write!(f, " {was} to {}", self.what)?,
            (_, _) if self.what != PathKind::File => write!(f, " {}", self.what)?,
            _ => {}
        }
        write!(f, " {}", self.path)?;
        if let Some((before, after)) = self.mode {
            write!(f, " (mode {before:o} to {after:o})")?;
        } else if self.is_of_attributes() && self.attributes {
            f.write_str(" (attributes)")?;
        } else if self.is_of_attributes() && self.time {
            f.write_str(" (time)")?;
        }
        Ok(())
    }
}

/// How something differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// It is new.
    Created,
    /// It is the same kind of thing as before.
    Modified,
    /// It is gone.
    Deleted,
    /// Something else is in its place, such as a file where a directory was. What was in that directory
    /// is deleted, which is told apart.
    Retyped,
}

impl ChangeKind {
    /// How many changes there are of each kind: `2 created, 1 deleted`.
    pub fn counted<'c>(changes: impl Iterator<Item = &'c Change> + Clone) -> String {
        let kinds = [
            ChangeKind::Created,
            ChangeKind::Modified,
            ChangeKind::Deleted,
            ChangeKind::Retyped,
        ];
        let counts = kinds.map(|kind| {
            let count = changes.clone().filter(|change| change.kind == kind).count();
            (count > 0).then(|| format!("{count} {}", kind.name()))
        });
        let counts: Vec<String> = counts.into_iter().flatten().collect();
        counts.join(", ")
    }

    /// `created`, `modified`, `deleted`, `retyped`.
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::Created => "created",
            ChangeKind::Modified => "modified",
            ChangeKind::Deleted => "deleted",
            ChangeKind::Retyped => "retyped",
        }
    }
}

/// What can be at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PathKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Symlink,
    /// A pipe, a socket or a device.
    Other,
}

impl PathKind {
    /// `file`, `directory`, `symlink`, `other`.
    pub fn name(self) -> &'static str {
        match self {
            PathKind::File => "file",
            PathKind::Directory => "directory",
            PathKind::Symlink => "symlink",
            PathKind::Other => "other",
        }
    }
}

impl fmt::Display for PathKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Why something of a layer cannot be applied.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum UnfitEntry {
    /// It is a pipe, a socket or a device.
    Special,
    /// Its name is not UTF-8, so that no rule can be compared with it. The path shows what can be shown.
    NotUtf8,
    /// It lies below more directories than are looked into.
    TooDeep,
}

impl fmt::Display for UnfitEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UnfitEntry::Special => "it is a pipe, a socket or a device",
            UnfitEntry::NotUtf8 => "its name is not UTF-8",
            UnfitEntry::TooDeep => "it lies below too many directories",
        })
    }
}

/// What [`ChangeLayer::diff`](super::ChangeLayer::diff) shows of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Diff {
    /// A unified diff, each line with its line end. The text is the tool's: it may hold anything.
    Text {
        /// The lines.
        text: String,
        /// How many lines were left off at the end.
        left_off: usize,
    },
    /// At least one side is not text.
    Binary {
        /// Bytes before.
        before: u64,
        /// Bytes now.
        after: u64,
    },
    /// At least one side is larger than is compared.
    TooLarge {
        /// Bytes before.
        before: u64,
        /// Bytes now.
        after: u64,
    },
    /// The content is the same, or is none, as that of a directory.
    Nothing,
}

/// How much of a change is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiffLimits {
    /// The most bytes that each side may have. A tool can make files that take long to compare.
    pub size: u64,
    /// The most lines of a diff.
    pub lines: usize,
    /// The most characters of a line of a diff. A tool can write a whole file on one line.
    pub width: usize,
}

impl Default for DiffLimits {
    /// One MiB, 10,000 lines of 2,000 characters.
    fn default() -> Self {
        Self {
            size: 1 << 20,
            lines: 10_000,
            width: 2_000,
        }
    }
}

/// What became of the changes of a layer.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct ApplyReport {
    /// Those that are done.
    pub done: Vec<Change>,
    /// Those that the caller refused, and those in directories of which it refused the making.
    pub refused: Vec<Change>,
    /// Those of what somebody else has changed since the layer was made.
    pub conflicts: Vec<Change>,
    /// Those that failed or cannot be applied, with the reason.
    pub failed: Vec<FailedChange>,
    /// Where the layer is kept, because there are conflicts or failures and its content is the only
    /// copy. It is removed by [`ChangeLayer::sweep`](super::ChangeLayer::sweep) after a week.
    pub kept: Option<PathBuf>,
}

impl ApplyReport {
    /// Whether every change is done.
    pub fn is_complete(&self) -> bool {
        self.refused.is_empty() && self.conflicts.is_empty() && self.failed.is_empty()
    }
}

/// A change that was not applied.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FailedChange {
    /// The change.
    pub change: Change,
    /// Why, in words.
    pub why: String,
}

/// What tells that something is still what was compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileStamp {
    pub(super) device: u64,
    pub(super) inode: u64,
    pub(super) size: i64,
    pub(super) modified: FileTime,
}

/// A time of a file system, in seconds and nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct FileTime(pub(super) i64, pub(super) i64);
