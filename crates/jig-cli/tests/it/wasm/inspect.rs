//! `jig wasm inspect`: what a component is, before anybody runs it.

use serde_json::json;

use super::{Workspace, guest};

/// A component that is a tool: what it could ask for, and what it never can.
#[test]
fn a_tool_is_explained() {
    let workspace = Workspace::new();
    let file = guest("test");
    let (code, seen) = workspace.json(&["wasm", "inspect", file.as_str()]);
    assert_eq!(code, Some(0), "{seen}");
    assert_eq!(seen["runs"], true);
    assert_eq!(seen["problem"], json!(null));
    assert_eq!(seen["contract"], "jp:tool@0.1.0");
    assert_eq!(seen["describes"], false);
    assert_eq!(seen["size"], file.metadata().unwrap().len());
    let names = |key: &str| -> Vec<String> { serde_json::from_value(seen[key].clone()).unwrap() };
    assert!(
        names("could_ask_for").contains(&"files".to_owned()),
        "{seen}"
    );
    for never in ["http", "programs", "questions"] {
        assert!(
            names("never").contains(&never.to_owned()),
            "{never}: {seen}"
        );
        assert!(!names("could_ask_for").contains(&never.to_owned()));
    }
    assert!(names("exports").contains(&"run".to_owned()));
    let imports = seen["imports"].as_array().unwrap();
    assert!(imports.iter().all(|one| one["provided"] == true), "{seen}");
    let text = workspace.ok(&["wasm", "inspect", file.as_str()]);
    for part in [
        "runs as a tool of the contract jp:tool@0.1.0",
        "files of the workspace: by the rules of access.fs",
        "run any program",
        "leave the workspace",
        "wasi:filesystem/types@",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

/// It needs no configuration, no home and no workspace, and a broken configuration is none of its business.
#[test]
fn it_needs_nothing() {
    let workspace = Workspace::with("this is no configuration");
    let file = guest("test");
    let mut command = workspace.jig(&["wasm", "inspect", file.as_str()]);
    command.env_remove("HOME").env_remove("XDG_CACHE_HOME");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

/// What is no component is named, with the way out.
#[test]
fn what_is_no_tool_is_named() {
    let workspace = Workspace::new();
    let check = |name: &str, content: &[u8], expected: &str| {
        workspace.write(name, content);
        let said = workspace.fails(&["wasm", "inspect", name]);
        assert!(said.contains(expected), "{name}: {said}");
        assert!(!said.contains('\u{1b}'), "{said:?}");
    };
    check("empty", b"", "the file is empty");
    check(
        "module",
        b"\0asm\x01\0\0\0",
        "hint: build for `wasm32-wasip2`",
    );
    check("text", b"(module)", "hint: `wasm-tools parse`");
    check("script", b"#!/bin/sh\n", "it is no Wasm");
    check(
        "cut",
        b"\0asm\x0d\0\x01\0\x07\xff",
        "Failed to compile Wasm component",
    );
    let said = workspace.fails(&["wasm", "inspect", "nothing.wasm"]);
    assert!(
        said.contains("Wasm binary not found: nothing.wasm"),
        "{said}"
    );
    let said = workspace.fails(&["wasm", "inspect", "."]);
    assert!(said.contains("is not a file"), "{said}");
    let (code, seen) = workspace.json(&["wasm", "inspect", "module"]);
    assert_eq!(code, Some(1));
    assert!(
        seen["error"]["message"]
            .as_str()
            .unwrap()
            .contains("core module"),
        "{seen}"
    );
}

/// A component that asks for what jig does not have can be looked into all the same.
#[test]
fn what_jig_does_not_have_is_named() {
    let workspace = Workspace::new();
    // A component that imports one empty interface, and exports nothing.
    let name = "strange:things/door@1.0.0";
    let mut bytes = b"\0asm\x0d\0\x01\0".to_vec();
    bytes.extend([7, 3, 1, 0x42, 0]);
    bytes.extend([10, name.len() as u8 + 5, 1, 0, name.len() as u8]);
    bytes.extend(name.as_bytes());
    bytes.extend([5, 0]);
    workspace.write("strange.wasm", &bytes);
    let (code, seen) = workspace.json(&["wasm", "inspect", "strange.wasm"]);
    assert_eq!(code, Some(1), "{seen}");
    assert_eq!(seen["runs"], false);
    assert_eq!(seen["imports"][0]["interface"], name);
    assert_eq!(seen["imports"][0]["provided"], false);
    assert_eq!(seen["could_ask_for"], json!([]));
    assert!(seen["problem"].as_str().unwrap().contains(name), "{seen}");
    let ran = workspace.run(&["wasm", "inspect", "strange.wasm"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.out.contains("would not run:"), "{ran:?}");
    assert!(ran.out.contains("jig has no such interface"), "{ran:?}");
}

/// A pipe in the place of a file is not waited for.
#[test]
fn a_pipe_is_not_waited_for() {
    let workspace = Workspace::new();
    let pipe = workspace.root.join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let mut child = workspace
        .jig(&["wasm", "inspect", "pipe"])
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    assert_eq!(jig_testkit::ended(&mut child).code(), Some(1));
}
