//! Permitted requests on files, done.

#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::sync::Arc;

use jig_files::{
    ContentHash, DirEntryKind as FilesEntry, FileEdit, FilesError, PlaceKind, RenameOptions,
    WriteOptions,
};
use jig_policy::{Capability, FileTarget, ResolvedPath, Verdict};
use jig_proto::ProjectPath;
use jig_proto::vfs::{
    DoneReply, EntryKind, ErrorKind, ErrorReply, MetadataReply, Method, ReadReply, VfsReply,
};

use super::error;
use super::grant::{GrantedMove, GrantedPlace};
use super::names::PathStat;
use super::replies::{self, ListedName};
use super::search::PermittedSearch;
use crate::broker::BrokerCore;
use crate::cancel::CancelToken;
use crate::requests::approvals::ApprovalKey;
use crate::requests::judge::Judge;

type FsAnswer = Result<VfsReply<'static>, ErrorReply>;

/// A permitted request on files.
#[derive(Debug)]
pub(crate) enum FsJob {
    Read {
        at: GrantedPlace,
        range: Option<FileRange>,
        /// Whether the tool would rather have the open file than its content.
        fd: bool,
    },
    Replace(FileReplacement),
    Patch(PermittedPatch),
    Exists {
        at: GrantedPlace,
    },
    Metadata {
        at: GrantedPlace,
    },
    List {
        at: GrantedPlace,
        after: Option<String>,
        limit: Option<u32>,
    },
    MakeDir {
        at: GrantedPlace,
        /// Whether those above it are made too, and one that exists is fine.
        parents: bool,
    },
    RemoveDir {
        at: GrantedPlace,
    },
    Delete(Deletion),
    Rename(FileMove),
    Grep(PermittedSearch),
}

/// A part of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FileRange {
    pub(super) offset: u64,
    pub(super) length: Option<u64>,
}

/// New content, or more of it.
#[derive(Debug)]
pub(crate) struct FileReplacement {
    pub(super) at: GrantedPlace,
    pub(super) content: Vec<u8>,
    pub(super) options: WriteOptions,
    /// `fs.write` or `fs.append`.
    pub(super) method: Method,
    /// What was approved for this request, should it have to be judged again.
    pub(super) once: Vec<ApprovalKey>,
}

/// Edits of a file.
#[derive(Debug)]
pub(crate) struct PermittedPatch {
    pub(super) at: GrantedPlace,
    pub(super) edits: Vec<FileEdit>,
    pub(super) options: WriteOptions,
}

/// A removal.
#[derive(Debug)]
pub(crate) struct Deletion {
    pub(super) at: GrantedPlace,
    pub(super) recursive: bool,
    pub(super) if_match: Option<ContentHash>,
    pub(super) once: Vec<ApprovalKey>,
}

/// A move.
#[derive(Debug)]
pub(crate) struct FileMove {
    pub(super) moved: GrantedMove,
    pub(super) overwrite: bool,
    /// Whether missing directories above the new name are made.
    pub(super) parents: bool,
}

impl FsJob {
    /// Whether it takes microseconds.
    pub(crate) fn is_quick(&self) -> bool {
        match self {
            Self::Read { at, range, .. } => {
                let wanted = range.and_then(|range| range.length).unwrap_or(u64::MAX);
                at.place().size().min(wanted) <= QUICK_BYTES
            }
            Self::Replace(replacement) => {
                let old = match (replacement.method, replacement.options.if_match) {
                    (Method::FsWrite, None) => 0,
                    _ => replacement.at.place().size(),
                };
                old.max(replacement.content.len() as u64) <= QUICK_BYTES
            }
            Self::Patch(change) => change.at.place().size() <= QUICK_BYTES,
            Self::Delete(deletion) => !deletion.recursive,
            Self::Exists { .. }
            | Self::Metadata { .. }
            | Self::List { .. }
            | Self::MakeDir { .. }
            | Self::RemoveDir { .. }
            | Self::Rename(_) => true,
            Self::Grep(_) => false,
        }
    }

    /// The file that is to be read, opened for reading, and its size; `None` if its content has to
    /// be sent.
    ///
    /// A descriptor shows the file as it is, also later: where a secret would have to be taken out,
    /// there is none. Whatever is wrong with the file is told by [`run`](Self::run).
    #[cfg(unix)]
    pub(crate) fn open(&self, inner: &BrokerCore) -> Option<(OwnedFd, u64)> {
        let Self::Read {
            at,
            range: None,
            fd: true,
        } = self
        else {
            return None;
        };
        if inner.secrets.scrubber().is_some() {
            return None;
        }
        let file = inner.files.open(at.place()).ok().flatten()?;
        Some((file.into(), at.place().size()))
    }

    /// What stands at the path of a `fs.metadata`; `None` if it is something else.
    pub(crate) fn look(&self, inner: &BrokerCore) -> Option<Result<PathStat, ErrorReply>> {
        match self {
            Self::Metadata { at } => Some(PathStat::at(inner, at)),
            _ => None,
        }
    }

