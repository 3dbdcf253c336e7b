//! Arguments as a tool shows them to whoever decides about the call (J-010, G-108).

use jig_engine::Call;
use serde_json::json;

use crate::stdio::{Person, World};

const SETTINGS: &str = "command = 'python3 tool.py {{context}} {{tool}}'\nstyle.parameters = 'python3 tool.py {{context}} {{tool}}'\n\
    run = 'ask'\nparameters.x.type = 'string'\naccess.fs = [{ path = '.', read = true, write = true }]\n";

const SCRIPT: &str = "import json, sys\ncontext, tool = json.loads(sys.argv[1]), json.loads(sys.argv[2])\n\
    open(context['action'], 'w').close()\n\
    rules = len(context['access']['fs'])\n\
    print(json.dumps({'type': 'success', 'content': context['action'] + ' ' + tool['arguments']['x'] + ' ' + str(rules)}))";

fn world(more: &str) -> World {
    let settings = format!("{SETTINGS}{more}");
    World::with(&settings, &[("tool.py", SCRIPT)], |_| {})
}

#[test]
fn j010_g060_g108_the_tool_formats_its_arguments_under_its_policy() {
    let world = world("format = 'unattended'\n");
    let person = Person::answering([json!(true)]);
    let text = world.asked(json!({ "x": "v" }), person.clone()).unwrap();
    assert_eq!(text, "run v 1");
    let asked = person.asked.lock().unwrap();
    assert_eq!(
        asked[0].context.as_deref(),
        Some("$ python3 tool.py {{context}} {{tool}}\nformat_arguments v 1")
    );
}

/// Nothing of a tool runs before somebody agreed, unless the configuration says so.
#[test]
fn j023_by_default_nothing_is_formatted_before_somebody_agreed() {
    let world = world("");
    let person = Person::answering([json!(false)]);
    world
        .asked(json!({ "x": "v" }), person.clone())
        .unwrap_err();
    assert!(!world.has("format_arguments") && !world.has("run"));
    let asked = person.asked.lock().unwrap();
    assert_eq!(
        asked[0].context.as_deref(),
        Some("$ python3 tool.py {{context}} {{tool}}\n{\n  \"x\": \"v\"\n}")
    );
}

#[test]
fn words_of_display_are_no_programs() {
    for word in ["json", "function_call", "off"] {
        let world = World::new(&format!("command = 'echo hi'\nstyle.parameters = '{word}'"));
        let call = Call::new("tool", json!({}));
        assert_eq!(world.engine.format_arguments(&call).unwrap(), None);
    }
    let world = World::new(
        "command = 'echo hi'\nstyle.parameters = { program = 'echo', args = ['{{context.action}}'] }",
    );
    let call = Call::new("tool", json!({}));
    let formatted = world.engine.format_arguments(&call).unwrap();
    assert_eq!(formatted.as_deref(), Some("format_arguments\n"));
}

#[test]
fn a_formatter_that_fails_is_passed_over() {
    let world = World::new(
        "command = 'echo hi'\nstyle.parameters = 'false'\nrun = 'ask'\nformat = 'unattended'",
    );
    let person = Person::answering([json!(true)]);
    assert_eq!(world.asked(json!({}), person.clone()).unwrap(), "hi\n");
    assert_eq!(
        person.asked.lock().unwrap()[0].context.as_deref(),
        Some("$ echo hi")
    );
}
