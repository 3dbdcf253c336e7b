//! Rules at work: each request of a real tool is judged by itself, and a denial teaches.

use serde_json::json;

use super::vfs_files::{check, check_with, error};
use super::vfs_tool::Probe;

const SOME: &str = "\
[[tools.probe.access.fs]]
path = 'src'
read = true
[[tools.probe.access.fs]]
path = 'src/private'
[[tools.probe.access.fs]]
path = 'out'
write = true
[[tools.probe.access.fs]]
path = 'frozen/keep'
read = true
[[tools.probe.access.fs]]
path = 'frozen'
read = true
write = true
";

/// V-005, V-006, V-130, V-134, X-51, X-52, X-65, X-66: every request is judged by itself.
#[test]
fn v130_v134_each_request_is_judged() {
    let denied = || error(-32001, "denied_by_rule");
    let nobody = || error(-32001, "approval_unavailable");
    let probe = check_with(
        SOME,
        &[
            ("src/lib.rs", b"word"),
            ("src/private/key", b"word"),
            ("src/.env", b"word"),
            ("frozen/keep/x", b"x"),
            ("other.txt", b"word"),
        ],
        &[
            (
                "fs.read",
                json!({"path": "src/lib.rs"}),
                json!({"content": "word", "size": 4}),
            ),
            (
                "fs.write",
                json!({"path": "src/lib.rs", "content": ""}),
                denied(),
            ),
            ("fs.delete", json!({"path": "src/lib.rs"}), denied()),
            ("fs.read", json!({"path": "src/private/key"}), denied()),
            // whether it exists is not told either.
            ("fs.exists", json!({"path": "src/private/key"}), denied()),
            ("fs.exists", json!({"path": "src/private/none"}), denied()),
            ("fs.metadata", json!({"path": "src/private"}), denied()),
            // what is denied is left out.
            (
                "fs.list_dir",
                json!({"path": "src"}),
                json!({"entries": [{"path": "lib.rs", "kind": "file"}]}),
            ),
            ("fs.list_dir", json!({"path": "src/private"}), denied()),
            (
                "fs.write",
                json!({"path": "out/new", "content": "x"}),
                json!({}),
            ),
            ("fs.read", json!({"path": "out/new"}), denied()),
            // V-134: nobody can be asked.
            ("fs.read", json!({"path": "other.txt"}), nobody()),
            (
                "fs.write",
                json!({"path": "other.txt", "content": ""}),
                nobody(),
            ),
            ("http.get", json!({"url": "http://127.0.0.1:9/"}), nobody()),
            ("process.run", json!({"program": "true"}), nobody()),
            // a sensitive name needs a rule of its own.
            (
                "fs.read",
                json!({"path": "src/.env"}),
                error(-32001, "approval_unavailable"),
            ),
            // what is below goes with its folder.
            (
                "fs.rename",
                json!({"from": "frozen", "to": "out/frozen"}),
                denied(),
            ),
            (
                "fs.delete",
                json!({"path": "frozen", "recursive": true}),
                denied(),
            ),
            // The tool still runs, and what is allowed still works.
            (
                "fs.exists",
                json!({"path": "src/lib.rs"}),
                json!({"exists": true}),
            ),
        ],
    );
    assert_eq!(probe.read("src/lib.rs").unwrap(), b"word");
    assert_eq!(probe.read("frozen/keep/x").unwrap(), b"x");
}

/// a search opens nothing that is denied, and says how much it passed over.
#[test]
fn x52_grep_passes_over_what_is_denied() {
    let requests = json!([["fs.grep", {"pattern": "word", "paths": ["src"]}]]);
    let probe = Probe::requests(&requests, SOME)
        .file("src/lib.rs", "word")
        .file("src/private/key", "word");
    let answer = &probe.result()[0];
    assert_eq!(answer["matches"].as_array().unwrap().len(), 1, "{answer}");
    assert_eq!(answer["matches"][0]["path"], "src/lib.rs");
    assert_eq!(answer["skipped"], 1, "{answer}");
}

/// V-023, V-131, V-153: a denial says what, why, by which rule and what would allow it.
#[test]
fn v131_v153_a_denial_teaches() {
    let requests = json!([["fs.write", {"path": "src/lib.rs", "content": ""}]]);
    let probe = Probe::requests(&requests, SOME).file("src/lib.rs", "");
    let error = probe.result()[0]["error"].clone();
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("update") && message.contains("src/lib.rs"),
        "{message}"
    );
    let data = &error["data"];
    assert_eq!(
        (&data["path"], &data["retryable"]),
        (&json!("src/lib.rs"), &json!(false))
    );
    let rule = data["rule"].as_str().unwrap();
    assert!(rule.contains("jig.toml:"), "{rule}");
    let hint = data["hint"].as_str().unwrap();
    assert!(hint.contains("[[tools.probe.access.fs]]"), "{hint}");
    assert!(
        !error.to_string().contains(probe.workspace.root.as_str()),
        "{error}"
    );
}

/// V-162, V-163: without rules the workspace can be read, and no more.
#[test]
fn v162_without_rules_a_tool_reads() {
    let nobody = || error(-32001, "approval_unavailable");
    check_with(
        "",
        &[("a.txt", b"a")],
        &[
            (
                "fs.read",
                json!({"path": "a.txt"}),
                json!({"content": "a", "size": 1}),
            ),
            (
                "fs.grep",
                json!({"pattern": "^a$"}),
                json!({"matches": [{"path": "a.txt", "lines": [{"line_number": 1, "content": "a", "is_match": true}]}]}),
            ),
            (
                "fs.write",
                json!({"path": "a.txt", "content": ""}),
                nobody(),
            ),
            ("process.run", json!({"program": "true"}), nobody()),
        ],
    );
}

/// V-161, X-08: the other spelling of the rules means the same.
#[test]
fn v161_sandbox_spelling() {
    let config = "[tools.probe.sandbox]\nfilesystem.allow = ['.']\nfilesystem.writable = true\n";
    let probe = check_with(
        config,
        &[],
        &[(
            "fs.write",
            json!({"path": "new", "content": "x"}),
            json!({}),
        )],
    );
    assert_eq!(probe.read("new").unwrap(), b"x");
}

/// What configures jig, and the program of the tool itself, no rule that speaks of more opens.
#[test]
fn a_tool_cannot_change_its_own_rules() {
    let protected = || error(-32001, "protected");
    let probe = check(
        &[],
        &[
            (
                "fs.write",
                json!({"path": "jig.toml", "content": ""}),
                protected(),
            ),
            ("fs.delete", json!({"path": "jig.toml"}), protected()),
            (
                "fs.rename",
                json!({"from": "jig.toml", "to": "x"}),
                protected(),
            ),
        ],
    );
    assert!(probe.read("jig.toml").is_some());
}
