//! Questions as forms, and answers to them.

use jig_config::QuestionTarget;
use jig_engine::{About, Answer, Ask};
use jig_proto::Question;
use rmcp::model::ElicitRequestParams;
use serde_json::{Value, json};

use super::{CallSubject, ClientForm, FormReply, LONGEST_ANSWER};

fn form(about: About, question: &Question) -> ClientForm {
    let ask = Ask {
        tool: "tool",
        question,
        about,
        gone: None,
    };
    ClientForm::of(&ask, &CallSubject::default())
}

fn tool(question: &Question) -> ClientForm {
    form(About::Tool(QuestionTarget::User), question)
}

/// The fields that a client is shown.
fn fields(form: &ClientForm) -> Value {
    match form.request(None) {
        ElicitRequestParams::FormElicitationParams {
            requested_schema, ..
        } => serde_json::to_value(requested_schema).expect("JSON")["properties"].take(),
        other => panic!("{other:?}"),
    }
}

/// The answer that a response comes to.
fn read(form: &ClientForm, response: Value) -> Result<Answer, String> {
    match form.read(response)? {
        FormReply::Decided(answer) | FormReply::PutAway(answer) => Ok(answer),
    }
}

fn accept(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

#[test]
fn a_run_and_an_access_are_a_choice() {
    let run = form(About::Run, &Question::yes_no("run", "Run `tool`?"));
    let access = Question::select("access-1", "May it?", ["once", "turn", "no"]);
    let access = form(About::Access, &access);
    let rejected = |reason: &str| Answer::Rejected(reason.to_owned());
    let cases = [
        (
            json!({ "decision": "allow once" }),
            Answer::Given(true.into()),
            Answer::Given("once".into()),
        ),
        (
            json!({ "decision": "allow for this turn", "reason": "why not" }),
            Answer::GivenForTurn(true.into()),
            Answer::Given("turn".into()),
        ),
        (
            json!({ "decision": "deny", "reason": " because\n " }),
            rejected("denied in the form of the client"),
            rejected("denied in the form of the client"),
        ),
        (
            json!({ "decision": "deny", "reason": 7 }),
            rejected("denied in the form of the client"),
            rejected("denied in the form of the client"),
        ),
    ];
    for (content, of_run, of_access) in cases {
        assert_eq!(read(&run, accept(content.clone())), Ok(of_run), "{content}");
        assert_eq!(
            read(&access, accept(content.clone())),
            Ok(of_access),
            "{content}"
        );
    }
    for wrong in [
        json!({}),
        json!({ "decision": true }),
        json!({ "decision": "once" }),
    ] {
        read(&run, accept(wrong.clone())).expect_err(&wrong.to_string());
        read(&access, accept(wrong.clone())).expect_err(&wrong.to_string());
    }
    for action in ["decline", "cancel"] {
        let response = json!({ "action": action, "content": { "decision": "allow once" } });
        assert!(matches!(
            read(&run, response.clone()),
            Ok(Answer::Rejected(_))
        ));
        assert!(matches!(read(&access, response), Ok(Answer::Rejected(_))));
    }
}

#[test]
fn a_question_is_asked_by_its_schema() {
    // The schema, the field that is shown, an answer that fits, what it means, and one that does not fit.
    let cases = [
        (
            json!({ "type": "boolean" }),
            "boolean",
            json!(true),
            json!(true),
            json!("yes"),
        ),
        (
            json!({ "type": "string", "minLength": 1 }),
            "string",
            json!("x"),
            json!("x"),
            json!(""),
        ),
        (
            json!({ "type": "integer", "minimum": 1 }),
            "integer",
            json!(2),
            json!(2),
            json!(0),
        ),
        (
            json!({ "type": "number" }),
            "number",
            json!(0.5),
            json!(0.5),
            json!("a"),
        ),
        (
            json!({ "enum": ["a", "b"] }),
            "string",
            json!("b"),
            json!("b"),
            json!("c"),
        ),
        (
            json!({ "enum": [1, null] }),
            "string",
            json!("null"),
            Value::Null,
            json!("2"),
        ),
        (
            json!({ "type": "array", "items": { "type": "integer" } }),
            "string",
            json!("[1]"),
            json!([1]),
            json!("[\"a\"]"),
        ),
        (
            json!({ "type": "object", "properties": { "o": { "type": "object" } } }),
            "string",
            json!("{\"o\":{}}"),
            json!({ "o": {} }),
            json!("{"),
        ),
        (json!(true), "string", json!("7"), json!(7), json!("seven")),
    ];
    for (schema, kind, fitting, meaning, wrong) in cases {
        let form = tool(&Question::new("q", "Which?", schema.clone()));
        let fields = fields(&form);
        assert_eq!(fields["answer"]["type"], kind, "{schema}: {fields}");
        let answer = read(&form, accept(json!({ "answer": fitting })));
        assert_eq!(answer, Ok(Answer::Given(meaning)), "{schema}");
        read(&form, accept(json!({ "answer": wrong }))).expect_err(&schema.to_string());
        read(&form, accept(json!({}))).expect_err(&schema.to_string());
    }
}

#[test]
fn a_flat_object_is_a_form_of_its_own_with_its_defaults() {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "string", "default": "John" },
            "age": { "type": "integer", "default": 30 },
            "score": { "type": "number", "default": 95.5 },
            "status": { "type": "string", "enum": ["active", "inactive"], "default": "active" },
            "verified": { "type": "boolean", "default": true },
            "colour": { "type": "string", "oneOf": [{ "const": "r", "title": "Red" }] },
            "several": { "type": "array", "items": { "type": "string", "enum": ["a", "b"] } },
        },
        "required": ["name"],
    });
    let question = Question::new("q", "Who?", schema).with_default(json!({ "name": "Jane" }));
    let form = tool(&question);
    let fields = fields(&form);
    assert_eq!(fields["name"]["default"], "Jane");
    assert_eq!(fields["age"]["default"], 30);
    assert_eq!(fields["score"]["default"], 95.5);
    assert_eq!(fields["status"]["default"], "active");
    assert_eq!(fields["verified"]["default"], true);
    assert_eq!(fields["colour"]["oneOf"][0]["title"], "Red");
    assert_eq!(fields["several"]["items"]["enum"][1], "b");
    let content = json!({ "name": "Ann", "age": 3, "several": ["b"] });
    let answer = read(&form, accept(content.clone()));
    assert_eq!(answer, Ok(Answer::Given(content)));
    for wrong in [
        json!({}),
        json!({ "name": "x", "status": "gone" }),
        json!({ "name": 1 }),
    ] {
        read(&form, accept(wrong.clone())).expect_err(&wrong.to_string());
    }
}

