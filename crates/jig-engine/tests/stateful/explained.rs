//! What a tool that stays was refused, told without watching it.

use super::*;

/// A tool that runs a script for as long as it likes.
fn shop(script: &str, settings: &str, files: &[(&str, &str)]) -> Workshop {
    let config = format!(
        "[tools.script]\nsource = \"local\"\nrun = \"unattended\"\nstateful = true\n\
         command = {{ program = \"sh\", args = [\"-c\", {}] }}\n{settings}",
        json!(script)
    );
    let shop = Workshop::new(&config, files);
    shop.report("script", json!({"action": "spawn"}));
    shop
}

#[test]
fn why_it_failed_is_guessed_from_its_words() {
    let shop = shop("echo hello; cat .env", "", &[(".env", "TOKEN=x")]);
    let (report, said) = shop.until("script", "h_1", Status::Stopped);
    let ToolState::Stopped {
        result: Err(error), ..
    } = report.state
    else {
        panic!("it should fail: {said}");
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
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut said = String::new();
    let mut notes = Vec::new();
    while !said.contains("tried") {
        assert!(Instant::now() < deadline, "{said}");
        let report = shop.report(
            "script",
            json!({"action": "fetch", "id": "h_1", "wait_ms": 1000}),
        );
        said.push_str(&report.state.content().to_text());
        notes.extend(report.details.notes);
    }
    let [note] = notes.as_slice() else {
        panic!("{notes:#?}");
    };
    assert!(
        note.starts_with("refused: look up on `denied.example`: "),
        "{note}"
    );
    assert!(note.contains("host = \"denied.example\""), "{note}");
    // Each is told once.
    let report = shop.report("script", json!({"action": "fetch", "id": "h_1"}));
    assert_eq!(report.details.notes, Vec::<String>::new());
}
