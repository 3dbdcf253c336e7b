//! What a tool that stays was refused, told without watching it.

use super::*;

/// A tool that runs a script for as long as it likes.
fn shop(script: &str, settings: &str, files: &[(&str, &str)]) -> (Workshop, HandleReport) {
    let config = format!(
        "[tools.script]\nsource = \"local\"\nrun = \"unattended\"\nstateful = true\n\
         command = {{ program = \"sh\", args = [\"-c\", {}] }}\n{settings}",
        json!(script)
    );
    let shop = Workshop::new(&config, files);
    let report = shop.report("script", json!({"action": "spawn"}));
    (shop, report)
}

/// Fetches until a report is as it should be, beginning with the first; gives back all notes on the way.
fn until(
    (shop, first): &(Workshop, HandleReport),
    is_so: impl Fn(&HandleReport, &str, &[String]) -> bool,
) -> (HandleReport, Vec<String>) {
    let deadline = Instant::now() + Duration::from_secs(60);
    let (mut said, mut notes) = (String::new(), Vec::new());
    let mut report = first.clone();
    loop {
        said.push_str(&report.state.content().to_text());
        notes.append(&mut report.details.notes);
        if is_so(&report, &said, &notes) {
            return (report, notes);
        }
        assert!(Instant::now() < deadline, "{said}");
        let fetch = json!({"action": "fetch", "id": "h_1", "wait_ms": 500});
        report = shop.report("script", fetch);
    }
}

#[test]
fn why_it_failed_is_guessed_from_its_words() {
    let shop = shop("echo hello; cat .env", "", &[(".env", "TOKEN=x")]);
    let (report, _) = until(&shop, |report, _, _| {
        report.state.status() == StateName::Stopped
    });
    let ToolState::Stopped {
        result: Err(error), ..
    } = report.state
    else {
        panic!("it should fail");
    };
    let [denial] = error.denials.as_slice() else {
        panic!("{error:#?}");
    };
    assert_eq!(
        (
            denial.operation.as_str(),
            denial.target.as_str(),
            denial.guessed
        ),
        ("read", ".env", true)
    );
    assert!(denial.hint.is_some(), "{denial}");
}

/// The program still runs, and would for minutes.
#[test]
fn a_refused_host_is_told_while_it_runs() {
    let script = "getent hosts denied.example; echo tried; exec sleep 300";
    let rules = "access.net = [{ host = \"allowed.example\", allow = true }]\n";
    let shop = shop(script, rules, &[]);
    let (_, notes) = until(&shop, |_, said, _| said.contains("tried"));
    let [note] = notes.as_slice() else {
        panic!("{notes:#?}");
    };
    assert!(
        note.starts_with("refused: look up on `denied.example`: "),
        "{note}"
    );
    assert!(note.contains("host = \"denied.example\""), "{note}");
    // Each is told once.
    let report = shop
        .0
        .report("script", json!({"action": "fetch", "id": "h_1"}));
    assert_eq!(report.details.notes, Vec::<String>::new());
}

/// A server is there to be reached.
#[test]
fn a_server_that_nobody_can_reach_is_told_while_it_runs() {
    let server = "exec python3 -c 'import socket, time; s = socket.create_server((\"127.0.0.1\", 8124)); time.sleep(300)'";
    let shop = shop(server, "", &[]);
    let (_, notes) = until(&shop, |_, _, notes| !notes.is_empty());
    let [note] = notes.as_slice() else {
        panic!("{notes:#?}");
    };
    assert!(
        note.starts_with("`script` listens on port 8124 of "),
        "{note}"
    );
}

/// A command fails in a shell that goes on: its denial comes with its words, on pipes and on a terminal, and once.
#[test]
fn what_a_command_in_a_shell_was_refused_is_told_while_the_shell_runs() {
    for settings in ["", "terminal = true\n"] {
        let script = "read a; cat .env; read b; cat .env; read c; cat open.txt; exec sleep 300";
        let files = [(".env", "TOKEN=x"), ("open.txt", "for all")];
        let (shop, _) = shop(script, settings, &files);
        let apply = json!({"action": "apply", "id": "h_1", "input": "go\n"});
        let first = shop.report("script", apply.clone());
        let shop = (shop, first);
        let (report, notes) = until(&shop, |_, _, notes| !notes.is_empty());
        assert_eq!(report.state.status(), StateName::Running);
        let [note] = notes.as_slice() else {
            panic!("{notes:#?}");
        };
        assert!(note.starts_with("refused: read on `.env`"), "{note}");
        assert!(note.contains("path = \".env\""), "{note}");
        assert!(note.contains("a guess"), "{note}");
        let second = shop.0.report("script", apply.clone());
        assert_eq!(second.details.notes, Vec::<String>::new(), "{settings}");
        let third = shop.0.report("script", apply);
        let shop = (shop.0, third);
        let (report, notes) = until(&shop, |_, said, _| said.contains("for all"));
        assert_eq!(report.state.status(), StateName::Running);
        assert_eq!(notes, Vec::<String>::new(), "{settings}");
    }
}
