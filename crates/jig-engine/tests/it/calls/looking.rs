//! Tools that only look at files: judged by the workspace as it is at each call, asked about once, and given up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use jig_broker::CancelToken;
use jig_engine::{About, Answer, Ask, Asker, Call, CallError, Engine, Nobody};
use serde_json::json;

use crate::calls::{Lines, Person, World, call};

fn reads(engine: &Engine, path: &str) -> Result<String, CallError> {
    call(engine, "fs_read_file", json!({ "path": path }), &mut Nobody)
}

/// Whether a file may be read, asked more than once: whatever is kept of a call must not count for the next.
fn check(engine: &Engine, path: &str, expected: bool) {
    for _ in 0..3 {
        let read = reads(engine, path);
        assert_eq!(read.is_ok(), expected, "{path}: {read:?}");
    }
}

/// A rule on a link is a rule on what the link leads to now, not on what it led to before.
#[test]
fn a_link_that_is_swapped_between_calls_is_judged_by_where_it_leads_now() {
    let world = World::new(&[("a/x", "a"), ("b/x", "b"), ("c/d/x", "c")]);
    world.link("open", "a");
    let engine = world.engine(
        r#"
        [tools.fs_read_file]
        on_uncovered = "deny"
        access.fs = [{ path = "open", read = true }, { path = "later/d", read = true }]
        "#,
    );
    check(&engine, "a/x", true);
    check(&engine, "b/x", false);
    world.link("open", "b");
    check(&engine, "a/x", false);
    check(&engine, "b/x", true);
    check(&engine, "open/x", true);
    // What was missing appears, and then it leads elsewhere.
    check(&engine, "c/d/x", false);
    world.link("later", "c");
    check(&engine, "c/d/x", true);
    world.link("later", "a");
    check(&engine, "c/d/x", false);
    // A rule that cannot be meant any more: nothing is read by the rules of before.
    world.link("open", "/etc");
    let refused = reads(&engine, "b/x").unwrap_err();
    assert!(matches!(refused, CallError::Policy { .. }), "{refused}");
    world.link("open", "b");
    check(&engine, "b/x", true);
}

/// The same with a directory that takes the place of a link, and back.
#[test]
fn what_stands_at_the_path_of_a_rule_may_change_its_kind() {
    let world = World::new(&[("a/x", "a"), ("real/x", "real")]);
    world.link("open", "a");
    let engine = world.engine(
        r#"
        [tools.fs_read_file]
        on_uncovered = "deny"
        access.fs = [{ path = "open", read = true }]
        "#,
    );
    check(&engine, "a/x", true);
    std::fs::remove_file(world.root.join("open")).unwrap();
    std::fs::rename(world.root.join("real"), world.root.join("open")).unwrap();
    check(&engine, "a/x", false);
    check(&engine, "open/x", true);
}

/// Where the state of jig lies is looked at for every call: nobody reads it, wherever it is moved.
#[test]
fn the_state_of_jig_is_found_wherever_it_is_moved() {
    let world = World::new(&[("inside/journal", "secret"), ("other/journal", "")]);
    let state = world.outside().join("state");
    std::fs::create_dir(world.outside().join("elsewhere")).unwrap();
    std::os::unix::fs::symlink("elsewhere", &state).unwrap();
    let engine = world.engine_with("tools.fs_read_file.on_uncovered = 'deny'", |sources| {
        sources.state = Some(state.clone());
    });
    check(&engine, "inside/journal", true);
    std::fs::remove_file(&state).unwrap();
    std::os::unix::fs::symlink(world.root.join("inside"), &state).unwrap();
    check(&engine, "inside/journal", false);
    check(&engine, "other/journal", true);
}

