//! `jig import` of files that somebody else wrote: nothing of theirs runs, nothing of theirs leads astray.

use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::{Map, Value as Json, json};

use super::workspace_user::{Desk, for_each_user};

/// A program that leaves a mark, as a server.
fn marking(desk: &Desk, name: &str) -> Json {
    let mark = desk.beside(name);
    json!({ "command": "sh", "args": ["-c", format!("touch {mark}")] })
}

/// The attack: a cloned repository names a server, and somebody looks what an import would do.
#[test]
fn a_server_of_the_workspace_is_not_run_unasked() {
    for_each_user(|desk| {
        for (client, file, key) in [
            ("claude", ".mcp.json", "mcpServers"),
            ("cursor", ".cursor/mcp.json", "mcpServers"),
            ("vscode", ".vscode/mcp.json", "servers"),
        ] {
            // A mark in the workspace is on a layer, and one beside it is nothing that it could make: that it ran is
            // seen from its words.
            let loud = json!({ "command": "sh", "args": ["-c", "echo I RAN >&2"] });
            desk.workspace
                .write(file, json!({ key: { "stranger": loud } }).to_string());
            let told = desk.told(&["import", client]);
            assert!(
                told.contains("a file of the workspace names it; --suggest runs it all the same"),
                "{told}"
            );
            assert!(
                !told.contains("    I RAN") && !told.contains("said:"),
                "{client}: {told}"
            );
            let told = desk.told(&["import", client, "--file", file]);
            assert!(!told.contains("said:"), "{client}: {told}");
            // The twin: with the flag it does run.
            let told = desk.told(&["import", client, "--suggest"]);
            assert!(
                told.contains("the end of what it said:\n      I RAN"),
                "{client}: {told}"
            );
        }
    });
}

/// A server of the workspace that may be run reaches no host, not even the one that its entry will name.
#[test]
fn a_server_of_the_workspace_has_no_network_while_it_is_watched() {
    let desk = Desk::new();
    let script = "getent hosts registry.npmjs.org >&2 || echo NO HOST >&2";
    desk.workspace
        .write("npx", format!("#!/bin/sh\n{script}\n"));
    let own = desk.path("npx");
    let made = Command::new("chmod").arg("+x").arg(&own).status().unwrap();
    assert!(made.success());
    let server = json!({ "mcpServers": { "a": { "command": "./npx", "args": ["x"] } } });
    desk.workspace.write(".mcp.json", server.to_string());
    let told = desk.told(&["import", "claude", "--suggest"]);
    assert!(told.contains("      NO HOST"), "{told}");
    assert!(told.contains("+host = \"registry.npmjs.org\""), "{told}");
    // The twin: the person's own server finds it.
    std::fs::create_dir(desk.workspace.home.join(".cursor")).unwrap();
    std::fs::write(
        desk.workspace.home.join(".cursor/mcp.json"),
        server.to_string(),
    )
    .unwrap();
    let told = desk.told(&["import", "cursor"]);
    assert!(
        told.contains("said:") && !told.contains("      NO HOST"),
        "{told}"
    );
}

/// What runs leaves nothing behind, and reaches nothing that is sensitive.
#[test]
fn what_runs_leaves_nothing() {
    for_each_user(|desk| {
        let home = &desk.workspace.home;
        std::fs::create_dir_all(home.join(".ssh")).unwrap();
        std::fs::write(home.join(".ssh/id_rsa"), "KEY OF A PERSON").unwrap();
        desk.workspace.write(".env", "PASSWORD=of-a-person");
        let script = format!("touch left; cat {home}/.ssh/id_rsa .env >&2");
        let servers = json!({ "mcpServers": {
            "looks": { "command": "sh", "args": ["-c", script] },
            "marks": marking(desk, "mark"),
        } });
        std::fs::create_dir_all(home.join(".cursor")).unwrap();
        std::fs::write(home.join(".cursor/mcp.json"), servers.to_string()).unwrap();
        let told = desk.told(&["import", "cursor"]);
        assert!(told.contains("[exit 0]"), "{told}");
        assert!(
            !told.contains("KEY OF A PERSON") && !told.contains("of-a-person"),
            "{told}"
        );
        assert!(!desk.path("left").exists() && !desk.beside("mark").exists());
        // The twin: without a sandbox it does.
        desk.unconfined(&["sh", "-c", &format!("touch {}", desk.beside("mark"))]);
        assert!(desk.beside("mark").exists());
    });
}

