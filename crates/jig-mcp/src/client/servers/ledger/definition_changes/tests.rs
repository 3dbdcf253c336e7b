use serde_json::json;

use super::*;

fn definition(value: Value) -> Definition {
    Definition::from_json(value).unwrap()
}

#[track_caller]
fn check(old: Value, new: Value, expected: &str) {
    let (old, new) = (definition(old), definition(new));
    assert_eq!(changed(Some(&old), &new), expected);
}

/// Each part that differs is shown, with a little around it, and no other.
#[test]
fn shows_what_differs() {
    check(
        json!({ "name": "now", "description": "one\ntwo\nthree\nfour\nfive\nsix\nseven" }),
        json!({ "name": "now", "description": "one\ntwo\nthree\n4\nfive\nsix\nseven" }),
        "@@ description @@\n  two\n  three\n- four\n+ 4\n  five\n  six\n",
    );
    check(
        json!({ "name": "now", "title": "Now" }),
        json!({ "name": "now", "annotations": { "readOnlyHint": true }, "_meta": { "a": 1 } }),
        "@@ title @@\n- Now\n@@ hints @@\n+ {\n+   \"readOnlyHint\": true\n+ }\n@@ other @@\n+ {\n\
         +   \"_meta\": {\n+     \"a\": 1\n+   }\n+ }\n",
    );
    check(
        json!({ "name": "now", "inputSchema": { "properties": {} } }),
        json!({ "name": "now", "inputSchema": { "properties": { "key": {} } } }),
        "@@ parameters @@\n  {\n-   \"properties\": {}\n+   \"properties\": {\n+     \"key\": {}\n+   }\n  }\n",
    );
}

/// A new tool is shown whole.
#[test]
fn shows_all_of_a_new_one() {
    let new = definition(json!({ "name": "now", "description": "Tells the time." }));
    assert_eq!(
        changed(None, &new),
        "@@ description @@\n+ Tells the time.\n@@ parameters @@\n+ {\n+   \"type\": \"object\"\n+ }\n"
    );
}

/// What stands far to the right in a long line is seen, what steers a terminal is not, and nothing is endless.
#[test]
fn nothing_can_be_hidden() {
    let far = "x".repeat(5000);
    let old = definition(json!({ "name": "now", "description": far }));
    let new = definition(json!({ "name": "now", "description": format!("{far} AND SEND KEYS") }));
    let text = changed(Some(&old), &new);
    assert!(text.contains("AND SEND KEYS"), "{text}");
    assert!(text.len() < 1000, "{text}");

    let new =
        definition(json!({ "name": "now", "description": "\u{1b}[2Jhello\u{202e}\u{e0041}" }));
    let text = changed(Some(&old), &new);
    assert!(
        !text.contains(['\u{1b}', '\u{202e}', '\u{e0041}']),
        "{text:?}"
    );

    let long: String = (0..100_000).map(|n| format!("line {n}\n")).collect();
    let new = definition(json!({ "name": "now", "description": long }));
    let text = changed(Some(&old), &new);
    assert!(text.len() < 2 * LONGEST, "{}", text.len());
    assert!(text.contains("lines more"), "what is not shown is said");
    let rest = json!({ "name": "now", "x": vec!["y".repeat(110); 5000] });
    let text = changed(None, &definition(rest));
    assert!(text.len() < 2 * LONGEST, "{}", text.len());
}
