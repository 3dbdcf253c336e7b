//! Mistakes in commands and files of configuration, told by `jig config check`, `jig tools` and the first call, and
//! gone once the message is followed.

use std::os::unix::fs::PermissionsExt as _;

use super::Workspace;

fn tool(lines: &str) -> String {
    format!("[tools.t]\nsource = \"local\"\nrun = \"unattended\"\n{lines}\n")
}

/// What a command prints, found by a search path of its own.
fn told(workspace: &Workspace, args: &[&str]) -> String {
    let mut command = workspace.jig(args);
    let output = command.env("PATH", "/usr/bin:/bin").output().unwrap();
    format!(
        "{}{}[exit {}]",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
        output.status.code().unwrap(),
    )
}

fn script(workspace: &Workspace, content: &str, mode: u32) {
    workspace.write("tools/x.sh", content);
    let permissions = std::fs::Permissions::from_mode(mode);
    std::fs::set_permissions(workspace.root.join("tools/x.sh"), permissions).unwrap();
}

#[test]
fn a_program_that_cannot_be_started_is_told_before_and_at_the_first_call() {
    let check = |content: Option<(&str, u32)>, command: &str, expected: &str, help: &str| {
        let workspace = Workspace::with(&tool(&format!("command = {command}")));
        if let Some((content, mode)) = content {
            script(&workspace, content, mode);
        }
        for args in [&["config", "check"][..], &["tools"], &["tools", "t"]] {
            let told = told(&workspace, args);
            assert!(told.contains(expected), "{args:?} {command}: {told}");
            assert!(told.contains(help), "{args:?} {command}: {told}");
            assert!(told.ends_with("[exit 0]"), "{args:?} {command}: {told}");
        }
        let told = told(&workspace, &["call", "t"]);
        assert!(told.contains("hint: "), "{command}: {told}");
        assert!(!told.ends_with("[exit 0]"), "{command}: {told}");
    };
    let file = "\"tools/x.sh\"";
    check(
        Some(("#!/bin/sh\n", 0o644)),
        file,
        "`tools/x.sh` may not be executed",
        "chmod +x tools/x.sh",
    );
    check(
        Some(("echo hi\n", 0o755)),
        file,
        "its first line is no `#!`",
        "make `#!/bin/sh` its first line",
    );
    check(
        Some(("#!/bin/sh\r\necho hi\r\n", 0o755)),
        file,
        "ends with a carriage return",
        "sed -i 's/\\r$//' tools/x.sh",
    );
    check(
        Some(("#!/no/such/interpreter\n", 0o755)),
        file,
        "needs the interpreter `/no/such/interpreter`",
        "correct the first line",
    );
    check(
        Some(("", 0o755)),
        "[\"tools/y.sh\"]",
        "there is no program `tools/y.sh`",
        "did you mean `tools/x.sh`?",
    );
    check(
        None,
        "\"no-such-program-at-all\"",
        "was not found: looked in `/usr/bin`, `/bin`",
        "correct",
    );
    check(
        Some(("", 0o755)),
        "\"./tools\"",
        "`./tools` is a folder",
        "name the file in it",
    );
    // A program that can be started is none of them.
    let workspace = Workspace::with(&tool("command = [\"tools/x.sh\", \"a b\"]"));
    script(&workspace, "#!/bin/sh\necho \"hi $1\"\n", 0o755);
    assert!(!told(&workspace, &["tools"]).contains("jig: "));
    let said = told(&workspace, &["call", "t"]);
    assert!(said.contains("hi a b"), "{said}");
}