#[test]
fn files_that_are_no_settings_are_refused() {
    let desk = Desk::new();
    let check = |content: &[u8], expected: &str| {
        desk.workspace.write(".mcp.json", content);
        let told = desk.told(&["import", "claude"]);
        assert!(
            told.contains(expected) && told.ends_with("[exit 1]"),
            "{expected}: {told}"
        );
        assert!(told.len() < 2000, "{}", told.len());
        assert!(!desk.path("jig.toml").exists());
    };
    check(b"\xff\xfe{}", "is not UTF-8");
    check(b"{ \"mcpServers\": ", "line 1, column 17");
    check(b"[]", "does not hold an object");
    check(b"{ \"mcpServers\": 7 }", "does not name servers");
    check("[".repeat(100_000).as_bytes(), "nested too deeply");
    check(
        format!("{{\"a\":{}", "{\"a\":".repeat(100_000)).as_bytes(),
        "nested too deeply",
    );
    check(&vec![b' '; 9 << 20], "`.mcp.json`");
    let many: Map<String, Json> = (0..5000)
        .map(|n| (format!("s{n}"), json!({ "command": "x" })))
        .collect();
    check(
        json!({ "mcpServers": many }).to_string().as_bytes(),
        "more than 200 servers",
    );
    std::fs::remove_file(desk.path(".mcp.json")).unwrap();
    let made = Command::new("mkfifo")
        .arg(desk.path(".mcp.json"))
        .status()
        .unwrap();
    assert!(made.success());
    // It does not wait for somebody to write.
    let told = desk.told(&["import", "claude"]);
    assert!(told.ends_with("[exit 1]"), "{told}");
    // TOML shows no line of the file, which may hold a key.
    desk.workspace.write(
        ".codex/config.toml",
        "[mcp_servers.a.env]\nKEY = \"hunter2hunter2\" oops\n",
    );
    let told = desk.told(&["import", "codex"]);
    assert!(
        told.contains("line 2") && !told.contains("hunter2"),
        "{told}"
    );
}

/// Whatever names and texts a file has: the configuration stays one, says what was meant, and prints as text.
#[test]
fn odd_names_and_texts() {
    let desk = Desk::new();
    let mut servers = Map::new();
    let odd = [
        "",
        " ",
        "a.b",
        "]\n[tools.x]\ncommand='evil'",
        "\u{1b}[2J\u{202e}evil",
        "日本",
        "a\"b",
        &"x".repeat(5000),
        "__proto__",
        "a b",
        "a  b",
    ];
    for name in odd {
        servers.insert(
            name.to_owned(),
            json!({ "command": "true", "args": [name] }),
        );
    }
    servers.insert(
        "nul".to_owned(),
        json!({ "command": "true", "env": { "A": "\0", "B=C": "x", "": "y" } }),
    );
    servers.insert(
        "wrong".to_owned(),
        json!({ "command": { "a": 1 }, "args": { "b": [] } }),
    );
    servers.insert("null".to_owned(), Json::Null);
    desk.workspace
        .write(".mcp.json", json!({ "mcpServers": servers }).to_string());
    let told = desk.told(&["import", "claude", "--write"]);
    assert!(told.contains("[exit 0]"), "{told}");
    assert!(!told.contains(['\u{1b}', '\u{202e}']), "{told:?}");
    desk.ok(&["config", "check"]);
    let shown = desk.json(&["config", "show"]);
    assert!(!shown.to_string().contains("\"evil\":"), "{shown:#}");
    let text = desk.read("jig.toml");
    assert!(!text.contains("\n[tools.x]"), "{text}");
    assert_eq!(
        text.matches("\n[mcp.servers.").count() + usize::from(text.starts_with("[mcp.servers.")),
        odd.len() + 1,
        "{text}"
    );
    // The second time all of them are found again.
    let again = desk.json(&["import", "claude", "--write"]);
    assert_eq!(again["written"], json!(false), "{again:#}");
    assert_eq!(desk.read("jig.toml"), text);
}

