//! Requests on files: which capability each one needs, and what it becomes.
//!
//! [`judge`] turns a request into a job. A path is first located, which opens nothing; the canonical
//! path of that place is judged, and the job holds the place together with the permit for it.
//! A path that cannot even be located is judged as it was written, so that an error never tells what
//! stands inside a directory that the tool may not read.

mod dangling_link;
mod error;
mod grant;
mod job;
mod names;
mod open;
mod open_file;
mod path;
mod replies;
mod repository_shape;
mod scrubbed_copies;
mod search;

use jig_files::PlaceKind;
use jig_files::{ContentHash, FileEdit, FilesError, Place, WriteOptions};
use jig_policy::{Capability, FileTarget, ResolvedPath, Verdict};
use jig_proto::ProjectPath;
use jig_proto::vfs::{
    ErrorReply, FsAppend, FsDelete, FsListDir, FsPatch, FsPath, FsRead, FsRename, FsWrite, Method,
    VfsRequest,
};

pub(crate) use error::reply as error_reply;
use grant::{GrantedMove, GrantedPlace};
pub(crate) use job::FsJob;
use job::{Deletion, FileMove, FileRange, FileReplacement, PermittedPatch};
pub use names::PathStat;
pub(crate) use names::{MoveWanted, NameAct, NameWanted};
pub(crate) use open::OpenJob;
pub use open::OpenRequest;
pub use open_file::OpenFile;
pub(crate) use path::wire_path;
pub use replies::ListedName;
pub(crate) use replies::payload;
pub(crate) use scrubbed_copies::CopiedBytes;

use crate::requests::judge::Judge;

type FsJudgement<T> = Result<Option<T>, ErrorReply>;

/// Judges a request on files.
pub(crate) fn judge(judge: &mut Judge<'_>, request: &VfsRequest<'_>) -> FsJudgement<FsJob> {
    match request {
        VfsRequest::FsRead(read) => judge_read(judge, read),
        VfsRequest::FsWrite(write) => judge_write(judge, write),
        VfsRequest::FsAppend(append) => judge_append(judge, append),
        VfsRequest::FsPatch(patch) => judge_patch(judge, patch),
        VfsRequest::FsExists(path) => judge_look(judge, path, Method::FsExists),
        VfsRequest::FsMetadata(path) => judge_look(judge, path, Method::FsMetadata),
        VfsRequest::FsListDir(list) => judge_list(judge, list),
        VfsRequest::FsMkdir(path) => judge_mkdir(judge, path),
        VfsRequest::FsDelete(delete) => judge_delete(judge, delete),
        VfsRequest::FsRename(rename) => judge_rename(judge, rename),
        VfsRequest::FsGrep(grep) => search::judge_grep(judge, grep),
        VfsRequest::HttpGet(_)
        | VfsRequest::HttpPost(_)
        | VfsRequest::ProcessRun(_)
        | VfsRequest::ProcessStart(_)
        | VfsRequest::ProcessRead(_)
        | VfsRequest::ProcessWrite(_)
        | VfsRequest::ProcessStop(_) => {
            Err(ErrorReply::internal("a request went to the wrong place"))
        }
    }
}

fn judge_read(judge: &mut Judge<'_>, read: &FsRead<'_>) -> FsJudgement<FsJob> {
    let at = granted(
        judge,
        &read.path,
        Method::FsRead,
        &[Capability::Read],
        FinalLink::Follow,
    )?;
    let range = match (read.offset, read.length) {
        (None, None) => None,
        (offset, length) => Some(FileRange {
            offset: offset.unwrap_or(0),
            length,
        }),
    };
    let fd = read.fd;
    Ok(at.map(|at| FsJob::Read { at, range, fd }))
}

fn judge_write(judge: &mut Judge<'_>, write: &FsWrite<'_>) -> FsJudgement<FsJob> {
    let options = WriteOptions {
        exclusive: write.exclusive,
        if_match: if_match(write.if_match.as_deref(), &write.path)?,
        ..WriteOptions::default()
    };
    let Some(at) = change(judge, &write.path, Method::FsWrite)? else {
        return Ok(None);
    };
    Ok(Some(FsJob::Replace(FileReplacement {
        at,
        content: write.content.as_bytes().to_vec(),
        options,
        method: Method::FsWrite,
        once: judge.once().to_vec(),
    })))
}

