//! Ways to end a session: whatever it does, nothing of it is left.

use std::time::{Duration, Instant};

use jig_proto::StateName;
use jig_runtime::Timing;

use crate::live::support::{Case, LIMIT, Tool, processes_with, until};

/// Short graces, so that the way down is met.
fn hurried(case: Case) -> Case {
    Case {
        timing: Timing {
            cancel_grace: Duration::from_millis(300),
            kill_grace: Duration::from_millis(300),
            ..Timing::default()
        },
        ..case
    }
}

/// Programs that do not want to end, each with a number by which its processes are found.
fn stubborn(marker: &str) -> Vec<Case> {
    let daemon = format!("(setsid sh -c 'trap \"\" TERM HUP; sleep {marker}' &) ; ");
    let ignores = format!("trap '' TERM HUP; echo up; while :; do sleep {marker}; done");
    let stopped = format!("sleep {marker} & echo up; kill -STOP $$");
    let forked = format!("{daemon} echo up; exec sleep {marker}");
    let scripts = [ignores, stopped, forked];
    let pipes = scripts.iter().map(|script| Case::script(script));
    let terminals = scripts
        .iter()
        .map(|script| Case::script(script).on_terminal());
    pipes.chain(terminals).collect()
}

fn up(case: Case) -> Tool {
    let tool = hurried(case).start();
    tool.until_said("up");
    tool
}

#[track_caller]
fn is_gone(tool: &Tool, marker: &str, expected: &str) {
    let error = tool.result().unwrap_err();
    assert!(error.message.contains(expected), "{error:?}");
    // It is gone when the end is told, not a moment later.
    assert_eq!(processes_with(marker), 0);
    assert_eq!(tool.session.usage(), None);
}

/// S-063: abort kills at once, whatever the program does about signals, daemons included.
#[test]
fn s063_abort_kills_everything_at_once() {
    let marker = "7310001";
    for case in stubborn(marker) {
        let tool = up(case);
        let start = Instant::now();
        tool.session.abort();
        is_gone(&tool, marker, "aborted");
        assert!(start.elapsed() < Duration::from_secs(20));
    }
}

/// S-063: cancel asks first and kills after the grace.
#[test]
fn s063_cancel_asks_and_then_kills() {
    let marker = "7310002";
    for case in stubborn(marker) {
        let tool = up(case);
        tool.session.cancel();
        is_gone(&tool, marker, "cancelled");
    }
    // One that does as it is told may say a last word.
    let tool = up(Case::script(
        "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done",
    ));
    tool.session.cancel();
    tool.result().unwrap_err();
    assert!(tool.said().contains("bye"), "{}", tool.said());
}

/// A shell on a terminal ignores SIGTERM. It goes when its terminal does, long before it would be killed.
#[test]
fn s063_cancel_hangs_up_a_terminal() {
    let case = Case {
        timing: Timing {
            kill_grace: Duration::from_secs(600),
            ..Timing::default()
        },
        ..Case::program("/bin/bash", &["--norc", "-i"]).on_terminal()
    };
    let tool = case.start();
    tool.apply(serde_json::json!({"line": "echo u''p"}));
    tool.until_shown("up");
    tool.session.cancel();
    tool.result().unwrap_err();
}

/// S-063: dropping a session ends it.
#[test]
fn s063_a_dropped_session_leaves_nothing() {
    let marker = "7310003";
    for case in stubborn(marker) {
        let tool = up(case);
        drop(tool);
        until("all of it is gone", || processes_with(marker) == 0);
    }
}

/// S-027: one that waits for an answer has no process, and can be cancelled and aborted too.
#[test]
fn s027_a_waiting_session_can_be_ended() {
    let question =
        r#"{"type":"needs_input","question":{"id":"q","text":"Q?","answer_type":"text"}}"#;
    let check = |end: &dyn Fn(&Tool), expected: &str| {
        let tool = Case::program("/bin/echo", &[question]).start();
        tool.until_status(StateName::Waiting);
        assert_eq!(tool.session.usage(), None);
        end(&tool);
        let error = tool.result().unwrap_err();
        assert!(error.message.contains(expected), "{error:?}");
    };
    check(&|tool| tool.session.cancel(), "cancelled");
    check(&|tool| tool.session.abort(), "aborted");
}

/// Whoever waits when it ends is told: for output, for rest, or for a state.
#[test]
fn s063_every_waiter_hears_of_the_end() {
    let tool = up(Case::script("echo up; exec sleep 1000"));
    let (number, seq) = (tool.session.state().number, tool.session.seq());
    let mut never = jig_pty::Settle::default();
    (never.quiet, never.silence, never.limit) = (LIMIT * 10, LIMIT * 10, LIMIT * 10);
    std::thread::scope(|scope| {
        let session = &tool.session;
        let waiters = [
            scope.spawn(move || session.wait(number, None)),
            scope.spawn(move || session.wait_news(number, seq, None)),
            scope.spawn(move || session.settle(number, seq, &never)),
        ];
        session.abort();
        for waiter in waiters {
            let update = waiter.join().unwrap();
            assert_eq!(update.state.status(), StateName::Stopped);
        }
    });
}
