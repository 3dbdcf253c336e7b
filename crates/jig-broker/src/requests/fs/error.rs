//! What went wrong with a file, in the words that a tool gets.

use jig_files::{EditProblem, FilesError};
use jig_proto::vfs::{ErrorKind, ErrorReply};
use jig_proto::visible_line_to;

use crate::denial::MAX_TARGET;

/// The answer for an error of the files; `text` is the path as the tool wrote it.
///
/// What the operating system said stays on this side.
pub(crate) fn reply(error: &FilesError, text: &str) -> ErrorReply {
    let about = |kind, what: &str| {
        ErrorReply::new(
            kind,
            format!("`{}` {what}", visible_line_to(text, MAX_TARGET)),
        )
        .with_path(text)
    };
    match error {
        FilesError::NotFound { .. } => ErrorReply::not_found(text),
        FilesError::Escape { .. } => ErrorReply::escape(text),
        FilesError::IsDirectory { .. } => ErrorReply::is_dir(text),
        FilesError::NotADirectory { .. } => ErrorReply::not_dir(text),
        FilesError::NotAFile { .. } => about(ErrorKind::InvalidParams, "is not a regular file"),
        FilesError::AlreadyExists { .. } => ErrorReply::already_exists(text),
        FilesError::NotEmpty { .. } => {
            about(ErrorKind::AlreadyExists, "is a directory that is not empty")
        }
        FilesError::Changed { .. } => {
            about(ErrorKind::Stale, "was changed in the meantime").with_retryable(true)
        }
        FilesError::Stale { .. } => ErrorReply::stale(text),
        FilesError::TooLarge { limit, size, .. } => ErrorReply::too_large(
            format!("`{}`", visible_line_to(text, MAX_TARGET)),
            *size,
            *limit,
        )
        .with_path(text)
        .with_hint(jig_proto::hint!(
            "read it in parts, with `offset` and `length`"
        )),
        FilesError::TooLong { limit, .. } => about(
            ErrorKind::TooLarge,
            &format!("would be longer than {limit} bytes"),
        ),
        FilesError::NotOpened { access, .. } => about(
            ErrorKind::InvalidParams,
            &format!("was not opened for {access}"),
        ),
        FilesError::NoSpace { .. } => about(
            ErrorKind::Internal,
            "could not be written: the host has no space left",
        ),
        FilesError::PermissionDenied { .. } => about(
            ErrorKind::Internal,
            "could not be used: the operating system denies it",
        ),
        FilesError::ReadOnly { .. } => about(
            ErrorKind::Internal,
            "could not be changed: the workspace is read-only",
        ),
        FilesError::IntoItself { .. } => {
            about(ErrorKind::InvalidParams, "cannot be moved into itself")
        }
        FilesError::NotUtf8Name { .. } => about(
            ErrorKind::InvalidParams,
            "leads to a name that is not UTF-8",
        ),
        FilesError::NameTooLong { .. } => {
            about(ErrorKind::InvalidParams, "holds a name that is too long")
        }
        FilesError::TooDeep { .. } => about(ErrorKind::TooLarge, "is nested too deeply"),
        FilesError::Edit {
            number, problem, ..
        } => match problem {
            EditProblem::NotThere => ErrorReply::no_match(text, *number),
            EditProblem::Ambiguous { count } => ErrorReply::ambiguous(text, *number, *count),
            other => about(
                ErrorKind::InvalidParams,
                &format!("cannot be patched: edit {number}: {other}"),
            ),
        },
        FilesError::Pattern { message } => ErrorReply::new(
            ErrorKind::InvalidParams,
            format!("the pattern cannot be used: {message}"),
        ),
        FilesError::NoDirectory => ErrorReply::internal("there is no workspace here"),
        _ => about(ErrorKind::Internal, "could not be used by the host"),
    }
}
