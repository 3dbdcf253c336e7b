//! What is listed of the tools.

use serde_json::{Value, json};

use super::Catalogue;
use crate::methods::pages::PAGE;
use crate::testing;

fn catalogue(sets: &[&str]) -> Catalogue {
    Catalogue::of(&testing::server(sets, &[]).current().engine)
}

fn listed(sets: &[&str], name: &str) -> Value {
    let catalogue = catalogue(sets);
    let tool = catalogue.tool(name).expect("it is listed");
    json!(tool)
}

#[test]
fn without_configuration_the_fs_tools_are_listed_in_one_order() {
    let names = || {
        let tools = catalogue(&[]).tools;
        tools
            .iter()
            .map(|tool| tool.name.to_string())
            .collect::<Vec<_>>()
    };
    let first = names();
    assert!(first.iter().any(|name| name == "fs_read_file"), "{first:?}");
    assert!(
        first.iter().any(|name| name == "fs_create_file"),
        "{first:?}"
    );
    assert_eq!(first, names());
    // Nothing that loads topics, or waits for handles, where there are none.
    assert!(!first.iter().any(|name| name == "learn"));
    assert!(catalogue(&[]).find("await").is_some());
    let none = ["tools.git.enable=false", "tools.shell.enable=false"];
    assert_eq!(catalogue(&none).find("await"), None);
}

#[test]
fn hints_say_what_the_policy_allows() {
    let check = |sets: &[&str], name: &str, expected: Value| {
        assert_eq!(listed(sets, name)["annotations"], expected, "{name}");
    };
    let reads = json!({
        "title": "Read a file", "readOnlyHint": true, "destructiveHint": false, "idempotentHint": true, "openWorldHint": false,
    });
    check(&[], "fs_read_file", reads);
    let hints = &listed(&[], "fs_delete_file")["annotations"];
    assert_eq!(hints["readOnlyHint"], false);
    assert_eq!(hints["destructiveHint"], true);
    let titled = &["tools.fs_read_file.title=Look into a file"];
    let tool = listed(titled, "fs_read_file");
    assert_eq!(tool["title"], "Look into a file");
    assert_eq!(tool["annotations"]["title"], "Look into a file");
}

#[test]
fn schemas_are_objects_and_declared_outputs_are_listed() {
    for tool in catalogue(&[]).tools {
        assert_eq!(tool.input_schema["type"], "object", "{}", tool.name);
        for refused in ["oneOf", "anyOf", "allOf"] {
            assert!(!tool.input_schema.contains_key(refused), "{}", tool.name);
        }
    }
    // What providers refuse is written in another way.
    let listing = &[
        "tools.t.source=local",
        "tools.t.command=x",
        "tools.t.parameters={ a = { type = [\"string\", \"null\"] }, b = { type = \"array\" }, c = { enum = [\"x\"] } }",
    ];
    let expected = json!({
        "a": { "anyOf": [{ "type": "string" }, { "type": "null" }] },
        "b": { "type": "array", "items": {} },
        "c": { "enum": ["x"], "type": "string" },
    });
    assert_eq!(listed(listing, "t")["inputSchema"]["properties"], expected);
    let declared = &[
        "tools.count.source=local",
        "tools.count.command=count",
        "tools.count.output={ type = \"object\", properties = { n = { type = \"integer\" } } }",
    ];
    let output = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    assert_eq!(listed(declared, "count")["outputSchema"], output);
    assert_eq!(listed(&[], "fs_read_file")["outputSchema"], Value::Null);
    let stateful = &[
        "tools.shell.source=local",
        "tools.shell.command=sh",
        "tools.shell.stateful=true",
    ];
    let schema = &listed(stateful, "shell")["outputSchema"];
    assert_eq!(schema["type"], "object");
    assert_eq!(
        schema["properties"]["state"]["enum"],
        json!(["running", "waiting", "stopped"])
    );
    assert!(catalogue(stateful).find("await").is_some());
}

#[test]
fn names_are_unique_and_lead_to_their_tool() {
    // Names that providers don't take are published as others, and numbered where those are taken.
    let catalogue = catalogue(&[
        "tools.\"a.b\".source=local",
        "tools.\"a.b\".command=x",
        "tools.a_b.source=local",
        "tools.a_b.command=x",
    ]);
    let names: Vec<&str> = catalogue.tools.iter().map(|tool| &*tool.name).collect();
    let mut unique = names.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), names.len());
    let mut tools: Vec<&str> = names
        .iter()
        .filter_map(|name| catalogue.find(name))
        .collect();
    assert_eq!(tools.len(), names.len());
    tools.retain(|tool| ["a.b", "a_b"].contains(tool));
    assert_eq!(tools.len(), 2);
    assert_eq!(catalogue.find("nothing"), None);
    assert!(catalogue.tool("nothing").is_none());
}

#[test]
fn long_lists_are_paged() {
    let sets: Vec<String> = (0..PAGE)
        .flat_map(|number| {
            let key = format!("tools.t{number}");
            [format!("{key}.source=local"), format!("{key}.command=x")]
        })
        .collect();
    let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
    let catalogue = catalogue(&sets);
    let mut seen = Vec::new();
    let mut cursor = None;
    loop {
        let page = catalogue.list(cursor.as_deref()).expect("a page");
        seen.extend(page.tools.into_iter().map(|tool| tool.name));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    let all = catalogue.tools.iter().map(|tool| tool.name.clone());
    assert_eq!(seen, all.collect::<Vec<_>>());
    let refused = catalogue
        .list(Some("nonsense"))
        .expect_err("no cursor of ours");
    assert_eq!(refused.code.0, -32602);
}
