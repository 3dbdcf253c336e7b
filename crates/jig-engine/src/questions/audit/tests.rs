use jig_config::QuestionTarget;
use serde_json::json;

use super::*;

#[test]
fn what_came_of_a_question_in_words() {
    let check = |about: About, answer: Answer, expected: Option<(&str, &str)>| {
        let told = told(about, &answer);
        let told = told
            .as_ref()
            .map(|(decision, words)| (decision.name(), words.as_str()));
        assert_eq!(told, expected, "{about:?} {answer:?}");
    };
    let no = |reason: &str| Answer::Rejected(reason.to_owned());
    check(
        About::Run,
        Answer::Given(json!(true)),
        Some(("allow", "yes")),
    );
    check(
        About::Run,
        Answer::Given(json!(false)),
        Some(("deny", "no")),
    );
    check(
        About::Run,
        Answer::GivenForTurn(json!(true)),
        Some(("allow", "yes, for this turn")),
    );
    check(About::Run, no("not now"), Some(("deny", "no (not now)")));
    check(
        About::Run,
        Answer::Unavailable,
        Some(("deny", "nobody can be asked here")),
    );
    check(
        About::Access,
        Answer::Given(json!("turn")),
        Some(("allow", "allowed for this turn")),
    );
    check(
        About::Access,
        Answer::Given(json!("no")),
        Some(("deny", "no")),
    );
    check(About::Access, Answer::Unavailable, None);
    check(About::Server, Answer::Given(Value::Null), None);
    let tool = About::Tool(QuestionTarget::User);
    // Whatever it was: it may be a password, and a no to a tool is an answer.
    for value in [json!("hunter2"), json!(false)] {
        check(tool, Answer::Given(value), Some(("allow", "answered")));
    }
    check(tool, Answer::Later, None);
}