/// A file of the workspace cannot have jig read or write elsewhere.
#[test]
fn links_do_not_lead_out_of_the_workspace() {
    let desk = Desk::new();
    let outside = desk.beside("outside.toml");
    std::fs::write(&outside, "# theirs\n").unwrap();
    symlink(&outside, desk.path("jig.toml")).unwrap();
    desk.workspace.write(
        ".mcp.json",
        "{ \"mcpServers\": { \"a\": { \"command\": \"true\" } } }",
    );
    let told = desk.told(&["import", "claude", "--write"]);
    assert!(
        told.contains("`jig.toml` leads out of the project") && told.ends_with("[exit 1]"),
        "{told}"
    );
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), "# theirs\n");

    // A link within the workspace is followed, as `jig setup` does it.
    std::fs::remove_file(desk.path("jig.toml")).unwrap();
    desk.workspace.write("config/jig.toml", "# ours\n");
    symlink("config/jig.toml", desk.path("jig.toml")).unwrap();
    desk.ok(&["import", "claude", "--write"]);
    assert!(desk.read("config/jig.toml").contains("[mcp.servers.a]"));
    assert!(desk.path("jig.toml").is_symlink());

    // The client's file and what it leads to are no way out either.
    std::fs::write(desk.beside("names"), "SECRET_NAME=1\n").unwrap();
    let env_file = json!({ "servers": { "b": { "command": "true", "envFile": "../names" } } });
    desk.workspace
        .write(".vscode/mcp.json", env_file.to_string());
    let told = desk.told(&["import", "vscode"]);
    assert!(
        told.contains("`envFile` is not taken over") && !told.contains("SECRET_NAME"),
        "{told}"
    );
    std::fs::write(
        desk.beside("mcp.json"),
        "{ \"mcpServers\": { \"c\": { \"command\": \"true\" } } }",
    )
    .unwrap();
    std::fs::create_dir(desk.path(".cursor")).unwrap();
    symlink(desk.beside("mcp.json"), desk.path(".cursor/mcp.json")).unwrap();
    let told = desk.told(&["import", "cursor"]);
    assert!(told.contains("leads out of the project"), "{told}");
}

/// A configuration to which nothing can be added is left as it is.
#[test]
fn a_file_that_cannot_take_an_entry_is_left() {
    let desk = Desk::with("mcp = { servers = {} }\n");
    desk.workspace.write(
        ".mcp.json",
        "{ \"mcpServers\": { \"a\": { \"command\": \"true\" } } }",
    );
    let told = desk.told(&["import", "claude", "--write"]);
    assert!(told.contains("add it by hand"), "{told}");
    assert_eq!(desk.read("jig.toml"), "mcp = { servers = {} }\n");
    // A configuration that is not valid is not added to.
    desk.workspace.write("jig.toml", "nonsense = 1\n");
    let told = desk.told(&["import", "claude", "--write"]);
    assert!(told.ends_with("[exit 3]"), "{told}");
    assert_eq!(desk.read("jig.toml"), "nonsense = 1\n");
}

/// An argument that is a sensitive path gets no rule: naming it would open it.
#[test]
fn sensitive_arguments_are_not_opened() {
    let desk = Desk::new();
    desk.workspace.write(".env", "A=1");
    std::fs::create_dir(desk.workspace.home.join(".ssh")).unwrap();
    let args = json!(["./.env", "~/.ssh", "~", "/", desk.workspace.home]);
    desk.workspace.write(
        ".mcp.json",
        json!({ "mcpServers": { "a": { "command": "true", "args": args } } }).to_string(),
    );
    let told = desk.told(&["import", "claude", "--write"]);
    let text = desk.read("jig.toml");
    let rules = text.split_once("[[mcp.servers.a.access.fs]]").unwrap().1;
    assert!(
        !rules.contains(".env") && !text.contains("system = ["),
        "{text}\n{told}"
    );
    assert!(
        told.contains("`.env`, an argument of its command, is a sensitive path"),
        "{told}"
    );
}
