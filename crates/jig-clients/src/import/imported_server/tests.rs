use serde_json::json;

use super::*;
use crate::import::ImportFrom;
use crate::import::toml_block;

/// The entry that a server of a client becomes, or why it becomes none.
fn converted(client: ImportFrom, value: Json) -> Result<(String, Vec<String>), LeftOutReason> {
    let context = ImportContext {
        client,
        root: Utf8Path::new("/srv/space"),
        home: Some(Utf8Path::new("/home/me")),
        inputs: &[],
    };
    let declared = DeclaredServer {
        original: "one",
        name: "one".to_owned(),
        value: &value,
        from: "file",
        scope: ClientFileScope::User,
        is_off: false,
        names_in: &|path| match path {
            "./.env" => Ok(vec!["FROM_FILE".to_owned()]),
            _ => Err("it is not there".to_owned()),
        },
    };
    let imported = convert(&declared, &context, &mut SecretVariables::default())?;
    let text = toml_block::of(&imported, &jig_config::Additions::default());
    let text = text
        .strip_prefix("# from `file`\n[mcp.servers.one]\n")
        .unwrap()
        .to_owned();
    Ok((text, imported.notes))
}

#[track_caller]
fn check(client: ImportFrom, value: Json, expected: &str, notes: &[&str]) {
    let (text, told) = converted(client, value).unwrap();
    assert_eq!(text, expected);
    assert_eq!(told, notes);
}

#[track_caller]
fn check_left(client: ImportFrom, value: Json, why: &str) {
    assert_eq!(
        converted(client, value),
        Err(LeftOutReason::Unfit(why.to_owned()))
    );
}

#[test]
fn programs() {
    check(
        ImportFrom::Claude,
        json!({ "type": "stdio", "command": "npx", "args": ["-y", "@a/b"], "env": { "A": "${A:-x}", "N": 1 } }),
        "command = \"npx\"\nargs = [\"-y\", \"@a/b\"]\n\n[mcp.servers.one.env]\nA = \"${A:-x}\"\nN = \"1\"\n",
        &[],
    );
    check(
        ImportFrom::Cursor,
        json!({ "command": "python ${workspaceFolder}", "disabled": true }),
        "command = \"python\"\nargs = [\".\"]\nenable = false\n",
        &[],
    );
    check(
        ImportFrom::Claude,
        json!({ "command": "/opt/my server" }),
        "command = [\"/opt/my server\"]\n",
        &[],
    );
    check(
        ImportFrom::VsCode,
        json!({ "command": "cmd", "args": ["/c", "npx", "x"], "dev": { "watch": "*" }, "version": "1" }),
        "command = \"npx\"\nargs = [\"x\"]\n",
        &[
            "`cmd /c`, which starts programs on Windows, is left out",
            "`dev` is not taken over: jig has no such setting",
        ],
    );
    check(
        ImportFrom::VsCode,
        json!({ "command": "x", "cwd": "${workspaceFolder}", "envFile": "${workspaceFolder}/.env" }),
        "command = \"x\"\n\n[mcp.servers.one.env]\nFROM_FILE = \"${FROM_FILE}\"\n",
        &[],
    );
    check(
        ImportFrom::VsCode,
        json!({ "command": "x", "cwd": "/elsewhere", "envFile": "/other" }),
        "command = \"x\"\n",
        &[
            "`envFile` is not taken over: `/other`: it is not there",
            "`cwd` is not taken over: jig starts servers in the workspace, not in `/elsewhere`; write paths out",
        ],
    );
}

#[test]
fn codex() {
    check(
        ImportFrom::Codex,
        json!({
            "command": "uvx", "args": ["mcp-server-time", "${A}"], "env_vars": ["LANG", { "name": "TZ" }],
            "enabled": false, "startup_timeout_sec": 20, "tool_timeout_sec": 1.5,
            "enabled_tools": ["a"], "disabled_tools": ["b", "c*"], "cwd": "/srv/space/",
        }),
        "command = \"uvx\"\nargs = [\"mcp-server-time\", \"$${A}\"]\nenable = false\ntools = [\"a\"]\nhide = [\"b\"]\n\
         start = \"20s\"\ntime = \"2s\"\n\n[[mcp.servers.one.access.env]]\nname = \"LANG\"\nread = true\n\n\
         [[mcp.servers.one.access.env]]\nname = \"TZ\"\nread = true\n",
        &["`disabled_tools` names tools by characters that mean something else in a pattern"],
    );
    check(
        ImportFrom::Codex,
        json!({
            "url": "https://example.com/mcp", "bearer_token_env_var": "TOKEN",
            "http_headers": { "X-A": "b" }, "env_http_headers": { "X-B": "B" }, "startup_timeout_ms": 1500,
        }),
        "url = \"https://example.com/mcp\"\nstart = \"2s\"\n\n[mcp.servers.one.headers]\nX-A = \"b\"\nX-B = \"${B}\"\n\
         Authorization = \"Bearer ${TOKEN}\"\n",
        &[],
    );
}

