//! Files as people have them, and as nobody has them.

use proptest::prelude::*;
use serde_json::json;

use super::*;

const PATH: &[&str] = &["mcpServers", "jig"];

fn entry() -> Json {
    json!({ "command": "jig", "args": ["mcp"] })
}

fn set(text: &str) -> Result<String, SettingsSyntaxError> {
    let splices = Document::parse(text)?.set(PATH, &entry())?;
    Ok(apply(text, &splices))
}

fn check(before: &str, after: &str) {
    assert_eq!(set(before).as_deref(), Ok(after), "of {before:?}");
}

#[test]
fn a_file_that_says_nothing_gets_an_object() {
    let block = "{\n  \"mcpServers\": {\n    \"jig\": {\n      \"command\": \"jig\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n";
    check("", block);
    check("\n", &format!("\n{block}"));
    check("// mine", &format!("// mine\n{block}"));
    check("/* mine */\n", &format!("/* mine */\n{block}"));
    check("\u{feff}", &format!("\u{feff}{block}"));
    check(
        "// a\r\n",
        &format!("// a\r\n{}", block.replace('\n', "\r\n")),
    );
}

#[test]
fn an_entry_goes_to_the_end_of_what_is_there() {
    check(
        "{}",
        "{\n  \"mcpServers\": {\n    \"jig\": {\n      \"command\": \"jig\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}",
    );
    check(
        "{\n  \"mcpServers\": {}\n}\n",
        "{\n  \"mcpServers\": {\n    \"jig\": {\n      \"command\": \"jig\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n",
    );
    check(
        "{\n    \"mcpServers\": {\n        \"a\": {}\n    }\n}\n",
        "{\n    \"mcpServers\": {\n        \"a\": {},\n        \"jig\": {\n            \"command\": \"jig\",\n            \"args\": [\"mcp\"]\n        }\n    }\n}\n",
    );
}

#[test]
fn comments_and_trailing_commas_stay() {
    check(
        "{\n\t\"mcpServers\": {\n\t\t\"a\": {}, // about a\n\t\t// the end\n\t},\n}",
        "{\n\t\"mcpServers\": {\n\t\t\"a\": {}, // about a\n\t\t// the end\n\t\t\"jig\": {\n\t\t\t\"command\": \"jig\",\n\t\t\t\"args\": [\"mcp\"]\n\t\t},\n\t},\n}",
    );
    // The comma goes before the comment that speaks of the item before.
    check(
        "{\n  \"mcpServers\": {\n    \"a\": {} // about a\n  }\n}",
        "{\n  \"mcpServers\": {\n    \"a\": {}, // about a\n    \"jig\": {\n      \"command\": \"jig\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}",
    );
    check(
        "{\n  \"mcpServers\": { // none yet\n  }\n}",
        "{\n  \"mcpServers\": { // none yet\n    \"jig\": {\n      \"command\": \"jig\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}",
    );
}

