//! The one table of `docs/denials.md`: first mistakes, which tests write and check, and below them the projects,
//! which are written here.

use std::net::IpAddr;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::projects::TriedProject;
use crate::root;

/// A row: its cells, as they are written.
pub(crate) struct PageRow {
    /// The mistake, or the project.
    pub(crate) what: String,
    /// The commands.
    pub(crate) done: String,
    /// What jig says.
    pub(crate) said: String,
    /// What makes it work, or why it does not.
    pub(crate) works: String,
}

/// The rows of the mistakes.
pub(crate) fn mistakes() -> Result<Vec<PageRow>, String> {
    let text = read()?;
    let (_, table, _) = parts(&text)?;
    Ok(kept(table).skip(2).filter_map(PageRow::parse).collect())
}

/// Writes the rows of the projects below those of the mistakes.
pub(crate) fn write(projects: &[TriedProject]) -> Result<(), String> {
    let text = read()?;
    let (head, table, tail) = parts(&text)?;
    let date = today()?;
    let mut lines: Vec<String> = kept(table).map(str::to_owned).collect();
    lines.push(format!("{PROJECTS}, tried on {date} | | | |"));
    lines.extend(projects.iter().map(|one| PageRow::of(one).line()));
    let (table, caption) = (lines.join("\n"), caption(projects, &date));
    let page = path();
    let text = format!("{head}{BEGIN}\n{table}\n\n{caption}\n\n{END}{tail}");
    std::fs::write(&page, text)
        .map_err(|error| format!("cannot write `{}`: {error}", page.display()))
}

/// The page before the table, the table, and the page after it.
fn parts(text: &str) -> Result<(&str, &str, &str), String> {
    let parts = text.split_once(BEGIN);
    let parts = parts.and_then(|(head, rest)| Some((head, rest.split_once(END)?)));
    let (head, (table, tail)) = parts.ok_or("the page has no place for the table")?;
    Ok((head, table, tail))
}

/// The head of the table, and the rows of the mistakes.
fn kept(table: &str) -> impl Iterator<Item = &str> {
    let lines = table.lines().take_while(|line| !line.starts_with(PROJECTS));
    lines.filter(|line| line.starts_with("| "))
}

/// How the projects were tried.
fn caption(projects: &[TriedProject], date: &str) -> String {
    let at_once = projects.iter().filter(|one| one.messages.is_empty());
    let at_once = at_once.count();
    let versions = ["cargo", "node", "npm", "python3", "go"].iter();
    let versions: Vec<String> = versions.filter_map(|program| version(program)).collect();
    let is_address = |flags: &str| {
        let address = flags.strip_prefix("--net ").map(str::parse::<IpAddr>);
        address.is_some_and(|address| address.is_ok())
    };
    let mut messages = projects.iter().flat_map(|one| &one.messages);
    let is_mirror = at_once < projects.len() && messages.all(|(_, flags)| is_address(flags));
    let mirror = match is_mirror {
        true => {
            " On the machine of the trial, the names of the registries lead to a mirror at a special address, which \
             needs a rule of its own. Where they lead to public addresses, this message does not come."
        }
        false => "",
    };
    // Only root can try them as a plain user too.
    let who = match projects.iter().any(|one| one.is_plain) {
        true => " Rows that name no user are root's.",
        false => "",
    };
    format!(
        "The projects were tried on {date}, with {}: {at_once} worked at once, and {} with one message.{mirror}{who}",
        versions.join(", "),
        projects.len() - at_once,
    )
}

impl PageRow {
    /// A project as a row.
    pub(crate) fn of(project: &TriedProject) -> Self {
        let mut said = project.presets.clone();
        let refused = project.messages.iter().map(|(refused, _)| refused.clone());
        said.extend(refused);
        let works = match (&project.failure, project.messages.as_slice()) {
            (Some(failure), _) => format!("fails: {}", failure.replace('\n', " ")),
            (None, []) => "works at once".to_owned(),
            (None, messages) => {
                let flags = messages.iter().map(|(_, flags)| format!("`{flags}`"));
                flags.collect::<Vec<_>>().join("<br>")
            }
        };
        let done = project.commands.iter().map(|done| format!("`{done}`"));
        Self {
            what: project.title(),
            done: done.collect::<Vec<_>>().join("<br>"),
            said: said.join("<br>"),
            works,
        }
    }

    fn line(&self) -> String {
        let cells = [&self.what, &self.done, &self.said, &self.works];
        let cells = cells.map(|cell| cell.replace('|', "\\|"));
        format!("| {} |", cells.join(" | "))
    }

    fn parse(line: &str) -> Option<Self> {
        let inner = line.strip_prefix("| ")?.strip_suffix(" |")?;
        let cells: Vec<&str> = inner.split(" | ").collect();
        let [what, done, said @ .., works] = cells.as_slice() else {
            return None;
        };
        Some(Self {
            what: (*what).to_owned(),
            done: (*done).to_owned(),
            said: said.join(" | "),
            works: (*works).to_owned(),
        })
    }

    /// One line for a terminal.
    pub(crate) fn short(&self) -> String {
        let works = self.works.replace("<br>", " ").replace('`', "");
        format!("{:<76} {works}", self.what.replace('`', ""))
    }

    /// A mistake as data.
    pub(crate) fn json(&self) -> Value {
        let lines = |cell: &str| -> Vec<String> {
            let lines = cell.split("<br>").map(|line| line.trim_matches('`'));
            lines.map(str::to_owned).collect()
        };
        json!({
            "mistake": self.what, "does": lines(&self.done), "says": self.said, "remedy": lines(&self.works),
        })
    }
}

/// The version of a program, with its name.
fn version(program: &str) -> Option<String> {
    let flag = if program == "go" {
        "version"
    } else {
        "--version"
    };
    let output = Command::new(program).arg(flag).output().ok()?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut words = said.split_whitespace();
    let number = words.find_map(|word| {
        let word = word.trim_start_matches("go").trim_start_matches('v');
        word.starts_with(|c: char| c.is_ascii_digit())
            .then_some(word)
    })?;
    Some(format!("{program} {number}"))
}

fn today() -> Result<String, String> {
    let output = Command::new("date").args(["-u", "+%F"]).output();
    let output = output.map_err(|error| format!("cannot start `date`: {error}"))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn read() -> Result<String, String> {
    let page = path();
    std::fs::read_to_string(&page)
        .map_err(|error| format!("cannot read `{}`: {error}", page.display()))
}

fn path() -> PathBuf {
    root().join("docs/denials.md")
}

/// Stands before the table.
const BEGIN: &str = "<!-- generated: first tries -->";
/// Stands after it.
const END: &str = "<!-- end of generated part -->";
/// How the row begins that stands above the projects.
const PROJECTS: &str = "| **Real projects**";

#[cfg(test)]
mod tests {
    use super::*;

    /// A project that is added is tried before it is committed.
    #[test]
    fn the_page_has_a_row_for_every_project() {
        let text = read().unwrap();
        let (_, table, _) = parts(&text).unwrap();
        let rows = table.lines().skip_while(|line| !line.starts_with(PROJECTS));
        let rows = rows.skip(1).filter(|line| line.starts_with("| "));
        let rows: Vec<PageRow> = rows.filter_map(PageRow::parse).collect();
        assert_eq!(rows.len(), crate::trial::projects::runs());
        for row in rows {
            assert!(!row.works.starts_with("fails"), "{}", row.what);
        }
    }
}
