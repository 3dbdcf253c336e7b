use std::sync::{Arc, Barrier};
use std::thread;

use jig_broker::Unapproved;
use jig_proto::StateName;
use serde_json::json;

use super::*;
use crate::HandleError;

fn apply(
    handles: &Handles,
    id: &HandleId,
    input: serde_json::Value,
) -> Result<HandleReport, HandleError> {
    handles.apply("t", id, input, &Fetch::default(), None)
}

/// S-033, S-012: input to a tool that runs reaches it, and the report holds what it said to that.
#[test]
fn s033_s012_input_reaches_a_running_tool() {
    let (handles, id, tool) = one();
    let worker = tool.obeys();
    let report = apply(&handles, &id, json!("y")).unwrap();
    assert_eq!(text(&report), "got \"y\"\n");
    assert_eq!(report.state.status(), StateName::Running);
    handles.end(LONG);
    drop(handles);
    worker.join().unwrap();
}

/// S-075, S-034: a question is in the state, and `apply` answers it without naming it.
#[test]
fn s075_s034_a_question_is_shown_and_answered() {
    let (handles, id, tool) = one();
    tool.says("Ready. ");
    tool.asks("stage");
    let report = fetch(&handles, &id);
    assert_eq!(text(&report), "Ready. ");
    let ToolState::Waiting { question, .. } = &report.state else {
        panic!("{report}")
    };
    assert_eq!(question.id, "stage");
    // It is shown as long as it is open.
    assert_eq!(fetch(&handles, &id).state.status(), StateName::Waiting);
    let worker = tool.obeys();
    let report = apply(&handles, &id, json!(true)).unwrap();
    assert_eq!(report.state.status(), StateName::Running);
    assert_eq!(text(&report), "got true\n");
    assert!(handles.question(&id).is_none());
    handles.end(LONG);
    drop(handles);
    worker.join().unwrap();
}

/// S-027: a tool that has not yet heard the answer is not shown as waiting any more.
#[test]
fn s027_an_answered_tool_runs() {
    let (handles, id, tool) = one();
    tool.asks("go");
    fetch(&handles, &id);
    let report = apply(&handles, &id, json!("yes")).unwrap();
    assert_eq!(report.state.status(), StateName::Running);
    assert!(handles.question(&id).is_none());
    assert_eq!(handles.list()[0].status, StateName::Running);
    assert_eq!(tool.input(), "\"yes\"");
}

/// S-035: of many answers to one question, one reaches the tool.
#[test]
fn s035_one_question_takes_one_answer() {
    for _ in 0..10 {
        let (handles, id, tool) = one();
        tool.asks("go");
        fetch(&handles, &id);
        let handles = Arc::new(handles);
        let barrier = Arc::new(Barrier::new(4));
        let threads = (0..4).map(|number| {
            let (handles, id, barrier) = (Arc::clone(&handles), id.clone(), Arc::clone(&barrier));
            thread::spawn(move || {
                let number = json!(number);
                let pending = handles.question(&id).unwrap();
                barrier.wait();
                match number == json!(0) {
                    true => handles.answer(&id, pending.number, number).is_ok(),
                    false => apply(&handles, &id, number).is_ok(),
                }
            })
        });
        let taken = all(threads.collect());
        assert_eq!(taken.iter().filter(|taken| **taken).count(), 1, "{taken:?}");
        tool.input();
        assert!(tool.is_left_alone());
    }
}

/// An answer is not taken for that to another question, nor for input.
#[test]
fn s034_an_answer_goes_to_the_question_that_was_told() {
    let (handles, id, tool) = one();
    tool.asks("delete a temporary file");
    fetch(&handles, &id);
    // Somebody else answers, and the tool goes on to something else.
    let pending = handles.question(&id).unwrap();
    handles.answer(&id, pending.number, json!(true)).unwrap();
    tool.input();
    tool.runs();
    let late = apply(&handles, &id, json!(true)).unwrap_err();
    assert!(matches!(late, HandleError::Answered { .. }), "{late}");
    tool.asks("delete everything");
    let late = apply(&handles, &id, json!(true)).unwrap_err();
    assert!(matches!(late, HandleError::Answered { .. }), "{late}");
    assert!(tool.is_left_alone());
    // Whoever knows the new question may answer it.
    fetch(&handles, &id);
    apply(&handles, &id, json!(false)).unwrap();
    assert_eq!(tool.input(), "false");
    follow("fetch `{id}` to see where it stands", &late.to_string(), "");
    // An answer by the number of an old question is refused, too.
    let late = handles.answer(&id, pending.number, json!(true));
    assert!(late.is_err());
    assert!(tool.is_left_alone());
}

