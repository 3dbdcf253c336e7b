//! Prompts from topics.

use rmcp::model::GetPromptRequestParams;
use serde_json::{Value, json};

use super::{get, list};
use crate::testing;

const TOPIC: [&str; 3] = [
    "kb.topic.style.subjects=docs",
    "kb.topic.style.title=House style",
    "kb.topic.style.introduction=How we write.",
];
const FILES: [(&str, &str); 2] = [
    ("docs/naming.md", "Names are nouns."),
    ("docs/errors.md", "Errors are fragments."),
];

#[test]
fn there_is_one_for_each_topic() {
    let prompts = |sets: &[&str]| {
        let listed = list(&testing::server(sets, &[]), None).expect("a page");
        json!(listed.prompts)
    };
    assert_eq!(prompts(&[]), json!([]));
    let listed = prompts(&TOPIC);
    assert_eq!(listed[0]["name"], "style");
    assert_eq!(listed[0]["title"], "House style");
    assert_eq!(listed[0]["description"], "How we write.");
    assert_eq!(listed[0]["arguments"][0]["name"], "subject");
    assert_eq!(listed[0]["arguments"][0]["required"], false);
    let off = [TOPIC[0], "kb.topic.style.enable=false"];
    assert_eq!(prompts(&off), json!([]));
    let no_tool = [TOPIC[0], "tools.learn.enable=false"];
    assert_eq!(prompts(&no_tool), json!([]));
}

#[test]
#[cfg(feature = "wasm-tools")]
fn the_text_is_what_learn_says() {
    let shared = testing::server(&TOPIC, &FILES);
    let caller = testing::caller();
    let ask = |name: &str, arguments: Value| {
        let mut asked = GetPromptRequestParams::new(name);
        asked.arguments = arguments.as_object().cloned();
        get(&shared, &caller, asked).map_err(|error| error.code.0)
    };
    let text = |arguments: Value| {
        let result = ask("style", arguments).expect("a prompt");
        assert_eq!(result.description.as_deref(), Some("How we write."));
        let message = result.messages.first().expect("a message");
        message.content.as_text().expect("text").text.clone()
    };
    for none in [
        json!(null),
        json!({}),
        json!({ "subject": "" }),
        json!({ "subject": null }),
    ] {
        let listing = text(none);
        assert!(
            listing.contains("naming") && listing.contains("errors"),
            "{listing}"
        );
        assert!(!listing.contains("nouns"), "{listing}");
    }
    let naming = text(json!({ "subject": "naming" }));
    assert!(naming.contains("Names are nouns."), "{naming}");
    assert!(!naming.contains("fragments"), "{naming}");
    assert_eq!(ask("nothing", json!({})).err(), Some(-32602));
    assert_eq!(ask("style", json!({ "subject": 7 })).err(), Some(-32602));
    assert_eq!(
        ask("style", json!({ "subject": "../secret" })).err(),
        Some(-32602)
    );
}
