//! `cargo xtask trial`: jig as somebody meets it for the first time.
//!
//! `mistakes` makes the first mistakes of everybody, does what each message says, and writes the table of
//! `docs/denials.md`. `projects` builds and tests real projects of the registries.

mod projects;

use std::path::PathBuf;

use crate::{cargo_command, root, run};

/// Runs the parts that are named, or all.
pub(crate) fn run_parts(parts: &[&str]) -> Result<(), String> {
    let known = ["mistakes", "projects"];
    if let Some(part) = parts.iter().find(|part| !known.contains(part)) {
        return Err(format!(
            "there is no part `{part}` of the trial; there is {}",
            known.join(", ")
        ));
    }
    let is_wanted = |part: &str| parts.is_empty() || parts.contains(&part);
    if is_wanted("mistakes") {
        mistakes()?;
    }
    if is_wanted("projects") {
        real_projects()?;
    }
    Ok(())
}

/// Every project is built and tested with at most one message.
fn real_projects() -> Result<(), String> {
    let rows = projects::run()?;
    eprintln!("{}", projects::table(&rows));
    match rows.iter().filter(|row| !row.is_good()).count() {
        0 => Ok(()),
        bad => Err(format!(
            "{bad} of {} projects need more than one message",
            rows.len()
        )),
    }
}

/// Every mistake is made with the real program, as who runs this and, if that is root, as a plain user.
fn mistakes() -> Result<(), String> {
    let test = [
        "test",
        "--package",
        "jig-cli",
        "--test",
        "mistakes",
        "--locked",
    ];
    let write = ["the_table_is_complete", "--", "--exact"];
    run(cargo_command(&[&test[..], &write].concat()).env("JIG_WRITE_DOCS", "1"))?;
    // What was written is what is seen.
    run(&mut cargo_command(&test))?;
    let page = page();
    let text = std::fs::read_to_string(&page)
        .map_err(|error| format!("cannot read `{}`: {error}", page.display()))?;
    let mut count = 0;
    for row in rows(&text) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        if let [name, .., remedy] = cells.as_slice() {
            count += 1;
            eprintln!(
                "  {:<64} {}",
                name.trim(),
                remedy.trim().replace("<br>", " ")
            );
        }
    }
    eprintln!("{count} first mistakes, each mended by doing what the message says");
    Ok(())
}

/// The rows of the generated table, without its head.
fn rows(text: &str) -> impl Iterator<Item = &str> {
    let table = text.split(BEGIN).nth(1).unwrap_or_default();
    let table = table.split("<!-- end").next().unwrap_or_default();
    table.lines().filter(|line| line.starts_with("| ")).skip(2)
}

fn page() -> PathBuf {
    root().join("docs/denials.md")
}

/// What stands before the table.
const BEGIN: &str = "<!-- generated: first mistakes -->";
