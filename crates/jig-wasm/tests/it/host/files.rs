//! `jp:host/filesystem`.

use jig_runtime::Mount;
use serde_json::{Value, json};

use crate::common::{On, Tried, project_path};
use crate::host::{answer, answers};

/// A workspace with a bit of everything.
fn workspace(on: On) -> Tried {
    Tried::on(on, "hosted")
        .file("a.txt", "hello")
        .file("src/main.rs", "fn main() {}")
        .file("src/deep/x", "x")
        .file("odd.bin", [0xff, 0xfe])
        .link("out", "/etc")
}

/// V-008: files by `jp:host`, as mediated tools have them.
#[test]
fn what_is_there_can_be_read_listed_and_looked_at() {
    for on in On::ALL {
        let (lines, done) = answers(
            workspace(on),
            &json!([
                ["read", "a.txt"],
                ["read", "odd.bin"],
                ["read-range", "a.txt", 1, 3],
                ["read-range", "a.txt", 9, 3],
                ["exists", "a.txt"],
                ["exists", "nothing"],
                ["metadata", "a.txt"],
                ["metadata", "src"],
                ["list-dir", "src"],
            ]),
        );
        let expected = [
            "hello",
            "[255, 254]",
            "ell",
            "",
            "true",
            "false",
            "file of 5 bytes",
            "directory of 0 bytes",
            "directory deep, file main.rs",
        ];
        assert_eq!(lines, expected, "{on:?}");
        let decisions = done.decisions();
        assert_eq!(decisions.len(), expected.len());
        assert_eq!(decisions[0], "fs.read a.txt allow");
        assert_eq!(decisions[8], "fs.list_dir src allow");
    }
}

#[test]
fn changes_are_made() {
    for on in On::ALL {
        let (lines, done) = answers(
            workspace(on),
            &json!([
                ["write", "new/file", "one"],
                ["append", "new/file", [33]],
                ["create-dir", "empty/below"],
                ["rename", "a.txt", "moved.txt"],
                ["delete", "odd.bin"],
                ["delete", "src", true],
                ["exists", "src"],
                ["metadata", "empty/below"],
            ]),
        );
        let expected = [
            "done",
            "done",
            "done",
            "done",
            "done",
            "done",
            "false",
            "directory of 0 bytes",
        ];
        assert_eq!(lines, expected, "{on:?}");
        assert_eq!(done.read("new/file").unwrap(), b"one!");
        assert_eq!(done.read("moved.txt").unwrap(), b"hello");
        assert_eq!(done.read("a.txt"), None);
        assert_eq!(done.read("odd.bin"), None);
    }
}

