//! Permitted requests on files, done.

#[cfg(unix)]
use std::os::fd::OwnedFd;
use std::sync::Arc;

use jig_files::{
    ContentHash, Edit, EntryKind as FilesEntry, FilesError, Kind, RenameOptions, WriteOptions,
};
use jig_policy::{Capability, FileTarget, Resolved, Verdict};
use jig_proto::ProjectPath;
use jig_proto::vfs::{
    DoneReply, EntryKind, ErrorKind, ErrorReply, MetadataReply, Method, ReadReply, Reply,
};

use super::error;
use super::grant::{Granted, GrantedMove};
use super::names::Look;
use super::replies::{self, Listed};
use super::search::Search;
use crate::broker::Inner;
use crate::cancel::CancelToken;
use crate::requests::approvals::ApprovalKey;
use crate::requests::judge::Judge;

type Answer = Result<Reply<'static>, ErrorReply>;

/// A permitted request on files.
#[derive(Debug)]
pub(crate) enum FsJob {
    Read {
        at: Granted,
        range: Option<Range>,
        /// Whether the tool would rather have the open file than its content.
        fd: bool,
    },
    Replace(Replacement),
    Patch(Change),
    Exists {
        at: Granted,
    },
    Metadata {
        at: Granted,
    },
    List {
        at: Granted,
        after: Option<String>,
        limit: Option<u32>,
    },
    MakeDir {
        at: Granted,
        /// Whether those above it are made too, and one that exists is fine.
        parents: bool,
    },
    RemoveDir {
        at: Granted,
    },
    Delete(Deletion),
    Rename(Rename),
    Grep(Search),
}

/// A part of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Range {
    pub(super) offset: u64,
    pub(super) length: Option<u64>,
}

/// New content, or more of it.
#[derive(Debug)]
pub(crate) struct Replacement {
    pub(super) at: Granted,
    pub(super) content: Vec<u8>,
    pub(super) options: WriteOptions,
    /// `fs.write` or `fs.append`.
    pub(super) method: Method,
    /// What was approved for this request, should it have to be judged again.
    pub(super) once: Vec<ApprovalKey>,
}

/// Edits of a file.
#[derive(Debug)]
pub(crate) struct Change {
    pub(super) at: Granted,
    pub(super) edits: Vec<Edit>,
    pub(super) options: WriteOptions,
}

/// A removal.
#[derive(Debug)]
pub(crate) struct Deletion {
    pub(super) at: Granted,
    pub(super) recursive: bool,
    pub(super) if_match: Option<ContentHash>,
    pub(super) once: Vec<ApprovalKey>,
}

/// A move.
#[derive(Debug)]
pub(crate) struct Rename {
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
    pub(crate) fn open(&self, inner: &Inner) -> Option<(OwnedFd, u64)> {
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
    pub(crate) fn look(&self, inner: &Inner) -> Option<Result<Look, ErrorReply>> {
        match self {
            Self::Metadata { at } => Some(Look::at(inner, at)),
            _ => None,
        }
    }

    /// The entries of the directory of a `fs.list_dir`; `None` if it is something else.
    pub(crate) fn entries(&self, inner: &Inner) -> Option<Result<Vec<Listed>, ErrorReply>> {
        match self {
            Self::List { at, .. } => Some(replies::entries(inner, at)),
            _ => None,
        }
    }

    pub(crate) fn run(self, inner: &Arc<Inner>, cancel: &CancelToken) -> Answer {
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
            Self::Exists { at } => Ok(Reply::Exists(at.place().exists())),
            Self::Metadata { at } => metadata(&at),
            Self::List { at, after, limit } => replies::list(inner, &at, after.as_deref(), limit),
            Self::MakeDir { at, parents } => {
                let made = inner.files.make_dir(at.place(), parents);
                made.map(|()| Reply::DONE).map_err(|error| at.error(&error))
            }
            Self::RemoveDir { at } => {
                let removed = inner.files.remove_dir(at.place());
                removed
                    .map(|()| Reply::DONE)
                    .map_err(|error| at.error(&error))
            }
            Self::Delete(deletion) => delete(inner, &deletion, cancel),
            Self::Rename(rename) => move_place(inner, &rename),
            Self::Grep(search) => search.run(inner, cancel),
        }
    }
}

