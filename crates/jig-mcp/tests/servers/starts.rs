//! Servers that do not come up.

use std::time::{Duration, Instant};

use jig_mcp::{ServerSelection, ServerState};
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
fn one_that_waits_for_a_host_until_its_time_is_over_says_which() {
    let mut world = check(
        "waits-for-a-host",
        "start = '3s'",
        &["longer than 3 s", "looking for a licence"],
    );
    let told = &world.problems[0].1;
    let denied = told.find("denied: look up on `licence.example.com`");
    let rule = told.find("[[mcp.servers.x.access.net]]");
    let advice = told.find("hint: if it needs more time, set `start`");
    assert!(denied.is_some() && denied < rule && rule < advice, "{told}");
    // A call is told the same, and what was refused once.
    world.servers.stop_all();
    world.starts("x", "well");
    world.configure("start = '3s'", ServerSelection::Fresh);
    world.restart("waits-for-a-host", "start = '3s'");
    let error = world.error("x_echo", json!({}));
    let of_host = error.denials.iter();
    let of_host = of_host.filter(|denial| denial.target == "licence.example.com");
    assert_eq!(of_host.count(), 1, "{error:?}");
    assert!(!error.message.contains("licence.example.com"), "{error:?}");
    assert!(!error.message.contains("`start`"), "{error:?}");
    assert!(error.explain().contains("licence.example.com"), "{error:?}");
}

/// What a program printed that is no server, how it went on, and how that is told.
#[test]
fn one_that_prints_something_else_is_no_server() {
    let asked = "which is no message of MCP: is this command an MCP server?";
    for (how, told) in [
        (
            "hi\\n|ends",
            r#"it exited with code 0; on its output it wrote "hi", "#,
        ),
        // A line that has no end is one, too.
        (
            "hi|ends",
            r#"it exited with code 0; on its output it wrote "hi", "#,
        ),
        (
            "hello\\n|stays",
            r#"list its tools; on its output it wrote "hello", "#,
        ),
        (
            "Password: |stays",
            r#"on its output it wrote "Password:", "#,
        ),
        (
            "a\\n\\n{\"b\": 1}\\nc\\nd\\ne\\n|ends",
            r#"wrote "a", "{"b": 1}", "c", …, "#,
        ),
    ] {
        let how = format!("prints|{how}");
        let told = format!("{told}{asked}");
        check(&how, "start = '3s'", &[&told]);
    }
}

#[test]
fn what_it_prints_is_cut_and_printable() {
    let long = "é".repeat(150);
    let shown = format!("\"{}…\"", "é".repeat(100));
    check(&format!("prints|{long}\\n|ends"), "", &[&shown]);
    check("prints|\u{1b}[31mred\\n|ends", "", &[r#""\u{1b}[31mred""#]);
}

/// One that has spoken is a server, whatever it says besides.
#[test]
fn one_that_speaks_and_prints_is_not_asked_whether_it_is_a_server() {
    let greeting = r#"hello\n{"jsonrpc": "2.0", "method": "notifications/message"}\nbye\n"#;
    let world = check(
        &format!("prints|{greeting}|ends"),
        "",
        &["it exited with code 0"],
    );
    let told = &world.problems[0].1;
    assert!(!told.contains("hello") && !told.contains("bye"), "{told}");
}

#[test]
fn one_that_is_not_there_is_named() {
    let mut world = World::new("well");
    world.configure(
        "[mcp.servers.y]\ncommand = 'no-such-program-anywhere'",
        ServerSelection::Fresh,
    );
    let problems = &world.problems;
    assert!(
        problems.len() == 1 && problems[0].1.contains("no-such-program-anywhere"),
        "{problems:?}"
    );
    let hint = "hint: install it, or write its whole path in `command`";
    assert!(problems[0].1.contains(hint), "{problems:?}");
}

#[test]
fn one_whose_variable_is_missing_says_how_to_give_it() {
    let world = check(
        "well",
        "env = { TOKEN = '${NO_SUCH_TOKEN}' }",
        &[
            "the variable `NO_SUCH_TOKEN` is not set",
            "hint: set it in the environment in which jig, or the agent that starts jig, runs",
            "`${NO_SUCH_TOKEN:-…}`",
        ],
    );
    assert_eq!(world.status("x").pid, None);
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
