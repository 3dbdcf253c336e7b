//! F-095: which answers are answers.

use serde_json::json;

use super::{LlmAnswer, LlmAnswerOutcome, LlmAnswerPieces, MAX_CONTENT, whole};
use crate::llm::LlmError;
use crate::llm::quota::LlmTokens;

fn read(body: &str) -> (Option<String>, LlmAnswerOutcome) {
    let mut text = None;
    let answered = whole(body.as_bytes(), &mut |got| text = Some(got));
    (text, answered)
}

fn stream(events: &[&str]) -> (String, LlmAnswerOutcome) {
    let mut pieces = LlmAnswerPieces::default();
    let mut text = String::new();
    for event in events {
        match pieces.add(event) {
            Ok(got) => text.extend(got),
            Err(error) => return (text, LlmAnswerOutcome::unknown(error)),
        }
    }
    (text, pieces.finish())
}

fn answer(model: Option<&str>, finish_reason: &str) -> LlmAnswer {
    LlmAnswer {
        model: model.map(str::to_owned),
        finish_reason: Some(finish_reason.to_owned()).filter(|reason| !reason.is_empty()),
    }
}

#[test]
fn f095_valid_answers_in_one_piece() {
    let check = |body: &str, text: &str, expected: LlmAnswer, tokens: Option<(u64, u64, u64)>| {
        let (got, answered) = read(body);
        assert_eq!(got.as_deref(), Some(text), "{body}");
        assert_eq!(answered.result, Ok(expected), "{body}");
        let tokens = tokens.map(|(input, cached, output)| LlmTokens {
            input,
            cached,
            output,
        });
        assert_eq!(answered.tokens, tokens, "{body}");
    };
    check(
        r#"{"id":"x","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],
            "usage":{"prompt_tokens":9,"completion_tokens":2,"total_tokens":11,"prompt_tokens_details":{"cached_tokens":4}}}"#,
        "hi",
        answer(Some("m"), "stop"),
        Some((9, 4, 2)),
    );
    check(
        r#"{"choices":[{"message":{"content":""},"finish_reason":"length"}],"usage":{"prompt_tokens":0,"completion_tokens":0,"prompt_tokens_details":null}}"#,
        "",
        answer(None, "length"),
        Some((0, 0, 0)),
    );
    check(
        r#"{"error":null,"model":"","choices":[{"message":{"content":"a"}},{"message":{"content":"b"}}],"usage":null}"#,
        "a",
        answer(Some(""), ""),
        None,
    );
}

const IMPOSSIBLE: &str = "the usage that it reports is impossible";

