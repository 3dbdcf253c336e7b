//! What the mounts of a guest leave of the workspace.
//!
//! Requests name paths of the workspace, and a mount is a part of it. A guest that does not see all of it must
//! not get round its mounts by asking for something else, so it has the files of its mounts by WASI, where
//! every place is held against its mount, and not by requests.

use jig_proto::vfs::{ErrorKind, ErrorReply, Method, Request};
use jig_runtime::Mount;

/// Whether a request is one that the mounts leave open. What its rules say about it is asked later.
pub(super) fn check(mounts: &[Mount], request: &Request<'_>) -> Result<(), ErrorReply> {
    let method = request.method();
    if is_of_servers(method) {
        return Ok(());
    }
    let Some(whole) = mounts.iter().find(|mount| mount.path.is_root()) else {
        return Err(narrow(mounts, method));
    };
    if changes_files(method) && !whole.writable {
        let why = format!("`{method}`: this component sees the workspace read-only");
        return Err(ErrorReply::denied(ErrorKind::Protected, why));
    }
    Ok(())
}

fn narrow(mounts: &[Mount], method: Method) -> ErrorReply {
    let seen: Vec<String> = mounts
        .iter()
        .map(|mount| format!("`{}`", mount.guest))
        .collect();
    let why = match seen.as_slice() {
        [] => format!("`{method}`: this component sees nothing of the workspace"),
        seen => format!(
            "`{method}`: this component sees only {} of the workspace",
            seen.join(", ")
        ),
    };
    let error = ErrorReply::denied(ErrorKind::Protected, why);
    match mounts {
        [] => error,
        _ => error.with_hint("read what is there as files, by `wasi:filesystem`"),
    }
}

fn is_of_servers(method: Method) -> bool {
    matches!(method, Method::HttpGet | Method::HttpPost)
}

/// Programs may change files as well: what they see is the workspace as it is.
fn changes_files(method: Method) -> bool {
    match method {
        Method::FsRead
        | Method::FsExists
        | Method::FsListDir
        | Method::FsMetadata
        | Method::FsGrep
        | Method::HttpGet
        | Method::HttpPost => false,
        Method::FsWrite
        | Method::FsAppend
        | Method::FsPatch
        | Method::FsMkdir
        | Method::FsDelete
        | Method::FsRename
        | Method::ProcessRun
        | Method::ProcessStart
        | Method::ProcessRead
        | Method::ProcessWrite
        | Method::ProcessStop => true,
    }
}

#[cfg(test)]
mod tests;