impl Granted {
    pub(super) fn error(&self, error: &FilesError) -> ErrorReply {
        error::reply(error, self.text())
    }
}

fn read(inner: &Inner, at: &Granted) -> Answer {
    let content = inner.files.read(at.place(), inner.limits.file_bytes);
    let content = content.map_err(|error| at.error(&error))?;
    let etag = ContentHash::of(&content).to_string();
    Ok(Reply::Read(ReadReply {
        size: content.len() as u64,
        content: replies::payload(inner, content.into()),
        etag: Some(etag.into()),
    }))
}

/// Reads a part. Where secrets are known, a little more than the part is looked at, so that one
/// that reaches across its border is not handed out in two halves.
fn read_range(inner: &Inner, at: &Granted, range: Range) -> Answer {
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
    Ok(Reply::Read(ReadReply {
        content: jig_proto::vfs::Payload::of_bytes(part),
        size,
        etag: None,
    }))
}

/// Writes or appends. Whether it creates or updates was judged by what stood there; if that has
/// changed it is judged again, a few times.
fn replace(inner: &Arc<Inner>, mut job: Replacement) -> Answer {
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
                let etag = etag.map(|etag| etag.to_string().into());
                return Ok(Reply::Done(DoneReply { etag }));
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

fn patch(inner: &Inner, change: &Change) -> Answer {
    let place = change.at.place();
    let limit = inner.limits.file_bytes;
    let done = inner
        .files
        .patch(place, &change.edits, limit, &change.options);
    done.map(|()| Reply::DONE)
        .map_err(|error| change.at.error(&error))
}

fn metadata(at: &Granted) -> Answer {
    let kind = match at.place().kind() {
        Kind::Missing => return Err(ErrorReply::not_found(at.text())),
        Kind::File => EntryKind::File,
        Kind::Directory => EntryKind::Dir,
        Kind::Link(_) | Kind::Other => EntryKind::Other,
    };
    Ok(Reply::Metadata(MetadataReply {
        kind,
        size: at.place().size(),
        etag: None,
    }))
}

fn delete(inner: &Arc<Inner>, deletion: &Deletion, cancel: &CancelToken) -> Answer {
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
        Kind::Missing => return Err(ErrorReply::not_found(at.text())),
        Kind::Directory if !deletion.recursive => {
            return Err(ErrorReply::is_dir(at.text()).with_hint(jig_proto::hint!(
                "a directory is deleted with all that is in it if `recursive` is true"
            )));
        }
        Kind::Directory => {
            let may = |path: &ProjectPath, _: bool| {
                !cancel.is_cancelled() && may_go(inner, deletion, path)
            };
            inner.files.delete_tree(place, &may).map(|_| ())
        }
        _ => inner.files.delete(place),
    };
    match gone {
        Ok(()) => Ok(Reply::DONE),
        Err(FilesError::Refused { path }) => Err(refused(inner, at, &path)),
        Err(error) => Err(at.error(&error)),
    }
}

/// Whether an entry may go with the directory that it is in. Whoever approved that the directory
/// goes meant what is in it, as far as no rule denies that.
fn may_go(inner: &Inner, deletion: &Deletion, path: &ProjectPath) -> bool {
    let path = Resolved::from_handle(path.clone());
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
fn refused(inner: &Arc<Inner>, at: &Granted, path: &ProjectPath) -> ErrorReply {
    let mut judge = Judge::new(inner, Method::FsDelete, &[]);
    let target = FileTarget {
        capability: Capability::Delete,
        path: Resolved::from_handle(path.clone()),
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

fn move_place(inner: &Inner, rename: &Rename) -> Answer {
    let moved = &rename.moved;
    let options = RenameOptions {
        overwrite: rename.overwrite,
        parents: rename.parents,
    };
    match inner.files.rename(moved.from(), moved.to(), &options) {
        Ok(()) => Ok(Reply::DONE),
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
