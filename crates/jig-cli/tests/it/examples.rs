//! The examples of the repository, run as their READMEs say.

use std::process::Command;

use super::Workspace;

/// Copies a folder of the repository into the workspace, at the same place.
fn copy(workspace: &Workspace, folder: &str) {
    let from = format!("{}/../../{folder}", env!("CARGO_MANIFEST_DIR"));
    let to = workspace.root.join(folder);
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    let copied = Command::new("cp")
        .args(["-r", &from, to.as_str()])
        .status()
        .unwrap();
    assert!(copied.success(), "{folder} is there");
}

/// V-001, V-168: no SDK is needed to write a tool.
#[test]
fn v168_a_tool_in_shell() {
    if !jig_testkit::has_program("jq") {
        return;
    }
    let workspace = Workspace::new();
    copy(&workspace, "examples/vfs-shell");
    let path = std::env::var("PATH").unwrap();
    let call = |path_argument: &str| {
        let mut command = workspace.jig(&["-C", "examples/vfs-shell", "call", "word_count"]);
        let output = command
            .args([path_argument, "--yes"])
            .env("PATH", &path)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        (
            output.status.success(),
            text,
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    workspace.write("examples/vfs-shell/text.txt", "one two\nthree\n");
    assert_eq!(
        call("path=text.txt"),
        (true, "3 words in text.txt\n".to_owned(), String::new())
    );
    let (ok, _, error) = call("path=../outside");
    assert!(
        !ok && error.contains("leads out of the workspace"),
        "{error}"
    );
}

/// V-191: a real tool on the Python SDK, as a real subprocess of the real jig.
#[test]
fn v191_a_tool_in_python() {
    if !jig_testkit::has_program("python3") {
        return;
    }
    let workspace = Workspace::new();
    copy(&workspace, "examples/vfs-python");
    copy(&workspace, "sdk/python/src");
    workspace.write(
        "examples/vfs-python/code.py",
        "# TODO: first\n# TODO: second\n",
    );
    let path = std::env::var("PATH").unwrap();
    let mut command = workspace.jig(&["-C", "examples/vfs-python", "call", "todo_report"]);
    let output = command
        .args(["paths=code.py", "--yes"])
        .env("PATH", &path)
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert!(text.contains("2 TODO"), "{text}");
    let report =
        std::fs::read_to_string(workspace.root.join("examples/vfs-python/TODO.md")).unwrap();
    assert!(
        report.contains("first") && report.contains("second"),
        "{report}"
    );
    // It may write its report and nothing else.
    let mut command = workspace.jig(&["-C", "examples/vfs-python", "call", "todo_report"]);
    let args = [
        "paths=code.py",
        "report=other.md",
        "--yes",
        "--no-interaction",
    ];
    let output = command.args(args).env("PATH", &path).output().unwrap();
    assert!(!output.status.success(), "{output:?}");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(
        error.contains("access denied") && error.contains("other.md"),
        "{error}"
    );
}
