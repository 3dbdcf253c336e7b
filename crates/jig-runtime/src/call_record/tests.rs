use serde_json::json;

use super::*;

#[test]
fn long_arguments_are_told_by_their_size() {
    let check = |arguments: Value, expected: &str| {
        let Value::Object(arguments) = arguments else {
            panic!("arguments are an object");
        };
        assert_eq!(shown(&arguments), expected);
    };
    check(json!({}), "");
    check(
        json!({ "command": "touch z", "n": 3 }),
        r#"{"command":"touch z","n":3}"#,
    );
    check(
        json!({ "content": "x".repeat(501), "list": ["y".repeat(600)], "path": "a" }),
        r#"{"content":"[501 bytes]","list":"[604 bytes]","path":"a"}"#,
    );
}
