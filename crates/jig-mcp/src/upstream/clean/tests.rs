use jig_broker::Secrets;
use serde_json::{Value, json};

use super::clean;

fn check(secret: &str, mut said: Value, shown: Value) {
    let secrets = Secrets::new();
    secrets.remember(secret);
    clean(&mut said, &secrets.scrubber().expect("a secret"));
    assert_eq!(said, shown);
}

#[test]
fn texts_and_names_lose_it_however_deep_they_lie() {
    check(
        "swordfish",
        json!({"a": [{"swordfish": ["my swordfish", 1, null, true]}], "b": "fish"}),
        json!({"a": [{"[REDACTED]": ["my [REDACTED]", 1, null, true]}], "b": "fish"}),
    );
}

#[test]
fn of_names_that_become_one_the_first_counts() {
    check(
        "swordfish",
        json!({"a": 0, "[REDACTED]": 1, "swordfish": 2}),
        json!({"a": 0, "[REDACTED]": 1}),
    );
}

#[test]
fn a_secret_that_is_an_ordinary_word_breaks_no_schema() {
    check(
        "string",
        json!({"type": "string", "properties": {"a string": {"type": ["string", "null"]}}}),
        json!({"type": "string", "properties": {"a [REDACTED]": {"type": ["string", "null"]}}}),
    );
}
