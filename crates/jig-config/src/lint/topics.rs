//! Topics of the knowledge base that can't be reached, or that hold nothing.

use jig_proto::hint;

use crate::loading::files;
use crate::loading::sources::Sources;
use crate::model::{Config, Topic};
use crate::problem::Problem;
use crate::quoting::{closest, dotted, quote};

pub(super) fn lint(sources: &Sources, config: &Config, warnings: &mut Vec<Problem>) {
    let topics: Vec<&Topic> = config.enabled_topics().collect();
    for (index, topic) in topics.iter().enumerate() {
        if let Some(title) = &topic.title {
            let others = topics[..index].iter();
            let is_same = |other: &&&Topic| other.title().to_lowercase() == title.to_lowercase();
            warnings.extend(
                others
                    .copied()
                    .find(|other| is_same(&other))
                    .map(|other| same_title(topic, other)),
            );
        }
        warnings.extend(no_directory(sources, topic));
        warnings.extend(directories(sources, topic));
    }
}

/// It is by the title that a model asks for a topic, and the first one answers.
fn same_title(topic: &Topic, other: &Topic) -> Problem {
    let title = |topic: &Topic| topic.origin("title").unwrap_or(topic.declared_at()).clone();
    Problem::warning(
        format!(
            "the topics {} and {} are both called {}: by that title only the first is found",
            quote(&other.id),
            quote(&topic.id),
            quote(topic.title())
        ),
        hint!("give each a title of its own"),
    )
    .at(&title(topic), "")
    .and(&title(other), "")
    .key(key(topic, "title"))
}

fn no_directory(sources: &Sources, topic: &Topic) -> Option<Problem> {
    let path = topic.subjects.under(&sources.workspace);
    // A workspace that is not on this disk has its directories elsewhere.
    if files::exists(&path) || !files::exists(&sources.workspace) {
        return None;
    }
    let beside = topic.subjects.parent().unwrap_or_default();
    let names = files::names_in(&beside.under(&sources.workspace));
    let meant = topic
        .subjects
        .file_name()
        .and_then(|name| closest(name, names.iter().map(String::as_str)));
    let help = match meant {
        Some(meant) => hint!(
            "did you mean {}? if not, create the directory",
            quote(meant)
        ),
        None => hint!("create the directory, and put a file into it for each subject"),
    };
    let problem = Problem::warning(
        format!(
            "the topic {} has no subjects: there is no directory {}",
            quote(&topic.id),
            quote(topic.subjects.as_str())
        ),
        help,
    )
    .at(topic.origin("subjects").unwrap_or(topic.declared_at()), "")
    .key(key(topic, "subjects"));
    Some(problem)
}

/// What is disabled by the name of a directory is not disabled at all: only files are subjects.
fn directories(sources: &Sources, topic: &Topic) -> Vec<Problem> {
    let folder = topic.subjects.under(&sources.workspace);
    let mut problems = Vec::new();
    for (list, names) in [("disabled", &topic.disabled), ("learned", &topic.learned)] {
        for (index, name) in names.iter().enumerate() {
            let is_pattern = name.contains(['*', '?']);
            if is_pattern || !files::is_directory(&folder.join(name)) {
                continue;
            }
            let (beside, last) = name.rsplit_once('/').unwrap_or(("", name));
            let names = files::names_in(&folder.join(beside));
            let is_subject = |file: &String| {
                file.strip_prefix(last)
                    .is_some_and(|rest| rest.starts_with('.'))
            };
            if names.iter().any(is_subject) {
                continue;
            }
            let origin = topic.origin(&format!("{list}.{index}"));
            problems.push(
                Problem::warning(
                    format!(
                        "{} is a directory, not a subject: it is not {list}",
                        quote(name)
                    ),
                    hint!("for all that is below it write `\"{name}/**\"`"),
                )
                .at(origin.unwrap_or(topic.declared_at()), "")
                .key(key(topic, list)),
            );
        }
    }
    problems
}

fn key(topic: &Topic, name: &str) -> String {
    let path = ["kb", "topic", &topic.id, name].map(str::to_owned);
    dotted(&path)
}