fn judge_append(judge: &mut Judge<'_>, append: &FsAppend<'_>) -> FsJudgement<FsJob> {
    let options = WriteOptions {
        if_match: if_match(append.if_match.as_deref(), &append.path)?,
        ..WriteOptions::default()
    };
    let Some(at) = change(judge, &append.path, Method::FsAppend)? else {
        return Ok(None);
    };
    Ok(Some(FsJob::Replace(FileReplacement {
        at,
        content: append.content.as_bytes().to_vec(),
        options,
        method: Method::FsAppend,
        once: judge.once().to_vec(),
    })))
}

/// `update` where something stands, `create` where nothing does.
fn change(judge: &mut Judge<'_>, text: &str, method: Method) -> FsJudgement<GrantedPlace> {
    let path = wire_path(method, text)?;
    let place = match judge.inner.files.locate(&path) {
        Ok(place) => place,
        Err(error) => return Err(unlocated(judge, &path, text, Capability::Update, error)),
    };
    let wanted = changing(judge, &place);
    GrantedPlace::judge(judge, place, text, &[wanted])
}

/// What writing a place takes: `update` where something stands, `create` where nothing does.
///
/// Who may neither read nor write there is refused `update` in any case: which of the two it would be is already
/// knowledge about what is there.
fn changing(judge: &Judge<'_>, place: &Place) -> Capability {
    use Capability::{Create, Read, Update};

    let verdict = |capability| {
        let policy = &judge.inner.policy;
        policy.decide_fs(capability, place.resolved()).verdict
    };
    // Only where both are denied: what is asked about must be what is done.
    let is_told =
        || [Create, Update].map(verdict) != [Verdict::Deny; 2] || verdict(Read) == Verdict::Allow;
    match !place.exists() && is_told() {
        true => Create,
        false => Update,
    }
}

/// The answers of a patch tell what is in the file, so it needs `read` as well.
fn judge_patch(judge: &mut Judge<'_>, patch: &FsPatch<'_>) -> FsJudgement<FsJob> {
    let options = WriteOptions {
        if_match: if_match(patch.if_match.as_deref(), &patch.path)?,
        ..WriteOptions::default()
    };
    let wanted = [Capability::Update, Capability::Read];
    let at = granted(
        judge,
        &patch.path,
        Method::FsPatch,
        &wanted,
        FinalLink::Follow,
    )?;
    let edits = patch.edits.iter().map(|edit| FileEdit::Text {
        find: edit.old.as_bytes().to_vec(),
        with: edit.new.as_bytes().to_vec(),
        all: edit.all,
    });
    Ok(at.map(|at| {
        FsJob::Patch(PermittedPatch {
            at,
            edits: edits.collect(),
            options,
        })
    }))
}

fn judge_look(judge: &mut Judge<'_>, path: &FsPath<'_>, method: Method) -> FsJudgement<FsJob> {
    let at = granted(
        judge,
        &path.path,
        method,
        &[Capability::Read],
        FinalLink::Follow,
    )?;
    Ok(at.map(|at| match method {
        Method::FsExists => FsJob::Exists { at },
        _ => FsJob::Metadata { at },
    }))
}

fn judge_list(judge: &mut Judge<'_>, list: &FsListDir<'_>) -> FsJudgement<FsJob> {
    let at = granted(
        judge,
        &list.path,
        Method::FsListDir,
        &[Capability::Read],
        FinalLink::Follow,
    )?;
    Ok(at.map(|at| FsJob::List {
        at,
        after: list.cursor.as_deref().map(str::to_owned),
        limit: list.limit,
    }))
}

fn judge_mkdir(judge: &mut Judge<'_>, path: &FsPath<'_>) -> FsJudgement<FsJob> {
    let at = granted(
        judge,
        &path.path,
        Method::FsMkdir,
        &[Capability::Create],
        FinalLink::Follow,
    )?;
    Ok(at.map(|at| FsJob::MakeDir { at, parents: true }))
}

fn judge_delete(judge: &mut Judge<'_>, delete: &FsDelete<'_>) -> FsJudgement<FsJob> {
    let if_match = if_match(delete.if_match.as_deref(), &delete.path)?;
    let wanted = [Capability::Delete];
    let at = granted(
        judge,
        &delete.path,
        Method::FsDelete,
        &wanted,
        FinalLink::Itself,
    )?;
    let Some(at) = at else {
        return Ok(None);
    };
    refuse_root(&at, Method::FsDelete)?;
    Ok(Some(FsJob::Delete(Deletion {
        at,
        recursive: delete.recursive,
        if_match,
        once: judge.once().to_vec(),
    })))
}

