//! What the mounts of a guest leave of the workspace.
//!
//! Requests name paths of the workspace, and a mount is a part of it. A guest that does not see all of it must
//! not get round its mounts by asking for something else: each request on files is held against one of them,
//! and the broker refuses what leads out of that, also by a link (W-025).

use jig_proto::ProjectPath;
use jig_proto::vfs::{ErrorKind, ErrorReply, Method, VfsRequest};
use jig_runtime::Mount;

/// The directory that a request must stay in; `None` if it is not about files. What its rules say about it is
/// asked later.
///
/// # Errors
///
/// If the mounts leave nothing of it: it changes what is read-only, or needs what no mount shows.
pub(super) fn directory<'m>(
    mounts: &'m [Mount],
    request: &VfsRequest<'_>,
) -> Result<Option<&'m ProjectPath>, ErrorReply> {
    let method = request.method();
    let mount = match needs(method) {
        MethodNeeds::Nothing => return Ok(None),
        MethodNeeds::Files => mount(mounts, &paths(request)),
        // It sees the workspace as its sandbox shows it, whatever the guest sees.
        MethodNeeds::Workspace => mounts.iter().find(|mount| mount.path.is_root()),
    };
    let Some(mount) = mount else {
        return Err(unseen(mounts, method));
    };
    if changes_files(method) && !mount.writable {
        let shown = &mount.guest;
        let why = format!("`{method}`: this component sees `{shown}` read-only");
        return Err(ErrorReply::denied(ErrorKind::Protected, why));
    }
    Ok(Some(&mount.path))
}

/// The mount that holds all these paths, the narrowest if there are several. If there is none, or no path is
/// named, the first: the broker then says of a path that it leads out of that, and writes it down.
fn mount<'m>(mounts: &'m [Mount], paths: &[&str]) -> Option<&'m Mount> {
    let normal = paths.iter().map(|path| ProjectPath::normalize(path));
    let normal: Vec<ProjectPath> = normal.collect::<Result<_, _>>().unwrap_or_default();
    let holds = |mount: &&Mount| normal.iter().all(|path| path.starts_with(&mount.path));
    let holding = mounts.iter().filter(|_| !normal.is_empty()).filter(holds);
    let narrowest = holding.max_by_key(|mount| mount.path.depth());
    narrowest.or(mounts.first())
}

fn unseen(mounts: &[Mount], method: Method) -> ErrorReply {
    let seen: Vec<String> = mounts
        .iter()
        .map(|mount| format!("`{}`", mount.guest))
        .collect();
    let what = match seen.as_slice() {
        [] => "nothing".to_owned(),
        seen => format!("only {}", seen.join(", ")),
    };
    let why = format!("`{method}`: this component sees {what} of the workspace");
    ErrorReply::denied(ErrorKind::Protected, why)
}

/// What a method is about.
enum MethodNeeds {
    Nothing,
    Files,
    Workspace,
}

fn needs(method: Method) -> MethodNeeds {
    match method {
        Method::HttpGet | Method::HttpPost => MethodNeeds::Nothing,
        Method::ProcessRun
        | Method::ProcessStart
        | Method::ProcessRead
        | Method::ProcessWrite
        | Method::ProcessStop => MethodNeeds::Workspace,
        Method::FsRead
        | Method::FsWrite
        | Method::FsAppend
        | Method::FsPatch
        | Method::FsExists
        | Method::FsListDir
        | Method::FsMetadata
        | Method::FsMkdir
        | Method::FsDelete
        | Method::FsRename
        | Method::FsGrep => MethodNeeds::Files,
    }
}

/// Programs may change files, too.
fn changes_files(method: Method) -> bool {
    !matches!(
        method,
        Method::FsRead
            | Method::FsExists
            | Method::FsListDir
            | Method::FsMetadata
            | Method::FsGrep
            | Method::HttpGet
            | Method::HttpPost
    )
}

/// The paths that a request on files names.
pub(super) fn paths<'r>(request: &'r VfsRequest<'_>) -> Vec<&'r str> {
    match request {
        VfsRequest::FsRead(read) => vec![&read.path],
        VfsRequest::FsWrite(write) => vec![&write.path],
        VfsRequest::FsAppend(append) => vec![&append.path],
        VfsRequest::FsPatch(patch) => vec![&patch.path],
        VfsRequest::FsExists(one) | VfsRequest::FsMetadata(one) | VfsRequest::FsMkdir(one) => {
            vec![&one.path]
        }
        VfsRequest::FsListDir(list) => vec![&list.path],
        VfsRequest::FsDelete(delete) => vec![&delete.path],
        VfsRequest::FsRename(rename) => vec![&rename.from, &rename.to],
        VfsRequest::FsGrep(grep) => grep.paths.iter().flatten().map(AsRef::as_ref).collect(),
        VfsRequest::HttpGet(_)
        | VfsRequest::HttpPost(_)
        | VfsRequest::ProcessRun(_)
        | VfsRequest::ProcessStart(_)
        | VfsRequest::ProcessRead(_)
        | VfsRequest::ProcessWrite(_)
        | VfsRequest::ProcessStop(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests;
