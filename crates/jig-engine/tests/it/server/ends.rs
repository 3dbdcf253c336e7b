//! How servers end, and that nothing is left of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::server::{PATIENCE, World, until};

/// Whether some process has this word in its command line.
fn is_running(word: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap();
    processes.flatten().any(|process| {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0)
            .any(|one| one == word.as_bytes())
    })
}

#[test]
fn it_ends_by_itself_and_says_how() {
    for (code, words) in [("0", "exited with code 0"), ("3", "exited with code 3")] {
        let world = World::new("");
        let mut talk = world.start();
        let heard = Arc::new(AtomicBool::new(false));
        let hook = Arc::clone(&heard);
        talk.process
            .on_end(move || hook.store(true, Ordering::SeqCst));
        assert_eq!(talk.process.ended(), None);
        assert_eq!(talk.ask(&format!("exit {code}")), "");
        until("the end is told", || heard.load(Ordering::SeqCst));
        assert_eq!(talk.process.ended().as_deref(), Some(words));
        assert_eq!(talk.process.last_words(), "these are my last words");
        // Who comes late is told at once.
        let late = Arc::new(AtomicBool::new(false));
        let hook = Arc::clone(&late);
        talk.process
            .on_end(move || hook.store(true, Ordering::SeqCst));
        assert!(late.load(Ordering::SeqCst));
    }
}

#[test]
fn a_limit_is_named_with_the_key_that_sets_it() {
    let mut talk = World::new("sandbox.limits = { memory = '256MiB' }\n").start();
    assert_eq!(talk.ask("eat 60000000"), "");
    until("it has ended", || talk.process.ended().is_some());
    let ended = talk.process.ended().unwrap();
    let expected = "used more than 256 MiB of memory and was ended \
                    (`mcp.servers.srv.sandbox.limits.memory` sets the limit)";
    assert_eq!(ended, expected);
}

/// With a server dies whatever it started, daemons, too.
#[test]
fn nothing_survives_a_server_that_is_dropped() {
    let mut talk = World::new("").start();
    let word = format!("1{}.{}", std::process::id(), "7301");
    assert_eq!(talk.ask(&format!("daemon {word}")), "ok ");
    until("the daemon runs", || is_running(&word));
    drop(talk);
    assert!(!is_running(&word));
}

#[test]
fn nothing_survives_a_server_that_ends() {
    let mut talk = World::new("").start();
    let word = format!("1{}.{}", std::process::id(), "7302");
    assert_eq!(talk.ask(&format!("daemon {word}")), "ok ");
    until("the daemon runs", || is_running(&word));
    talk.ask("exit 0");
    until("it has ended", || talk.process.ended().is_some());
    assert!(!is_running(&word));
}

/// The steps of a stop: the end of its input is enough for one, another has to be asked, a third be killed.
#[test]
fn stopping_escalates() {
    let polite = World::new("").start();
    let crate::server::Talk { stdin, process, .. } = polite;
    drop(stdin);
    process.stop(PATIENCE);
    assert_eq!(process.ended().as_deref(), Some("was stopped"));

    let mut slow = World::new("env = { STAYS = '1' }\n").start();
    slow.stdin = None;
    let start = Instant::now();
    slow.process.stop(Duration::from_millis(300));
    assert_eq!(slow.process.ended().as_deref(), Some("was stopped"));
    assert!(start.elapsed() >= Duration::from_millis(300));

    let mut stubborn = World::new("env = { STAYS = '1' }\n").start();
    assert_eq!(stubborn.ask("stubborn"), "ok ");
    stubborn.stdin = None;
    let start = Instant::now();
    stubborn.process.stop(Duration::from_millis(300));
    assert_eq!(stubborn.process.ended().as_deref(), Some("was stopped"));
    assert!(start.elapsed() >= Duration::from_millis(600));
    // A second time is no harm.
    stubborn.process.stop(Duration::from_millis(300));
}

/// A server that writes without end on standard error goes on being a server, and takes no memory of ours.
#[test]
fn a_flood_on_standard_error_does_no_harm() {
    let mut talk = World::new("").start();
    assert_eq!(talk.ask("flood"), "ok ");
    for number in 0..50 {
        let line = format!("echo {number}");
        let mark = talk.process.mark();
        assert_eq!(talk.ask(&line), format!("ok {number}"));
        assert_eq!(talk.process.refused_since(&mark), []);
        assert!(talk.process.last_words().len() <= 4096);
    }
    until("it is heard", || talk.process.last_words().contains("xxx"));
    talk.process.stop(Duration::from_millis(100));
    assert!(talk.process.last_words().len() <= 4096);
}

/// A program that is not there is an error before anything runs.
#[test]
fn what_cannot_start_says_why() {
    let world = World::new("command = 'no-such-server'\n");
    let error = world.try_start().err().map(|error| error.to_string());
    let error = error.unwrap();
    assert!(
        error.starts_with("the MCP server `srv` could not be started: ")
            && error.contains("no-such-server"),
        "{error}"
    );
    let world = World::new("url = 'https://mcp.example/'\n");
    let error = world.try_start().err().map(|error| error.to_string());
    assert!(error.unwrap().contains("URL"));
}

/// Whoever starts jig can leave out all confinement; the rest is the same.
#[test]
fn without_confinement() {
    let world = World::new("env = { SET = 'yes' }\n").variable("SERVICE_KEY", "s3cr3t-key");
    world.file("other/data", "data");
    let mut engine = world.engine();
    engine.unconfined = true;
    let process = engine.start_server(engine.config().server("srv").unwrap());
    let mut talk = crate::server::Talk::new(process.unwrap());
    assert_eq!(
        talk.ask(&format!("read {}/other/data", world.folder)),
        "ok data"
    );
    assert_eq!(talk.ask("variable SET"), "ok yes");
    assert!(talk.ask("variable SERVICE_KEY").starts_with("error "));
    let mark = talk.process.mark();
    assert!(talk.ask("read /nonexistent/x").starts_with("error "));
    assert_eq!(talk.process.refused_since(&mark), []);
    talk.stdin = None;
    talk.process.stop(PATIENCE);
}
