//! [`ProjectFiles`]: the one trait, and the plain data that its operations take and give.

use std::fmt;

use bytes::Bytes;
use camino::Utf8Path;
use jig_proto::ProjectPath;

use crate::grep::{GrepQuery, Matches};
use crate::{ContentHash, FileEdit, FileHandle, FilesError, FilesView, OpenOptions, Place};

/// The files of a workspace.
///
/// Everything blocks and nothing needs a runtime: small operations are fastest when the thread that
/// got the request does them. Values can be shared between threads. Only this crate implements it.
pub trait ProjectFiles: fmt::Debug + Send + Sync + sealed::SealedFiles {
    /// Finds where a path leads, following links, without opening anything for reading or writing.
    ///
    /// A path at which nothing stands is a place too, of kind
    /// [`PlaceKind::Missing`](crate::PlaceKind::Missing). A link that leaves
    /// the workspace, dangles or loops is [`FilesError::Escape`], wherever in the path it is.
    fn locate(&self, path: &ProjectPath) -> Result<Place, FilesError>;

    /// Like [`locate`](Self::locate), but a link at the last component is the place itself.
    ///
    /// This is how a link is removed or moved; links further up are followed.
    fn locate_entry(&self, path: &ProjectPath) -> Result<Place, FilesError>;

    /// Whether all files are on this machine, as far as is known now: a file system that is reached over the network
    /// may keep whoever asks it waiting.
    fn is_local(&self) -> bool {
        true
    }

    /// Reads a whole file; [`FilesError::TooLarge`] if it has more than `limit` bytes.
    fn read(&self, place: &Place, limit: u64) -> Result<Bytes, FilesError>;

    /// Reads up to `length` bytes from `offset`. At the end of the file there are fewer, past it
    /// none.
    fn read_range(&self, place: &Place, offset: u64, length: u64) -> Result<Bytes, FilesError>;