#[test]
fn a_default_is_shown() {
    let cases = [
        (json!({ "type": "boolean" }), json!(true), json!(true)),
        (json!({ "type": "string" }), json!("x"), json!("x")),
        (json!({ "enum": [1, 2] }), json!(2), json!("2")),
        (json!({ "type": "array" }), json!([1]), json!("[\n  1\n]")),
    ];
    for (schema, default, shown) in cases {
        let question = Question::new("q", "Which?", schema.clone()).with_default(default);
        assert_eq!(
            fields(&tool(&question))["answer"]["default"],
            shown,
            "{schema}"
        );
    }
}

#[test]
fn arguments_are_edited_as_text() {
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let question = Question::new("arguments", "Edit them.", schema);
    let question = question.with_default(json!({ "path": "a" }));
    let form = form(About::Arguments, &question);
    assert_eq!(
        fields(&form)["answer"]["default"],
        "{\n  \"path\": \"a\"\n}"
    );
    let answer = read(&form, accept(json!({ "answer": "{\"path\":\"b\"}" })));
    assert_eq!(answer, Ok(Answer::Given(json!({ "path": "b" }))));
}

#[test]
fn what_is_no_response_is_no_answer() {
    let form = tool(&Question::yes_no("q", "Sure?"));
    let huge = json!({ "answer": true, "more": "x".repeat(LONGEST_ANSWER) });
    for wrong in [
        Value::Null,
        json!(7),
        json!({}),
        json!({ "action": "allow" }),
        json!({ "action": "accept" }),
        accept(json!([true])),
        accept(huge),
    ] {
        let shown: String = wrong.to_string().chars().take(60).collect();
        read(&form, wrong).expect_err(&shown);
    }
    assert_eq!(
        read(&form, json!({ "action": "cancel" })),
        Ok(Answer::Cancel)
    );
}

