//! What the host did not do, in words that tell the caller how to go on.

use jig_tool::vfs::{ErrorKind, HostError};
use jig_tool::{ToolError, hint};

use crate::phrases::{error, quoted};

/// The error of a request about the file at `path`, or about the path that the host names.
///
/// A denial is passed on: the host explains it, and nobody here knows better.
pub(crate) fn explain(path: &str, refused: HostError) -> ToolError {
    let path = quoted(refused.path.as_deref().unwrap_or(path));
    let (what, hint) = match refused.kind {
        ErrorKind::NotFound => ("does not exist", hint!("look for it with `fs_list_files`")),
        ErrorKind::IsDir => (
            "is a directory",
            hint!("give the path of a file; `fs_list_files` lists what is in it"),
        ),
        ErrorKind::NotDir => ("is a file", hint!("read it with `fs_read_file`")),
        ErrorKind::Stale => (
            "was changed by someone else in the meantime",
            hint!("read it again, and repeat the change if it still fits"),
        ),
        _ => return refused.into(),
    };
    error(format!("{path} {what}"), hint)
}
