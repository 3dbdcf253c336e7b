use serde_json::json;

use super::{MAX_DESCRIPTION, MAX_NAME, MAX_TOOLS, Said, read};
use crate::ComponentError;

fn one(name: &str, description: &str, parameters: &str) -> Said {
    Said {
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
    let check = |said: Vec<Said>, expected: &str| {
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
}
