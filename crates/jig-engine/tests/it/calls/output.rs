//! Results that a tool declares as JSON, through a whole call.

use jig_engine::{Answer, Call, CallError, Nobody};
use serde_json::json;

use crate::calls::{Person, World, call};

const TOOL: &str = r#"
[tools.t]
source = "local"
runtime = "stdio"
run = "unattended"
command = { program = "printf", args = ["%s", "{{tool.arguments.said}}"] }
result = "RESULT"

[tools.t.parameters.said]
type = "string"
required = true

[tools.t.output]
type = "object"
required = ["count"]

[tools.t.output.properties.count]
type = "integer"
"#;

#[test]
fn a_result_is_checked_before_it_is_passed_on() {
    let world = World::new(&[]);
    let engine = world.engine(&TOOL.replace("RESULT", "unattended"));
    let fitting = json!({ "said": r#"{"count": 3}"# });
    let reply = engine.call(Call::new("t", fitting), &mut Nobody).unwrap();
    let tool = engine.config().tool("t").unwrap();
    let structured = engine.structured(tool, &reply.into_content());
    assert_eq!(structured, Some(json!({ "count": 3 })));

    let wrong = json!({ "said": r#"{"count": "three"}"# });
    let error = call(&engine, "t", wrong, &mut Nobody).unwrap_err();
    let expected = "`t` ran, but its result is not what its `output` declares: at `/count`: it is not of \
                    type \"integer\"";
    assert_eq!(error.to_string(), expected);
    assert_eq!(error.for_assistant(), expected);
}

#[test]
fn what_somebody_made_of_a_result_is_checked_again() {
    let world = World::new(&[]);
    let engine = world.engine(&TOOL.replace("RESULT", "edit"));
    let edit = |text: &str| {
        let mut person = Person::who_says([Answer::Given(json!(text))]);
        call(
            &engine,
            "t",
            json!({ "said": r#"{"count": 3}"# }),
            &mut person,
        )
    };
    assert_eq!(edit(r#"{"count": 4}"#).unwrap(), r#"{"count": 4}"#);
    let error = edit("four").unwrap_err();
    assert!(matches!(error, CallError::Output { .. }), "{error}");
}
