//! Whose question it is, who answers it, and what is told unasked.

use serde_json::{Value as Json, json};

use super::station::{Hall, for_each_hall};
use super::terminal_user::Seat;
use super::vfs_tool::until;
use super::workspace_user::Desk;

/// S-034, S-036, S-075: a tool asks, and is answered in the words of a person.
#[test]
fn s034_a_question_is_answered() {
    for_each_hall(|hall| {
        let desk = hall.0;
        let report = hall.json(&["spawn", "asks"]);
        let report = match report["state"] == "waiting" {
            true => report,
            false => hall.json(&["fetch", "h_1", "--wait", "20s"]),
        };
        assert_eq!(report["state"], "waiting", "{report}");
        assert_eq!(report["question"]["text"], "Go on?");
        let row = &hall.ps()[0];
        assert_eq!(
            (&row["state"], &row["question"]),
            (&json!("waiting"), &json!("Go on?"))
        );
        let ran = desk.run(&["fetch", "h_1"]);
        assert!(ran.out.contains("? `asks` asks: Go on?"), "{ran:?}");
        assert!(
            ran.err.contains("`jig apply h_1 yes|no --question "),
            "{ran:?}"
        );
        let asked = ran.err;
        // What does not answer the question is not given to the tool.
        let ran = desk.run(&["apply", "h_1", "perhaps"]);
        assert!(ran.err.contains("wants yes or no"), "{ran:?}");
        // The command that was offered, with one of its answers.
        let command = asked.split_once("answer with `jig ").unwrap().1;
        let command = command.split_once('`').unwrap().0.replace("yes|no", "yes");
        let mut words: Vec<&str> = command.split(' ').collect();
        words.extend(["--wait", "20s"]);
        let ran = desk.run(&words);
        assert!(ran.out.contains("went on with true"), "{ran:?}");
        super::follow::follow("answer with `{}`", &asked, &ran.err);
    });
}

/// What the policy asks waits for the person, and only their words decide.
#[test]
fn a_question_of_the_policy_is_answered() {
    for_each_hall(|hall| {
        let desk = hall.0;
        for (answer, expected) in [("no", "refused"), ("once", "written")] {
            let mut report = hall.json(&["spawn", "writer", "--id", answer]);
            while report["state"] == "running" {
                report = hall.json(&["fetch", answer, "--wait", "20s"]);
            }
            assert_eq!(report["state"], "waiting", "{report}");
            assert!(!desk.path("new.txt").exists());
            let row = hall.ps().pop().unwrap();
            assert_eq!(row["state"], "waiting", "{row}");
            assert_eq!(report["asked_by"], "policy", "{report}");
            let number = report["question_number"].to_string();
            let ran = desk.run(&["fetch", answer]);
            assert!(ran.out.contains("? jig asks: "), "{ran:?}");
            let command = format!("`jig apply {answer} once|turn|no --question {number}`");
            assert!(ran.err.contains(&command), "{ran:?}");
            // Without the number of what was shown, with another, or with other words: nothing happens.
            for args in [
                &["apply", answer, "once"][..],
                &["apply", answer, "once", "--question", "99"],
                &["apply", answer, "--json-input", "\"once\""],
                &["apply", answer, "perhaps", "--question", &number],
                &["apply", answer],
            ] {
                let ran = desk.run(args);
                assert_eq!(ran.code, Some(1), "{ran:?}");
                assert!(!desk.path("new.txt").exists(), "{args:?}");
            }
            let mut report = hall.json(&["apply", answer, answer, "--question", &number]);
            while report["state"] == "running" {
                report = hall.json(&["fetch", answer, "--wait", "20s"]);
            }
            assert_eq!(
                (&report["state"], &report["result"]),
                (&json!("stopped"), &json!(expected))
            );
            assert_eq!(desk.path("new.txt").exists(), answer == "once");
        }
    });
}

