//! `fs_create_file`: a new file, or with consent a new content for an old one.

use jig_tool::vfs::{FsWrite, Host, Payload, ReadReply};
use jig_tool::{Content, Question, ToolError, hint};

use crate::arguments::ToolArguments;
use crate::diff;
use crate::phrases::{count, error, quoted};
use crate::refusal::explain;

pub(crate) fn run(host: &mut Host) -> Result<Content, ToolError> {
    let mut arguments = ToolArguments::of(host);
    let path = arguments.path("path")?;
    let content = arguments.optional_text("content")?.unwrap_or_default();
    let size = count(content.len() as u64, "byte");
    let new = FsWrite {
        exclusive: true,
        ..FsWrite::new(path.as_str(), content.as_str())
    };
    match host.write_with(new) {
        Ok(_) => Ok(format!("Created {} ({size}).", quoted(&path)).into()),
        Err(refused) if refused.is_already_there() => overwrite(host, &path, &content),
        Err(refused) => Err(explain(&path, refused)),
    }
}

fn overwrite(host: &mut Host, path: &str, content: &str) -> Result<Content, ToolError> {
    // To replace a file one need not be able to read it: then the question comes without a diff.
    let old = match host.read_file(path) {
        Ok(old) => Some(old),
        Err(refused) if refused.is_dir() => return Err(explain(path, refused)),
        Err(lost) if lost.is_cancelled() => return Err(lost.into()),
        Err(_) => None,
    };
    if let Some(old) = &old
        && old.content.as_bytes() == content.as_bytes()
    {
        let text = format!(
            "{} has this content already; nothing was written.",
            quoted(path)
        );
        return Ok(text.into());
    }
    if !host.confirm(question(path, old.as_ref(), content))? {
        let message = format!("{} exists and was not overwritten", quoted(path));
        return Err(error(
            message,
            hint!("choose another path, or change the file with `fs_modify_file`"),
        ));
    }
    let write = FsWrite {
        // What was agreed upon is to replace the version that was there.
        if_match: old.and_then(|old| old.etag),
        ..FsWrite::new(path, content)
    };
    host.write_with(write)
        .map_err(|refused| explain(path, refused))?;
    let size = count(content.len() as u64, "byte");
    Ok(format!("Overwrote {} ({size}).", quoted(path)).into())
}

fn question(path: &str, old: Option<&ReadReply<'_>>, content: &str) -> Question {
    let question = Question::yes_no(
        "overwrite",
        format!("{} exists. Overwrite it?", quoted(path)),
    );
    let context = match old.map(|old| &old.content) {
        Some(Payload::Text(text)) => Some(diff::unified(path, text, content)),
        _ => None,
    };
    Question {
        context,
        ..question.with_default(false)
    }
}
