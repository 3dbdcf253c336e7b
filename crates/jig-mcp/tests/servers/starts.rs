//! Servers that do not come up.

use std::time::{Duration, Instant};

use jig_mcp::{ServerState, Which};
use serde_json::json;

use super::World;

/// A server that starts in this way does not come up, and why is told in these words.
fn check(how: &str, settings: &str, why: &[&str]) -> World {
    let world = World::with(how, settings);
    let problem = &world.problems;
    assert!(problem.len() == 1 && problem[0].0 == "x", "{problem:?}");
    for word in why {
        assert!(problem[0].1.contains(word), "`{word}` in {problem:?}");
    }
    assert!(matches!(
        world.status("x").state,
        ServerState::Failed { .. }
    ));
    world.good_is_well();
    world
}

#[test]
fn one_that_crashes_says_how_and_its_last_words() {
    check(
        "crashes",
        "",
        &["exited with code 3", "there is no database"],
    );
}

#[test]
fn one_that_hangs_is_given_up_after_its_time() {
    let begun = Instant::now();
    let world = check(
        "hangs",
        "start = '2s'",
        &["longer than 2 s", "`start`", "[mcp.servers.x]"],
    );
    assert!(begun.elapsed() < Duration::from_secs(50));
    assert_eq!(world.status("x").pid, None);
}

#[test]
fn one_that_is_not_there_is_named() {
    let mut world = World::new("well");
    world.configure(
        "[mcp.servers.y]\ncommand = 'no-such-program-anywhere'",
        Which::Fresh,
    );
    let problems = &world.problems;
    assert!(
        problems.len() == 1 && problems[0].1.contains("no-such-program-anywhere"),
        "{problems:?}"
    );
}

#[test]
fn x17_one_that_is_denied_what_it_needs_is_explained() {
    let mut world = World::with("well", FEW_FILES);
    world.restart("denied", FEW_FILES);
    let error = world.error("x_echo", json!({ "text": "a" }));
    let told = error.explain();
    assert!(told.contains("exited with code 6"), "{told}");
    assert!(
        told.contains("secret.txt") && told.contains("[[mcp.servers.x.access.fs]]"),
        "{told}"
    );
    assert!(error.transient, "it had no effect");
}

#[test]
fn one_that_keeps_crashing_is_not_started_for_every_call() {
    let mut world = World::new("well");
    world.restart("crashes", "");
    // The first failures are waited for; then the calls are told at once.
    let mut slowest = Duration::ZERO;
    for _ in 0..12 {
        let begun = Instant::now();
        let error = world.error("x_echo", json!({}));
        assert!(error.message.contains("there is no database"), "{error:?}");
        slowest = begun.elapsed();
    }
    let starts = world
        .reports()
        .iter()
        .filter(|it| it.contains("`x`"))
        .count();
    assert!((3..=6).contains(&starts), "{:?}", world.reports());
    assert!(slowest < Duration::from_secs(5), "{slowest:?}");
    let ServerState::Failed { retry_in, .. } = world.status("x").state else {
        panic!("{:?}", world.status("x"));
    };
    assert!(retry_in > Duration::from_millis(500), "{retry_in:?}");
    world.good_is_well();
}

#[test]
fn one_that_crashes_once_is_tried_again_by_the_same_call() {
    let mut world = World::new("well");
    world.restart("crashes-once", "");
    let error = world.error("x_echo", json!({ "text": "a" }));
    assert!(error.message.contains("not yet"), "{error:?}");
    assert_eq!(world.text("x_echo", json!({ "text": "a" })), "a");
}

#[test]
fn one_start_serves_all_who_wait_for_it() {
    let mut world = World::new("well");
    world.restart("well", "");
    let calls: Vec<_> = (0..8)
        .map(|_| world.start("x_pid", json!({}), None))
        .collect();
    let pids = calls
        .iter()
        .map(|call| call.recv_timeout(super::LONG).unwrap().unwrap());
    let mut pids: Vec<String> = pids.collect();
    pids.dedup();
    assert_eq!(pids.len(), 1, "{pids:?}");
}

#[test]
fn nothing_is_started_before_it_is_needed() {
    let mut world = World::new("well");
    world.restart("well", "");
    assert_eq!(world.status("x").state, ServerState::Idle);
    assert_eq!(world.text("x_echo", json!({ "text": "a" })), "a");
    assert_eq!(world.status("x").state, ServerState::Running);
    assert_eq!(world.status("good").state, ServerState::Idle);
}

/// Rules for `x` under which it starts, and no more.
pub(crate) const FEW_FILES: &str = "[[mcp.servers.x.access.fs]]\npath = 'server.py'\nread = true\n\
    [[mcp.servers.x.access.fs]]\npath = 'x.how'\nread = true\n";
