//! A call without `subjects`: what there is to load (W-052).

use crate::arguments::Arguments;
use crate::subject::Subject;
use crate::text::clean;
use crate::walk::{Found, walk};

/// The title and description of the topic, its subjects, and those that are loaded from the start.
pub(crate) fn list(arguments: &Arguments) -> Result<String, String> {
    let found = walk(arguments, arguments.learned(), true)?;
    let (available, learned) = sorted(arguments, &found);
    let mut text = format!("# {}\n", arguments.title());
    let most = arguments.most().saturating_sub(text.len() + RESERVED);
    if let Some(description) = &arguments.topic_info.description {
        let description = shortened(description.trim(), most / 2);
        if !description.is_empty() {
            text.push_str(&format!("\n{description}\n"));
        }
    }
    if available.is_empty() {
        text.push_str(match learned.is_empty() {
            true => "\nThis topic has no subjects yet.\n",
            false => "\nThere is nothing more to load.\n",
        });
    } else {
        text.push_str("\nSubjects that can be loaded, by name or by pattern (`*`, `**`):\n\n");
        names(&mut text, &available, most / 4);
    }
    if !learned.is_empty() {
        text.push_str("\nAlready loaded:\n\n");
        names(&mut text, &learned, most / 4);
    }
    if !found.is_complete {
        text.push_str(
            "\nThe directory holds more files than can be looked at: not all are listed.\n",
        );
    }
    Ok(text)
}

/// The names of the subjects that can be loaded, and of those that are already.
pub(crate) fn sorted<'f>(arguments: &Arguments, found: &'f Found) -> (Vec<&'f str>, Vec<&'f str>) {
    let (learned, available): (Vec<&Subject>, Vec<&Subject>) = found
        .subjects
        .iter()
        .partition(|subject| arguments.is_learned(subject));
    let available = available.into_iter().filter(|subject| !subject.is_hidden);
    (distinct(available), distinct(learned.into_iter()))
}

/// Two files of one name are one subject.
fn distinct<'f>(subjects: impl Iterator<Item = &'f Subject>) -> Vec<&'f str> {
    let mut names: Vec<&str> = subjects.map(|subject| subject.name.as_str()).collect();
    names.dedup();
    names
}

/// A line for each name, as many as fit.
fn names(text: &mut String, names: &[&str], most: usize) {
    let end = text.len() + most;
    for (index, name) in names.iter().enumerate() {
        if index == MOST_NAMES || text.len() > end {
            let more = names.len() - index;
            text.push_str(&format!("- … and {more} more: load them by pattern\n"));
            return;
        }
        text.push_str(&format!("- {}\n", clean(name, MOST_NAME)));
    }
}

/// The beginning of a text.
fn shortened(text: &str, most: usize) -> String {
    if text.len() <= most {
        return text.to_owned();
    }
    let end = (0..=most).rev().find(|at| text.is_char_boundary(*at));
    format!("{}…", &text[..end.unwrap_or(0)])
}

/// How many names are listed. A model that is to choose has no use for more.
pub(crate) const MOST_NAMES: usize = 1000;

/// How long a name is shown.
const MOST_NAME: usize = 1000;

/// What the sentences around the names take.
const RESERVED: usize = 600;
