//! What is published of several tools, in every form, as it is written down in
//! `providers/published.json`: the providers' own libraries check that file, see
//! `providers/test_providers.py`. With `JIG_WRITE_PUBLISHED=1` this test writes it.

#![expect(
    clippy::disallowed_methods,
    reason = "the file that another test reads is compared and written"
)]

use std::path::{Path, PathBuf};

use jig_proto::{Actions, Invocation, Published, SchemaForm, published, stateful_schema};
use serde_json::{Map, Value, json};

struct Tool {
    name: String,
    description: String,
    actions: Actions,
    parameters: Map<String, Value>,
}

fn file(name: &str) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/providers");
    tests.join(name)
}

fn tools() -> Vec<Tool> {
    let text = std::fs::read(file("tools.json")).expect("it is there");
    let tools: Vec<Value> = serde_json::from_slice(&text).expect("it is a list");
    let tools = tools.iter().map(|tool| {
        let text = |key: &str| tool[key].as_str().expect("it is a string").to_owned();
        let actions = tool["actions"].as_array().expect("it is a list");
        let actions = actions.iter().filter_map(Value::as_str);
        Tool {
            name: text("name"),
            description: text("description"),
            actions: Actions::from_names(actions).expect("they are actions"),
            parameters: tool["parameters"].as_object().expect("it is one").clone(),
        }
    });
    tools.collect()
}

impl Tool {
    fn published(&self, form: SchemaForm) -> Vec<Published> {
        let (name, description) = (&self.name, &self.description);
        published(name, description, &self.parameters, self.actions, form)
            .expect("the parameters are those of a tool")
    }
}

#[test]
fn s055_the_file_that_providers_check_is_what_is_published() {
    let written = tools().into_iter().map(|tool| {
        let forms: Map<String, Value> = SchemaForm::ALL
            .into_iter()
            .map(|form| {
                let list = tool.published(form).into_iter().map(|one| {
                    json!({
                        "name": one.name,
                        "description": one.description,
                        "parameters": one.parameters,
                        "action": one.action.map(|action| action.name()),
                    })
                });
                (form.name().to_owned(), list.collect())
            })
            .collect();
        let actions: Vec<&str> = tool.actions.iter().map(|action| action.name()).collect();
        json!({"name": tool.name, "actions": actions, "forms": forms})
    });
    let written: Vec<Value> = written.collect();
    let written = serde_json::to_string_pretty(&written).expect("it can be written") + "\n";
    let path = file("published.json");
    if std::env::var_os("JIG_WRITE_PUBLISHED").is_some() {
        std::fs::write(&path, &written).expect("it can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == written,
        "{} is not up to date: run this test with JIG_WRITE_PUBLISHED=1",
        path.display()
    );
}

/// What a model may send according to any of the forms is understood, and what we validate with
/// takes it.
#[test]
fn s050_calls_by_every_form_are_the_same_calls() {
    let tools = tools();
    let git = tools.iter().find(|tool| tool.name == "git").expect("git");
    let inside = stateful_schema(&git.parameters, git.actions).expect("it is a schema");
    let inside = jsonschema::validator_for(&Value::Object(inside)).expect("it is a schema");
    let calls = [
        json!({"action": "spawn", "command": "stage", "args": ["--patch"]}),
        json!({"action": "spawn", "command": "rebase", "id": "mine"}),
        json!({"action": "fetch", "id": "h_1"}),
        json!({"action": "fetch", "id": "h_1", "view": "screen", "wait_ms": 500}),
        json!({"action": "fetch", "id": "h_1", "after_seq": 7, "max_bytes": 0, "view": "all"}),
        json!({"action": "apply", "id": "h_1", "input": "y"}),
        json!({"action": "apply", "id": "h_1", "input": true, "view": "new"}),
        json!({"action": "apply", "id": "h_1", "input": {"keys": ["ctrl-c"]}}),
        json!({"action": "abort", "id": "h_1"}),
    ];
    for call in calls {
        assert!(inside.is_valid(&call), "{call}");
        let arguments = call.as_object().expect("it is an object").clone();
        let expected = Invocation::parse(arguments.clone(), git.actions).expect("it is a call");
        for form in SchemaForm::ALL {
            let taking: Vec<Invocation> = git
                .published(form)
                .iter()
                .filter_map(|one| {
                    let mut sent = arguments.clone();
                    if let Some(action) = one.action {
                        let meant = sent.shift_remove("action");
                        if meant != Some(json!(action.name())) {
                            return None;
                        }
                    }
                    let schema = Value::Object(one.parameters.clone());
                    let validator = jsonschema::validator_for(&schema).expect("it is a schema");
                    let value = Value::Object(sent.clone());
                    assert!(validator.is_valid(&value), "{form}: {value}");
                    assert_eq!(one.tool, "git");
                    Some(Invocation::parse(one.arguments(sent), git.actions).expect("a call"))
                })
                .collect();
            assert_eq!(taking, std::slice::from_ref(&expected), "{form}");
        }
    }
}
