//! `fs_grep_files`: the lines that match a regular expression.

use std::fmt::Write as _;

use jig_tool::vfs::{FileMatches, GrepReply, Host};
use jig_tool::{Content, ToolError, hint};

use crate::arguments::ToolArguments;
use crate::phrases::{beginning, count, error, one_line, quoted};

pub(crate) fn run(host: &mut Host) -> Result<Content, ToolError> {
    let mut arguments = ToolArguments::of(host);
    let pattern = arguments.text("pattern")?;
    let paths = arguments.texts("paths")?.unwrap_or_default();
    let extensions = arguments.texts("extensions")?.unwrap_or_default();
    let context = arguments.count("context")?.unwrap_or(0).min(MAX_CONTEXT);
    if pattern.is_empty() {
        let hint = hint!("to list files, use `fs_list_files`");
        return Err(error("`pattern` is empty, which matches every line", hint));
    }
    if paths.iter().any(String::is_empty) {
        return Err(error(
            "a path in `paths` is empty",
            hint!("the workspace itself is `.`"),
        ));
    }
    let mut grep = host.grep(pattern.as_str());
    for path in &paths {
        grep = grep.path(path);
    }
    for extension in &extensions {
        grep = grep.extension(extension.trim_start_matches('.'));
    }
    // It was bounded just above.
    let found = grep.context(context as u32).search()?;
    Ok(show(&pattern, &found).into())
}

fn show(pattern: &str, found: &GrepReply<'_>) -> String {
    let mut text = String::new();
    let mut is_cut = found.truncated;
    for file in &found.matches {
        if text.len() >= MAX_BYTES {
            is_cut = true;
            break;
        }
        if !text.is_empty() {
            text.push('\n');
        }
        is_cut |= show_file(&mut text, file);
    }
    if found.matches.is_empty() {
        text = format!("No line matches {}.\n", quoted(pattern));
    }
    if is_cut {
        text.push_str("[There are more matches. Narrow the search by `paths`, `extensions` or a longer `pattern`.]\n");
    }
    let denied = found.skipped.saturating_sub(found.ignored);
    if denied > 0 {
        let skipped = count(denied, "place");
        let _ = writeln!(text, "[{skipped} not searched: access is denied.]");
    }
    text.truncate(text.trim_end().len());
    text
}

/// Adds the lines of a file; `true` if not all of them.
fn show_file(text: &mut String, file: &FileMatches<'_>) -> bool {
    let mut last = None;
    for line in &file.lines {
        if text.len() >= MAX_BYTES {
            return true;
        }
        if last.is_some_and(|last: u64| last.saturating_add(1) != line.line_number) {
            // Only with context is there something between that is left out.
            if file.lines.iter().any(|line| !line.is_match) {
                text.push_str("--\n");
            }
        }
        last = Some(line.line_number);
        let mark = if line.is_match { ':' } else { '-' };
        let shown = beginning(&line.content, MAX_LINE_BYTES);
        let more = if shown.len() < line.content.len() {
            "…"
        } else {
            ""
        };
        let (path, number) = (one_line(&file.path), line.line_number);
        let _ = writeln!(text, "{path}{mark}{number}{mark} {shown}{more}");
    }
    false
}

/// How many lines around a match can be had; for more there is `fs_read_file`.
const MAX_CONTEXT: u64 = 50;

/// How much is returned. A pattern such as `.` would else return the workspace.
const MAX_BYTES: usize = 64 * 1024;

/// How much of one line is returned: in generated files a line can be the whole file.
const MAX_LINE_BYTES: usize = 500;