#[test]
fn what_is_on_one_line_stays_there() {
    let jig = r#""jig": { "command": "jig", "args": ["mcp"] }"#;
    check(
        r#"{"mcpServers":{"a":1}}"#,
        &format!(r#"{{"mcpServers":{{"a":1, {jig}}}}}"#),
    );
    check(
        r#"{"mcpServers":{"a":1,}}"#,
        &format!(r#"{{"mcpServers":{{"a":1, {jig},}}}}"#),
    );
    check(
        r#"{"mcpServers":{"a":1 /* , */ }}"#,
        &format!(r#"{{"mcpServers":{{"a":1, /* , */ {jig} }}}}"#),
    );
    check(
        r#"{"x": 1}"#,
        &format!(r#"{{"x": 1, "mcpServers": {{ {jig} }}}}"#),
    );
}

#[test]
fn an_entry_is_replaced_where_it_stands() {
    check(
        "{\n  \"mcpServers\": {\n    \"jig\": 1, // old\n    \"b\": 2\n  }\n}",
        "{\n  \"mcpServers\": {\n    \"jig\": {\n      \"command\": \"jig\",\n      \"args\": [\"mcp\"]\n    }, // old\n    \"b\": 2\n  }\n}",
    );
}

#[test]
fn a_value_is_pushed_to_a_list() {
    let check = |before: &str, after: &str| {
        let splices = Document::parse(before).unwrap().push("inputs", &json!(1));
        assert_eq!(apply(before, &splices.unwrap()), after);
    };
    check("", "{\n  \"inputs\": [1]\n}\n");
    check("{\"inputs\": []}", "{\"inputs\": [\n  1\n]}");
    check("{\"inputs\": [0]}", "{\"inputs\": [0, 1]}");
    check("{\"inputs\": [0,]}", "{\"inputs\": [0, 1,]}");
    let text = r#"{"inputs": 3}"#;
    let fault = Document::parse(text).unwrap().push("inputs", &json!(1));
    assert_eq!(
        fault.unwrap_err().to_string(),
        "line 1, column 12: `inputs` is not a list"
    );
}

#[test]
fn what_is_not_valid_is_named_with_its_place() {
    let check = |text: &str, expected: &str| {
        let fault = set(text).expect_err(text);
        assert_eq!(fault.to_string(), expected, "of {text:?}");
    };
    check(
        "{\n  \"a\": }",
        "line 2, column 8: a value was expected here",
    );
    check(
        "{\n  \"a\" 1}",
        "line 2, column 7: a `:` was expected after the key",
    );
    check(
        "{\n  a: 1}",
        "line 2, column 3: a key in double quotes or `}` was expected",
    );
    check(
        "{\"a\": 1 \"b\": 2}",
        "line 1, column 9: a comma or `}` was expected",
    );
    check(
        "{\"a\": [1 2]}",
        "line 1, column 10: a comma or `]` was expected",
    );
    check(
        "{\"a\": 1,, }",
        "line 1, column 9: a key in double quotes or `}` was expected",
    );
    check(
        "{\"a\": 1",
        "line 1, column 8: `}` is missing before the end",
    );
    check(
        "{\"ä\": \"x\n\"}",
        "line 1, column 7: this string does not end on its line",
    );
    check(
        "{\"a\": \"\\x\"}",
        "line 1, column 7: this string is not valid",
    );
    check("{} {}", "line 1, column 4: the file should end here");
    check("{} /* x", "line 1, column 4: this comment does not end");
    check(
        "{\"a\": nul}",
        "line 1, column 7: a value was expected here",
    );
    check(
        "{\"a\":",
        "line 1, column 6: a value was expected before the end of the file",
    );
    check(
        "[]",
        "line 1, column 1: an object was expected here, to hold `mcpServers`",
    );
    check(
        "{\"mcpServers\": 7}",
        "line 1, column 16: an object was expected here, to hold `jig`",
    );
    check(
        "{\"mcpServers\": {}, \"mcpServers\": {}}",
        "line 1, column 20: `mcpServers` is there twice",
    );
    check(
        &"[".repeat(100_000),
        "line 1, column 130: this is nested too deeply",
    );
}

/// Space and comments, as they may stand between any two things.
fn trivia() -> impl Strategy<Value = String> {
    let one = prop_oneof![
        6 => Just(String::new()),
        4 => Just(" ".to_owned()),
        4 => Just("\n".to_owned()),
        2 => Just("\n\t".to_owned()),
        1 => Just("\r\n    ".to_owned()),
        1 => Just("// , } \" ]\n".to_owned()),
        1 => Just("/* \" { // */".to_owned()),
    ];
    prop::collection::vec(one, 0..3).prop_map(|parts| parts.concat())
}

/// A value, and one way to write it.
fn written() -> impl Strategy<Value = (Json, String)> {
    let text = |value: Json| {
        let text = value.to_string();
        (value, text)
    };
    let leaf = prop_oneof![
        Just(text(Json::Null)),
        any::<bool>().prop_map(move |value| text(value.into())),
        any::<i32>().prop_map(move |value| text(value.into())),
        "[a-z\\\\\"/ä{},]{0,6}".prop_map(move |value| text(value.into())),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        let spaced = || (trivia(), trivia());
        let array = (
            prop::collection::vec((inner.clone(), spaced()), 0..4),
            trivia(),
            any::<bool>(),
        );
        let array = array.prop_map(|(items, end, comma)| {
            let values = items.iter().map(|((value, _), _)| value.clone()).collect();
            let parts: Vec<String> = items
                .iter()
                .map(|((_, text), (before, after))| format!("{before}{text}{after}"))
                .collect();
            let comma = if comma && !items.is_empty() { "," } else { "" };
            (
                Json::Array(values),
                format!("[{}{comma}{end}]", parts.join(",")),
            )
        });
        prop_oneof![array, object(inner)]
    })
}

fn object(inner: impl Strategy<Value = (Json, String)>) -> impl Strategy<Value = (Json, String)> {
    let key =
        prop_oneof![3 => "[a-d]", 1 => Just("mcpServers".to_owned()), 1 => Just("jig".to_owned())];
    let member = (key, inner, trivia(), trivia(), trivia());
    let members = (prop::collection::vec(member, 0..4), trivia(), any::<bool>());
    members.prop_map(|(members, end, comma)| {
        let mut object = serde_json::Map::new();
        let mut parts = Vec::new();
        for (key, (value, text), a, b, c) in members {
            if object.insert(key.clone(), value).is_none() {
                parts.push(format!("{a}{}{b}:{c}{text}", Json::from(key)));
            } else {
                // Two of one name are a mistake, which another test has.
                return (json!({}), format!("{{{end}}}"));
            }
        }
        let comma = if comma && !parts.is_empty() { "," } else { "" };
        (
            Json::Object(object),
            format!("{{{}{comma}{end}}}", parts.join(",")),
        )
    })
}

/// What the file has to say afterwards; `None` where something else is in the way.
fn with_entry(mut value: Json) -> Option<Json> {
    let all = value.as_object_mut()?;
    let servers = all.entry("mcpServers").or_insert_with(|| json!({}));
    servers.as_object_mut()?.insert("jig".to_owned(), entry());
    Some(value)
}

proptest! {
    /// What is read is what was written, and an entry changes nothing but itself: the result says what the file
    /// said and the entry, and what is outside of the splices is the file, byte for byte.
    #[test]
    fn an_entry_is_all_that_changes(
        ((value, text), before, after) in (object(written()), trivia(), trivia()),
    ) {
        let text = format!("{before}{text}{after}");
        let document = Document::parse(&text).unwrap();
        prop_assert_eq!(document.value(), Some(value.clone()));
        let splices = match (document.set(PATH, &entry()), with_entry(value.clone())) {
            (Ok(splices), Some(expected)) => {
                let edited = apply(&text, &splices);
                let read = Document::parse(&edited).unwrap().value();
                prop_assert_eq!(read, Some(expected), "{}", edited);
                splices
            }
            (Err(_), None) => return Ok(()),
            (splices, expected) => panic!("{splices:?} {expected:?} in {text}"),
        };
        let replaces = value.pointer("/mcpServers/jig").is_some();
        let mut end = 0;
        for splice in &splices {
            prop_assert!(splice.at.start >= end, "they are in order");
            prop_assert!(replaces || splice.at.is_empty(), "nothing is taken away");
            end = splice.at.end;
        }
        // A second time there is nothing to add.
        let edited = apply(&text, &splices);
        let again = Document::parse(&edited).unwrap();
        let found = again.get(PATH).unwrap().unwrap().0;
        prop_assert_eq!(found, entry());
    }

    /// Whatever a file holds, it is read or refused.
    #[test]
    fn no_text_is_too_strange(text in "[\\[\\]{}\",:/*\\\\a1 \n\u{feff}ä]{0,40}") {
        let _ = set(&text);
    }

    /// Plain JSON is read as everybody reads it.
    #[test]
    fn plain_json_is_understood((value, _) in written()) {
        let text = serde_json::to_string_pretty(&value).unwrap();
        prop_assert_eq!(Document::parse(&text).unwrap().value(), Some(value));
    }
}
