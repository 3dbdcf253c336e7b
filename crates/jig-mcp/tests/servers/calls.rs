//! What a call is told, asked and given.

use std::sync::atomic::Ordering;

use jig_broker::CancelToken;
use jig_engine::{Answer, Ask, Asker};
use serde_json::json;

use super::ends::Thinking;
use super::starts::FEW_FILES;
use super::{LONG, Person, World};

#[test]
fn results_come_back_and_failures_are_the_tools_own() {
    let world = World::new("well");
    assert_eq!(world.text("x_echo", json!({ "text": "hello" })), "hello");
    let error = world.error("x_read", json!({ "path": "missing.txt" }));
    assert!(error.message.contains("FileNotFoundError"), "{error:?}");
    let error = world.error("x_refuse", json!({}));
    assert!(error.message.contains("I would rather not"), "{error:?}");
    assert_eq!(world.status("x").calls, 3);
}

#[test]
fn x17_g006_what_a_server_was_refused_is_in_its_result() {
    let world = World::with("well", FEW_FILES);
    let error = world.error("x_read", json!({ "path": "secret.txt" }));
    let told = error.explain();
    assert!(
        told.contains("PermissionError") || told.contains("FileNotFoundError"),
        "{told}"
    );
    assert!(told.contains("[[mcp.servers.x.access.fs]]"), "{told}");
    // What was refused to one call is not told again to the next.
    let error = world.error("x_refuse", json!({}));
    assert_eq!(error.denials, [], "{error:?}");
    // With the rule it is allowed: it was the rule that was missing, and nothing else.
    let allowed =
        format!("{FEW_FILES}[[mcp.servers.x.access.fs]]\npath = 'secret.txt'\nread = true\n");
    let world = World::with("well", &allowed);
    assert_eq!(
        world.text("x_read", json!({ "path": "secret.txt" })),
        "hidden\n"
    );
}

#[test]
fn what_a_server_plants_fails_the_call_that_planted_it() {
    let world = World::new("well");
    let error = world.error("x_write", json!({ "path": "jig.toml" }));
    let told = error.denials.iter().find(|one| one.target == "jig.toml");
    let told = told.unwrap_or_else(|| panic!("{error:?}"));
    assert_eq!(told.operation, "create", "{error:?}");
    assert!(!error.content.to_text().contains("written"), "{error:?}");
}

#[test]
fn progress_is_told() {
    let world = World::new("well");
    let person = Person::default();
    let result = world.asked("x_steps", json!({}), None, person.clone());
    assert_eq!(result.recv_timeout(LONG).unwrap().unwrap(), "done");
    let told = person.told.lock().unwrap().join("\n");
    assert!(told.contains("step 1"), "{told}");
}

/// A server may write its last words and its result at once: whoever called is told both, in this order.
#[test]
fn progress_right_before_a_result_is_told_before_it() {
    let world = World::new("well");
    for round in 0..20 {
        let person = Person::default();
        let result = world.asked("x_last_words", json!({}), None, person.clone());
        assert_eq!(result.recv_timeout(LONG).unwrap().unwrap(), "done");
        let told = person.told.lock().unwrap().join("\n");
        assert!(told.contains("my last words"), "round {round}: {told:?}");
    }
}

#[test]
fn a_question_of_a_server_is_put_to_a_person() {
    let world = World::new("well");
    let person = Person {
        answer: Some(json!("Ada")),
        ..Person::default()
    };
    let result = world.asked("x_ask", json!({}), None, person.clone());
    let text = result.recv_timeout(LONG).unwrap().unwrap();
    assert!(text.contains("accept") && text.contains("Ada"), "{text}");
    let asked = person.asked.lock().unwrap().join("\n");
    assert!(asked.contains("name"), "{asked}");
    // Without anybody there the server is told so, and goes on.
    let text = world.text("x_ask", json!({}));
    assert!(text.contains("decline"), "{text}");
}

#[test]
fn a_call_that_hangs_can_be_cancelled_and_holds_up_no_other() {
    let world = World::new("well");
    let cancel = CancelToken::new();
    let hung = world.start("x_sleep", json!({ "seconds": 1000 }), Some(cancel.clone()));
    jig_testkit::until("there is a call", || world.status("x").calls == 1);
    // Others go on, at the same server and elsewhere.
    assert_eq!(world.text("x_echo", json!({ "text": "a" })), "a");
    world.good_is_well();
    cancel.cancel();
    let result = hung.recv_timeout(LONG).expect("it ends");
    assert!(result.is_err(), "{result:?}");
    // The server was told.
    jig_testkit::until("the server was told", || {
        world.text("x_cancelled", json!({})) == "1"
    });
}

#[test]
fn a_call_that_takes_too_long_is_given_up() {
    let world = World::with("well", "time = '1s'");
    let error = world.error("x_sleep", json!({ "seconds": 1000 }));
    assert!(error.message.contains("within 1 s"), "{error:?}");
    assert!(error.message.contains("may have had effects"), "{error:?}");
    jig_testkit::until("the server was told", || {
        world.text("x_cancelled", json!({})) == "1"
    });
}

#[test]
fn the_time_of_a_person_is_not_that_of_the_call() {
    /// Somebody who takes their time.
    #[derive(Debug)]
    struct Slow;
    impl Asker for Slow {
        fn ask(&mut self, _: &Ask<'_>) -> Answer {
            jig_testkit::let_pass(std::time::Duration::from_millis(2500));
            Answer::Given(json!("Ada"))
        }
    }
    let world = World::with("well", "time = '2s'");
    let result = world.asked("x_ask", json!({}), None, Slow);
    let text = result.recv_timeout(LONG).unwrap().unwrap();
    assert!(text.contains("Ada"), "{text}");
}

#[test]
fn many_calls_at_once_each_get_their_own_answer() {
    let world = World::new("well");
    let calls: Vec<_> = (0..100)
        .map(|number| {
            let text = format!("call {number}");
            (world.start("x_echo", json!({ "text": text }), None), text)
        })
        .collect();
    for (call, text) in calls {
        assert_eq!(call.recv_timeout(LONG).unwrap().unwrap(), text);
    }
}

#[test]
fn a_question_that_a_server_does_not_ask_any_more_is_put_away_at_once() {
    let world = World::new("well");
    for (tool, said) in [
        ("x_ask_and_take_back", "never mind"),
        ("x_ask_and_go_on", "I know it by now"),
    ] {
        let person = Thinking::default();
        let result = world.asked(tool, json!({}), None, person.clone());
        assert_eq!(result.recv_timeout(LONG / 2).unwrap().unwrap(), said);
        assert!(person.has_heard.load(Ordering::SeqCst), "{tool}");
    }
}
