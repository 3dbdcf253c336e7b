use serde_json::json;

use super::{GuestDescription, MAX_DESCRIPTION, MAX_NAME, MAX_TOOLS, read};
use crate::ComponentError;

fn one(name: &str, description: &str, parameters: &str) -> GuestDescription {
    GuestDescription {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters: parameters.to_owned(),
    }
}

#[test]
fn what_a_component_says_is_read() {
    let said = vec![
        one("a", "Does a.", "{\"type\": \"object\", \"properties\": {}}"),
        one("b", "", "{}"),
    ];
    let read = read(said).unwrap();
    assert_eq!(read[0].name, "a");
    assert_eq!(read[0].parameters["properties"], json!({}));
    assert_eq!(read[1].description, "");
}

#[test]
fn what_is_no_description_is_refused() {
    let check = |said: Vec<GuestDescription>, expected: &str| {
        let error = read(said).unwrap_err();
        assert!(matches!(error, ComponentError::Describe(_)));
        assert!(error.to_string().contains(expected), "{error}");
    };
    check(vec![one("", "", "{}")], "a name must have");
    check(
        vec![one(&"x".repeat(MAX_NAME + 1), "", "{}")],
        "a name must have",
    );
    check(
        vec![one("a", "", "{}"), one("a", "", "{}")],
        "`a` is there twice",
    );
    check(vec![one("a", "", "[]")], "no JSON object");
    check(vec![one("a", "", "{")], "no JSON");
    check(vec![one("a", "", &"[".repeat(100_000))], "no JSON");
    let long = "x".repeat(MAX_DESCRIPTION + 1);
    check(vec![one("a", &long, "{}")], "more than");
    let many = (0..=MAX_TOOLS).map(|number| one(&number.to_string(), "", "{}"));
    check(many.collect(), "are the most");
    // Each is small enough, and a model would read a book.
    let schema = format!("{{\"x\": \"{}\"}}", "y".repeat(200_000));
    let large = (0..MAX_TOOLS).map(|number| one(&number.to_string(), "", &schema));
    check(large.collect(), "all in all");
    for name in ["a\nb", "a\u{1b}[2J", "a\u{202e}b", "a\u{9b}b"] {
        check(vec![one(name, "", "{}")], "cannot be shown");
    }
}

/// What it says is shown in terminals.
#[test]
fn a_description_is_plain_text() {
    let said = vec![one(
        "a",
        "Does\n\ta.\u{1b}[2J\u{1b}]0;title\u{7}\u{202e}",
        "{}",
    )];
    assert_eq!(read(said).unwrap()[0].description, "Does\n\ta.");
}
