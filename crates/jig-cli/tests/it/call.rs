//! `jig call`, `jig log` and `jig vfs-host`: tools that really run.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use serde_json::{Value as Json, json};

use super::Workspace;

fn project() -> Workspace {
    let workspace = Workspace::new();
    workspace.write("src/main.rs", "fn main() {\n    println!(\"hi\");\n}\n");
    workspace.write("src/lib.rs", "// nothing yet\n");
    workspace.write("README.md", "# A project\n");
    workspace.write(".env", "SECRET=1\n");
    workspace
}

#[test]
fn tools_work_without_any_configuration() {
    let workspace = project();
    assert_snapshot!(workspace.run(&["call", "fs_read_file", "path=src/main.rs", "start_line=2", "end_line=2"]), @r#"
        println!("hi");
    [exit 0]
    "#);
    assert_snapshot!(workspace.run(&["call", "fs_list_files"]), @"
    README.md
    src/lib.rs
    src/main.rs
    [exit 0]
    ");
    assert_snapshot!(workspace.run(&["call", "fs_grep_files", "pattern=fn main"]), @"
    src/main.rs:1: fn main() {
    [exit 0]
    ");
}

#[test]
fn writing_asks_first_and_yes_answers() {
    let workspace = project();
    let create = [
        "call",
        "fs_create_file",
        "path=out/new.txt",
        "content=hello",
    ];
    assert_snapshot!(workspace.run(&[&create[..], &["--no-interaction"]].concat()), @r#"
    error: `fs_create_file` asks before it runs, and nobody can be asked here
    hint: call it with --yes, or set tools.fs_create_file.run = "unattended"
    [exit 1]
    "#);
    assert!(!workspace.root.join("out").exists(), "nothing was written");
    workspace.run(&[&create[..], &["--yes"]].concat());
    let written = std::fs::read_to_string(workspace.root.join("out/new.txt")).unwrap();
    assert_eq!(written, "hello");
}

#[test]
fn a_change_is_shown_as_a_diff() {
    let workspace = project();
    let args = json!({ "path": "src/main.rs", "patterns": [{ "old": "hi", "new": "hello" }] });
    let args = args.to_string();
    assert_snapshot!(workspace.run(&["call", "fs_modify_file", "--args", &args, "--yes"]), @r#"
    Changed `src/main.rs` (1 replacement).

    --- a/src/main.rs
    +++ b/src/main.rs
    @@ -1,3 +1,3 @@
     fn main() {
    -    println!("hi");
    +    println!("hello");
     }
    [exit 0]
    "#);
}

#[test]
fn a_denial_teaches() {
    let workspace = project();
    assert_snapshot!(workspace.run(&["call", "fs_read_file", "path=.env", "--no-interaction"]));
    let answer = workspace.json(&["call", "fs_read_file", "path=.env", "--no-interaction"]);
    assert_eq!(answer["isError"], true);
    let text = answer["error"].to_string();
    assert!(
        text.contains("access.fs"),
        "the rule that would allow it: {text}"
    );
}

#[test]
fn wrong_arguments_are_named() {
    let workspace = project();
    for (args, expected) in [
        (&["call", "fs_read_file"][..], "`path` is missing"),
        (&["call", "fs_read_file", "paht=x"], "`paht` is not known"),
        (
            &["call", "fs_read_file", "path=x", "start_line=one"],
            "`start_line` must be integer",
        ),
        (
            &["call", "fs_read_file", "README.md"],
            "`README.md` is not an argument",
        ),
        (&["call", "fs_read_file", "--args", "[]"], "one JSON object"),
        (&["call", "fs_read_file", "--args", "{"], "not JSON"),
        (&["call", "fs_reed_file"], "did you mean `fs_read_file`"),
    ] {
        let answer = workspace.run(args);
        assert!(
            answer.contains(expected) && answer.ends_with("[exit 1]"),
            "{args:?}: {answer}"
        );
    }
}

#[test]
fn arguments_come_from_stdin_too() {
    let workspace = project();
    let mut command = workspace.jig(&["call", "fs_read_file", "--args", "-"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(b"{\"path\": \"README.md\"}")
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "# A project\n");
}

/// V-192: the same code inside jig and as a subprocess, with the same results.
#[test]
fn v192_a_subprocess_gives_the_same_results() {
    let calls: [(&str, Json); 12] = [
        ("fs_read_file", json!({ "path": "src/main.rs" })),
        (
            "fs_read_file",
            json!({ "path": "src/main.rs", "start_line": 2, "line_numbers": true }),
        ),
        ("fs_read_file", json!({ "path": "missing" })),
        ("fs_read_file", json!({ "path": ".env" })),
        ("fs_read_file", json!({ "path": "src" })),
        ("fs_list_files", json!({ "extensions": ["rs"] })),
        (
            "fs_grep_files",
            json!({ "pattern": "main|nothing", "context": 1 }),
        ),
        (
            "fs_create_file",
            json!({ "path": "a/b/c.txt", "content": "ü\n" }),
        ),
        (
            "fs_modify_file",
            json!({ "path": "src/main.rs", "patterns": [{ "old": "h(i)", "new": "${1}h", "regex": true }] }),
        ),
        (
            "fs_move_file",
            json!({ "from": "src/lib.rs", "to": "src/moved.rs" }),
        ),
        ("fs_delete_file", json!({ "path": "README.md" })),
        ("fs_delete_file", json!({ "path": "jig.toml" })),
    ];
    let mut results = Vec::new();
    for runtime in ["builtin", "vfs"] {
        let workspace = project();
        let mut answers = Vec::new();
        for (tool, args) in &calls {
            let set = format!("tools.{tool}.runtime={runtime}");
            let args = args.to_string();
            let args = [
                "--set",
                &set,
                "call",
                tool,
                "--args",
                &args,
                "--yes",
                "--no-interaction",
            ];
            answers.push(workspace.json(&args));
        }
        let mut find = Command::new("find");
        find.args([".", "-type", "f", "-exec", "md5sum", "{}", "+"]);
        let tree = find.current_dir(&workspace.root).output().unwrap().stdout;
        let mut tree: Vec<String> = String::from_utf8(tree)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect();
        tree.sort();
        results.push((answers, tree));
    }
    assert_eq!(results[0], results[1]);
    let failed = results[0]
        .0
        .iter()
        .filter(|answer| answer["isError"] == true)
        .count();
    assert_eq!(failed, 4, "{:#?}", results[0].0);
}

#[test]
fn every_decision_is_in_the_log() {
    let workspace = project();
    assert_snapshot!(workspace.run(&["log"]), @"
    nothing was decided here yet, or nothing that you asked for
    [exit 0]
    ");
    workspace.run(&["call", "fs_read_file", "path=README.md"]);
    workspace.run(&["call", "fs_read_file", "path=.env", "--no-interaction"]);
    workspace.run(&["call", "fs_grep_files", "pattern=x"]);
    let lines = |args: &[&str]| {
        let output = workspace
            .jig(&[&["--json", "log"], args].concat())
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect::<Vec<Json>>()
    };
    let decisions: Vec<Json> = lines(&[])
        .iter()
        .map(|line| line["decision"].clone())
        .collect();
    assert_eq!(decisions, ["allow", "uncovered", "deny", "allow"]);
    let denied = &lines(&["--decision", "deny"])[0];
    assert_eq!(denied["target"], ".env");
    let hint = denied["hint"].as_str().unwrap();
    assert!(hint.ends_with("path = \".env\"\nread = true\n"), "{hint}");
    assert_eq!(lines(&["--tool", "fs_grep_files"]).len(), 1);
    assert_eq!(lines(&["--since", "1h"]).len(), 4);
    assert_eq!(lines(&["--until", "1h"]).len(), 0);
    assert_eq!(lines(&["-n", "2"]), lines(&[])[2..]);
    assert_eq!(
        lines(&["-n", "9", "--tool", "fs_read_file", "--since", "2026-01-01"]).len(),
        3
    );
    assert_eq!(lines(&["-n", "0"]).len(), 0);
    let table = workspace.run(&["log"]);
    assert!(
        table.contains("fs.read") && table.contains("README.md"),
        "{table}"
    );
    let told = "    to allow it, add:\n      [[tools.fs_read_file.access.fs]]\n";
    assert_eq!(table.matches(told).count(), 1, "{table}");
    let wrong = workspace.run(&["log", "--since", "yesterday"]);
    assert!(
        wrong.contains("`yesterday` is not a time") && wrong.contains("10m"),
        "{wrong}"
    );
}

/// Runs jig with a terminal of its own, and types `input`.
fn on_a_terminal(workspace: &Workspace, args: &[&str], input: &str) -> String {
    let jig = env!("CARGO_BIN_EXE_jig");
    let line = format!("{jig} {}", args.join(" "));
    let mut script = Command::new("script");
    script
        .args([
            "--quiet",
            "--return",
            "--flush",
            "--command",
            &line,
            "/dev/null",
        ])
        .current_dir(&workspace.root)
        .env_clear()
        .envs([
            ("HOME", workspace.home.as_str()),
            ("PATH", "/usr/bin:/bin"),
            ("TERM", "xterm"),
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    let mut child = script.spawn().expect("`script` of util-linux is there");
    child
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    String::from_utf8_lossy(&output.stdout).replace('\r', "")
}

/// V-132, V-133: what no rule covers is asked at the terminal, and the answer counts.
#[test]
fn v132_uncovered_requests_are_asked_at_the_terminal() {
    let workspace = project();
    let args = ["--color", "never", "call", "fs_read_file", "path=.env"];
    let allowed = on_a_terminal(&workspace, &args, "o\n");
    assert!(
        allowed.contains("Allow `fs_read_file` to read `.env`?"),
        "{allowed}"
    );
    assert!(
        allowed.contains("path = \".env\""),
        "the rule that would cover it: {allowed}"
    );
    assert!(
        allowed.contains("[o]nce, for this [t]urn, [n]o, or n and a reason"),
        "{allowed}"
    );
    assert!(allowed.contains("SECRET=1"), "{allowed}");
    let denied = on_a_terminal(&workspace, &args, "n\n");
    assert!(
        denied.contains("said no") && !denied.contains("SECRET=1"),
        "{denied}"
    );
    let log = workspace.run(&["log"]);
    for told in ["allowed once", "no"] {
        let told = format!("{told}, by the person at the terminal");
        assert_eq!(log.matches(&told).count(), 1, "{told}: {log}");
    }
    let default = on_a_terminal(&workspace, &args, "\n");
    assert!(
        !default.contains("SECRET=1"),
        "an empty line is no: {default}"
    );
}

/// Whoever is asked whether a tool may run sees what would be run.
#[test]
fn the_question_shows_the_command() {
    let workspace = Workspace::with(
        "[tools.t]\nsource = 'local'\ncommand = 'echo -n {{tool.arguments.x}}'\nparameters.x.type = 'string'\n",
    );
    let args = ["--color", "never", "call", "t", "'x=a  b'"];
    let shown = on_a_terminal(&workspace, &args, "y\n");
    let question = "  $ echo -n 'a  b'\n  {\n    \"x\": \"a  b\"\n  }\n";
    assert!(shown.contains(question), "{shown}");
    assert!(shown.trim_end().ends_with("a  b"), "{shown}");
}

/// S-073: the tool's own question is asked with the diff, and no means that nothing is done.
#[test]
fn s073_a_tool_asks_before_it_applies_changes() {
    let workspace = project();
    let patterns = r#"--args '{"path":"src/main.rs","patterns":[{"old":"hi","new":"hello"}]}'"#;
    let args = [
        "--color",
        "never",
        "--set",
        "tools.fs_modify_file.run=unattended",
        "call",
        "fs_modify_file",
        patterns,
    ];
    let shown = on_a_terminal(&workspace, &args, "n\n");
    assert!(shown.contains("+    println!(\"hello\");"), "{shown}");
    let content = || std::fs::read_to_string(workspace.root.join("src/main.rs")).unwrap();
    assert!(content().contains("\"hi\""), "{shown}");
    on_a_terminal(&workspace, &args, "y\n");
    assert!(content().contains("\"hello\""));
}

/// Questions have colours on a terminal, and none with `--color never`.
#[test]
fn questions_are_without_colours_if_none_are_wanted() {
    let workspace = project();
    let patterns = r#"--args '{"path":"src/main.rs","patterns":[{"old":"hi","new":"hello"}]}'"#;
    let shown = |color: &str| {
        let unattended = "tools.fs_modify_file.run=unattended";
        let args = [
            "--color",
            color,
            "--set",
            unattended,
            "call",
            "fs_modify_file",
            patterns,
        ];
        let shown = on_a_terminal(&workspace, &args, "n\n");
        assert!(shown.contains("println!(\"hello\");"), "{shown}");
        shown
    };
    assert!(shown("auto").contains('\u{1b}'));
    let plain = shown("never");
    assert!(!plain.contains('\u{1b}'), "{plain:?}");
}

/// The host's side on stdin and stdout, for tests of tools.
#[test]
fn vfs_host_answers_a_tool() {
    let workspace = project();
    workspace.write(
        "policy.toml",
        "[tools.mine]\nsource='local'\nruntime='vfs'\ncommand='x'\n[[tools.mine.access.fs]]\npath='src'\nread=true\n",
    );
    let mut command = workspace.jig(&[
        "vfs-host",
        "--root",
        ".",
        "--policy",
        "policy.toml",
        "--args",
        "{\"a\":1}",
    ]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut answer = || -> Json { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    let init = answer();
    assert_eq!(init["params"]["tool"]["name"], "mine");
    assert_eq!(init["params"]["tool"]["arguments"]["a"], 1);
    let mut ask = |id: u32, path: &str| {
        let request =
            json!({ "jsonrpc": "2.0", "id": id, "method": "fs.read", "params": { "path": path } });
        writeln!(stdin, "{request}").unwrap();
    };
    ask(1, "src/lib.rs");
    assert_eq!(answer()["result"]["content"], "// nothing yet\n");
    ask(2, "README.md");
    let denied = answer();
    assert_eq!(denied["error"]["code"], -32001, "{denied:#}");
    assert_eq!(denied["error"]["data"]["kind"], "approval_unavailable");
    writeln!(
        stdin,
        "{}",
        json!({ "jsonrpc": "2.0", "method": "result", "params": { "content": "done" } })
    )
    .unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "done\n");
}

#[test]
fn code_is_in_colour_on_a_terminal_and_plain_in_a_pipe() {
    let workspace = project();
    let args = ["call", "fs_read_file", "path=src/main.rs"];
    let shown = on_a_terminal(&workspace, &args, "");
    assert!(shown.contains("\u{1b}[35mfn\u{1b}[0m"), "{shown:?}");
    assert!(!workspace.run(&args).contains('\u{1b}'));
}
