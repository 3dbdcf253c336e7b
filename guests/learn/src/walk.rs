//! The files of a topic.

use std::fs;
use std::io::ErrorKind;

use crate::arguments::Arguments;
use crate::pattern::Pattern;
use crate::subject::{ROOT, Subject, undotted};
use crate::text::quote;

/// What was found below the directory of the topic.
pub(crate) struct Found {
    /// The subjects that are not disabled, by name.
    pub(crate) subjects: Vec<Subject>,
    /// Whether all of the directory was looked at.
    pub(crate) is_complete: bool,
}

/// Looks for subjects. Hidden directories are entered only on the way to one of the names in `wanted`, and
/// the others only if `everywhere`, or on such a way.
pub(crate) fn walk(
    arguments: &Arguments,
    wanted: &[Pattern],
    everywhere: bool,
) -> Result<Found, String> {
    let mut found = Found {
        subjects: Vec::new(),
        is_complete: true,
    };
    let mut seen = 0;
    let mut folders = vec![String::new()];
    while let Some(folder) = folders.pop() {
        let entries = match fs::read_dir(format!("{ROOT}/{folder}")) {
            Ok(entries) => entries,
            Err(error) if folder.is_empty() => return Err(unreadable(arguments, &error)),
            // One that may not be read is not there.
            Err(_) => continue,
        };
        for entry in entries {
            seen += 1;
            if seen > MOST_ENTRIES {
                found.is_complete = false;
                folders.clear();
                break;
            }
            let Ok(entry) = entry else { break };
            let name = entry.file_name();
            let Some(name) = name.to_str() else { continue };
            let path = match folder.as_str() {
                "" => name.to_owned(),
                folder => format!("{folder}/{name}"),
            };
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if kind.is_dir() {
                let is_deep = path.split('/').count() > DEEPEST;
                if !is_deep && is_entered(&path, wanted, everywhere) && !is_link(&path) {
                    folders.push(path);
                }
            } else if kind.is_file() || (kind.is_symlink() && leads_to_file(&path)) {
                let subject = Subject::new(&path);
                if !arguments.is_disabled(&subject) {
                    found.subjects.push(subject);
                }
            }
        }
    }
    found.subjects.sort_unstable();
    Ok(found)
}

fn is_entered(path: &str, wanted: &[Pattern], everywhere: bool) -> bool {
    let is_hidden = path.split('/').any(|one| one.starts_with('.'));
    let leads =
        |pattern: &Pattern| pattern.leads_below(path) || pattern.leads_below(&undotted(path));
    (everywhere && !is_hidden) || wanted.iter().any(leads)
}

/// Whether it is a link. Those to directories are not followed: they could lead in a circle.
fn is_link(path: &str) -> bool {
    fs::symlink_metadata(format!("{ROOT}/{path}")).is_ok_and(|found| found.is_symlink())
}

/// Whether a link leads to a file that may be seen.
fn leads_to_file(path: &str) -> bool {
    fs::metadata(format!("{ROOT}/{path}")).is_ok_and(|found| found.is_file())
}

fn unreadable(arguments: &Arguments, error: &std::io::Error) -> String {
    let topic = quote(&arguments.title());
    let directory = arguments.topic_info.directory.as_deref();
    let directory = directory.map_or_else(|| "its directory".to_owned(), quote);
    match error.kind() {
        ErrorKind::NotFound => format!(
            "the topic {topic} has no subjects: {directory} does not exist\nhint: create the directory, or \
             correct `subjects` of the topic"
        ),
        ErrorKind::NotADirectory => format!(
            "the topic {topic} has no subjects: {directory} is a file\nhint: `subjects` of the topic must \
             be a directory"
        ),
        _ => format!("the subjects of {topic} cannot be read in {directory}: {error}"),
    }
}

/// How many entries of a topic are looked at: somebody may have put anything there.
const MOST_ENTRIES: usize = 250_000;

/// How deep directories are entered.
const DEEPEST: usize = 64;
