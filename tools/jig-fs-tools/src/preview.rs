//! What a tool would do, for a person who decides about the call. Nothing is changed here.

use jig_tool::vfs::Host;
use jig_tool::{Content, ToolError};

use crate::arguments::ToolArguments;
use crate::phrases::{count, quoted};
use crate::{delete_file, diff, modify_file};

pub(crate) fn call(name: &str, host: &mut Host) -> Result<Content, ToolError> {
    let mut arguments = ToolArguments::of(host);
    let text = match name {
        "fs_read_file" => {
            let path = quoted(&arguments.path("path")?);
            let first = arguments.count("start_line")?;
            let last = arguments.count("end_line")?;
            match (first, last) {
                (None, None) => format!("Read {path}."),
                (Some(first), None) => format!("Read {path} from line {first}."),
                (None, Some(last)) => format!("Read {path} up to line {last}."),
                (Some(first), Some(last)) => format!("Read lines {first} to {last} of {path}."),
            }
        }
        "fs_list_files" => {
            let path = arguments.optional_path("path")?;
            format!(
                "List the files below {}.",
                quoted(path.as_deref().unwrap_or("."))
            )
        }
        "fs_grep_files" => {
            let pattern = quoted(&arguments.text("pattern")?);
            match arguments.texts("paths")?.as_deref() {
                None | Some([]) => format!("Search for {pattern}."),
                Some(paths) => format!("Search for {pattern} in {}.", list(paths)),
            }
        }
        "fs_create_file" => {
            let path = arguments.path("path")?;
            let content = arguments.optional_text("content")?.unwrap_or_default();
            let size = count(content.len() as u64, "byte");
            let shown = diff::unified(&path, "", &content);
            format!("Create {} ({size}).\n\n{shown}", quoted(&path))
        }
        "fs_modify_file" => modify_file::preview(host)?,
        "fs_delete_file" => format!("Delete {}.", list(&delete_file::paths(&mut arguments)?)),
        _ => {
            let from = quoted(&arguments.path("from")?);
            let to = quoted(&arguments.path("to")?);
            format!("Move {from} to {to}.")
        }
    };
    Ok(text.into())
}

fn list(paths: &[String]) -> String {
    let quoted: Vec<String> = paths.iter().map(|path| quoted(path)).collect();
    quoted.join(", ")
}