    /// Opens a file for reading, to be handed to another process; `None` where files have no
    /// descriptors.
    #[expect(
        clippy::disallowed_types,
        reason = "a descriptor that is passed on is a file of the operating system"
    )]
    fn open(&self, place: &Place) -> Result<Option<std::fs::File>, FilesError>;

    /// Opens a file to be read and written in parts; with `create` one that is missing is created.
    ///
    /// What is opened is what was located. A place that was missing is only ever created: if something
    /// appeared there since, [`FilesError::Changed`] tells that it must be judged anew, and with
    /// `exclusive` it is [`FilesError::AlreadyExists`]. To be changed, the file must still have its name,
    /// else it is [`FilesError::Changed`] too. A file that has further names gets a content of its own
    /// first: the other names may lie where nobody judged.
    ///
    /// A directory is [`FilesError::IsDirectory`]; pipes and devices are never opened.
    fn open_file(&self, place: &Place, options: &OpenOptions) -> Result<FileHandle, FilesError>;

    /// Replaces the content of a file, or creates it. Says whether it was created.
    ///
    /// It is atomic: whoever looks, also after a crash, finds the old content or the new one. A
    /// place that was missing is only ever created: if something appeared there since,
    /// [`FilesError::Changed`] tells that it must be judged anew as an update, and with `exclusive`
    /// it is [`FilesError::AlreadyExists`].
    fn write(
        &self,
        place: &Place,
        content: &[u8],
        options: &WriteOptions,
    ) -> Result<bool, FilesError>;

    /// Adds to the end of a file, or creates it. Says whether it was created.
    ///
    /// An addition never damages what was there, but a crash can leave a part of it.
    fn append(
        &self,
        place: &Place,
        content: &[u8],
        options: &WriteOptions,
    ) -> Result<bool, FilesError>;

    /// Applies edits in their order, each to the outcome of the one before, and replaces the
    /// content in one atomic step: all of them or none.
    ///
    /// A file of more than `limit` bytes is [`FilesError::TooLarge`]; one that somebody else changes
    /// in the meantime is [`FilesError::Stale`].
    fn patch(
        &self,
        place: &Place,
        edits: &[FileEdit],
        limit: u64,
        options: &WriteOptions,
    ) -> Result<(), FilesError> {
        let before = self.read(place, limit)?;
        let seen = ContentHash::of(&before);
        if options.if_match.is_some_and(|wanted| wanted != seen) {
            return Err(FilesError::Stale {
                path: place.path().clone(),
            });
        }
        let after =
            crate::edits::apply(&before, edits).map_err(|(number, problem)| FilesError::Edit {
                path: place.path().clone(),
                number,
                problem,
            })?;
        let options = WriteOptions {
            if_match: Some(seen),
            exclusive: false,
            ..*options
        };
        self.write(place, &after, &options).map(|_| ())
    }

    /// The names in a directory, sorted, not recursive.
    fn list_dir(&self, place: &Place) -> Result<Listing, FilesError>;

    /// Makes a directory; with `parents` also those above it, and then one that exists already is
    /// fine.
    fn make_dir(&self, place: &Place, parents: bool) -> Result<(), FilesError>;

    /// Removes a file, a pipe, or a link that was located by
    /// [`locate_entry`](Self::locate_entry). A directory is [`FilesError::IsDirectory`].
    fn delete(&self, place: &Place) -> Result<(), FilesError>;

    /// Removes an empty directory; [`FilesError::NotEmpty`] if something is in it.
    fn remove_dir(&self, place: &Place) -> Result<(), FilesError>;

    /// Removes whatever stands there, a directory with all that is in it. Links are removed, not
    /// followed. Gives how many entries went.
    ///
    /// `may` is asked about every entry before the first one is removed; a single no is
    /// [`FilesError::Refused`] and everything stays. What appears while the removal is under way is
    /// asked about too, and a no then ends it half-way.
    fn delete_tree(&self, place: &Place, may: &Filter<'_>) -> Result<u64, FilesError>;

    /// Moves a file, link or directory to another name. `from` is best located by
    /// [`locate_entry`](Self::locate_entry).
    fn rename(&self, from: &Place, to: &Place, options: &RenameOptions) -> Result<(), FilesError>;

    /// Searches the content of files. What `may` says no to is neither opened nor descended into.
    fn grep(&self, query: &GrepQuery, may: &Filter<'_>) -> Result<Matches, FilesError>;

    /// A directory in which subprocesses see the files.
    fn materialize(&self) -> Result<FilesView, FilesError>;

    /// The root as people and links name it.
    fn display_root(&self) -> &Utf8Path;
}

/// Says whether a path may be touched; the flag is true for a directory.
pub type Filter<'a> = dyn Fn(&ProjectPath, bool) -> bool + Sync + 'a;

/// How to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WriteOptions {
    /// Fail with [`FilesError::AlreadyExists`] if anything stands there. Default: no.
    pub exclusive: bool,
    /// Fail with [`FilesError::Stale`] unless this is the content that stands there. Default: any.
    ///
    /// Writers of this process are kept apart, so among them it is exact; a foreign process can
    /// still slip in between the last look and the exchange.
    pub if_match: Option<ContentHash>,
    /// Make the directories above it as needed. They stay if the write then fails. Default: yes.
    pub parents: bool,
    /// Wait until the content has reached the disk, so that it also survives a loss of power.
    /// Default: no, since it is about three times slower; a crash of the program never needs it.
    pub durable: bool,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            exclusive: false,
            if_match: None,
            parents: true,
            durable: false,
        }
    }
}

/// How to rename.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenameOptions {
    /// Replace what stands at the new name: a file by a file, an empty directory by a directory.
    /// Default: yes; else it is [`FilesError::AlreadyExists`].
    pub overwrite: bool,
    /// Make the directories above the new name as needed. Default: yes.
    pub parents: bool,
}

impl Default for RenameOptions {
    fn default() -> Self {
        Self {
            overwrite: true,
            parents: true,
        }
    }
}

/// What a directory holds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Listing {
    /// The entries, sorted by name.
    pub entries: Vec<DirEntry>,
    /// How many more there are whose names are not UTF-8 and therefore cannot be told.
    pub unnamed: usize,
}

/// One entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// The name, relative to the directory.
    pub name: String,
    /// What it is, or for a link what it leads to.
    pub kind: DirEntryKind,
    /// For a link that leads somewhere inside the workspace, the canonical path of that place: what
    /// a policy judges.
    pub leads_to: Option<ProjectPath>,
}

/// What an entry of a directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DirEntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A pipe, socket or device.
    Other,
    /// A link that leaves the workspace, dangles or loops.
    BrokenLink,
}

pub(crate) mod sealed {
    /// Keeps the trait to this crate, since a [`Place`](crate::Place) holds what only this crate
    /// can make.
    pub trait SealedFiles {}
}