#[test]
fn what_is_shown_is_printable_bounded_and_marked() {
    let mut question = Question::yes_no("q", "Run\u{1b}[2J\n`other`?");
    question.context = Some(format!("a\u{202e}b\n{}", "x".repeat(1 << 20)));
    question.schema = json!({ "type": "boolean", "title": "\u{7}", "description": "\u{1b}" });
    let form = tool(&question);
    let shown = serde_json::to_string(&form.request(Some("Wrong."))).expect("JSON");
    assert!(shown.len() < 100 << 10, "{}", shown.len());
    assert!(shown.contains("The tool `tool` asks: Run"));
    assert!(shown.contains("bytes more"));
    assert!(shown.contains("Wrong."));
    for bad in ["\\u001b", "\\u0007", "\u{202e}"] {
        assert!(!shown.contains(bad));
    }
}

/// A tool writes its schema: whatever that is, there is a form, and it can be answered.
#[test]
fn every_schema_has_a_form() {
    for schema in [
        json!(false),
        json!({}),
        json!({ "type": 7 }),
        json!({ "enum": [] }),
        json!({ "enum": 7 }),
        json!({ "type": "object" }),
        json!({ "type": "object", "properties": {} }),
        json!({ "type": "object", "properties": { "a": 7 } }),
        json!({ "type": "string", "default": { "not": "text" } }),
        json!({ "$ref": "https://example.com/schema" }),
    ] {
        let form = tool(&Question::new("q", "?", schema.clone()));
        let fields = fields(&form);
        assert_eq!(
            fields.as_object().map(serde_json::Map::len),
            Some(1),
            "{schema}: {fields}"
        );
    }
}

/// Clients may show the first line only: it says which tool, on what, and how much.
#[test]
fn the_first_line_says_what_a_run_is_about() {
    let mut question = Question::yes_no("run", "Run `tool`?");
    question.context = Some("{\n  \"all\": \"of it\"\n}".to_owned());
    let check = |arguments: Value, expected: &str| {
        let ask = Ask {
            tool: "tool",
            question: &question,
            about: About::Run,
            gone: None,
        };
        let subject = CallSubject::of(arguments.as_object().unwrap());
        let form = ClientForm::of(&ask, &subject);
        let ElicitRequestParams::FormElicitationParams { message, .. } = form.request(None) else {
            panic!("no form");
        };
        let (first, rest) = message.split_once("\n\n").unwrap();
        assert_eq!(first, expected, "{arguments}");
        // Nothing of what there was is missing.
        assert_eq!(rest, question.context.as_deref().unwrap());
    };
    check(json!({}), "Run `tool`?");
    check(json!({ "count": 3 }), "Run `tool`?");
    check(
        json!({ "content": "hello\n", "path": "a.txt" }),
        "Run `tool`: a.txt, 6 bytes?",
    );
    check(
        json!({ "patterns": [{ "old": "a", "new": "bc" }], "path": "a.txt" }),
        "Run `tool`: a.txt, 3 bytes?",
    );
    check(
        json!({ "paths": ["a", "b", "c", "d"] }),
        "Run `tool`: a, b, c, …?",
    );
    check(
        json!({ "action": "spawn", "command": "make" }),
        "Start `tool`, and leave it running: make?",
    );
    check(
        json!({ "action": "spawn" }),
        "Start `tool`, and leave it running?",
    );
    // Attack: a target that is to look like more lines, or to push the size out of sight.
    check(
        json!({ "path": "a\nAllowed already", "content": "x" }),
        "Run `tool`: a\\nAllowed already, 1 byte?",
    );
    let long = "a".repeat(10_000);
    let shown = format!("Run `tool`: {}, 1 byte?", "a".repeat(120));
    check(json!({ "path": long, "content": "x" }), &shown);
}