/// A question about access is put once, and leaves its line in the log.
#[test]
fn a_question_is_asked_once_and_logged_once() {
    let world = World::new(&[(".env", "SECRET=1"), ("a.txt", "a")]);
    let run = |runtime: &str, answer: &str| {
        let lines = Arc::new(Lines::default());
        let mut engine = world.engine(&format!("tools.fs_read_file.runtime = '{runtime}'"));
        engine.audit = lines.clone();
        let mut person = Person::who_says([Answer::Given(json!(answer))]);
        let read = call(
            &engine,
            "fs_read_file",
            json!({ "path": ".env" }),
            &mut person,
        );
        let about: Vec<About> = person.asked.iter().map(|(about, _)| *about).collect();
        assert_eq!(about, [About::Access], "{answer}");
        (read, lines.take())
    };
    let (read, lines) = run("builtin", "once");
    assert!(read.unwrap().contains("SECRET"));
    let asked =
        |decision: &str| format!("ask.access Allow `fs_read_file` to read `.env`? {decision} -");
    let expected = [
        "fs.read .env uncovered -",
        &asked("allow"),
        "fs.read .env allow ok",
    ];
    assert_eq!(lines, expected);
    let (read, lines) = run("builtin", "no");
    assert!(read.is_err());
    let expected = [
        "fs.read .env uncovered -",
        &asked("deny"),
        "fs.read .env deny -",
    ];
    assert_eq!(lines, expected);
}

/// An approval for the turn is there for the next call, which then needs nobody.
#[test]
fn what_was_approved_for_the_turn_is_read_at_once() {
    let world = World::new(&[(".env", "SECRET=1")]);
    let engine = world.engine("");
    let mut person = Person::who_says([Answer::Given(json!("turn"))]);
    let arguments = json!({ "path": ".env" });
    call(&engine, "fs_read_file", arguments, &mut person).unwrap();
    assert!(reads(&engine, ".env").unwrap().contains("SECRET"));
}

/// Somewhere in the middle of a walk a question may come up, too.
#[test]
fn a_walk_that_meets_a_question_goes_on_after_it() {
    let world = World::new(&[("a/x", ""), ("b/x", ""), ("c/x", "")]);
    let engine = world.engine(
        r#"
        [tools.fs_grep_files]
        access.fs = [{ path = "a", read = true }, { path = "c", read = true }]
        "#,
    );
    let mut person = Person::who_says([Answer::Given(json!("once")), Answer::Given(json!("once"))]);
    let arguments = json!({ "pattern": "^", "paths": ["a", "b", "c"] });
    let found = call(&engine, "fs_grep_files", arguments, &mut person);
    assert!(!person.asked.is_empty(), "{found:?}");
    assert!(
        person
            .asked
            .iter()
            .all(|(about, _)| *about == About::Access)
    );
    found.unwrap();
}

/// Gives the call up while it is asked something.
struct Impatient(CancelToken, Arc<AtomicBool>);

impl Asker for Impatient {
    fn ask(&mut self, _: &Ask<'_>) -> Answer {
        self.1.store(true, Ordering::SeqCst);
        self.0.cancel();
        Answer::Given(json!("once"))
    }
}

#[test]
fn a_call_that_is_given_up_reads_nothing_more() {
    let world = World::new(&[(".env", "SECRET=1"), ("a.txt", "a")]);
    let lines = Arc::new(Lines::default());
    let mut engine = world.engine("");
    engine.audit = lines.clone();
    // Before it begins.
    let cancel = CancelToken::new();
    cancel.cancel();
    let given_up = Call {
        cancel: Some(cancel),
        ..Call::new("fs_read_file", json!({ "path": "a.txt" }))
    };
    engine.call(given_up, &mut Nobody).unwrap_err();
    let line = r#"call {"path":"a.txt","line_numbers":false} allow error"#;
    assert_eq!(lines.take(), [line]);
    // While somebody is asked. It must come back, whatever the answer meets.
    let cancel = CancelToken::new();
    let call = Call {
        cancel: Some(cancel.clone()),
        ..Call::new("fs_read_file", json!({ "path": ".env" }))
    };
    let asked = Arc::new(AtomicBool::new(false));
    let mut impatient = Impatient(cancel, Arc::clone(&asked));
    let (done, result) = std::sync::mpsc::channel();
    thread::spawn(move || {
        let _ = done.send(engine.call(call, &mut impatient).is_err());
    });
    let failed = result.recv_timeout(Duration::from_secs(60));
    assert!(failed.expect("the call comes to an end"));
    assert!(asked.load(Ordering::SeqCst));
}