/// What a person was shown may not be what is asked by now: a tool that asks something harmless, and then
/// for access while the person reads, gets nothing by their answer.
#[test]
fn an_answer_is_not_taken_for_another_question() {
    for_each_hall(|hall| {
        let desk = hall.0;
        let shown = |by: &str| {
            let mut report = hall.json(&["fetch", "bait", "--wait", "20s"]);
            until("it asks", || {
                report = hall.json(&["fetch", "bait"]);
                report["asked_by"] == by
            });
            report["question_number"].to_string()
        };
        hall.spawn(&["bait", "--id", "bait"]);
        let harmless = shown("tool");
        desk.workspace.write("go", "");
        shown("policy");
        let mut told = String::new();
        for args in [
            &["apply", "bait", "once"][..],
            &["apply", "bait", "once", "--question", &harmless],
        ] {
            let ran = desk.run(args);
            told.clone_from(&ran.err);
            assert_eq!(ran.code, Some(1), "{ran:?}");
            assert!(
                ran.err.contains("jig asks: Allow `bait` to create"),
                "{ran:?}"
            );
        }
        assert!(!desk.path("new.txt").exists());
        // The command that was offered, with one of its answers.
        let (_, command) = told.split_once("hint: `jig ").unwrap();
        let command = command.split('`').next().unwrap();
        let command = command.replace("once|turn|no", "once");
        let ran = desk.run(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.code, Some(0), "{ran:?}");
        until("it is written", || desk.path("new.txt").exists());
        super::follow::follow("`{}`", &told, &ran.err);
    });
}

/// S-082: what has become of other handles is told with the next answer, once.
#[test]
fn s082_news_of_other_handles_come_along() {
    let desk = Desk::new();
    let hall = Hall::new(&desk);
    hall.spawn(&["echo"]);
    hall.spawn(&["fails", "--id", "ends"]);
    until("it has stopped", || {
        hall.ps().iter().any(|row| row["state"] == "stopped")
    });
    let report = hall.json(&["fetch", "h_1"]);
    let notice = json!({ "id": "ends", "tool": "fails", "state": "stopped" });
    assert_eq!(report["notices"], json!([notice]), "{report}");
    assert_eq!(hall.json(&["fetch", "h_1"])["notices"], Json::Null);
    hall.spawn(&["fails", "--id", "again"]);
    until("it has stopped", || {
        let rows = hall.ps();
        rows.iter()
            .all(|row| row["id"] != "again" || row["state"] == "stopped")
    });
    let ran = desk.run(&["fetch", "h_1"]);
    assert!(
        ran.err.contains("`again` of the tool `fails` has stopped"),
        "{ran:?}"
    );
    let ran = desk.run(&["fetch", "ends"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
}

/// S-080: whether a tool may run is asked here, and what was agreed is what runs.
#[test]
fn s080_agreement_comes_before_the_station() {
    let desk = Desk::new();
    let hall = Hall::new(&desk);
    let ran = desk.run(&["spawn", "careful", "--no-interaction"]);
    assert_eq!(ran.code, Some(1));
    assert!(
        ran.err.contains("nobody can be asked") && ran.err.contains("--yes"),
        "{}",
        ran.err
    );
    // Nothing was started for it.
    assert!(hall.files("").is_empty());
    assert_eq!(hall.spawn(&["careful", "--yes"]), "h_1");
}

/// S-080: the person at the terminal agrees, or says why not.
#[test]
fn s080_the_person_agrees_at_the_terminal() {
    for_each_hall(|hall| {
        let mut seat = Seat::new(hall.0, &["spawn", "careful"]);
        seat.sees_text("[y]es, [n]o, or n and a reason");
        seat.types("n not today\r");
        let (status, screen) = seat.ends();
        assert_eq!(status.code(), Some(1), "{screen}");
        assert!(screen.contains("not today"), "{screen}");
        assert!(hall.ps().is_empty());
        let mut seat = Seat::new(hall.0, &["spawn", "careful"]);
        seat.sees_text("[y]es");
        seat.types("y\r");
        let (status, screen) = seat.ends();
        assert!(status.success(), "{screen}");
        assert!(screen.contains("h_1 running"), "{screen}");
    });
}

/// `jig apply ID` alone shows what is asked, and takes the answer at the terminal.
#[test]
fn a_question_is_answered_at_the_terminal() {
    for_each_hall(|hall| {
        hall.spawn(&["writer"]);
        until("it asks", || hall.ps()[0]["state"] == "waiting");
        let mut seat = Seat::new(hall.0, &["apply", "h_1", "--wait", "20s"]);
        let screen = seat.sees_text("[o]nce, for this [t]urn, [n]o");
        assert!(
            screen.contains("Allow `writer` to create `new.txt`?"),
            "{screen}"
        );
        seat.types("o\r");
        let (status, screen) = seat.ends();
        assert!(status.success(), "{screen}");
        until("it is written", || hall.0.path("new.txt").exists());
    });
}
