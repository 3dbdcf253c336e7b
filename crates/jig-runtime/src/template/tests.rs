use jig_proto::Action;
use serde_json::json;

use super::*;

fn values() -> Values {
    let serde_json::Value::Object(arguments) = json!({
        "path": "a b; rm -rf /", "n": 3, "list": [1, "x"], "flag": true, "none": null,
        "nested": { "deep": ["ü"] },
    }) else {
        panic!("an object");
    };
    let input = ToolInput {
        name: "t".to_owned(),
        arguments,
        ..ToolInput::default()
    };
    Values::new(
        &input,
        &Context::new("/ws", Action::Run),
        false,
        Some("/in"),
    )
}

fn check(word: &str, expected: &str) {
    assert_eq!(values().fill(word).unwrap(), expected, "{word}");
}

#[test]
fn j002_j005_j006_words_are_filled_in() {
    check("plain", "plain");
    check("{{tool.name}}", "t");
    check("{{tool.arguments.path}}", "a b; rm -rf /");
    check("--n={{tool.arguments.n}}", "--n=3");
    check("{{tool.arguments.flag}}", "true");
    check("{{tool.arguments.list}}", "[1,\"x\"]");
    check("{{tool.arguments.nested}}", "{\"deep\":[\"ü\"]}");
    // Never the word `null`, but for JSON.
    check("{{tool.arguments.none}}", "");
    check("{{tool.arguments.missing}}", "");
    check("{{tool.arguments.missing.deeper}}", "");
    check("--x={{tool.arguments.missing}}", "--x=");
    check("{{ [tool.arguments.none] }}", "[null]");
    check("{{tool.arguments.none|tojson}}", "null");
    check("{{tool.answers}}{{tool.options}}", "{}{}");
    check("{{tool.arguments.missing|default('')}}", "");
    check("{{tool.arguments.path|tojson}}", "\"a b; rm -rf /\"");
    check("{{context.root}}", "/ws");
    check("{{context.action}}", "run");
    check(
        "{{context.workspace_id}}{{context.conversation_id}}",
        "jigjig",
    );
    check("{{input.file}}", "/in");
    check("{% if tool.arguments.flag %}yes{% endif %}", "yes");
    check("a{# a note #}b", "ab");
}

#[test]
fn j007_the_call_as_two_arguments() {
    let tool: serde_json::Value =
        serde_json::from_str(&values().fill("{{tool}}").unwrap()).unwrap();
    assert_eq!(tool["name"], "t");
    assert_eq!(tool["arguments"]["n"], 3);
    assert_eq!(tool["answers"], json!({}));
    let context: serde_json::Value =
        serde_json::from_str(&values().fill("{{context}}").unwrap()).unwrap();
    // J-008: tools require all of them.
    for field in ["root", "action", "workspace_id", "conversation_id"] {
        assert!(context[field].is_string(), "{field} in {context}");
    }
}

#[test]
fn a_broken_template_names_its_word() {
    let error = values().fill("{{ nonsense").unwrap_err();
    assert_eq!(error.word, "{{ nonsense");
    let endless =
        "{% for i in range(100000) %}{% for j in range(100000) %}x{% endfor %}{% endfor %}";
    assert!(values().fill(endless).is_err());
    assert!(values().fill_script("echo \u{10fffe}1\u{10fffe}").is_err());
}

#[test]
fn j004_values_stay_apart_from_a_script() {
    let check = |script: &str, text: &str, expected: &[&str]| {
        let script = values().fill_script(script).unwrap();
        assert_eq!(
            (script.text.as_str(), &script.values[..]),
            (
                text,
                &expected[..]
                    .iter()
                    .map(|v| (*v).to_owned())
                    .collect::<Vec<_>>()[..]
            )
        );
    };
    check(
        "cat {{tool.arguments.path}} | head -n {{tool.arguments.n}}",
        "cat \"${jig_1}\" | head -n \"${jig_2}\"",
        &["a b; rm -rf /", "3"],
    );
    check("date", "date", &[]);
    // A value that is made of values is one value.
    check(
        "{% set both %}{{tool.name}}-{{tool.arguments.n}}{% endset %}echo {{both}}",
        "echo \"${jig_3}\"",
        &["t", "3", "t-3"],
    );
}

/// A command can tell whether it is spawned; otherwise there is no such member at all.
#[test]
fn only_a_spawned_tool_has_an_action() {
    let context = Context::new("/ws", Action::Run);
    let fill = |is_spawned| {
        let values = Values::new(&ToolInput::default(), &context, is_spawned, None);
        let word = "{{tool.action|default('none')}}{{tool}}";
        values.fill(word).unwrap()
    };
    assert!(fill(true).starts_with("spawn{"), "{}", fill(true));
    assert!(
        fill(true).contains("\"action\":\"spawn\""),
        "{}",
        fill(true)
    );
    assert!(fill(false).starts_with("none{"), "{}", fill(false));
    assert!(!fill(false).contains("action"), "{}", fill(false));
}
