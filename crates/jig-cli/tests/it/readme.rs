//! What the first screen of the README and the READMEs of examples show is what happens.

use std::path::Path;
use std::process::Command;

use super::terminal_user::Seat;
use super::workspace_user::Desk;

/// A command of a block, and what it prints.
#[derive(Debug)]
struct Step {
    line: String,
    prints: String,
}

/// The blocks of a page that show a session.
fn sessions(page: &str) -> Vec<Vec<Step>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(page);
    let text = std::fs::read_to_string(path).unwrap();
    let blocks = text.split("```console\n").skip(1);
    let blocks = blocks.map(|rest| rest.split("```").next().unwrap_or_default());
    let steps = |block: &str| {
        let parts = block
            .split("\n$ ")
            .map(|part| part.strip_prefix("$ ").unwrap_or(part));
        let parts = parts.map(|part| part.split_once('\n').unwrap_or((part, "")));
        let steps = parts.map(|(line, prints)| Step {
            line: line.to_owned(),
            prints: words(prints),
        });
        steps.collect()
    };
    blocks.map(steps).collect()
}

/// The text without its line breaks: a page is not as wide as a terminal.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A desk with the files of an example.
fn desk_with(example: &str) -> Desk {
    let desk = Desk::new();
    let from = format!("{}/../../{example}/.", env!("CARGO_MANIFEST_DIR"));
    desk.unconfined(&["cp", "-r", &from, desk.workspace.root.as_str()]);
    desk
}

/// A line that a first-time user types, who has said nothing yet.
fn typed(desk: &Desk, line: &str) -> Command {
    let jig = Path::new(env!("CARGO_BIN_EXE_jig")).parent().unwrap();
    let path = std::env::join_paths(
        std::iter::once(jig.to_owned())
            .chain(std::env::split_paths(&std::env::var_os("PATH").unwrap())),
    );
    let path = path.unwrap().into_string().unwrap();
    let mut shell = desk.command("sh");
    let line = format!("PATH='{path}'; {line}");
    shell.env_remove("JIG_TRUST").args(["-c", &line]);
    shell
}

/// Types each line into a shell, and compares what it prints.
#[track_caller]
fn check(desk: &Desk, session: &[Step]) {
    for step in session {
        let mut shell = typed(desk, &step.line);
        let answer = step.prints.split_once("[n]o, or n and a reason: ");
        let printed = match answer.and_then(|(_, rest)| rest.split(' ').next()) {
            // Somebody is asked, so somebody has to be there.
            Some(answer) => {
                let mut seat = Seat::of(desk, &shell);
                seat.resize(60, 400);
                seat.sees_text("or n and a reason:");
                seat.types(&format!("{answer}\r"));
                let (_, screen) = seat.ends();
                screen
            }
            None => {
                let output = shell.output().unwrap();
                let text = [output.stdout, output.stderr].concat();
                String::from_utf8(text).unwrap()
            }
        };
        // How often a program tries again is its own affair.
        let printed = words(&printed).replace(" (2 times)", "");
        assert_eq!(printed, step.prints, "$ {}\n{printed}", step.line);
    }
}

#[test]
fn the_first_screen_is_what_happens() {
    let desk = desk_with("examples/hello");
    if !desk.has(&["curl", "--version"]) {
        return;
    }
    desk.workspace.write(".env", "TOKEN=1\n");
    let sessions = sessions("README.md");
    let first = sessions.first().unwrap();
    assert!(first.len() >= 4, "{first:?}");
    let mut trust = desk.jig(&["trust", "--yes"]);
    assert!(
        trust
            .env_remove("JIG_TRUST")
            .output()
            .unwrap()
            .status
            .success()
    );
    check(&desk, first);
}

#[test]
fn hello_is_what_its_readme_says() {
    let desk = desk_with("examples/hello");
    for session in sessions("examples/hello/README.md") {
        check(&desk, &session);
    }
    let checked = desk.told(&["config", "check", "--deny-warnings"]);
    assert!(
        !checked.contains("warning:") && checked.ends_with("[exit 0]"),
        "{checked}"
    );
    // The docs show the same files, and a call.
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/writing-tools.md");
    let page = std::fs::read_to_string(docs).unwrap();
    let script = format!("```bash\n{}```", desk.read("tools/greet"));
    assert!(
        page.contains(&script),
        "the script in docs/writing-tools.md is another one"
    );
    let config = desk.read("jig.toml");
    let (_, config) = config.split_once("\n\n").unwrap();
    assert!(
        page.contains(&format!("```toml\n{config}```")),
        "the configuration in docs/writing-tools.md is another one"
    );
    // Who types what the page shows gets what it prints.
    let desk = Desk::new();
    let (script, rest) = shown(&page, "bash");
    let (config, _) = shown(rest, "toml");
    desk.workspace.write("tools/greet", script);
    desk.workspace.write("jig.toml", config);
    let (_, makes) = rest.split_once(": `").unwrap();
    let (makes, _) = makes.split_once('`').unwrap();
    desk.unconfined(&["sh", "-ec", makes]);
    let untrusted = typed(&desk, "jig call greet name=Ada").output().unwrap();
    let untrusted = String::from_utf8(untrusted.stderr).unwrap();
    let waits = "not in force until you run `jig trust`: `greet` is a new tool";
    assert!(untrusted.contains(waits), "{untrusted}");
    let sessions = sessions("docs/writing-tools.md");
    check(&desk, &sessions[0]);
}

/// The first block of a page in a language, and what comes after it.
fn shown<'p>(page: &'p str, language: &str) -> (&'p str, &'p str) {
    let (_, rest) = page.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap()
}