#[test]
fn f095_what_is_no_answer() {
    let not_json = "it is not the JSON of an answer";
    let check = |body: &str, expected: &str| {
        let (text, answered) = read(body);
        assert_eq!(answered.result, Err(LlmError::bad(expected)), "{body}");
        assert_eq!(text, None, "{body}");
    };
    for body in [
        "",
        "{",
        "[]",
        "null",
        "<html>",
        r#"{"choices":{}}"#,
        r#"{"choices":[{"message":{"content":7}}]}"#,
        r#"{"choices":[{"message":{"content":["a"]}}]}"#,
        r#"{"choices":[{"message":{"content":"a"},"finish_reason":7}]}"#,
        r#"{"choices":[{"message":{"content":"a"}}],"usage":{"prompt_tokens":"9"}}"#,
    ] {
        check(body, not_json);
    }
    check("{}", "it has no choice");
    check(r#"{"choices":[]}"#, "it has no choice");
    check(r#"{"choices":null}"#, "it has no choice");
    check(r#"{"choices":[{}]}"#, "it has no text");
    check(r#"{"choices":[{"message":null}]}"#, "it has no text");
    check(r#"{"choices":[{"message":{}}]}"#, "it has no text");
    check(
        r#"{"choices":[{"message":{"content":null}}]}"#,
        "it has no text",
    );
    let long = "x".repeat(MAX_CONTENT + 1);
    let long = json!({"choices": [{"message": {"content": long}}]});
    check(&long.to_string(), "its text is too long");
}

#[test]
fn a_usage_must_be_possible() {
    let check = |usage: &str, possible: bool| {
        let body = format!(r#"{{"choices":[{{"message":{{"content":"a"}}}}],"usage":{usage}}}"#);
        let (text, answered) = read(&body);
        if possible {
            assert!(answered.tokens.is_some(), "{usage}");
        } else {
            let expected = LlmAnswerOutcome::unknown(LlmError::bad(IMPOSSIBLE));
            assert_eq!((text, answered), (None, expected), "{usage}");
        }
        let event = format!(r#"{{"choices":[],"usage":{usage}}}"#);
        let (_, streamed) = stream(&[
            r#"{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}"#,
            &event,
            "[DONE]",
        ]);
        assert_eq!(streamed.tokens.is_some(), possible, "{usage}");
        assert_eq!(streamed.result.is_ok(), possible, "{usage}");
    };
    check(r#"{"prompt_tokens":1,"completion_tokens":1}"#, true);
    check(
        r#"{"prompt_tokens":100000000,"completion_tokens":100000000}"#,
        true,
    );
    check(
        r#"{"prompt_tokens":5,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":5}}"#,
        true,
    );
    check(
        r#"{"prompt_tokens":5,"completion_tokens":1,"prompt_tokens_details":{}}"#,
        true,
    );
    for usage in [
        "{}",
        r#"{"prompt_tokens":1}"#,
        r#"{"completion_tokens":1}"#,
        r#"{"prompt_tokens":-1,"completion_tokens":1}"#,
        r#"{"prompt_tokens":1,"completion_tokens":-1}"#,
        r#"{"prompt_tokens":1.5,"completion_tokens":1}"#,
        r#"{"prompt_tokens":1e30,"completion_tokens":1}"#,
        r#"{"prompt_tokens":1,"completion_tokens":100000001}"#,
        r#"{"prompt_tokens":18446744073709551615,"completion_tokens":1}"#,
        r#"{"prompt_tokens":5,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":6}}"#,
        r#"{"prompt_tokens":5,"completion_tokens":1,"prompt_tokens_details":{"cached_tokens":-1}}"#,
    ] {
        check(usage, false);
    }
}

#[test]
fn the_usage_counts_also_if_the_answer_is_no_good() {
    let (_, answered) = read(r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}"#);
    assert_eq!(answered.result, Err(LlmError::bad("it has no choice")));
    assert_eq!(answered.tokens.map(|tokens| tokens.output), Some(3));
}

#[test]
fn an_error_where_an_answer_was_due() {
    let check = |error: &str, expected: &str| {
        let body = format!(r#"{{"error":{error}}}"#);
        let refused = Err(LlmError::Refused {
            status: 200,
            message: expected.to_owned(),
        });
        assert_eq!(read(&body).1.result, refused, "{error}");
        assert_eq!(stream(&[&body]).1.result, refused, "{error}");
    };
    check(
        r#"{"message":"overloaded","type":"server_error"}"#,
        "overloaded",
    );
    check(r#""plain""#, "plain");
    check("{}", "");
}

const WORD: &str = r#"{"model":"m","choices":[{"index":0,"delta":{"content":"a "},"finish_reason":null}],"usage":null}"#;
const STOP: &str = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
const USAGE: &str = r#"{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}"#;
const ROLE: &str = r#"{"choices":[{"delta":{"role":"assistant","content":""}}]}"#;

#[test]
fn f095_valid_answers_in_pieces() {
    let check = |events: &[&str], text: &str, expected: LlmAnswer, has_usage: bool| {
        let (got, answered) = stream(events);
        assert_eq!(got, text, "{events:?}");
        assert_eq!(answered.result, Ok(expected), "{events:?}");
        assert_eq!(answered.tokens.is_some(), has_usage, "{events:?}");
    };
    let all = [ROLE, WORD, WORD, STOP, USAGE, "[DONE]"];
    check(&all, "a a ", answer(Some("m"), "stop"), true);
    // Some say no usage, some no end; one of the two ends is enough.
    check(
        &[WORD, STOP, "[DONE]"],
        "a ",
        answer(Some("m"), "stop"),
        false,
    );
    check(&[WORD, STOP], "a ", answer(Some("m"), "stop"), false);
    check(&[WORD, "[DONE]"], "a ", answer(Some("m"), ""), false);
    check(
        &[ROLE, STOP, USAGE, "[DONE]"],
        "",
        answer(None, "stop"),
        true,
    );
    // What comes after the end is nobody's.
    let after = [WORD, STOP, "[DONE]", WORD, "nonsense"];
    check(&after, "a ", answer(Some("m"), "stop"), false);
    // One answer was asked for.
    let other = r#"{"choices":[{"index":1,"delta":{"content":"other"}}]}"#;
    check(&[other, WORD, STOP], "a ", answer(Some("m"), "stop"), false);
}

#[test]
fn f095_what_is_no_stream() {
    let check = |events: &[&str], expected: &str| {
        let (_, answered) = stream(events);
        assert_eq!(answered.result, Err(LlmError::bad(expected)), "{events:?}");
    };
    let early = "its stream ended too early";
    check(&[], early);
    check(&[WORD], early);
    check(&[WORD, USAGE], early);
    // A usage before the end is not that of the whole.
    assert_eq!(stream(&[WORD, USAGE]).1.tokens, None);
    check(&["[DONE]"], "it has no choice");
    check(&[USAGE, "[DONE]"], "it has no choice");
    check(&[STOP, "[DONE]"], "it has no text");
    let not_json = "an event of its stream is not the JSON of an answer";
    check(&["nonsense"], not_json);
    check(&[WORD, "{"], not_json);
    check(&[""], not_json);
    check(&[r#"{"choices":[{"delta":{"content":5}}]}"#], not_json);
    let half = "x".repeat(MAX_CONTENT / 2 + 1);
    let half = json!({"choices": [{"delta": {"content": half}}]}).to_string();
    check(&[&half, &half, STOP], "its text is too long");
}