#[test]
fn syntax_of_a_shell_that_nothing_reads() {
    let workspace = Workspace::with(&tool("command = \"cat a.txt | wc -l\""));
    workspace.write("a.txt", "1\n2\n");
    let line = "command = { program = \"cat a.txt | wc -l\", shell = true }";
    for args in [&["config", "check"][..], &["tools"], &["call", "t"]] {
        let told = told(&workspace, args);
        assert!(
            told.contains("`|` would be an argument"),
            "{args:?}: {told}"
        );
        assert!(
            told.contains("`sh -c`") && told.contains(line),
            "{args:?}: {told}"
        );
        assert!(told.ends_with("[exit 3]"), "{args:?}: {told}");
    }
    workspace.write("jig.toml", tool(line));
    assert!(told(&workspace, &["call", "t"]).contains('2'));
    // What a shell would replace is told, and stays what it is.
    workspace.write("jig.toml", tool("command = \"ls *.txt\""));
    for args in [&["config", "check"][..], &["tools"], &["call", "t"]] {
        let told = told(&workspace, args);
        assert!(
            told.contains("`*.txt` reaches the program as it is"),
            "{args:?}: {told}"
        );
    }
    workspace.write(
        "jig.toml",
        tool("command = { program = \"ls *.txt\", shell = true }"),
    );
    assert!(told(&workspace, &["call", "t"]).contains("a.txt"));
    // A value inside of a script of one's own would be code.
    workspace.write(
        "jig.toml",
        tool("command = [\"sh\", \"-c\", \"echo {{tool.arguments.x}}\"]\nparameters.x.type = \"string\""),
    );
    assert!(told(&workspace, &["config", "check"]).contains("as code"));
}

/// J-006, with the deviation that docs/configuration.md tells: what is missing is an empty word.
#[test]
fn templates_are_judged_when_they_are_loaded() {
    let command = "command = \"printf [%s] {{tool.arguments.path}} {{tool.arguments.mode | default('fast')}} end\"\n";
    let parameters = "parameters.path.type = \"string\"\nparameters.mode.type = \"string\"\n";
    let workspace = Workspace::with(&tool(&format!("{command}{parameters}")));
    let said = |args: &[&str]| told(&workspace, args);
    assert!(said(&["call", "t"]).contains("[][fast][end]"));
    assert!(said(&["call", "t", "path=a b", "mode=x"]).contains("[a b][x][end]"));
    for (wrong, expected) in [
        (
            "{{tool.arguments.paht}}",
            "did you mean `{{tool.arguments.path}}`?",
        ),
        ("{{tool.nonsense}}", "`tool` has no `nonsense`"),
        ("{{path}}", "write `{{tool.arguments.path}}`"),
        ("{{ tool.arguments.path", "is no template"),
    ] {
        let command = format!("command = \"echo {wrong} {{{{tool.arguments}}}}\"\n{parameters}");
        workspace.write("jig.toml", tool(&command));
        for args in [&["config", "check"][..], &["tools"], &["call", "t"]] {
            let told = told(&workspace, args);
            assert!(told.contains(expected), "{wrong} {args:?}: {told}");
            assert!(told.ends_with("[exit 3]"), "{wrong} {args:?}: {told}");
        }
    }
    // A parameter that no word names.
    workspace.write(
        "jig.toml",
        tool(&format!("command = \"echo\"\n{parameters}")),
    );
    for args in [&["config", "check"][..], &["tools"]] {
        let told = told(&workspace, args);
        assert!(
            told.contains("`path`, `mode` of `t` never reach the program"),
            "{told}"
        );
        assert!(
            told.contains("add `{{tool.arguments.path}}` to `command`"),
            "{told}"
        );
    }
    workspace.write(
        "jig.toml",
        tool(&format!(
            "command = \"cat\"\ninput = \"stdin\"\n{parameters}"
        )),
    );
    assert!(!told(&workspace, &["tools"]).contains("never reach"));
}

#[test]
fn values_that_are_meant_otherwise() {
    for (wrong, expected, right) in [
        (
            "command = tools/x.sh",
            "put it in quotes: `command = \"tools/x.sh\"`",
            "command = \"tools/x.sh\"",
        ),
        (
            "command = ./x.sh --fast",
            "put it in quotes: `command = \"./x.sh --fast\"`",
            "command = \"./x.sh --fast\"",
        ),
        (
            "command = \"make\"\nsandbox.limits.time = 10m",
            "put it in quotes: `sandbox.limits.time = \"10m\"`",
            "command = \"make\"\nsandbox.limits.time = \"10m\"",
        ),
        (
            "command = \"make\"\naccess.net = [{ host = \"8080\", allow = true }]",
            "`host = \"localhost\", port = 8080`",
            "command = \"make\"\naccess.net = [{ host = \"localhost\", port = 8080, allow = true }]",
        ),
        (
            "command = \"make\"\naccess.net = [{ host = \"https://a.example:8443/v1\", allow = true }]",
            "host = \"a.example\", scheme = \"https\", port = 8443, path_prefix = \"/v1\"",
            "command = \"make\"\naccess.net = [{ host = \"a.example\", scheme = \"https\", port = 8443, path_prefix = \"/v1\", allow = true }]",
        ),
        (
            "command = \"make\"\naccess.fs = [{ path = \"src/**/*.rs\", read = true }]",
            "write `path = \"src\"`",
            "command = \"make\"\naccess.fs = [{ path = \"src\", read = true }]",
        ),
    ] {
        let workspace = Workspace::with(&tool(wrong));
        let said = workspace.run(&["config", "check"]);
        assert!(
            said.contains(expected) && said.ends_with("[exit 3]"),
            "{wrong}: {said}"
        );
        workspace.write("jig.toml", tool(right));
        let said = workspace.run(&["config", "check"]);
        assert!(said.ends_with("[exit 0]"), "{right}: {said}");
    }
}

