//! What is a message.

use serde_json::{Map, Value, json};

use super::{
    LONGEST_TEXTS, ServerMessage, UpstreamReply, UpstreamResult, notification, parse, reply,
    request, some_words, texts, weight, words,
};

/// What a server sends, as it is understood.
#[test]
fn messages() {
    let check = |value: Value, expected: &str| {
        let shown = match ServerMessage::of(value.clone()) {
            Some(ServerMessage::Answer { id, answer: Ok(_) }) => format!("result {id:?}"),
            Some(ServerMessage::Answer {
                id,
                answer: Err(error),
            }) => format!("error {id:?} {}", error.code),
            Some(ServerMessage::Request { id, method, .. }) => format!("request {id} {method}"),
            Some(ServerMessage::Notification { method, .. }) => format!("notification {method}"),
            None => "none".to_owned(),
        };
        assert_eq!(shown, expected, "{value}");
    };
    let v = "2.0";
    check(
        json!({"jsonrpc": v, "id": 1, "result": null}),
        "result Some(1)",
    );
    check(
        json!({"jsonrpc": v, "id": "12", "result": {}}),
        "result Some(12)",
    );
    check(
        json!({"jsonrpc": v, "id": "x", "result": {}}),
        "result None",
    );
    check(
        json!({"jsonrpc": v, "id": 1, "error": {"code": -3}}),
        "error Some(1) -3",
    );
    check(
        json!({"jsonrpc": v, "id": null, "error": {"code": 5, "message": 6}}),
        "error None 5",
    );
    check(json!({"jsonrpc": v, "error": "x"}), "error None 0");
    check(
        json!({"jsonrpc": v, "id": "a", "method": "m"}),
        "request \"a\" m",
    );
    check(
        json!({"jsonrpc": v, "id": 1.5, "method": "m"}),
        "request 1.5 m",
    );
    check(
        json!({"jsonrpc": v, "method": "m", "params": []}),
        "notification m",
    );
    check(
        json!({"jsonrpc": v, "id": null, "method": "m"}),
        "notification m",
    );
    for none in [
        json!({"jsonrpc": v, "id": {}, "method": "m"}),
        json!({"jsonrpc": v, "id": 1}),
        json!({"jsonrpc": v, "id": 1, "result": 1, "error": 1}),
        json!({"jsonrpc": "1.0", "id": 1, "result": 1}),
        json!({"id": 1, "result": 1}),
        json!([]),
        json!(null),
    ] {
        check(none, "none");
    }
}

#[test]
fn what_we_say_is_json_rpc() {
    let parsed = |bytes: Vec<u8>| serde_json::from_slice::<Value>(&bytes).expect("JSON");
    let params = Map::from_iter([("a".to_owned(), json!(1))]);
    assert_eq!(
        parsed(request(7, "m", &params)),
        json!({"jsonrpc": "2.0", "id": 7, "method": "m", "params": {"a": 1}})
    );
    assert_eq!(
        parsed(notification("m", &Map::new())),
        json!({"jsonrpc": "2.0", "method": "m"})
    );
    assert_eq!(
        parsed(reply(&json!("x"), &UpstreamReply::Result(json!({})))),
        json!({"jsonrpc": "2.0", "id": "x", "result": {}})
    );
    let refused = parsed(reply(&json!(1), &UpstreamReply::no_such_method("m")));
    assert_eq!(refused["error"]["code"], -32601);
}

#[test]
fn words_are_short_and_printable() {
    assert_eq!(words("a\nb\u{1b}"), "a b\\u{1b}");
    assert!(words(&"ü ".repeat(5000)).len() < 1010);
    // Half of a secret is told from nothing.
    let secret = "swordfish".repeat(200);
    assert_eq!(words(&format!("it is {secret}")), "it is…");
    assert_eq!(words(&secret), "…");
    assert_eq!(some_words("<p>a word</p>", 7), "<p>a…");
}

#[test]
fn a_value_weighs_about_as_much_as_its_text() {
    let value = json!({"name": "x", "list": [1, true, null, "text"], "more": {"a": {}}});
    let text = value.to_string().len();
    let weight = weight(&value);
    assert!(weight.abs_diff(text) < 20, "{weight} for {text}");
}