#[test]
fn addresses() {
    check(
        ImportFrom::Claude,
        json!({ "type": "http", "url": "http://localhost:8080/mcp", "headers": { "Authorization": "Bearer abc" } }),
        "url = \"http://localhost:8080/mcp\"\n\n[mcp.servers.one.headers]\nAuthorization = \"Bearer ${ONE_TOKEN}\"\n",
        &[],
    );
    check(
        ImportFrom::Cursor,
        json!({ "url": "https://${env:HOST}/mcp", "auth": { "CLIENT_ID": "x" } }),
        "url = \"https://${HOST}/mcp\"\n",
        &["`auth` is not taken over: jig does not sign in by itself; give it a token by a header"],
    );
}

#[test]
fn what_cannot_be_taken_over_says_why() {
    let claude = ImportFrom::Claude;
    check_left(claude, json!("x"), "it is no object");
    check_left(claude, json!({}), "it has neither `command` nor `url`");
    check_left(claude, json!({ "command": 1 }), "its `command` is no text");
    check_left(
        claude,
        json!({ "command": "  " }),
        "its `command` names no program",
    );
    check_left(
        claude,
        json!({ "command": "x\0" }),
        "its `command` names no program",
    );
    check_left(
        claude,
        json!({ "command": "x", "args": "y" }),
        "its `args` is no list",
    );
    check_left(
        claude,
        json!({ "command": "x", "args": [1] }),
        "its `args` holds something else than text",
    );
    check_left(
        claude,
        json!({ "command": "x", "env": [] }),
        "its `env` is no object",
    );
    check_left(
        claude,
        json!({ "command": "x".repeat(40_000) }),
        "its `command` holds a text of more than 32 KiB",
    );
    check_left(
        claude,
        json!({ "command": "x", "args": vec!["y"; 600] }),
        "its `args` has more than 512 items",
    );
    check_left(claude, json!({ "type": "http" }), "it has no `url`");
    check_left(
        claude,
        json!({ "type": "ws", "url": "x" }),
        "it is reached by `ws`, which jig does not know",
    );
    check_left(
        claude,
        json!({ "type": "http", "url": "http://example.com" }),
        "its `url`: `http` is not encrypted, and its host is not this machine",
    );
    check_left(
        claude,
        json!({ "type": "http", "url": "https://u:p@example.com" }),
        "its `url`: it holds a user or a password",
    );
    check_left(
        claude,
        json!({ "type": "http", "url": "https://a.b", "headers": { "a b": "c" } }),
        "`a b` is no name of a header",
    );
    check_left(
        ImportFrom::VsCode,
        json!({ "command": "${command:x}" }),
        "`${command:x}` is a variable that only the client can fill in",
    );
    check_left(
        ImportFrom::Codex,
        json!({ "command": "x", "tool_timeout_sec": -1 }),
        "its `tool_timeout_sec` is no time",
    );
    let Err(LeftOutReason::Unfit(why)) =
        converted(claude, json!({ "type": "sse", "url": "https://a.b" }))
    else {
        panic!("it was taken over");
    };
    assert!(why.contains("Streamable HTTP"), "{why}");
}

#[test]
fn jig_is_not_taken_over() {
    for value in [
        json!({ "command": "jig", "args": ["mcp"] }),
        json!({ "command": "/usr/local/bin/jig", "args": ["-C", "x", "mcp"] }),
        json!({ "command": "jig mcp" }),
        json!({ "url": "http://127.0.0.1:1/mcp", "headers": { "Authorization": "Bearer ${JIG_MCP_TOKEN}" } }),
        json!({ "url": "http://127.0.0.1:1/mcp", "bearer_token_env_var": "JIG_MCP_TOKEN" }),
    ] {
        assert_eq!(
            converted(ImportFrom::Claude, value.clone()),
            Err(LeftOutReason::Itself),
            "{value}"
        );
    }
    assert!(
        converted(
            ImportFrom::Claude,
            json!({ "command": "jigsaw", "args": ["mcp"] })
        )
        .is_ok()
    );
}