#[test]
fn what_fails_is_said_in_words() {
    for on in On::ALL {
        let check = |call: Value, expected: &str| {
            let (line, _) = answer(workspace(on), &call);
            assert_eq!(line, format!("error: {expected}"), "{call}");
        };
        check(json!(["read", "nothing"]), r#""nothing" does not exist"#);
        check(json!(["read", "src"]), r#""src" is a directory"#);
        check(
            json!(["list-dir", "a.txt"]),
            r#""a.txt" is not a directory"#,
        );
        let is_dir = "\"src\" is a directory\nhint: a directory is deleted with all that is in it if `recursive` is true";
        check(json!(["delete", "src", false]), is_dir);
        for path in [
            "../x",
            "/etc/passwd",
            "src/../a.txt",
            "out/passwd",
            "/workspace/a.txt",
        ] {
            let (line, _) = answer(workspace(on), &json!(["read", path]));
            assert!(
                line.contains("leads out of the workspace"),
                "{path}: {line}"
            );
        }
    }
}

/// One error, with the rule that decided and the one that would help.
#[test]
fn a_denial_teaches() {
    let tried = workspace(On::Memory)
        .rules("fs = [{ path = \"src\", read = true }, { path = \"src/deep\", read = false }]");
    let (line, done) = answer(tried, &json!(["read", "src/deep/x"]));
    let mut lines = line.lines();
    let first = lines.next().unwrap();
    assert!(
        first.starts_with("error: access denied: read on `src/deep/x`"),
        "{line}"
    );
    let rest: Vec<&str> = lines.collect();
    assert!(rest.iter().any(|line| line.starts_with("rule: ")), "{line}");
    assert!(
        rest.iter()
            .any(|line| line.contains("[[tools.tool.access.fs]]")),
        "{line}"
    );
    assert_eq!(done.decisions(), ["fs.read src/deep/x deny"]);
}

#[test]
fn somebody_is_asked_about_what_no_rule_covers() {
    let tried = || workspace(On::Memory).rules("fs = [{ path = \"src\", read = true }]");
    let (line, done) = answer(tried().answer("once"), &json!(["read", "a.txt"]));
    assert_eq!((line.as_str(), done.asked.len()), ("hello", 1));
    let (line, done) = answer(tried().answer("no"), &json!(["read", "a.txt"]));
    assert!(line.starts_with("error: access denied: "), "{line}");
    assert_eq!(done.asked.len(), 1);
}

/// W-025: requests speak of the workspace, and must not lead round the mounts, whatever the rules allow.
#[test]
fn w025_a_guest_with_a_part_of_the_workspace_has_no_way_round() {
    for on in On::ALL {
        let part = || {
            workspace(on)
                .link("src/deep/up", "../main.rs")
                .link("src/deep/away", "../../src")
                .link("src/deep/same", "x")
                .mounts(mounts("src/deep", true))
        };
        let read = |path: &str| json!({"jsonrpc": "2.0", "id": 1, "method": "fs.read", "params": {"path": path}});
        let calls = json!([
            ["read", "a.txt"],
            ["read", "src/main.rs"],
            ["read", "src/deep/up"],
            ["read", "src/deep/away/main.rs"],
            ["read", "src/deep/../main.rs"],
            ["list-dir", "."],
            ["list-dir", "src"],
            ["list-dir", "src/deep/away"],
            ["exists", "a.txt"],
            ["metadata", "src/deep/up"],
            ["write", "src/x", "x"],
            ["write", "src/deep/up", "x"],
            ["append", "src/deep/away/main.rs", "x"],
            ["create-dir", "src/deep/away/new"],
            ["delete", "a.txt"],
            ["delete", "src/deep/away/main.rs"],
            ["rename", "a.txt", "src/deep/a"],
            ["rename", "src/deep/x", "x"],
            ["message", read("a.txt")],
            ["message", read("src/deep/up")],
        ]);
        let (lines, done) = answers(part(), &calls);
        for (line, call) in lines.iter().zip(calls.as_array().unwrap()) {
            assert!(
                line.contains("leads out of the workspace"),
                "{on:?} {call}: {line}"
            );
        }
        assert_eq!(done.read("a.txt").unwrap(), b"hello");
        assert_eq!(done.read("src/main.rs").unwrap(), b"fn main() {}");
        let decisions = done.decisions();
        assert_eq!(decisions.len(), lines.len(), "{decisions:?}");
        assert!(
            decisions.iter().all(|line| line.ends_with("deny")),
            "{decisions:?}"
        );

        let (line, _) = answer(part(), &json!(["run", "cat", ["a.txt"]]));
        assert!(line.contains("sees only `/subjects`"), "{line}");
        let (lines, _) = answers(
            part(),
            &json!([
                ["read", "src/deep/x"],
                ["read", "src/deep/same"],
                ["write", "src/deep/new", "x"],
                ["exists", "src/deep/new"],
            ]),
        );
        assert_eq!(lines, ["x", "x", "done", "true"], "{on:?}");
        let grep =
            json!({"jsonrpc": "2.0", "id": 1, "method": "fs.grep", "params": {"pattern": "."}});
        let (line, _) = answer(part(), &json!(["message", grep]));
        assert!(
            line.contains("src/deep/x") && !line.contains("hello"),
            "{line}"
        );
        assert!(!line.contains("main"), "{line}");
    }
}

/// The whole of it, but read-only.
#[test]
fn w020_a_read_only_mount_is_not_changed_by_requests() {
    for on in On::ALL {
        let calls = json!([
            ["read", "a.txt"],
            ["write", "a.txt", "x"],
            ["append", "a.txt", "x"],
            ["create-dir", "new"],
            ["delete", "a.txt"],
            ["rename", "a.txt", "b.txt"],
            ["run", "touch", ["a.txt"]],
        ]);
        let (lines, done) = answers(workspace(on).mounts(mounts(".", false)), &calls);
        assert_eq!(lines[0], "hello");
        for line in &lines[1..] {
            assert!(line.contains("sees `/subjects` read-only"), "{line}");
        }
        let decisions = done.decisions();
        let refused = [
            "fs.write a.txt deny",
            "fs.append a.txt deny",
            "fs.mkdir new deny",
            "fs.delete a.txt deny",
            "fs.rename a.txt b.txt deny",
            "process.run  deny",
        ];
        assert_eq!(decisions[1..], refused);
        assert_eq!(done.read("a.txt").unwrap(), b"hello");
    }
}

fn mounts(path: &str, writable: bool) -> Vec<Mount> {
    vec![Mount {
        guest: "/subjects".to_owned(),
        path: project_path(path),
        writable,
    }]
}

/// Nobody makes us hold more than a message.
#[test]
fn content_is_bounded() {
    let (line, done) = answer(
        Tried::memory("hosted"),
        &json!(["write-many", "a", 17 * 1024 * 1024]),
    );
    assert!(
        line.starts_with("error: the content has 17825792 bytes"),
        "{line}"
    );
    assert_eq!(done.decisions(), Vec::<String>::new());
}

#[test]
fn a_long_directory_is_listed_whole() {
    let mut tried = Tried::memory("hosted");
    for number in 0..60_000 {
        tried = tried.file(&format!("many/{number}"), "");
    }
    let (line, _) = answer(tried, &json!(["count-dir", "many"]));
    assert_eq!(line, "60000");
}