fn judge_rename(judge: &mut Judge<'_>, rename: &FsRename<'_>) -> FsJudgement<FsJob> {
    let moved = judge_move(judge, &rename.from, &rename.to)?;
    Ok(moved.map(|moved| {
        FsJob::Rename(FileMove {
            moved,
            overwrite: rename.overwrite,
            parents: true,
        })
    }))
}

fn judge_move(judge: &mut Judge<'_>, from_text: &str, to_text: &str) -> FsJudgement<GrantedMove> {
    let from_path = wire_path(Method::FsRename, from_text)?;
    let to_path = wire_path(Method::FsRename, to_text)?;
    let files = &judge.inner.files;
    let (from, to) = match (files.locate_entry(&from_path), files.locate_entry(&to_path)) {
        (Ok(from), Ok(to)) => (from, to),
        (Err(error), _) => {
            let wanted = Capability::Delete;
            return Err(unlocated(judge, &from_path, from_text, wanted, error));
        }
        (_, Err(error)) => {
            let wanted = Capability::Create;
            return Err(unlocated(judge, &to_path, to_text, wanted, error));
        }
    };
    if from.path().is_root() || to.path().is_root() {
        let why = "the workspace itself cannot be moved or replaced";
        return Err(ErrorReply::invalid_params(Method::FsRename, why));
    }
    GrantedMove::judge(judge, from, to, from_text, to_text)
}

/// Judges a directory in which a program is to start: it needs `read`, as a listing does.
pub(crate) fn judge_directory(
    judge: &mut Judge<'_>,
    text: &str,
    method: Method,
) -> FsJudgement<ResolvedPath> {
    let at = granted(judge, text, method, &[Capability::Read], FinalLink::Follow)?;
    let Some(at) = at else {
        return Ok(None);
    };
    match at.place().kind() {
        PlaceKind::Directory => Ok(Some(at.place().resolved().clone())),
        PlaceKind::Missing => Err(ErrorReply::not_found(text)),
        _ => Err(ErrorReply::not_dir(text)),
    }
}

/// Whether a link at the end of a path is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FinalLink {
    Follow,
    Itself,
}

/// Locates a path and judges the place.
fn granted(
    judge: &mut Judge<'_>,
    text: &str,
    method: Method,
    wanted: &[Capability],
    last: FinalLink,
) -> FsJudgement<GrantedPlace> {
    let path = wire_path(method, text)?;
    let located = match last {
        FinalLink::Follow => judge.inner.files.locate(&path),
        FinalLink::Itself => judge.inner.files.locate_entry(&path),
    };
    match located {
        Ok(place) => GrantedPlace::judge(judge, place, text, wanted),
        Err(error) => {
            let wanted = wanted.first().copied().unwrap_or(Capability::Read);
            Err(unlocated(judge, &path, text, wanted, error))
        }
    }
}

/// The answer about a path that leads nowhere that could be judged.
///
/// Where the path as written is not allowed, that is the answer: that a link dangles or a part is no
/// directory is already knowledge about what is there. The same holds for the place that a dangling link
/// names: a link to something that is there would be judged by it. It cannot be approved either, since there is
/// nothing that could be done.
pub(crate) fn unlocated(
    judge: &mut Judge<'_>,
    path: &ProjectPath,
    text: &str,
    wanted: Capability,
    error: FilesError,
) -> ErrorReply {
    if let Err(outside) = judge.expect_beneath(path, text) {
        return outside;
    }
    let end = dangling_link::end(&*judge.inner.files, path, &error);
    for path in std::iter::once(path.clone()).chain(end) {
        let target = FileTarget {
            capability: wanted,
            path: ResolvedPath::from_handle(path),
        };
        match judge.permit(target, Some(text)) {
            Err(denied) => return denied,
            Ok(Some(_)) => {}
            Ok(None) => {
                if let Some(ask) = judge.take_asks().into_iter().next() {
                    return ask.reply;
                }
            }
        }
    }
    error::reply(&error, text)
}

fn refuse_root(at: &GrantedPlace, method: Method) -> Result<(), ErrorReply> {
    if at.place().path().is_root() {
        let why = "the workspace itself cannot be removed";
        return Err(ErrorReply::invalid_params(method, why));
    }
    Ok(())
}

/// The hash of `if_match`. A text that is no hash is the version of no file.
fn if_match(text: Option<&str>, path: &str) -> Result<Option<ContentHash>, ErrorReply> {
    match text.map(str::parse) {
        None => Ok(None),
        Some(Ok(hash)) => Ok(Some(hash)),
        Some(Err(_)) => Err(ErrorReply::stale(path)),
    }
}
