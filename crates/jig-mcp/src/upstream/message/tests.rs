//! What is a message.

use serde_json::{Map, Value, json};

use super::{Message, Reply, notification, reply, request, weight, words};

/// What a server sends, as it is understood.
#[test]
fn messages() {
    let check = |value: Value, expected: &str| {
        let shown = match Message::of(value.clone()) {
            Some(Message::Answer { id, answer: Ok(_) }) => format!("result {id:?}"),
            Some(Message::Answer {
                id,
                answer: Err(error),
            }) => format!("error {id:?} {}", error.code),
            Some(Message::Request { id, method, .. }) => format!("request {id} {method}"),
            Some(Message::Notification { method, .. }) => format!("notification {method}"),
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
        parsed(reply(&json!("x"), &Reply::Result(json!({})))),
        json!({"jsonrpc": "2.0", "id": "x", "result": {}})
    );
    let refused = parsed(reply(&json!(1), &Reply::no_such_method("m")));
    assert_eq!(refused["error"]["code"], -32601);
}

#[test]
fn words_are_short_and_printable() {
    assert_eq!(words("a\nb\u{1b}"), "a b\u{fffd}");
    assert!(words(&"ü".repeat(5000)).len() < 1010);
}

#[test]
fn a_value_weighs_about_as_much_as_its_text() {
    let value = json!({"name": "x", "list": [1, true, null, "text"], "more": {"a": {}}});
    let text = value.to_string().len();
    let weight = weight(&value);
    assert!(weight.abs_diff(text) < 20, "{weight} for {text}");
}
