//! What a server must not leave behind is moved away while it runs, and what others make meanwhile is not.

use std::time::{Duration, Instant};

use crate::server::{World, until};

/// A server that may write everywhere in its workspace, but for what is guarded.
fn writer() -> World {
    let world = World::new("access.fs = [{ path = '.', read = true, write = true }]\n");
    world.file("ws/src/a", "a");
    world
}

/// A name that did not exist cannot be held by the sandbox: what appears there is gone when its call is over.
#[test]
fn intruders_are_gone_after_the_call() {
    for name in [".env", "jig.toml", ".envrc", "src/.env"] {
        let world = writer();
        let mut talk = world.start();
        let mark = talk.process.mark();
        let answer = talk.ask(&format!("write {name}"));
        let intruders = talk.process.intruded_since(&mark);
        let denials = talk.process.refused_since(&mark);
        assert_eq!(intruders, denials);
        let path = world.folder.join("ws").join(name);
        assert!(!path.exists(), "{name}: {answer} {denials:#?}");
        if answer.starts_with("ok") {
            let told = denials.iter().find(|one| one.target == name);
            let told = told.unwrap_or_else(|| panic!("{name}: {denials:#?}"));
            assert!(told.why.contains("not allowed"), "{told}");
            let hint = told.hint.as_deref().unwrap_or_default();
            assert!(
                hint.is_empty() || hint.contains("mcp.servers.srv"),
                "{hint}"
            );
        }
        // What it may write stays, and what it may not read is no intruder.
        let mark = talk.process.mark();
        assert_eq!(talk.ask("write src/new"), "ok src/new");
        assert!(talk.ask("read /etc/shadow").starts_with("error "));
        assert_eq!(talk.process.intruded_since(&mark), []);
        drop(talk);
        assert!(world.folder.join("ws/src/new").exists());
    }
}

/// To ask whether there can be any looks at nothing, and so costs a thread that serves others no time.
#[test]
fn whether_there_can_be_intruders_is_known_without_looking() {
    let world = writer();
    let mut talk = world.start();
    let mark = talk.process.mark();
    assert_eq!(talk.ask("write .env"), "ok .env");
    assert!(talk.process.may_have_intruded(&mark));
    assert!(world.folder.join("ws/.env").exists(), "nobody has looked");
    assert!(!talk.process.intruded_since(&mark).is_empty());
    // What was found by whoever looked is known to all who asked before.
    assert!(talk.process.may_have_intruded(&mark));
    // When it has made nothing for a while there is nothing to look for.
    until("it is quiet", || {
        // It is not looked twice within so short a time, whatever was made.
        jig_testkit::let_pass(Duration::from_millis(500));
        let mark = talk.process.mark();
        assert!(talk.ask("read src/a").starts_with("ok"));
        !talk.process.may_have_intruded(&mark)
    });
    // And once it makes something again, there is.
    jig_testkit::let_pass(Duration::from_millis(500));
    let mark = talk.process.mark();
    assert_eq!(talk.ask("write jig.toml"), "ok jig.toml");
    assert!(talk.process.may_have_intruded(&mark));
    assert!(!talk.process.intruded_since(&mark).is_empty());
}

/// What a server makes while nobody waits for it does not stay either.
#[test]
fn intruders_are_gone_when_it_was_no_call() {
    let world = writer();
    let mut talk = world.start();
    assert_eq!(talk.ask("write .env"), "ok .env");
    let path = world.folder.join("ws/.env");
    until("it is moved away", || !path.exists());
    drop(talk);
}

/// The user works on while a server runs for days: their files are not taken for its.
#[test]
fn what_others_make_stays() {
    let world = writer();
    let mut talk = world.start();
    assert_eq!(talk.ask("write src/new"), "ok src/new");
    // It has made something; it counts as quiet when it was looked after a few times.
    let start = Instant::now();
    let path = world.folder.join("ws/.env");
    until("it is quiet", || {
        std::fs::write(&path, "TOKEN=x").unwrap();
        let _ = talk.process.refused_since(&talk.process.mark());
        talk.process.outdated().is_some()
    });
    assert!(start.elapsed() > Duration::from_secs(5));
    let outdated = talk.process.outdated().unwrap();
    assert!(outdated.contains("`.env`"), "{outdated}");
    assert!(path.exists());
    // Its next work does not take it away, nor does its end.
    let mark = talk.process.mark();
    assert_eq!(talk.ask("write src/newer"), "ok src/newer");
    assert_eq!(talk.process.refused_since(&mark), []);
    assert!(path.exists());
    drop(talk);
    assert!(path.exists());
    // No journal is left that would have the next jig do so.
    let calls = std::fs::read_dir(world.folder.join("state/calls"));
    let left: Vec<_> = calls.into_iter().flatten().flatten().collect();
    assert!(left.is_empty(), "{left:?}");
    // A new server does not see it.
    assert!(world.start().ask("read .env").starts_with("error "));
}

/// Nor does the end of a server that made nothing take them away.
#[test]
fn what_others_make_stays_when_a_server_ends_that_made_nothing() {
    let world = writer();
    let mut talk = world.start();
    assert!(talk.ask("read src/a").starts_with("ok"));
    let path = world.folder.join("ws/jig.toml");
    std::fs::write(&path, "").unwrap();
    drop(talk);
    assert!(path.exists());
}