    /// The entries of the directory of a `fs.list_dir`; `None` if it is something else.
    pub(crate) fn entries(
        &self,
        inner: &BrokerCore,
    ) -> Option<Result<Vec<ListedName>, ErrorReply>> {
        match self {
            Self::List { at, .. } => Some(replies::entries(inner, at)),
            _ => None,
        }
    }

    pub(crate) fn run(self, inner: &Arc<BrokerCore>, cancel: &CancelToken) -> FsAnswer {
        match self {
            Self::Read {
                at, range: None, ..
            } => read(inner, &at),
            Self::Read {
                at,
                range: Some(range),
                ..
            } => read_range(inner, &at, range),
            Self::Replace(replacement) => replace(inner, replacement),
            Self::Patch(change) => patch(inner, &change),
            Self::Exists { at } => Ok(VfsReply::Exists(at.place().exists())),
            Self::Metadata { at } => metadata(&at),
            Self::List { at, after, limit } => replies::list(inner, &at, after.as_deref(), limit),
            Self::MakeDir { at, parents } => {
                let made = inner.files.make_dir(at.place(), parents);
                made.map_err(|error| at.error(&error))?;
                at.expect_no_repository(inner)?;
                Ok(VfsReply::DONE)
            }
            Self::RemoveDir { at } => {
                let removed = inner.files.remove_dir(at.place());
                removed
                    .map(|()| VfsReply::DONE)
                    .map_err(|error| at.error(&error))
            }
            Self::Delete(deletion) => delete(inner, &deletion, cancel),
            Self::Rename(rename) => move_place(inner, &rename),
            Self::Grep(search) => search.run(inner, cancel),
        }
    }
}

impl GrantedPlace {
    pub(super) fn error(&self, error: &FilesError) -> ErrorReply {
        error::reply(error, self.text())
    }
}

fn read(inner: &BrokerCore, at: &GrantedPlace) -> FsAnswer {
    let content = inner.files.read(at.place(), inner.limits.file_bytes);
    let content = content.map_err(|error| at.error(&error))?;
    let etag = ContentHash::of(&content).to_string();
    Ok(VfsReply::Read(ReadReply {
        size: content.len() as u64,
        content: replies::payload(inner, content.into()),
        etag: Some(etag.into()),
    }))
}

/// Reads a part. Where secrets are known, a little more than the part is looked at, so that one
/// that reaches across its border is not handed out in two halves.
fn read_range(inner: &BrokerCore, at: &GrantedPlace, range: FileRange) -> FsAnswer {
    let limit = inner.limits.file_bytes;
    let size = at.place().size();
    let rest = size.saturating_sub(range.offset);
    let length = range.length.unwrap_or(rest).min(rest);
    if length > limit {
        let what = format!("the part of `{}`", at.shown());
        return Err(ErrorReply::too_large(what, length, limit)
            .with_path(at.text())
            .with_hint(jig_proto::hint!("ask for a smaller `length`")));
    }
    let scrubber = inner.secrets.scrubber();
    let margin = scrubber.as_ref().map_or(0, |scrubber| scrubber.margin());
    let margin = u64::try_from(margin).unwrap_or(u64::MAX);
    let before = range.offset.min(margin);
    let start = range.offset - before;
    let wanted = before.saturating_add(length).saturating_add(margin);
    let window = inner.files.read_range(at.place(), start, wanted);
    let window = window.map_err(|error| at.error(&error))?;
    // The file may have become shorter since it was located.
    let clip = |end: u64| usize::try_from(end).unwrap_or(usize::MAX).min(window.len());
    let inside = clip(before)..clip(before.saturating_add(length));
    let part = match scrubber {
        Some(scrubber) => scrubber.part(&window, inside),
        None => window.slice(inside).into(),
    };
    Ok(VfsReply::Read(ReadReply {
        content: jig_proto::vfs::Payload::of_bytes(part),
        size,
        etag: None,
    }))
}

/// Writes or appends. Whether it creates or updates was judged by what stood there; if that has
/// changed it is judged again, a few times.
fn replace(inner: &Arc<BrokerCore>, mut job: FileReplacement) -> FsAnswer {
    for _ in 0..ATTEMPTS {
        let place = job.at.place();
        let (done, etag) = if job.method == Method::FsWrite {
            let done = inner.files.write(place, &job.content, &job.options);
            (done, Some(ContentHash::of(&job.content)))
        } else {
            (inner.files.append(place, &job.content, &job.options), None)
        };
        match done {
            Ok(_) => {
                job.at.expect_no_repository(inner)?;
                let etag = etag.map(|etag| etag.to_string().into());
                return Ok(VfsReply::Done(DoneReply { etag }));
            }
            Err(FilesError::Changed { .. }) => {
                let mut judge = job.at.judge_again(inner, job.method, &job.once);
                let text = job.at.text().to_owned();
                match super::change(&mut judge, &text, job.method)? {
                    Some(at) => job.at = at,
                    // What stands there now is something that nobody has approved.
                    None => break,
                }
            }
            Err(error) => return Err(job.at.error(&error)),
        }
    }
    Err(job.at.error(&FilesError::Changed {
        path: job.at.place().path().clone(),
    }))
}

