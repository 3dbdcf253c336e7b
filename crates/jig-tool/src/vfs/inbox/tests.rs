//! What is an answer, what is input, and what comes first.

use serde_json::{Value, json};

use super::{AppliedInput, Inbox};

/// What happens to an inbox.
enum Step {
    /// Something comes, with the question that it names.
    Comes(i64, Option<&'static str>),
    /// The tool puts the question of this id.
    Asks(&'static str),
    /// The tool takes the answer, which is this.
    Answer(Option<i64>),
    /// The tool takes whatever is next, which is this.
    Next(Option<i64>),
}

use Step::{Answer, Asks, Comes, Next};

#[track_caller]
fn check(marks_answers: bool, steps: &[Step]) {
    let mut inbox = Inbox::default();
    if marks_answers {
        inbox.trust_marks();
    }
    for (index, step) in steps.iter().enumerate() {
        let (taken, expected) = match step {
            Comes(input, question) => {
                inbox.push(AppliedInput {
                    input: json!(input),
                    question: question.map(str::to_owned),
                });
                continue;
            }
            Asks(id) => {
                inbox.put_question(id);
                assert!(inbox.asks(id));
                continue;
            }
            Answer(expected) => (inbox.take_answer(), expected),
            Next(expected) => (inbox.take_next(), expected),
        };
        assert_eq!(taken, expected.map(Value::from), "step {index}");
    }
}

#[test]
fn v122_where_answers_are_marked_nothing_else_is_one() {
    // Neither what came before the question nor what crossed it.
    let input_around = [
        Comes(1, None),
        Asks("a"),
        Comes(2, None),
        Answer(None),
        Next(None),
        Comes(3, Some("a")),
        Comes(4, None),
        Answer(Some(3)),
        Next(Some(1)),
        Next(Some(2)),
        Next(Some(4)),
        Next(None),
    ];
    check(true, &input_around);
    // A tool that waits for whatever comes next is given the answer, too.
    let next = [
        Comes(1, None),
        Asks("a"),
        Next(None),
        Comes(2, Some("a")),
        Next(Some(2)),
        Next(Some(1)),
    ];
    check(true, &next);
}

#[test]
fn an_answer_is_for_the_question_that_was_put_last() {
    for marks_answers in [false, true] {
        // To another question, and to the one that had the same id before.
        let stale = [
            Asks("a"),
            Comes(1, Some("a")),
            Asks("a"),
            Answer(None),
            Asks("b"),
            Comes(2, Some("a")),
            Answer(None),
            Comes(3, Some("b")),
            Answer(Some(3)),
            Next(Some(1)),
            Next(Some(2)),
        ];
        check(marks_answers, &stale);
        // Asked once, answered once.
        let twice = [
            Asks("a"),
            Comes(1, Some("a")),
            Comes(2, Some("a")),
            Answer(Some(1)),
            Answer(None),
            Next(Some(2)),
        ];
        check(marks_answers, &twice);
    }
}

#[test]
fn where_answers_are_not_marked_the_next_is_the_answer() {
    let unmarked = [
        Comes(1, None),
        Asks("a"),
        Answer(None),
        Comes(2, None),
        Comes(3, None),
        Answer(Some(2)),
        Next(Some(1)),
        Next(Some(3)),
    ];
    check(false, &unmarked);
    // A tool that takes what comes gets it in order.
    let in_order = [
        Comes(1, None),
        Asks("a"),
        Comes(2, None),
        Next(Some(1)),
        Next(Some(2)),
        Comes(3, None),
        Answer(None),
        Next(Some(3)),
    ];
    check(false, &in_order);
}
