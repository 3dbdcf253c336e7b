//! `fs_delete_file`: files, and with consent directories.

use jig_tool::vfs::{EntryKind, FsDelete, Host};
use jig_tool::{Content, Question, ToolError, hint};

use crate::arguments::ToolArguments;
use crate::phrases::{error, quoted};
use crate::refusal::explain;

pub(crate) fn run(host: &mut Host) -> Result<Content, ToolError> {
    let paths = paths(&mut ToolArguments::of(host))?;
    let targets = look(host, paths)?;
    confirm(host, &targets)?;
    let mut deleted: Vec<String> = Vec::new();
    for (index, target) in targets.iter().enumerate() {
        let delete = FsDelete {
            recursive: target.is_directory,
            ..FsDelete::new(target.path.as_str())
        };
        if let Err(refused) = host.delete_with(delete) {
            let mut failed = explain(&target.path, refused);
            failed
                .message
                .push_str(&so_far(&deleted, &targets[index..]));
            return Err(failed);
        }
        deleted.push(quoted(&target.path));
    }
    Ok(format!("Deleted {}.", deleted.join(", ")).into())
}

/// What is to be deleted: `path`, and what is in `paths`.
pub(crate) fn paths(arguments: &mut ToolArguments) -> Result<Vec<String>, ToolError> {
    let mut paths: Vec<String> = arguments.optional_path("path")?.into_iter().collect();
    for path in arguments.texts("paths")?.unwrap_or_default() {
        if path.is_empty() {
            return Err(ToolError::new("a path in `paths` is empty"));
        }
        if !paths.contains(&path) {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return Err(ToolError::new(
            "there is nothing to delete: give `path` or `paths`",
        ));
    }
    Ok(paths)
}

struct DeleteTarget {
    path: String,
    is_directory: bool,
}

/// Looks at all of them before the first one is deleted, so that a slip in the last one is noticed
/// in time.
fn look(host: &mut Host, paths: Vec<String>) -> Result<Vec<DeleteTarget>, ToolError> {
    let mut targets = Vec::with_capacity(paths.len());
    for path in paths {
        let is_directory = match host.metadata(&path) {
            Ok(metadata) => metadata.kind == EntryKind::Dir,
            // To delete a file one need not be able to read it. And a link that leads nowhere can
            // be deleted, but not looked at.
            Err(refused) if refused.is_denied() => false,
            Err(refused) => return Err(explain(&path, refused)),
        };
        if is_directory && path.split('/').all(|name| matches!(name, "" | ".")) {
            return Err(ToolError::new("the workspace itself can't be deleted"));
        }
        targets.push(DeleteTarget { path, is_directory });
    }
    Ok(targets)
}

/// Asks once for all directories: an answer is remembered, and must not cover what was not named.
fn confirm(host: &mut Host, targets: &[DeleteTarget]) -> Result<(), ToolError> {
    let directories = targets.iter().filter(|target| target.is_directory);
    let names: Vec<String> = directories.map(|target| quoted(&target.path)).collect();
    let text = match names.as_slice() {
        [] => return Ok(()),
        [only] => format!("Delete the directory {only} and all that is in it?"),
        many => {
            let many = many.join(", ");
            format!("Delete the directories {many} and all that is in them?")
        }
    };
    let question = Question::yes_no("delete_directory", text).with_default(false);
    if host.confirm(question)? {
        return Ok(());
    }
    let message = format!(
        "nothing was deleted: the deletion of {} was declined",
        names.join(", ")
    );
    Err(error(message, hint!("delete single files in it instead")))
}

/// What became of the others, when one could not be deleted.
fn so_far(deleted: &[String], failed_and_rest: &[DeleteTarget]) -> String {
    let rest = failed_and_rest.iter().skip(1);
    let rest: Vec<String> = rest.map(|target| quoted(&target.path)).collect();
    let mut text = String::new();
    if !deleted.is_empty() {
        text.push_str(&format!("\ndeleted before that: {}", deleted.join(", ")));
    }
    if !rest.is_empty() {
        text.push_str(&format!("\nnot tried any more: {}", rest.join(", ")));
    }
    text
}
