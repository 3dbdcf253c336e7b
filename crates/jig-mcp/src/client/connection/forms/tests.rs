//! Questions of servers, and their answers.

use jig_proto::Prompt;
use serde_json::{Value, json};

use super::UpstreamForm;
use crate::client::connection::ElicitationAnswer;

fn form(fields: Value) -> UpstreamForm {
    let schema = json!({"type": "object", "properties": fields});
    UpstreamForm::of(&json!({"message": "Well?", "requestedSchema": schema})).expect("a form")
}

/// The fields of a form, an answer, and the content that the server gets.
#[test]
fn answers() {
    let check = |fields: Value, answer: Value, content: Value| {
        let result = form(fields.clone()).result(ElicitationAnswer::Given(answer));
        let expected = json!({"action": "accept", "content": content});
        assert_eq!(result, expected, "{fields}");
    };
    let name = json!({"name": {"type": "string"}});
    check(name, json!("me"), json!({"name": "me"}));
    check(json!({}), json!(true), json!({}));
    let two = json!({"a": {"type": "integer"}, "b": {"type": "boolean", "default": false}});
    check(two.clone(), json!({"a": 1}), json!({"a": 1, "b": false}));
    check(
        two.clone(),
        json!({"a": 1, "b": true}),
        json!({"a": 1, "b": true}),
    );
    check(two, json!({}), json!({"b": false}));
}

#[test]
fn an_answer_that_is_none_is_none() {
    let two = form(json!({"a": {}, "b": {}}));
    assert_eq!(
        two.result(ElicitationAnswer::Given(json!("x"))),
        json!({"action": "cancel"})
    );
    assert_eq!(
        two.result(ElicitationAnswer::Declined),
        json!({"action": "decline"})
    );
    assert_eq!(
        two.result(ElicitationAnswer::Cancelled),
        json!({"action": "cancel"})
    );
    let confirmation = form(json!({}));
    assert_eq!(
        confirmation.result(ElicitationAnswer::Given(json!(false))),
        json!({"action": "decline"})
    );
}

#[test]
fn a_form_with_one_field_is_a_question_that_a_terminal_can_show() {
    let prompt = |field: Value| form(json!({"it": field})).question().clone();
    assert_eq!(prompt(json!({"type": "boolean"})).prompt(), Prompt::YesNo);
    assert_eq!(prompt(json!({"type": "string"})).prompt(), Prompt::Text);
    let options = [json!("a"), json!("b")];
    assert_eq!(
        prompt(json!({"type": "string", "enum": options})).prompt(),
        Prompt::Select(&options)
    );
    let titled = json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]});
    let titled = prompt(titled);
    assert_eq!(titled.prompt(), Prompt::Select(&options));
    assert_eq!(titled.schema["enumNames"], json!(["A", "B"]));
    let default = prompt(json!({"type": "string", "default": "x"}));
    assert_eq!(default.default, Some(json!("x")));
    assert_eq!(default.id, "it");
}

#[test]
fn defaults_of_several_fields_are_the_default_of_the_question() {
    let form = form(json!({"a": {"default": 1}, "b": {}, "c": {"default": null}}));
    assert_eq!(form.question().default, Some(json!({"a": 1})));
}

#[test]
fn the_text_of_a_server_cannot_steer_a_terminal() {
    let schema = json!({"type": "object", "properties": {}});
    let message = "Sure?\n\u{1b}]0;title\u{7}more";
    let form =
        UpstreamForm::of(&json!({"message": message, "requestedSchema": schema})).expect("a form");
    let question = form.question();
    assert_eq!(question.text, "Sure?");
    let context = question.context.as_deref().expect("more than a line");
    assert!(
        context.contains("title") && !context.contains('\u{1b}'),
        "{context:?}"
    );
    let long = "x".repeat(1 << 20);
    let form =
        UpstreamForm::of(&json!({"message": long, "requestedSchema": schema})).expect("a form");
    assert!(form.question().text.len() <= 8 << 10);
}

/// Parameters that are no form.
#[test]
fn what_is_no_form_is_refused() {
    let big = json!({"type": "object", "properties": {"a": {"description": "x".repeat(1 << 17)}}});
    for params in [
        json!(null),
        json!({}),
        json!({"message": "x"}),
        json!({"message": "x", "requestedSchema": []}),
        json!({"message": "x", "requestedSchema": big}),
        json!({"message": "x", "mode": "url", "url": "https://example.com"}),
        json!({"message": "x", "mode": "smell"}),
    ] {
        let refused = UpstreamForm::of(&params).expect_err("no form");
        assert_eq!(
            refused.told.is_some(),
            params.get("url").is_some(),
            "{params}"
        );
    }
}
