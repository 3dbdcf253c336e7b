use serde_json::json;

use super::*;

#[test]
fn servers_stand_where_the_client_has_them() {
    let check = |from: ImportFrom, all: Json, expected: &[&str]| {
        let file = source(from, "file", ClientFileScope::User, &all).unwrap();
        let names: Vec<&str> = file.servers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, expected, "{all}");
    };
    check(
        ImportFrom::Claude,
        json!({ "mcpServers": { "b": {}, "a": {} } }),
        &["b", "a"],
    );
    check(ImportFrom::Claude, json!({ "servers": { "a": {} } }), &[]);
    check(
        ImportFrom::Codex,
        json!({ "mcp_servers": { "a": {} } }),
        &["a"],
    );
    check(
        ImportFrom::VsCode,
        json!({ "servers": { "a": {} } }),
        &["a"],
    );
    check(
        ImportFrom::VsCode,
        json!({ "mcp": { "servers": { "a": {} } } }),
        &["a"],
    );
    check(ImportFrom::Cursor, json!({}), &[]);
}

#[test]
fn too_many_servers_are_refused() {
    let many: Map<String, Json> = (0..1000)
        .map(|number| (number.to_string(), json!({})))
        .collect();
    let refused = source(
        ImportFrom::Claude,
        "file",
        ClientFileScope::User,
        &json!({ "mcpServers": many }),
    );
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .contains("more than 200 servers")
    );
    let refused = source(
        ImportFrom::Claude,
        "file",
        ClientFileScope::User,
        &json!({ "mcpServers": [] }),
    );
    assert!(refused.unwrap_err().to_string().contains("it is no object"));
}

#[test]
fn inputs_become_variables() {
    let check = |value: Json, expected: Option<(&str, Option<&str>)>| {
        let found = input(&value);
        let found = found
            .as_ref()
            .map(|input| (input.variable.as_str(), input.default.as_deref()));
        assert_eq!(found, expected, "{value}");
    };
    check(
        json!({ "id": "api-key", "password": true, "default": "x" }),
        Some(("API_KEY", None)),
    );
    check(
        json!({ "id": "region", "default": "eu" }),
        Some(("REGION", Some("eu"))),
    );
    check(
        json!({ "id": "region", "default": "${x}" }),
        Some(("REGION", None)),
    );
    check(json!({ "type": "promptString" }), None);
    check(json!("x"), None);
}
