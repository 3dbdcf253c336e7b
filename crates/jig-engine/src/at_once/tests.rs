//! What is done at once, what waits, and what is not begun.

use std::sync::Arc;

use jig_config::Sources;
use jig_files::MemoryFiles;
use jig_proto::ProjectPath;
use serde_json::{Value, json};

use super::AtOnce;
use crate::{Answer, Ask, Asker, Call, CallError, Engine};

fn engine(sets: &[&str]) -> Engine {
    let mut sources = Sources::new("/workspace");
    sources.sets = sets.iter().map(|set| (*set).to_owned()).collect();
    let config = jig_config::load(&sources).expect("it is valid").config;
    let files = MemoryFiles::new();
    let notes = ProjectPath::normalize("notes.txt").expect("it is a path");
    files
        .put_file(&notes, "one\n", false)
        .expect("it is written");
    Engine::new(Arc::new(config), Arc::new(files))
}

fn read(path: &str) -> Call {
    Call::new("fs_read_file", json!({ "path": path }))
}

/// Says the same to everything, and counts.
struct Says(Answer, usize);

impl Asker for Says {
    fn ask(&mut self, _: &Ask<'_>) -> Answer {
        self.1 += 1;
        self.0.clone()
    }
}

#[test]
fn a_read_is_done_at_once() {
    match engine(&[]).try_at_once(read("notes.txt")) {
        AtOnce::Done(Ok(reply)) => assert!(reply.into_content().to_text().contains("one")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_is_wrong_with_a_read_is_known_at_once() {
    for call in [
        read("missing.txt"),
        Call::new("fs_read_file", json!({ "pth": 1 })),
    ] {
        match engine(&[]).try_at_once(call) {
            AtOnce::Done(Err(CallError::Tool(_) | CallError::Arguments { .. })) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_read_that_asks_goes_on_elsewhere_and_asks_once() {
    let asks = "tools.fs_read_file.access.fs=[{path=\"src\", read=true}]";
    let engine = engine(&[asks]);
    for (answer, allowed) in [
        (Answer::Given(json!("once")), true),
        (Answer::Given(json!("no")), false),
        (Answer::Unavailable, false),
    ] {
        let AtOnce::Waits(waits) = engine.try_at_once(read("notes.txt")) else {
            panic!("it asks");
        };
        let mut says = Says(answer, 0);
        let outcome = engine.go_on(waits, &mut says);
        assert_eq!(says.1, 1);
        assert_eq!(outcome.is_ok(), allowed, "{outcome:?}");
    }
}

#[test]
fn what_is_not_quick_comes_back_unbegun() {
    let attended = [
        "tools.fs_read_file.run=ask",
        "tools.fs_read_file.result=ask",
    ];
    let stateful = ["tools.fs_read_file.stateful=true"];
    let spawn = json!({ "action": "spawn", "path": "notes.txt" });
    let calls = [
        (Some(&stateful[..]), Call::new("fs_read_file", spawn)),
        (attended.get(..1), read("notes.txt")),
        (attended.get(1..), read("notes.txt")),
        (None, Call::new("fs_list_files", json!({}))),
        (
            None,
            Call::new("fs_create_file", json!({ "path": "new", "content": "" })),
        ),
        (None, Call::new("there_is_none", Value::Null)),
    ];
    for (sets, call) in calls {
        let arguments = call.arguments.clone();
        match engine(sets.unwrap_or_default()).try_at_once(call) {
            AtOnce::Not(call) => assert_eq!(call.arguments, arguments),
            other => panic!("{other:?}"),
        }
    }
}
