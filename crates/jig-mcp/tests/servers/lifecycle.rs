//! When servers are stopped.

use std::time::{Duration, Instant};

use jig_mcp::{ServerSelection, ServerState};
use serde_json::json;

use super::{LONG, World, is_alive, wait_for};

#[test]
fn an_idle_one_is_stopped_and_comes_back() {
    let world = World::with("well", "idle = '1s'");
    let pid = world.pid("x");
    world.until("x", |state| *state == ServerState::Idle);
    jig_testkit::until("it has ended", || !is_alive(pid));
    // The next call starts it, and says nothing of it.
    assert_eq!(world.text("x_echo", json!({ "text": "a" })), "a");
    assert_eq!(world.status("good").state, ServerState::Running);
}

#[test]
fn one_that_is_called_is_not_idle() {
    let world = World::with("well", "idle = '1s'");
    assert_eq!(world.text("x_sleep", json!({ "seconds": 2.5 })), "slept");
    assert_eq!(world.status("x").state, ServerState::Running);
}

#[test]
fn one_whose_entry_changes_is_stopped_after_its_calls() {
    let mut world = World::new("well");
    let pid = world.pid("x");
    let call = world.start("x_sleep", json!({ "seconds": 3 }), None);
    jig_testkit::until("there is a call", || world.status("x").calls == 1);
    let good = world.pid("good");
    world.configure("env = { OTHER = 'value' }", ServerSelection::Missing);
    assert_eq!(
        world.text("x_variable", json!({ "name": "OTHER" })),
        "value"
    );
    assert_ne!(world.pid("x"), pid);
    assert_eq!(world.pid("good"), good, "its entry is the same");
    assert_eq!(call.recv_timeout(LONG).unwrap().unwrap(), "slept");
    jig_testkit::until("it has ended", || !is_alive(pid));
}

#[test]
fn one_that_is_turned_off_is_stopped() {
    let mut world = World::new("well");
    let pid = world.pid("x");
    world.configure("enable = false", ServerSelection::Known);
    jig_testkit::until("it has ended", || !is_alive(pid));
    assert_eq!(world.status("x").state, ServerState::Off);
    world.good_is_well();
}

#[test]
fn one_that_wants_to_stay_is_killed() {
    let world = World::new("stubborn");
    let pid = world.pid("x");
    let begun = Instant::now();
    world.servers.stop_all();
    assert!(!is_alive(pid));
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "{:?}",
        begun.elapsed()
    );
}

#[test]
fn dropping_them_leaves_nothing_behind() {
    let world = World::new("well");
    let pids = [world.pid("x"), world.pid("good")];
    let call = world.start("x_sleep", json!({ "seconds": 1000 }), None);
    jig_testkit::until("there is a call", || world.status("x").calls == 1);
    drop(world);
    for pid in pids {
        assert!(
            wait_for(|| (!is_alive(pid)).then_some(())).is_some(),
            "{pid}"
        );
    }
    // Whoever waited is told.
    assert!(call.recv_timeout(LONG).unwrap().is_err());
}

#[test]
fn secrets_never_come_back() {
    let secret = "hunter2-hunter2-hunter2";
    let settings = "env = { TOKEN = { command = ['sh', '-c', 'echo hunter2-hunter2-hunter2'] } }";
    let world = World::with("well", settings);
    let text = world.text("x_variable", json!({ "name": "TOKEN" }));
    assert!(
        !text.contains(secret) && !text.contains("(not set)"),
        "{text}"
    );
    let error = world.error("x_read", json!({ "path": secret }));
    assert!(!format!("{error:?}").contains(secret), "{error:?}");
}

#[test]
fn they_can_live_on_a_runtime_that_serves() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .unwrap();
    let mut world = World::new("well");
    world.servers.stop_all();
    world.servers = jig_mcp::Servers::new(
        std::sync::Arc::new(jig_mcp::ForgetfulMemory::default()),
        std::sync::Arc::new(|_: &str| {}),
    );
    world.servers.on(runtime.handle().clone());
    world.configure("", ServerSelection::Fresh);
    assert_eq!(world.problems, []);
    assert_eq!(world.text("x_echo", json!({ "text": "a" })), "a");
    world.servers.stop_all();
    runtime.shutdown_background();
}