#[test]
fn an_option_is_shown_as_it_was_typed() {
    let workspace = Workspace::with(&tool("command = \"make\""));
    let said = workspace.run(&["--set", "tools.t.run=sometimes", "tools"]);
    assert!(said.contains("--set tools.t.run=sometimes"), "{said}");
    assert!(!said.contains("--set:1"), "{said}");
    let said = workspace.json(&["--set", "tools.t.run=sometimes", "config", "check"]);
    assert_eq!(said["problems"][0]["file"], "--set");
    assert_eq!(said["problems"][0]["line"], serde_json::Value::Null);
}

#[test]
fn a_file_that_does_not_count_is_named() {
    let workspace = Workspace::new();
    workspace.write("a/b/jig.toml", tool("command = \"make\""));
    let said = workspace.run(&["tools"]);
    assert!(
        said.contains("`a/b/jig.toml` is not in force here: to use it, add `-C a/b`"),
        "{said}"
    );
    let said = workspace.run(&["call", "t"]);
    assert!(
        said.contains("there is no tool `t` in the workspace `[workspace]`, which has no file of configuration"),
        "{said}"
    );
    assert!(said.contains("add `-C a/b`"), "{said}");
    assert!(workspace.run(&["-C", "a/b", "tools"]).contains("\nt "));
    // One above the folder that counts.
    workspace.write("jig.toml", "");
    let said = workspace.run(&["-C", "a/b", "config", "check"]);
    assert!(
        said.contains("`[workspace]/jig.toml` is not in force here"),
        "{said}"
    );
    let said = workspace.run(&["call", "t"]);
    assert!(said.contains("configured by `jig.toml`"), "{said}");
}

#[test]
fn a_line_in_one_word() {
    let workspace = Workspace::new();
    workspace.write("a.txt", "1\n");
    let said = told(&workspace, &["run", "ls -la"]);
    assert!(
        said.contains("written apart, without quotes: ls -la"),
        "{said}"
    );
    let said = told(&workspace, &["run", "cat a.txt | wc -l"]);
    assert!(
        said.contains("have one read it: sh -c 'cat a.txt | wc -l'"),
        "{said}"
    );
    assert!(told(&workspace, &["run", "--", "sh", "-c", "cat a.txt | wc -l"]).contains('1'));
}

/// extended files are loaded, guarded and counted by the real program.
#[test]
fn x70_no_tool_writes_what_is_extended() {
    let workspace = Workspace::with(&format!(
        "extends = [\"conf/*.toml\"]\n{}",
        tool(
            "command = { program = \"echo x > conf/new.toml; echo y >> conf/a.toml; echo z > free.txt\", shell = true }"
        )
    ));
    workspace.write(
        "conf/a.toml",
        "[tools.other]\nsource = \"local\"\ncommand = \"true\"\n",
    );
    let said = told(&workspace, &["config", "check"]);
    assert!(
        said.contains("jig.toml and 1 file that is extended"),
        "{said}"
    );
    let _ = told(&workspace, &["call", "t"]);
    assert!(!workspace.root.join("conf/new.toml").exists());
    let kept = std::fs::read_to_string(workspace.root.join("conf/a.toml")).unwrap();
    assert!(!kept.contains('y'), "{kept}");
    assert!(
        workspace.root.join("free.txt").exists(),
        "what is no configuration can be written"
    );
    let said = told(
        &workspace,
        &[
            "call",
            "fs_create_file",
            "--yes",
            "path=conf/b.toml",
            "content=x",
        ],
    );
    assert!(said.contains("configuration that jig loads"), "{said}");
    assert!(!workspace.root.join("conf/b.toml").exists());
}
