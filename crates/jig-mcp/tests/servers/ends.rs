//! Servers that end when they should not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;

use jig_engine::{Answer, Ask, Asker, CallError};
use jig_mcp::ServerState;
use serde_json::json;

use super::{LONG, World, is_alive, wait_for};

/// A call of this tool ends with the server, and why is told in these words; the next call finds a new one.
fn check(how: &str, tool: &str, why: &[&str]) {
    let world = World::new(how);
    let before = world.pid("x");
    let error = world.error(tool, json!({}));
    for word in why {
        assert!(error.message.contains(word), "`{word}` in {error:?}");
    }
    assert!(error.message.contains("not repeated"), "{error:?}");
    world.good_is_well();
    assert_eq!(
        world.text("x_echo", json!({ "text": "a" })),
        "a",
        "why it died was told already"
    );
    assert_ne!(world.pid("x"), before);
    assert!(
        wait_for(|| (!is_alive(before)).then_some(())).is_some(),
        "it is gone"
    );
}

#[test]
fn one_that_crashes_in_a_call() {
    check(
        "well",
        "x_crash",
        &["exited with code 3", "it was too much for me"],
    );
}

#[test]
fn one_that_closes_its_output_and_lives_on() {
    check(
        "stubborn",
        "x_close_output",
        &["closed its standard output"],
    );
}

#[test]
fn one_that_closes_its_input_and_lives_on() {
    let world = World::new("well");
    let before = world.pid("x");
    assert_eq!(world.text("x_close_input", json!({})), "closed");
    let error = world.error("x_echo", json!({ "text": "a" }));
    assert!(
        error.message.contains("takes no more messages"),
        "{error:?}"
    );
    assert_eq!(world.text("x_echo", json!({ "text": "a" })), "a");
    assert!(!is_alive(before));
}

#[test]
fn one_that_writes_what_is_no_message() {
    check(
        "well",
        "x_garbage",
        &["no message of the protocol", "Starting up"],
    );
}

#[test]
fn one_that_writes_a_line_without_end() {
    check("well", "x_endless_line", &["16 MiB"]);
}

#[test]
fn one_that_dies_between_calls_is_told_of_in_the_next_result() {
    let world = World::new("well");
    assert_eq!(world.text("x_die_later", json!({})), "alright");
    world.until("x", |state| matches!(state, ServerState::Failed { .. }));
    let text = world.text("x_echo", json!({ "text": "a" }));
    assert!(text.starts_with("a\n"), "{text}");
    assert!(
        text.contains("exited with code 5") && text.contains("I do not feel well"),
        "{text}"
    );
    // Once is enough.
    assert_eq!(world.text("x_echo", json!({ "text": "a" })), "a");
}

#[test]
fn one_that_dies_after_every_call_pauses_longer_and_longer() {
    let world = World::new("well");
    let mut answered = 0;
    let mut refused = 0;
    for _ in 0..6 {
        match world.call("x_answer_and_die", json!({})) {
            Ok(text) => {
                assert!(text.starts_with("my last words"), "{text}");
                answered += 1;
            }
            Err(CallError::Tool(error)) => {
                assert!(error.message.contains("exited with code 0"), "{error:?}");
                refused += 1;
            }
            Err(error) => panic!("{error:?}"),
        }
    }
    assert!(
        answered >= 2 && refused >= 1,
        "{answered} answered, {refused} refused"
    );
    world.good_is_well();
}

#[test]
fn calls_beside_the_one_that_kills_it_are_told_too() {
    let world = World::new("well");
    let slept = world.start("x_sleep", json!({ "seconds": 1000 }), None);
    jig_testkit::until("there is a call", || world.status("x").calls == 1);
    let _ = world.error("x_crash", json!({}));
    let error = slept.recv_timeout(LONG).unwrap().unwrap_err();
    assert!(
        error.to_string().contains("exited with code 3"),
        "{error:?}"
    );
}

#[test]
fn a_question_does_not_outlive_the_server_that_asked_it() {
    /// Somebody who answers when it is too late.
    #[derive(Debug)]
    struct TooLate;
    impl Asker for TooLate {
        fn ask(&mut self, _: &Ask<'_>) -> Answer {
            jig_testkit::let_pass(std::time::Duration::from_secs(2));
            Answer::Given(json!("Ada"))
        }
    }
    let world = World::new("well");
    let result = world.asked("x_ask_and_die", json!({}), None, TooLate);
    let error = result.recv_timeout(LONG).unwrap().unwrap_err();
    assert!(
        error.to_string().contains("exited with code 4"),
        "{error:?}"
    );
}

/// Somebody who thinks until they hear that nobody wants to know any more.
#[derive(Clone, Default)]
pub(crate) struct Thinking {
    pub(crate) has_heard: Arc<AtomicBool>,
}

impl Asker for Thinking {
    fn ask(&mut self, ask: &Ask<'_>) -> Answer {
        let (tell, told) = channel();
        let gone = ask.gone.expect("a question that can go");
        let _hook = gone.on_cancel(move || assert!(tell.send(()).is_ok()));
        let has_heard = told.recv_timeout(LONG).is_ok();
        self.has_heard.store(has_heard, Ordering::SeqCst);
        Answer::Unavailable
    }
}

#[test]
fn whoever_is_asked_hears_of_the_end_of_the_server() {
    let world = World::new("well");
    let person = Thinking::default();
    let result = world.asked("x_ask_and_die", json!({}), None, person.clone());
    let error = result.recv_timeout(LONG).unwrap().unwrap_err();
    assert!(
        error.to_string().contains("exited with code 4"),
        "{error:?}"
    );
    assert!(person.has_heard.load(Ordering::SeqCst));
}
