//! How a call reaches a tool: in its words, on its input, in a file (X-61, J-020).

use camino::Utf8Path;
use jig_sandbox::Layers;
use serde_json::{Value, json};

use crate::stdio::{World, chain};

const TELLS: &str = "print(json.dumps({'length': len(arguments['x']), 'name': tool['name'], 'root': context['root'], 'action': context['action']}))";

#[test]
fn x61_on_standard_input() {
    let world = World::python("parameters.x.type = 'string'", TELLS);
    for length in [0, 10, 131_072, 3 << 20] {
        let text = world.call(json!({ "x": "ü".repeat(length) })).unwrap();
        let told: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            told,
            json!({ "length": length, "name": "tool", "root": world.root, "action": "run" })
        );
    }
}

#[test]
fn x61_in_a_file() {
    let script = "import json, os, sys\n\
        path = os.environ['JIG_INPUT']\nassert sys.argv[1] == path, sys.argv\n\
        call = json.load(open(path))\nassert sys.stdin.read() == ''\n\
        print(len(call['tool']['arguments']['x']), call['context']['action'], path)";
    // Also where nothing can be made for one program alone.
    for layers in [Layers::ALL, Layers::TIER_B] {
        let world = World::with(
            "command = 'python3 tool.py {{input.file}}'\ninput = 'file'\nparameters.x.type = 'string'\n\
             access.fs = [{ path = '.', read = true }]",
            &[("tool.py", script)],
            |engine| engine.confine.layers = layers,
        );
        for length in [0, 10, 3 << 20] {
            let text = world.call(json!({ "x": "x".repeat(length) })).unwrap();
            let [told, action, path] = text.split_whitespace().collect::<Vec<_>>()[..] else {
                panic!("{text}");
            };
            assert_eq!((told, action), (length.to_string().as_str(), "run"));
            // Nothing of it is left.
            assert!(!Utf8Path::new(path).exists(), "{path}");
        }
    }
}

/// A tool that does not read its input is not held up by it, and does not hold us up.
#[test]
fn a_tool_need_not_read_its_input() {
    let world = World::new("command = 'echo done'\ninput = 'stdin'\nparameters.x.type = 'string'");
    let text = world.call(json!({ "x": "x".repeat(3 << 20) })).unwrap();
    assert_eq!(text, "done\n");
}

#[test]
fn j020_a_call_that_is_too_large_for_arguments_says_what_to_do() {
    let world = World::new("command = 'echo {{tool.arguments.x}}'\nparameters.x.type = 'string'");
    let fits = world.call(json!({ "x": "x".repeat(100_000) })).unwrap();
    assert_eq!(fits.len(), 100_001);
    let error = world.call(json!({ "x": "x".repeat(131_072) })).unwrap_err();
    let told = chain(&error);
    for part in ["131072 bytes", "131071 are allowed", "`input = \"stdin\"`"] {
        assert!(told.contains(part), "{part} in {told}");
    }
}
