//! `fs_move_file`: another path for a file or a directory.

use jig_tool::vfs::{EntryKind, FsRename, Host};
use jig_tool::{Content, Question, ToolError, hint};

use crate::arguments::ToolArguments;
use crate::phrases::{error, quoted};
use crate::refusal::explain;

pub(crate) fn run(host: &mut Host) -> Result<Content, ToolError> {
    let mut arguments = ToolArguments::of(host);
    let from = arguments.path("from")?;
    let to = arguments.path("to")?;
    if from == to {
        let message = format!("`from` and `to` are the same: {}", quoted(&from));
        return Err(ToolError::new(message));
    }
    let rename = |overwrite| FsRename {
        overwrite,
        ..FsRename::new(from.as_str(), to.as_str())
    };
    match host.rename_with(rename(false)) {
        Ok(_) => {}
        Err(refused) if refused.is_already_there() => {
            agree_to_overwrite(host, &from, &to)?;
            let renamed = host.rename_with(rename(true));
            renamed.map_err(|refused| explain(&from, refused))?;
        }
        Err(refused) => return Err(explain(&from, refused)),
    }
    Ok(format!("Moved {} to {}.", quoted(&from), quoted(&to)).into())
}

fn agree_to_overwrite(host: &mut Host, from: &str, to: &str) -> Result<(), ToolError> {
    // What can't be looked at is for the host to refuse, or not.
    if let Ok(metadata) = host.metadata(to)
        && metadata.kind == EntryKind::Dir
    {
        let name = from
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or(from);
        let inside = format!("{}/{name}", to.trim_end_matches('/'));
        return Err(error(
            format!("{} is a directory", quoted(to)),
            hint!("give the whole new path, such as {}", quoted(&inside)),
        ));
    }
    let text = format!("{} exists. Overwrite it with {}?", quoted(to), quoted(from));
    let question = Question::yes_no("overwrite", text).with_default(false);
    if host.confirm(question)? {
        return Ok(());
    }
    let message = format!(
        "{} was not moved: {} exists and was not to be overwritten",
        quoted(from),
        quoted(to)
    );
    Err(error(message, hint!("choose another path")))
}