/// Answers that are nothing but text mean the same in both ways in which they are read; all others are read in one.
#[test]
fn texts_are_what_they_are_as_json() {
    let both = |line: &str| {
        let (id, said) = match texts(line.as_bytes())? {
            ServerMessage::Answer {
                id: Some(id),
                answer: Ok(said),
            } => (id, said),
            other => panic!("{other:?}"),
        };
        let parsed = ServerMessage::of(parse(line.as_bytes()).expect(line)).expect(line);
        let ServerMessage::Answer {
            id: Some(same),
            answer: Ok(json),
        } = parsed
        else {
            panic!("{parsed:?}");
        };
        assert_eq!(id, same);
        let content = said.into_content().expect(line);
        assert_eq!(content, json.into_content().expect(line));
        Some(content.to_text())
    };
    let text = |text: &str| json!({"type": "text", "text": text});
    let answer = |result: Value| json!({"result": result, "jsonrpc": "2.0", "id": 7}).to_string();
    let one = answer(json!({"content": [text("a \" \n \u{1b} é 🦀 ")]}));
    assert_eq!(both(&one).as_deref(), Some("a \" \n \u{1b} é 🦀 "));
    let escaped = r#" {"id": 7, "jsonrpc": "2.0", "result": {"isError": false, "content": [{"text": "\u00e9\ud83e\udd80", "type": "text"}]}} "#;
    assert_eq!(both(escaped).as_deref(), Some("é🦀"));
    both(&answer(
        json!({"content": [text("a"), text("b")], "isError": false}),
    ))
    .expect("texts");
    both(&answer(json!({"content": []}))).expect("no text");
    let many = vec![text("a"); jig_proto::Content::MAX_BLOCKS];
    both(&answer(json!({"content": many}))).expect("texts");

    let too_many = vec![text("a"); jig_proto::Content::MAX_BLOCKS + 1];
    let long = "x".repeat(LONGEST_TEXTS);
    let others = [
        answer(json!({"content": [text("")]})),
        answer(json!({"content": [text("a")], "isError": true})),
        answer(json!({"content": [text("a")], "isError": null})),
        answer(json!({"content": [text("a")], "structuredContent": {}})),
        answer(json!({"content": [text("a")], "_meta": {}})),
        answer(json!({"content": [{"type": "text", "text": "a", "annotations": {}}]})),
        answer(json!({"content": [{"type": "image", "text": "a"}]})),
        answer(json!({"content": [{"type": "text"}]})),
        answer(json!({"content": too_many})),
        answer(json!({"content": [text(&long)]})),
        answer(json!({"tools": []})),
        answer(json!({"content": [["text", "a"]]})),
        answer(json!([[text("a")]])),
        json!(["2.0", 7, {"content": [text("a")]}]).to_string(),
        json!({"result": {"content": []}, "jsonrpc": "1.0", "id": 7}).to_string(),
        json!({"result": {"content": []}, "jsonrpc": "2.0", "id": "7"}).to_string(),
        json!({"result": {"content": []}, "jsonrpc": "2.0", "id": -7}).to_string(),
        json!({"result": {"content": []}, "jsonrpc": "2.0"}).to_string(),
        json!({"result": {"content": []}, "jsonrpc": "2.0", "id": 7, "error": {}}).to_string(),
        r#"{"jsonrpc":"2.0","id":7,"id":8,"result":{"content":[]}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":7,"result":{"content":[],"content":[]}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"\ud83e"}]}}"#
            .to_owned(),
        r#"{"jsonrpc":"2.0","id":7,"result":{"content":[]}} {}"#.to_owned(),
    ];
    for line in others {
        assert!(texts(line.as_bytes()).is_none(), "{line}");
    }
    assert!(texts(b"\xff").is_none());
}

#[test]
fn texts_as_json_are_the_blocks_that_they_were() {
    let said = UpstreamResult::Texts(vec!["a".to_owned(), "b".to_owned()]);
    let blocks = json!([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]);
    assert_eq!(said.into_value(), json!({"content": blocks}));
}