fn patch(inner: &BrokerCore, change: &PermittedPatch) -> FsAnswer {
    let place = change.at.place();
    let limit = inner.limits.file_bytes;
    let done = inner
        .files
        .patch(place, &change.edits, limit, &change.options);
    done.map(|()| VfsReply::DONE)
        .map_err(|error| change.at.error(&error))
}

fn metadata(at: &GrantedPlace) -> FsAnswer {
    let kind = match at.place().kind() {
        PlaceKind::Missing => return Err(ErrorReply::not_found(at.text())),
        PlaceKind::File => EntryKind::File,
        PlaceKind::Directory => EntryKind::Dir,
        PlaceKind::Link(_) | PlaceKind::Other => EntryKind::Other,
    };
    Ok(VfsReply::Metadata(MetadataReply {
        kind,
        size: at.place().size(),
        etag: None,
    }))
}

fn delete(inner: &Arc<BrokerCore>, deletion: &Deletion, cancel: &CancelToken) -> FsAnswer {
    let at = &deletion.at;
    let place = at.place();
    if let Some(wanted) = deletion.if_match {
        let content = inner.files.read(place, inner.limits.file_bytes);
        let content = content.map_err(|error| at.error(&error))?;
        if ContentHash::of(&content) != wanted {
            return Err(ErrorReply::stale(at.text()));
        }
    }
    let gone = match place.kind() {
        PlaceKind::Missing => return Err(ErrorReply::not_found(at.text())),
        PlaceKind::Directory if !deletion.recursive => {
            return Err(ErrorReply::is_dir(at.text()).with_hint(jig_proto::hint!(
                "a directory is deleted with all that is in it if `recursive` is true"
            )));
        }
        PlaceKind::Directory => {
            let may = |path: &ProjectPath, _: bool| {
                !cancel.is_cancelled() && may_go(inner, deletion, path)
            };
            inner.files.delete_tree(place, &may).map(|_| ())
        }
        _ => inner.files.delete(place),
    };
    match gone {
        Ok(()) => Ok(VfsReply::DONE),
        Err(FilesError::Refused { path }) => Err(refused(inner, at, &path)),
        Err(error) => Err(at.error(&error)),
    }
}

/// Whether an entry may go with the directory that it is in. Whoever approved that the directory
/// goes meant what is in it, as far as no rule denies that.
fn may_go(inner: &BrokerCore, deletion: &Deletion, path: &ProjectPath) -> bool {
    let path = ResolvedPath::from_handle(path.clone());
    match inner.policy.decide_fs(Capability::Delete, &path).verdict {
        Verdict::Allow => true,
        Verdict::Deny => false,
        Verdict::Uncovered => {
            let directory = deletion.at.place().path();
            inner.is_approved(Capability::Delete, directory, &deletion.once)
        }
    }
}

/// Why a directory stays: because of what is in it.
fn refused(inner: &Arc<BrokerCore>, at: &GrantedPlace, path: &ProjectPath) -> ErrorReply {
    let mut judge = Judge::new(inner, Method::FsDelete, &[]);
    let target = FileTarget {
        capability: Capability::Delete,
        path: ResolvedPath::from_handle(path.clone()),
    };
    let mut denied = match judge.permit(target, Some(at.text())) {
        Err(denied) => denied,
        Ok(_) => match judge.take_asks().into_iter().next() {
            Some(ask) => ask.reply,
            None => ErrorReply::denied(ErrorKind::Uncovered, "a part of it may not be deleted"),
        },
    };
    denied.message.push_str("; nothing was deleted");
    denied
}

fn move_place(inner: &Arc<BrokerCore>, rename: &FileMove) -> FsAnswer {
    let moved = &rename.moved;
    let options = RenameOptions {
        overwrite: rename.overwrite,
        parents: rename.parents,
    };
    match inner.files.rename(moved.from(), moved.to(), &options) {
        Ok(()) => {
            moved.expect_no_repository(inner)?;
            Ok(VfsReply::DONE)
        }
        Err(error) => {
            let text = match &error {
                FilesError::AlreadyExists { .. } | FilesError::NotEmpty { .. } => {
                    moved.destination_text()
                }
                FilesError::NotFound { path } | FilesError::NotADirectory { path }
                    if path != moved.from().path() =>
                {
                    moved.destination_text()
                }
                _ => moved.source_text(),
            };
            Err(error::reply(&error, text))
        }
    }
}

/// What an entry of the files is on the wire; `None` for what is not told.
pub(super) fn entry_kind(kind: FilesEntry) -> EntryKind {
    match kind {
        FilesEntry::File => EntryKind::File,
        FilesEntry::Directory => EntryKind::Dir,
        FilesEntry::Other | FilesEntry::BrokenLink => EntryKind::Other,
    }
}

/// How often a write whose place keeps changing is judged again. Somebody who changes it all the
/// time must not keep us here.
pub(super) const ATTEMPTS: usize = 4;

/// Up to here the thread that got the request reads or writes a file itself.
const QUICK_BYTES: u64 = 256 * 1024;
