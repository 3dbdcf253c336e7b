//! `cargo xtask trial`: jig as a person meets it for the first time.
//!
//! `mistakes` makes first mistakes and does what each message says. `projects` builds and tests real projects of the
//! registries. Both become one table, printed and in `docs/denials.md`.

mod page;
mod projects;

use serde_json::{Value, json};

use crate::{cargo_command, run};
use page::PageRow;
use projects::TriedProject;

/// What is to be tried, and how it is told.
pub(crate) struct TrialOptions<'a> {
    mistakes: bool,
    projects: bool,
    /// The projects that are named; all, if none is.
    names: Vec<&'a str>,
    json: bool,
}

impl<'a> TrialOptions<'a> {
    /// Both parts by default; names of projects after `projects`; `--json` anywhere.
    pub(crate) fn parse(words: &[&'a str]) -> Result<Self, String> {
        let json = words.contains(&"--json");
        let words = words.iter().copied().filter(|word| *word != "--json");
        let words: Vec<&str> = words.collect();
        let (mistakes, projects, names) = match words.as_slice() {
            [] => (true, true, Vec::new()),
            ["mistakes"] => (true, false, Vec::new()),
            ["projects", names @ ..] => (false, true, names.to_vec()),
            [word, ..] => {
                return Err(format!(
                    "`{word}` is no part of the trial; there is `mistakes`, and `projects NAME…` with {}",
                    projects::names().collect::<Vec<_>>().join(", ")
                ));
            }
        };
        Ok(Self {
            mistakes,
            projects,
            names,
            json,
        })
    }
}

/// Tries, prints the table, and writes it if all was tried and is well.
pub(crate) fn run_parts(wanted: &TrialOptions<'_>) -> Result<(), String> {
    let mut mistakes = Vec::new();
    let mut projects = Vec::new();
    if wanted.mistakes {
        make_mistakes()?;
        mistakes = page::mistakes()?;
    }
    if wanted.projects {
        let build = ["build", "--workspace", "--locked"];
        run(&mut cargo_command(&build))?;
        projects = projects::run(&wanted.names)?;
    }
    show(&mistakes, &projects, wanted.json);
    let failed = projects.iter().filter(|one| !one.is_good());
    let failed: Vec<&str> = failed.map(|one| one.name).collect();
    if !failed.is_empty() {
        return Err(format!(
            "{} of {} projects do not work with at most one message: {}; `docs/denials.md` keeps the earlier rows",
            failed.len(),
            projects.len(),
            failed.join(", ")
        ));
    }
    match wanted.projects && wanted.names.is_empty() {
        true => page::write(&projects),
        false => Ok(()),
    }
}

#[expect(clippy::print_stdout, reason = "the table is the result")]
fn show(mistakes: &[PageRow], projects: &[TriedProject], is_json: bool) {
    if is_json {
        let mistakes: Vec<Value> = mistakes.iter().map(PageRow::json).collect();
        let projects: Vec<Value> = projects.iter().map(TriedProject::json).collect();
        println!("{:#}", json!({"mistakes": mistakes, "projects": projects}));
        return;
    }
    for row in mistakes {
        println!("{}", row.short());
    }
    for project in projects {
        println!("{}", PageRow::of(project).short());
    }
    let works = projects.iter().filter(|one| one.is_good());
    let at_once = works.clone().filter(|one| one.messages.is_empty()).count();
    println!(
        "{} first mistakes, each mended by doing what the message says; {} projects, of which {at_once} work at once and \
         {} with one message",
        mistakes.len(),
        projects.len(),
        works.count() - at_once
    );
}

/// Every mistake is made with the real program, as who runs this and, if that is root, as a plain user.
fn make_mistakes() -> Result<(), String> {
    let test = ["test", "--workspace", "--test", "mistakes", "--locked"];
    let write = ["the_table_is_complete", "--", "--exact"];
    run(cargo_command(&[&test[..], &write].concat()).env("JIG_WRITE_DOCS", "1"))?;
    // What was written is what is seen.
    run(&mut cargo_command(&test))
}
