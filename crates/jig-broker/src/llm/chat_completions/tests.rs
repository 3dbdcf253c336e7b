//! What goes over the wire.

use super::{ChatMessage, ChatRequest, StreamOptions, short};

#[test]
fn a_request_has_only_what_is_asked_for() {
    let message = ChatMessage {
        role: "user",
        content: "hi \"there\"".to_owned(),
    };
    let mut request = ChatRequest {
        model: "m",
        messages: &[message],
        max_tokens: Some(7),
        max_completion_tokens: None,
        temperature: None,
        stream: false,
        stream_options: None,
    };
    assert_eq!(
        serde_json::to_string(&request).unwrap(),
        r#"{"model":"m","messages":[{"role":"user","content":"hi \"there\""}],"max_tokens":7,"stream":false}"#
    );
    request.max_tokens = None;
    request.max_completion_tokens = Some(8);
    request.temperature = Some(0.5);
    request.stream = true;
    request.stream_options = Some(StreamOptions {
        include_usage: true,
    });
    assert_eq!(
        serde_json::to_string(&request).unwrap(),
        r#"{"model":"m","messages":[{"role":"user","content":"hi \"there\""}],"max_completion_tokens":8,"temperature":0.5,"stream":true,"stream_options":{"include_usage":true}}"#
    );
}

#[test]
fn texts_of_a_provider_are_short_and_on_one_line() {
    let check = |text: &str, limit, expected: &str| assert_eq!(short(text, limit), expected);
    check("plain", 10, "plain");
    check("  a\r\nb\tc ", 20, "a  b c");
    check("\u{1b}]0;x\u{7}y", 10, "\\u{1b}]0;x");
    check("a\u{202e}b\u{200b}c", 10, "a\\u{202e}b");
    check("abcdef", 3, "abc");
    check("äöü", 3, "ä");
    check("\u{feff}", 10, "\\u{feff}");
    check("", 10, "");
}
