//! `ls`.

use jig_tool::proxy::{Client, ListedEntry, OpenMode, ProxyErrorCode};

use crate::options::CommandOptions;
use crate::stage::CommandContext;
use crate::stream::CommandFailure;

pub(super) fn run(stage: &mut CommandContext<'_>, words: &[String]) -> Result<u8, CommandFailure> {
    if words.iter().any(|word| is_long(word)) {
        let message = "sizes and times are not known here: the proxy tells names only; `wc -c FILE` counts bytes";
        return Err(CommandFailure::Usage(message.to_owned()));
    }
    let given = CommandOptions::read(words, "1aAdpF", "")?;
    let paths = match given.operands.as_slice() {
        [] => vec!["."],
        paths => paths.iter().map(String::as_str).collect(),
    };
    // Files first, then what is in folders, as elsewhere.
    let mut folders = Vec::new();
    for path in &paths {
        match look(stage.client, path) {
            Ok(Some(entries)) if !given.has('d') => folders.push((*path, entries)),
            Ok(_) => stage.out.line(path.as_bytes())?,
            Err(fail) => stage.told(fail),
        }
    }
    let is_titled = paths.len() > 1;
    for (number, (path, mut entries)) in folders.into_iter().enumerate() {
        if is_titled {
            let space = if number > 0 { "\n" } else { "" };
            stage.out.line(format!("{space}{path}:").as_bytes())?;
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        for entry in entries {
            if entry.name.starts_with('.') && !given.has('a') && !given.has('A') {
                continue;
            }
            stage.out.write(entry.name.as_bytes())?;
            let marks = given.has('p') || given.has('F');
            stage
                .out
                .line(if marks && entry.is_dir() { b"/" } else { b"" })?;
        }
    }
    Ok(stage.code())
}

fn is_long(word: &str) -> bool {
    let letters = word.strip_prefix('-').unwrap_or_default();
    !letters.starts_with('-') && letters.contains(['l', 's', 't', 'S', 'h'])
}

/// The entries of a folder; `None` if the path is a file.
fn look(client: &Client, path: &str) -> Result<Option<Vec<ListedEntry>>, CommandFailure> {
    let error = match client.list(path) {
        Ok(entries) => return Ok(Some(entries)),
        Err(error) => error,
    };
    if matches!(
        error.code(),
        Some(ProxyErrorCode::Arg | ProxyErrorCode::NoEnt)
    ) && client.open(path, OpenMode::Read).is_ok()
    {
        return Ok(None);
    }
    Err(error.into())
}