/// The policy's question is not for the assistant; a person's answer reaches it.
#[test]
fn only_a_person_answers_the_policy() {
    let (handles, id, tool) = one();
    tool.needs_leave();
    assert_eq!(fetch(&handles, &id).state.status(), StateName::Waiting);
    let refused = apply(&handles, &id, json!("turn")).unwrap_err();
    assert!(
        matches!(refused, HandleError::PolicyAsks { .. }),
        "{refused}"
    );
    assert!(tool.is_left_alone());
    let pending = handles.question(&id).unwrap();
    assert_eq!(pending.asked_by, AskedBy::Policy);
    handles.answer(&id, pending.number, json!("once")).unwrap();
    assert_eq!(tool.input(), "\"once\"");
    tool.runs();
    assert_eq!(fetch(&handles, &id).state.status(), StateName::Running);
    // The assistant, who was told of that question, was never to answer it: this is input.
    apply(&handles, &id, json!("ls")).unwrap();
    assert_eq!(tool.input(), "\"ls\"");
    follow(
        "fetch `{id}` to see whether it was decided",
        &refused.to_string(),
        "",
    );
    tool.needs_leave();
    let pending = handles.question(&id).unwrap();
    handles
        .decline(&id, pending.number, Unapproved::Denied)
        .unwrap();
    assert!(matches!(
        tool.orders.recv_timeout(LONG),
        Ok(SessionOrder::Decline(_, Unapproved::Denied))
    ));
}

/// After an answer, what the tool makes of it is waited for: what it said before, and nobody was told, is
/// not taken for that.
#[test]
fn s034_an_answer_settles_from_the_answer_on() {
    let (handles, id, tool) = one();
    assert_eq!(handles.entry(&id).unwrap().last_event(), (1, 0));
    tool.says("long ago");
    tool.needs_leave();
    let pending = handles.question(&id).unwrap();
    handles.answer(&id, pending.number, json!("once")).unwrap();
    let event = handles.entry(&id).unwrap().last_event();
    assert_eq!(event, (pending.number, 8));
    tool.input();
    tool.runs();
    tool.needs_leave();
    let update = handles.settled(&id).unwrap();
    assert_eq!(update.state.status(), StateName::Waiting);
    assert!(update.number > pending.number);
    assert!(handles.settled(&id_of("nope")).is_none());
}

/// Input to a tool that has stopped is an error that holds the result; it is told once.
#[test]
fn input_after_the_end_is_an_error_with_the_result() {
    let (handles, id, tool) = one();
    tool.says("bye\n");
    tool.stops("done");
    let error = apply(&handles, &id, json!("y")).unwrap_err();
    let text = error.to_string();
    let HandleError::Stopped { report, .. } = error else {
        panic!("{text}")
    };
    assert_eq!(result(&report), Ok("done".to_owned()));
    assert!(text.contains("has stopped"), "{text}");
    assert!(text.contains(r#""result":"done""#), "{text}");
    let gone = apply(&handles, &id, json!("y")).unwrap_err();
    assert!(matches!(gone, HandleError::Unknown(_)), "{gone}");
}

/// A handle that was condemned tells the verdict, whatever its tool says.
#[test]
fn a_verdict_is_the_result() {
    let (handles, id, tool) = one();
    handles.fail(&id, ToolError::new("said no"));
    assert!(matches!(
        tool.orders.recv_timeout(LONG),
        Ok(SessionOrder::Cancel)
    ));
    tool.stops("all fine");
    assert_eq!(result(&fetch(&handles, &id)), Err("said no".to_owned()));
}

/// S-034: a notice says that there is a question, not which. Whoever has heard no more cannot answer it.
#[test]
fn s034_a_notice_is_not_the_question() {
    let (handles, id, tool) = one();
    tool.asks("delete everything");
    assert_eq!(handles.notices().len(), 1);
    let unread = apply(&handles, &id, json!(true)).unwrap_err();
    assert!(matches!(unread, HandleError::Asks { .. }), "{unread}");
    assert!(tool.is_left_alone());
    fetch(&handles, &id);
    apply(&handles, &id, json!(false)).unwrap();
    assert_eq!(tool.input(), "false");
    follow("fetch `{id}` to see the question", &unread.to_string(), "");
    tool.runs();
    // Nor after another question that was read.
    tool.asks("a file");
    fetch(&handles, &id);
    tool.asks("all files");
    assert_eq!(handles.notices().len(), 1);
    assert!(apply(&handles, &id, json!(true)).is_err());
    assert!(tool.is_left_alone());
    // It is news once.
    assert!(handles.notices().is_empty());
}
