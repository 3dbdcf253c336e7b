use jig_proto::Question;
use serde_json::{Value as Json, json};

use super::connection::{answered, in_form};
use super::protocol::{
    MessageReader, QuestionAuthor, StationFailure, StationQuestion, StationReply, StationRequest,
    send,
};
use super::socket_directory::{NotAKey, StationKey};

/// What a reader makes of these bytes: each message, or the first error.
fn read(bytes: &[u8], limit: usize) -> Result<Vec<Json>, String> {
    let mut lines = MessageReader::new(bytes, limit);
    let mut all = Vec::new();
    while let Some(message) = lines.message().map_err(|error| error.to_string())? {
        all.push(message);
    }
    Ok(all)
}

#[test]
fn lines_come_as_messages() {
    let check = |text: &str, expected: &[Json]| {
        assert_eq!(
            read(text.as_bytes(), 100).as_deref(),
            Ok(expected),
            "{text}"
        );
    };
    check("", &[]);
    check("1\n", &[json!(1)]);
    check("{\"a\":[]}\n\"x\"\n", &[json!({"a": []}), json!("x")]);
    // What is not ended by a line end never came.
    check("1\n2", &[json!(1)]);
}

/// Hostile lines are errors, and cost no more than the limit.
#[test]
fn hostile_lines_are_refused() {
    let deep = format!("{}{}\n", "[".repeat(5000), "]".repeat(5000));
    let long = format!("\"{}\"\n", "x".repeat(200));
    let endless = "x".repeat(20_000);
    let bytes: [&[u8]; 7] = [
        b"\n",
        b"{\n",
        b"\xff\xfe\n",
        b"{\"a\":1,\"a\":2}}\n",
        deep.as_bytes(),
        long.as_bytes(),
        endless.as_bytes(),
    ];
    for bytes in bytes {
        assert!(read(bytes, 100).is_err(), "{bytes:?}");
    }
}

#[test]
fn requests_survive_the_way() {
    let requests = [
        json!({"do": "list"}),
        json!({"do": "shutdown"}),
        json!({"do": "attach", "id": "h_1", "input": true}),
        json!({"do": "await", "ids": ["h_1", "own"], "all": false, "timeout_ms": 5}),
        json!({"do": "apply", "id": "h_1", "input": {"line": "ls"}, "question": null,
               "fetch": {"view": "new"}}),
        json!({"do": "spawn", "tool": "shell", "arguments": {"a": 1}, "answers": {}, "id": null,
               "config": [], "set": ["x=1"], "env": {"HOME": "/root"}}),
    ];
    for json in requests {
        let request: StationRequest = serde_json::from_value(json.clone()).unwrap();
        let mut bytes = Vec::new();
        send(&mut bytes, &request).unwrap();
        let back: Json = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(back, json);
    }
    for wrong in [
        json!({}),
        json!({"do": "other"}),
        json!({"do": "fetch", "id": "two words", "fetch": {}}),
        json!({"do": "abort", "ids": "h_1"}),
    ] {
        assert!(
            serde_json::from_value::<StationRequest>(wrong.clone()).is_err(),
            "{wrong}"
        );
    }
}

/// An error has the same causes on both sides.
#[test]
fn errors_survive_the_way() {
    let error = anyhow::anyhow!("hint: do it")
        .context("because")
        .context("it failed");
    let failure = StationFailure::of(&error);
    let sent = serde_json::to_vec(&StationReply::Error(failure.clone())).unwrap();
    let StationReply::Error(received) = serde_json::from_slice(&sent).unwrap() else {
        panic!("an error became something else");
    };
    assert_eq!(received, failure);
    let chain: Vec<String> = received
        .into_error()
        .chain()
        .map(ToString::to_string)
        .collect();
    assert_eq!(chain, ["it failed", "because", "hint: do it"]);
}

#[test]
fn keys_are_compared_as_a_whole() {
    let text = "0123456789abcdef".repeat(4);
    let key = StationKey::parse(&text).unwrap();
    assert_eq!(key.to_string(), text);
    assert!(key.is(&StationKey::parse(&text).unwrap()));
    for place in [0, 31, 63] {
        let mut other = text.clone().into_bytes();
        other[place] = if other[place] == b'7' { b'8' } else { b'7' };
        let other = String::from_utf8(other).unwrap();
        assert!(!key.is(&StationKey::parse(&other).unwrap()), "{other}");
    }
    for wrong in [
        "",
        "00",
        &text[1..],
        &text.replace('0', "g"),
        &"é".repeat(32),
    ] {
        assert_eq!(StationKey::parse(wrong).map(drop), Err(NotAKey), "{wrong}");
    }
}

/// S-034: an answer is typed, and has the form that the question wants.
#[test]
fn s034_answers_from_words() {
    let check = |question: &Question, words: &str, expected: Option<Json>| {
        assert_eq!(in_form(question, words).ok(), expected, "{words}");
    };
    let yes_no = Question::yes_no("q", "Sure?");
    check(&yes_no, "yes", Some(json!(true)));
    check(&yes_no, " Y ", Some(json!(true)));
    check(&yes_no, "no", Some(json!(false)));
    check(&yes_no, "maybe", None);
    let select = Question::select("q", "Which?", ["once", "turn", "no"]);
    check(&select, "once", Some(json!("once")));
    check(&select, "on", None);
    let text = Question::text("q", "Name?");
    check(&text, " two words ", Some(json!(" two words ")));
    let other = Question::new("q", "How many?", json!({"type": "integer"}));
    check(&other, "3", Some(json!(3)));
    check(&other, "three", None);
}

/// An answer counts for the question that was shown, and jig's own questions are answered by number only.
#[test]
fn answers_are_meant_for_one_question() {
    let id: jig_proto::HandleId = "h_1".parse().unwrap();
    let check =
        |open: Option<(u64, QuestionAuthor)>, meant: Option<u64>, expected: Result<bool, &str>| {
            let open = open.map(|(number, by)| StationQuestion {
                number,
                by,
                tool: "tool".to_owned(),
                question: Question::select("q", "May it?", ["once", "turn", "no"]),
            });
            let found = answered(&id, open.clone(), meant);
            match (found, expected) {
                (Ok(found), Ok(is_answer)) => assert_eq!(found.is_some(), is_answer, "{open:?}"),
                (Err(error), Err(text)) => {
                    let chain: Vec<String> = error.chain().map(ToString::to_string).collect();
                    assert!(chain.join("\n").contains(text), "{chain:?}");
                }
                (found, expected) => panic!("{open:?} {meant:?}: {found:?} {expected:?}"),
            }
        };
    // Input for a tool that asks nothing.
    check(None, None, Ok(false));
    check(None, Some(7), Err("is not open any more"));
    // The tool's own question.
    check(Some((7, QuestionAuthor::Tool)), None, Ok(true));
    check(Some((7, QuestionAuthor::Tool)), Some(7), Ok(true));
    check(
        Some((8, QuestionAuthor::Tool)),
        Some(7),
        Err("`tool` asks: May it?"),
    );
    // What jig asks, perhaps in place of what the person was shown.
    check(Some((7, QuestionAuthor::Policy)), Some(7), Ok(true));
    check(
        Some((8, QuestionAuthor::Policy)),
        Some(7),
        Err("waits for another answer by now"),
    );
    check(
        Some((7, QuestionAuthor::Policy)),
        None,
        Err("jig asks: May it?"),
    );
    let hint = "hint: `jig apply h_1 once|turn|no --question 7`";
    check(Some((7, QuestionAuthor::Policy)), None, Err(hint));
}
