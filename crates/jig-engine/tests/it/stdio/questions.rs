//! Questions: a tool that asks is run again with all answers (J-016).

use jig_engine::{Call, CallError};
use serde_json::{Value, json};

use crate::stdio::{Person, World};

/// Asks for `first`, then for `second`, then tells both; notes each run.
const ASKS_TWICE: &str = r#"
open("runs", "a").write(json.dumps(answers) + "\n")
def ask(id, kind):
    print(json.dumps({"type": "needs_input", "question": {"id": id, "text": id + "?", "pre_amble": None, "answer_type": kind, "default": None}}))
    sys.exit(0)
if "first" not in answers: ask("first", "Boolean")
if "second" not in answers: ask("second", {"Select": {"options": ["a", "b"]}})
print(json.dumps({"type": "success", "content": json.dumps(answers, sort_keys=True)}))
"#;

fn runs(world: &World) -> Vec<Value> {
    let text = std::fs::read_to_string(world.root.join("runs")).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn j016_the_tool_is_run_again_with_all_answers() {
    let world = World::python("", ASKS_TWICE);
    let person = Person::answering([json!(true), json!("b")]);
    let text = world.asked(json!({}), person.clone()).unwrap();
    assert_eq!(text, r#"{"first": true, "second": "b"}"#);
    assert_eq!(
        runs(&world),
        [
            json!({}),
            json!({ "first": true }),
            json!({ "first": true, "second": "b" })
        ]
    );
    let asked = person.asked.lock().unwrap();
    let asked: Vec<&str> = asked.iter().map(|question| question.id.as_str()).collect();
    assert_eq!(asked, ["first", "second"]);
}

#[test]
fn j016_static_answers_are_there_from_the_start() {
    let world = World::python(
        "questions.first.answer = false\nquestions.second.answer = 'a'\n",
        ASKS_TWICE,
    );
    assert_eq!(world.text(), r#"{"first": false, "second": "a"}"#);
    assert_eq!(runs(&world).len(), 1);
}

#[test]
fn answers_that_come_with_the_call_are_there_from_the_start() {
    let world = World::python("", ASKS_TWICE);
    let mut call = Call::new("tool", json!({}));
    call.answers.insert("first".to_owned(), json!(true));
    let text = world
        .engine
        .call(call, &mut Person::answering([json!("b")]))
        .unwrap();
    assert_eq!(
        text.into_content().to_text(),
        r#"{"first": true, "second": "b"}"#
    );
    assert_eq!(runs(&world).len(), 2);
}

#[test]
fn a_question_that_nobody_answers_ends_the_call() {
    let world = World::python("", ASKS_TWICE);
    let error = world.error();
    assert_eq!(
        error.message,
        "the tool asks `first?`, and nobody can answer"
    );
    assert_eq!(runs(&world).len(), 1);
}

#[test]
fn a_tool_that_never_stops_asking_is_given_up() {
    let asks = r#"print(json.dumps({"type": "waiting", "question": {"id": "q", "text": "q?", "schema": {"type": "boolean"}}}))"#;
    // A static answer that does not satisfy it is not given for ever: a person is asked.
    let world = World::python("questions.q.answer = true\n", asks);
    let error = world.error();
    assert_eq!(error.message, "the tool asks `q?`, and nobody can answer");
    let person = Person::answering(std::iter::repeat_n(json!(true), 1000));
    let error = world.asked(json!({}), person).unwrap_err();
    assert!(matches!(error, CallError::Tool(_)));
    assert_eq!(
        error.to_string(),
        "`tool` asked 100 questions in one call and was given up"
    );
}

#[test]
fn a_question_is_shown_without_terminal_sequences() {
    let world = World::python(
        "",
        r#"print(json.dumps({"type": "needs_input", "question": {"id": "q", "text": "\u001b[2JRun?\u0007", "pre_amble": "\u001b]0;x\u0007diff\n", "answer_type": "Boolean"}}))"#,
    );
    let person = Person::default();
    world.asked(json!({}), person.clone()).unwrap_err();
    let asked = person.asked.lock().unwrap();
    assert_eq!(
        (asked[0].text.as_str(), asked[0].context.as_deref()),
        ("Run?", Some("diff\n"))
    );
}

#[test]
fn waiting_can_be_cancelled() {
    struct Canceller;
    impl jig_engine::Asker for Canceller {
        fn ask(&mut self, _: &jig_engine::Ask<'_>) -> jig_engine::Answer {
            jig_engine::Answer::Cancel
        }
    }
    let world = World::python("", ASKS_TWICE);
    let error = world.asked(json!({}), Canceller).unwrap_err();
    assert_eq!(error.to_string(), "the call was cancelled");
}
