//! The table in the docs.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::cases::{Mistake, Way};
use super::fixture::site::for_each_user;
use super::follow::follow;
use super::remedy::Remedy;
use super::scene::Scene;

/// Makes the mistake, does what the message says, and compares both with the docs.
pub(crate) fn check(mistake: &Mistake) {
    let rows = rows(mistake);
    // Of files elsewhere other things are said than of temporary ones.
    if is_writing() || std::env::temp_dir() != Path::new("/tmp") {
        return;
    }
    let page = std::fs::read_to_string(page()).unwrap();
    for row in rows {
        assert!(
            page.lines().any(|line| line == row),
            "`docs/denials.md` does not have this row; JIG_WRITE_DOCS=1 writes it:\n{row}"
        );
    }
}

/// The table has these rows and no others, or gets them.
pub(crate) fn check_all(mistakes: &[Mistake]) {
    assert!(mistakes.len() >= 60, "{} mistakes", mistakes.len());
    let text = std::fs::read_to_string(page()).unwrap();
    let (head, rest) = text.split_once(BEGIN).unwrap();
    let (table, tail) = rest.split_once(END).unwrap();
    // The rows of projects, which are not tried here.
    let (table, projects) = table.split_at(table.find(PROJECTS).unwrap());
    if is_writing() {
        let mut table = HEAD.to_owned();
        for mistake in mistakes {
            let rows = rows(mistake);
            let row = rows
                .first()
                .expect("only who may open every port can write the table");
            let _ = writeln!(table, "{row}");
        }
        let text = format!("{head}{BEGIN}\n{table}{projects}{END}{tail}");
        std::fs::write(page(), text).unwrap();
        return;
    }
    let rows = table.lines().filter(|line| line.starts_with("| ")).skip(2);
    let names: Vec<&str> = rows.filter_map(|row| row.split(" | ").next()).collect();
    let expected: Vec<String> = mistakes
        .iter()
        .map(|one| format!("| {}", one.name))
        .collect();
    assert_eq!(names, expected);
}

/// What was seen, as a row, once for each user.
fn rows(mistake: &Mistake) -> Vec<String> {
    let rows = std::cell::RefCell::new(Vec::new());
    for_each_user(|site| {
        let Some(mut scene) = Scene::set(site, mistake) else {
            return;
        };
        let command = mistake.way.command();
        let first = scene.run(&command);
        assert!(!first.success, "it works at once: {}", first.said);
        let message = denial(&first.said);
        let log = scene.run("jig log --json").said;
        let is_logged = log.contains("\"decision\":\"deny\"");
        let is_call = !matches!(mistake.way, Way::Run(_) | Way::Shell(_));
        assert!(is_logged || !is_call, "{log}");
        let remedy = Remedy::find(&first.said);
        let remedy = remedy.unwrap_or_else(|| panic!("no remedy in: {}", first.said));
        let config = remedy.config(scene.config(), &first.said);
        scene.configure(&mistake.filled(&config));
        let again = remedy.command(&scene.filled(&command), &first.said);
        let again = mistake.filled(&again);
        let mut second = scene.run(&again);
        let waits = scene.waits(remedy.workspace());
        if waits {
            accept(&scene, &second.said);
            second = scene.run(&again);
        }
        assert!(
            second.success && second.said.contains(mistake.works),
            "first: {}\nwith: {remedy:?}\nthen: {}",
            first.said,
            second.said
        );
        if !mistake.follows.is_empty() {
            follow(mistake.follows, &first.said, &second.said);
        }
        if let Remedy::Flags(flags) = &remedy {
            check_flags(&scene, &command, flags);
        }
        let does = mistake.way.shown();
        let cells = [
            mistake.name.to_owned(),
            code(
                &does
                    .replace("{port}", "8000")
                    .replace("{address}", "127.0.0.1")
                    .replace("{beside}", "/elsewhere"),
            ),
            cell(&scene.stable(&message)),
            shown(&scene.stable(&remedy.to_string()), waits),
        ];
        rows.borrow_mut().push(format!("| {} |", cells.join(" | ")));
    });
    rows.into_inner()
}

/// The person accepts what they wrote, by the commands that jig names.
fn accept(scene: &Scene<'_>, said: &str) {
    let command = |said: &str, mark: &str| {
        let line = said.lines().find(|line| line.contains(mark));
        let line = line.unwrap_or_else(|| panic!("`{mark}` is not in: {said}"));
        line.split('`').nth(1).unwrap().to_owned()
    };
    let shows = command(said, "jig: not in force until you run `");
    let shown = scene.run(&shows);
    let accepts = command(&shown.said, "hint: `");
    let accepted = scene.run(&accepts);
    assert!(accepted.success, "{accepts}: {}", accepted.said);
}

/// No flag is offered that was given already, but for a limit, which gets another value; and the log offers
/// what `jig run` accepts.
fn check_flags(scene: &Scene<'_>, command: &str, flags: &str) {
    let command = scene.filled(command);
    for flag in flags.split("--").skip(1) {
        let flag = format!("--{} ", flag.trim());
        assert!(!command.contains(&flag), "{flag} is offered again");
    }
    // Flags are meant from where they are given.
    let (folder, _) = command.split_once("jig run").unwrap();
    let log = scene.run(&format!("{folder}jig log")).said;
    assert!(!log.contains("to allow it, add:"), "{log}");
    let logged = Remedy::flags(&log);
    // What the time and the memory of a command come to is not decided, and thus not logged.
    if logged.is_empty() {
        return;
    }
    let logged = Remedy::Flags(logged.join(" "));
    let third = scene.run(&logged.command(&command, &log));
    assert!(third.success, "with {logged:?} of the log: {}", third.said);
}

/// The line that says what was refused, and why.
fn denial(said: &str) -> String {
    let marks = ["denied: ", "refused: ", "jig: ", "error: "];
    let line = marks.iter().find_map(|mark| {
        let mut lines = said.lines();
        lines.find_map(|line| line.split_once(mark))
    });
    let (_, mut line) = line.unwrap_or_else(|| panic!("nothing was refused: {said}"));
    // What the hint is about says more than that a program failed.
    if line.contains("` exited with code ")
        && let Some((before, _)) = said.split_once("\nhint: ")
        && let Some((_, about)) = before.lines().last().unwrap().split_once(": ")
    {
        line = about;
    }
    // How often a program tries again is its own affair.
    match line.rsplit_once(" (") {
        Some((line, count)) if count.ends_with(" times)") => line.to_owned(),
        _ => line.to_owned(),
    }
}

/// What is done, and that it was accepted.
fn shown(does: &str, waits: bool) -> String {
    let accepted = if waits { "<br>then `jig trust`" } else { "" };
    format!("{}{accepted}", code(does))
}

fn code(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.is_empty());
    let lines: Vec<String> = lines.map(|line| format!("`{}`", cell(line))).collect();
    lines.join("<br>")
}

fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/denials.md")
}

fn is_writing() -> bool {
    std::env::var_os("JIG_WRITE_DOCS").is_some()
}

const HEAD: &str = "\
| the first try | what is done | jig says | what makes it work |
| --- | --- | --- | --- |
";
const BEGIN: &str = "<!-- generated: first tries -->";
const PROJECTS: &str = "| **Real projects**";
const END: &str = "<!-- end of generated part -->";
