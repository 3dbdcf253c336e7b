//! What a guest may take: each attack ends with an error that says so, and hurts no other call.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test looks at what its process uses"
)]

use std::thread;
use std::time::{Duration, Instant};

use crate::common::{LIMIT, On, Tried, until};
use jig_proto::{StateName, ToolError, ToolState};
use jig_runtime::{ComponentSource, Session};
use jig_testkit::let_pass;
use serde_json::{Value, json};

fn hostile(arguments: Value) -> Tried {
    Tried::memory("hostile").arguments(arguments)
}

/// Does the call while another one computes beside it, which must come to its right result.
#[track_caller]
fn attack(tried: Tried) -> ToolError {
    let neighbour = hostile(json!({"action": "compute", "rounds": 3_000_000}));
    let (beside, _) = neighbour.start();
    let done = tried.run();
    let error = done.error().clone();
    let ToolState::Stopped { result, .. } = until(&beside, StateName::Stopped).state else {
        panic!("it has not stopped");
    };
    assert_eq!(result.unwrap().to_text(), computed(3_000_000));
    error
}

/// What the guest computes, computed here.
fn computed(rounds: u64) -> String {
    let sum = (0..rounds).fold(0xcbf2_9ce4_8422_2325_u64, |state, round| {
        (state ^ round).wrapping_mul(0x0100_0000_01b3)
    });
    sum.to_string()
}

#[track_caller]
fn check(tried: Tried, expected: &str) -> ToolError {
    let error = attack(tried);
    assert!(error.message.contains(expected), "{expected}: {error:?}");
    error
}

fn within(time: u64) -> impl FnOnce(&mut jig_runtime::RunLimits) {
    move |limits| limits.time = Some(Duration::from_millis(time))
}

#[test]
fn x43_what_never_ends_is_ended_when_its_time_is_over() {
    let floods = ["clock", "random", "stat", "open", "list", "yield", "stderr"];
    let floods = floods.map(|call| json!({"action": "host_call_flood", "call": call}));
    let others = [
        json!({"action": "spin"}),
        json!({"action": "sleep"}),
        json!({"action": "stdout_flood"}),
        json!({"action": "stderr_flood", "chunk": 1}),
    ];
    for arguments in others.into_iter().chain(floods) {
        let start = Instant::now();
        let error = check(
            hostile(arguments.clone()).limits(within(300)),
            "ran longer than 300ms",
        );
        assert!(
            start.elapsed() < LIMIT / 2,
            "{arguments}: {:?}",
            start.elapsed()
        );
        // It says what can be done about it.
        let [denial] = error.denials.as_slice() else {
            panic!("{error:?}");
        };
        assert!(denial.to_string().contains("time"), "{denial}");
    }
}

#[test]
fn what_ends_in_time_is_not_ended() {
    let done = hostile(json!({"action": "sleep", "milliseconds": 20})).run();
    assert!(done.text().parse::<u64>().unwrap() >= 20);
    let done = hostile(json!({"action": "spin", "rounds": 1000})).run();
    assert_eq!(done.text(), "1000");
    let done = hostile(json!({"action": "compute", "rounds": 1000})).run();
    assert_eq!(done.text(), computed(1000));
}

#[test]
fn x44_a_memory_bomb_is_ended_with_a_word_about_the_limit() {
    for arguments in [
        json!({"action": "memory_bomb", "step": 1}),
        json!({"action": "memory_bomb", "step": 1000}),
        json!({"action": "many_allocs", "bytes": 100_000}),
    ] {
        let bomb = || hostile(arguments.clone());
        let error = check(
            bomb().limits(|limits| limits.tree.memory = Some(32 << 20)),
            "used more than 32 MiB of memory",
        );
        assert!(error.denials[0].to_string().contains("memory"), "{error:?}");
    }
    // The engine's own limit holds where none is set.
    let bomb = hostile(json!({"action": "memory_bomb", "step": 1024}));
    let error = check(
        bomb.limits(|limits| limits.tree.memory = None),
        "MiB of memory",
    );
    assert!(
        error.denials.is_empty(),
        "nothing that can be set would help: {error:?}"
    );
    // The twin, below the limit.
    let done = hostile(json!({"action": "memory_bomb", "step": 1, "pages": 100})).run();
    assert_eq!(done.text(), "100");
}

#[test]
fn x44_unbounded_recursion_ends_the_guest_and_not_the_process() {
    // The stack that a compiler lays out in the memory, and the one of the machine.
    check(
        hostile(json!({"action": "recurse"})),
        "or an exhausted stack",
    );
    let text = include_str!("raw/tool.wat")
        .replace("(; fields ;)", "(func $deep (call $deep) (call $deep))")
        .replace("(; body ;)", "(call $deep)");
    let deep = ComponentSource::Bytes(wat::parse_str(text).unwrap().into());
    check(Tried::of(On::Memory, "raw", deep), "call stack exhausted");
    let done = hostile(json!({"action": "recurse", "depth": 100})).run();
    assert!(done.result.is_ok());
}

