//! `title` and `output`: what a tool is called, and what it returns.

use jig_config::{Tool, show};
use serde_json::{Value as Json, json};

use crate::mistakes::{check as mistake, tool as toml};
use crate::workspace::Workspace;

fn tool(lines: &str) -> Tool {
    Workspace::with(&toml(lines)).config().tools["build"].clone()
}

#[test]
fn titles() {
    assert_eq!(tool("").title, None);
    let titled = tool("title = \"Build the project\"");
    assert_eq!(titled.title.as_deref(), Some("Build the project"));
    mistake(
        "title_of_two_lines",
        &toml("title = \"a\\nb\""),
        &toml("title = \"a b\""),
    );
    mistake(
        "title_of_all_tools",
        "[tools.'*']\ntitle = \"a\"",
        "[tools.fs_read_file]\ntitle = \"a\"",
    );
}

#[test]
fn schemas() {
    let check = |lines: &str, expected: Json| {
        assert_eq!(tool(lines).output, Some(expected), "{lines}");
    };
    assert_eq!(tool("").output, None);
    check("output.type = \"object\"", json!({ "type": "object" }));
    check(
        "[tools.build.output]\ntype = \"object\"\nrequired = [\"passed\"]\nadditionalProperties = false\n\
         [tools.build.output.properties]\npassed = { type = \"integer\", minimum = 0 }\nfailed = { type = \
         \"array\", items.\"$ref\" = \"#/$defs/failure\" }\nanything = true\n\
         [tools.build.output.\"$defs\".failure]\ntype = [\"string\", \"null\"]\n",
        json!({
            "type": "object",
            "required": ["passed"],
            "additionalProperties": false,
            "properties": {
                "passed": { "type": "integer", "minimum": 0 },
                "failed": { "type": "array", "items": { "$ref": "#/$defs/failure" } },
                "anything": true,
            },
            "$defs": { "failure": { "type": ["string", "null"] } },
        }),
    );
}

/// A schema is one thing: of two layers, the later one holds.
#[test]
fn a_later_schema_replaces_an_earlier_one() {
    let workspace = Workspace::with(&toml("output = { type = \"object\", required = [\"a\"] }"));
    let above = "[tools.build.output]\ntype = \"object\"\nproperties.b = true";
    let config = workspace.file(".jig/config.toml", above).config();
    let expected = json!({ "type": "object", "properties": { "b": true } });
    assert_eq!(config.tools["build"].output, Some(expected));
}

#[test]
fn schemas_are_shown_and_load_again() {
    let lines = "title = \"x\"\noutput = { type = \"object\", properties = { a = { enum = [1, \"b\"] }, c = {} }, anyOf = \
                 [{ required = [\"a\"] }, true] }";
    let first = Workspace::with(&toml(lines)).config();
    let again = Workspace::with(&show(&first, true)).config();
    let (first, again) = (&first.tools["build"], &again.tools["build"]);
    assert!(first.output.is_some());
    assert_eq!(first.output, again.output);
    assert_eq!(first.title, again.title);
}

#[test]
fn mistakes_in_schemas() {
    let check = |name: &str, wrong: &str, right: &str| {
        mistake(name, &toml(wrong), &toml(right));
    };
    let right = "output = { type = \"object\" }";
    check("output_no_table", "output = \"text\"", right);
    check("output_no_object", "output = { type = \"string\" }", right);
    check("output_no_type", "output = { properties.a = true }", right);
    check(
        "output_keywords",
        "output = { type = \"object\", require = [\"a\"], properties = { a = { typ = \"string\" } } }",
        "output = { type = \"object\", required = [\"a\"], properties = { a = { type = \"string\" } } }",
    );
    check(
        "output_values",
        "output = { type = \"objekt\", required = \"a\", properties = [], items = 1, anyOf = [], enum = 1, \
         minItems = -1, minimum = \"1\", uniqueItems = 1, title = 1 }",
        right,
    );
    check(
        "output_reference",
        "output = { type = \"object\", properties.a.\"$ref\" = \"https://example.com/schema.json\" }",
        "output = { type = \"object\", properties.a.\"$ref\" = \"#/$defs/a\", \"$defs\".a = {} }",
    );
    check(
        "output_not_json",
        "output = { type = \"object\", properties = { a = { const = 2020-01-01 }, b = { enum = [[nan]] }, c \
         = { maximum = inf } } }",
        right,
    );
}

#[test]
fn a_schema_has_an_end() {
    let deep = |levels: usize| {
        let open = "{ items = ".repeat(levels);
        let close = " }".repeat(levels);
        toml(&format!(
            "output = {{ type = \"object\", properties.a = {open}true{close} }}"
        ))
    };
    Workspace::with(&deep(20)).config();
    let errors = Workspace::with(&deep(60)).load();
    let errors = errors.expect_err("it is too deep").to_string();
    assert!(errors.contains("nested too deeply"), "{errors}");
}
