//! Tools whose changes go to a layer first.

use jig_engine::CallError;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::stdio::{Person, World};

/// Changes a file, makes one, removes one.
const CHANGES: &str =
    r#"command = "sh -c 'echo new > a.txt; echo more >> b.txt; rm c.txt; cat b.txt'""#;

/// A workspace, and the directory of jig's state.
fn world(settings: &str) -> (World, TempDir) {
    let files = [("b.txt", "one\n"), ("c.txt", "c\n"), ("src/lib.rs", "\n")];
    let state = tempfile::tempdir().unwrap();
    let world = World::with(settings, &files, |engine| {
        engine.confine.state = Some(state.path().to_owned());
    });
    (world, state)
}

fn holds(world: &World, path: &str) -> Option<String> {
    std::fs::read_to_string(world.root.join(path)).ok()
}

fn assert_untouched(world: &World) {
    assert_eq!(holds(world, "a.txt"), None);
    assert_eq!(holds(world, "b.txt").as_deref(), Some("one\n"));
    assert_eq!(holds(world, "c.txt").as_deref(), Some("c\n"));
}

fn assert_changed(world: &World) {
    assert_eq!(holds(world, "a.txt").as_deref(), Some("new\n"));
    assert_eq!(holds(world, "b.txt").as_deref(), Some("one\nmore\n"));
    assert_eq!(holds(world, "c.txt"), None);
}

/// No layer is left behind in jig's state.
fn assert_no_layer(state: &TempDir) {
    let left = std::fs::read_dir(state.path().join("layers")).map(Iterator::count);
    assert_eq!(left.unwrap_or(0), 0);
}

#[test]
fn a_person_decides_with_the_diff_before_them() {
    for (answer, told) in [
        (Some(true), "3 applied"),
        (Some(false), "discarded"),
        (None, "nobody was there"),
    ] {
        let (world, state) = world(&format!("{CHANGES}\noverlay = 'ask'\n"));
        let person = Person::answering(answer.map(Value::Bool));
        let text = world.asked(json!({}), person.clone()).unwrap();
        assert!(text.starts_with("one\nmore\n"), "{text}");
        assert!(text.contains(told), "{text}");
        match answer {
            Some(true) => assert_changed(&world),
            _ => assert_untouched(&world),
        }
        let asked = person.asked.lock().unwrap();
        assert_eq!(asked.len(), 1);
        let context = asked[0].context.clone().unwrap();
        for part in ["created a.txt", "+more", "deleted c.txt"] {
            assert!(context.contains(part), "{context}");
        }
        assert_no_layer(&state);
    }
}

#[test]
fn nobody_is_asked_where_the_configuration_has_decided() {
    let (applied, _state) = world(&format!("{CHANGES}\noverlay = 'apply'\n"));
    assert!(applied.text().contains("3 applied"));
    assert_changed(&applied);
    let (discarded, _state) = world(&format!("{CHANGES}\noverlay = 'discard'\n"));
    assert!(discarded.text().contains("discarded"));
    assert_untouched(&discarded);
}

#[test]
fn a_failed_call_changes_nothing() {
    let (world, state) = world("command = \"sh -c 'rm c.txt; exit 3'\"\noverlay = 'apply'\n");
    let error = world.error();
    assert!(
        error.trace.iter().any(|line| line.contains("discarded")),
        "{error:?}"
    );
    assert_untouched(&world);
    assert_no_layer(&state);
}

/// A repository that a tool makes can have your own git run programs: what a direct run may not leave, a
/// layer may not bring.
#[test]
fn a_layer_brings_nothing_that_a_direct_run_may_not_leave() {
    let script = "command = \"sh -c 'git init -q src && git -C src config core.fsmonitor ./x && echo ok'\"\n";
    let (direct, _state) = world(script);
    direct.call(json!({})).unwrap_err();
    assert!(!direct.root.join("src/.git").exists());
    let (layered, _state) = world(&format!("{script}overlay = 'apply'\n"));
    match layered.call(json!({})) {
        Ok(text) => assert!(text.contains(".git"), "{text}"),
        Err(CallError::Tool(_)) => {}
        Err(error) => panic!("{error}"),
    }
    assert!(!layered.root.join("src/.git").exists());
}

#[test]
fn without_changes_nobody_is_bothered() {
    let (world, state) = world("command = 'cat b.txt'\noverlay = 'ask'\n");
    assert_eq!(world.text(), "one\n");
    assert_no_layer(&state);
}