#[test]
fn a_guest_that_breaks_says_how() {
    check(
        hostile(json!({"action": "unreachable"})),
        "Wasm tool trapped: it gave up",
    );
    check(
        hostile(json!({"action": "abort"})),
        "Wasm tool trapped: it gave up",
    );
    check(
        hostile(json!({"action": "out_of_bounds"})),
        "Wasm tool trapped: ",
    );
    check(
        hostile(json!({"action": "exit", "code": 0})),
        "exited with code 0",
    );
    check(
        hostile(json!({"action": "exit", "code": 3})),
        "exited with code",
    );
}

#[test]
fn what_a_guest_prints_is_bounded_and_told() {
    if !jig_testkit::is_alone() {
        return;
    }
    // 16 MiB in an error of less than 64 KiB.
    let loud = json!({"action": "stdout_flood", "bytes": 16 << 20});
    let done = hostile(loud).run();
    assert_eq!(done.text(), (16_u64 << 20).to_string());
    let before = resident();
    let forever = hostile(json!({"action": "stderr_flood"}))
        .limits(within(500))
        .run();
    let told: usize = forever.error().trace.iter().map(String::len).sum();
    assert!(told < 64 << 10, "{told} bytes");
    let grown = resident().saturating_sub(before);
    assert!(grown < 128 << 20, "{grown} bytes of memory");
}

#[test]
fn no_number_of_a_guest_makes_the_host_take_as_much() {
    if !jig_testkit::is_alone() {
        return;
    }
    let before = resident();
    for bytes in [100_u64 << 20, 500 << 20] {
        for action in ["huge_string_to_host", "huge_answer", "huge_error"] {
            let error = attack(hostile(json!({"action": action, "bytes": bytes})));
            let words = error.message.len() + error.trace.iter().map(String::len).sum::<usize>();
            assert!(words < 64 << 10, "{action} of {bytes}: {words} bytes");
        }
    }
    for bytes in [u64::MAX, 1 << 40] {
        attack(hostile(json!({"action": "huge_random", "bytes": bytes})));
    }
    let grown = resident().saturating_sub(before);
    assert!(grown < 300 << 20, "{grown} bytes of memory");
}

#[test]
fn x43_a_call_can_be_cancelled_in_the_middle_of_anything() {
    for arguments in [
        json!({"action": "spin"}),
        json!({"action": "sleep"}),
        json!({"action": "host_call_flood", "call": "clock"}),
        json!({"action": "host_call_flood", "call": "stat"}),
    ] {
        // So that nothing but the cancelling is measured.
        hostile(json!({"action": "compute"})).run();
        let (session, _) = hostile(arguments.clone()).start();
        until(&session, StateName::Running);
        // No event tells how far a loop has come.
        let_pass(Duration::from_millis(50));
        assert_eq!(
            session.state().state.status(),
            StateName::Running,
            "{arguments}"
        );
        let start = Instant::now();
        session.cancel();
        let message = stopped(&session).message;
        let took = start.elapsed();
        assert_eq!(message, "the call was cancelled", "{arguments}");
        // 10 ms on an idle machine; a busy one has others to serve.
        assert!(took < Duration::from_secs(5), "{arguments}: {took:?}");
    }
}

#[test]
fn a_call_that_waits_for_an_answer_can_be_cancelled() {
    let (session, _) = hostile(json!({"action": "ask", "id": "q", "text": "?"})).start();
    until(&session, StateName::Waiting);
    session.cancel();
    assert_eq!(stopped(&session).message, "the call was cancelled");
}

#[test]
fn time_in_which_somebody_is_asked_does_not_count() {
    let tried = hostile(json!({"action": "ask", "id": "q", "text": "?"})).limits(within(400));
    let (session, _) = tried.start();
    let update = until(&session, StateName::Waiting);
    let_pass(Duration::from_millis(800));
    session.apply(update.number, json!(true)).unwrap();
    let ToolState::Stopped { result, .. } = until(&session, StateName::Stopped).state else {
        panic!("it has not stopped");
    };
    assert_eq!(result.unwrap().to_text(), "true");
}

#[test]
fn a_session_that_is_dropped_ends_its_guest() {
    if !jig_testkit::is_alone() {
        return;
    }
    let before = threads();
    for _ in 0..4 {
        let (session, _) = hostile(json!({"action": "spin"})).start();
        until(&session, StateName::Running);
        drop(session);
    }
    // The clock of the engine stays.
    jig_testkit::until("its threads are gone", || threads() <= before + 1);
}

#[test]
fn many_calls_beside_each_other_do_not_meet() {
    thread::scope(|scope| {
        for worker in 0..16_u64 {
            scope.spawn(move || {
                for round in 0..4 {
                    let rounds = 1000 * (worker + 1) + round;
                    let done = hostile(json!({"action": "compute", "rounds": rounds})).run();
                    assert_eq!(done.text(), computed(rounds));
                }
            });
        }
    });
}

#[track_caller]
fn stopped(session: &Session) -> ToolError {
    match until(session, StateName::Stopped).state {
        ToolState::Stopped {
            result: Err(error), ..
        } => error,
        other => panic!("{other:?}"),
    }
}

/// How many bytes of memory this process has. The machine is the same for both of two looks.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kilobytes = line.unwrap().split_whitespace().nth(1).unwrap();
    kilobytes.parse::<u64>().unwrap() << 10
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}
