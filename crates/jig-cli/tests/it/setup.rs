//! `jig setup`: files of clients, shown and written.

use std::os::unix::fs::{PermissionsExt, symlink};

use camino::Utf8Path;
use serde_json::{Value as Json, json};

use super::Workspace;

/// What `jig setup` prints, with the path of the program made stable.
fn setup(workspace: &Workspace, args: &[&str]) -> String {
    let args = [&["setup"], args].concat();
    workspace
        .run(&args)
        .replace(env!("CARGO_BIN_EXE_jig"), "[jig]")
}

fn read(path: impl AsRef<Utf8Path>) -> String {
    std::fs::read_to_string(path.as_ref()).unwrap()
}

/// A folder of the search path in which `jig` is this program.
fn installed(workspace: &Workspace) -> String {
    let bin = workspace.home.join("bin");
    std::fs::create_dir(&bin).unwrap();
    symlink(env!("CARGO_BIN_EXE_jig"), bin.join("jig")).unwrap();
    bin.into_string()
}

#[test]
fn without_write_nothing_is_written() {
    let workspace = Workspace::new();
    for client in ["claude-code", "codex", "cursor", "vscode", "zed"] {
        for scope in ["--project", "--global"] {
            let output = setup(&workspace, &[client, scope]);
            assert!(output.ends_with("[exit 0]"), "{output}");
        }
    }
    setup(&workspace, &[]);
    for folder in [&workspace.root, &workspace.home] {
        let entries: Vec<_> = std::fs::read_dir(folder).unwrap().collect();
        assert!(entries.is_empty(), "{entries:?}");
    }
}

#[test]
fn what_is_shown_of_a_new_file() {
    let workspace = Workspace::new();
    insta::assert_snapshot!(setup(&workspace, &["claude-code"]), @r#"
    Claude Code would be connected by a new file, `.mcp.json`:

        {
          "mcpServers": {
            "jig": {
              "type": "stdio",
              "command": "[jig]",
              "args": ["mcp"]
            }
          }
        }

    note: `jig` is not on your search path: the entry names this one by its path, which is not the same for everybody who shares the project
    Nothing was written yet: --write does it. Then:
      - Start `claude` in the project: it asks once whether you trust the server. `/mcp` shows it.
      - See what an agent sees: jig mcp --check
    [exit 0]
    "#);
    insta::assert_snapshot!(setup(&workspace, &["claude-code", "--global"]), @r"
    Claude Code keeps its own state beside your servers, and adds to them itself. For all your projects, run:

        claude mcp add --scope user jig -- [jig] mcp

    note: `jig` is not on your search path: the entry names this one by its path
    [exit 0]
    ");
}

#[test]
fn a_file_is_written_and_found_again() {
    let workspace = Workspace::new();
    let path = installed(&workspace);
    let run = |args: &[&str]| {
        let output = workspace.jig(args).env("PATH", &path).output().unwrap();
        assert!(output.status.success(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let text = run(&["setup", "claude-code", "--write"]);
    assert!(
        text.starts_with("written: `.mcp.json` connects Claude Code to jig"),
        "{text}"
    );
    let file: Json = serde_json::from_str(&read(workspace.root.join(".mcp.json"))).unwrap();
    let entry = json!({ "type": "stdio", "command": "jig", "args": ["mcp"] });
    assert_eq!(file, json!({ "mcpServers": { "jig": entry } }));
    assert!(
        !workspace.root.join(".mcp.json.bak").exists(),
        "there was nothing to keep"
    );
    let text = run(&["setup", "claude-code", "--write"]);
    assert_eq!(
        text,
        "connected: Claude Code has the entry `jig` in `.mcp.json`\n"
    );
    let text = run(&["setup"]);
    assert!(
        text.contains("claude-code  -          connected     -"),
        "{text}"
    );
    // A folder of its own is made.
    run(&["setup", "codex", "--write"]);
    let text = read(workspace.root.join(".codex/config.toml"));
    assert!(
        text.starts_with("[mcp_servers.jig]\ncommand = \"jig\"\n"),
        "{text}"
    );
}

#[test]
fn a_file_that_exists_is_kept_and_keeps_its_comments() {
    let workspace = Workspace::new();
    let before =
        "// mine\n{\n  \"servers\": {\n    \"a\": { \"command\": \"a\" }, // about a\n  },\n}\n";
    workspace.write(".vscode/mcp.json", before);
    let output = setup(&workspace, &["vscode", "--write"]);
    assert!(
        output.contains("kept in `.vscode/mcp.json.bak`"),
        "{output}"
    );
    let after = read(workspace.root.join(".vscode/mcp.json"));
    assert!(after.starts_with("// mine\n{\n  \"servers\": {\n    \"a\": { \"command\": \"a\" }, // about a\n    \"jig\": {\n"), "{after}");
    let backup = workspace.root.join(".vscode/mcp.json.bak");
    assert_eq!(read(&backup), before);
    // There may be secrets in it, whatever the mode of the file.
    let mode = std::fs::metadata(&backup).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn another_entry_is_replaced_by_force_only() {
    let workspace = Workspace::new();
    let before = "{\n  \"mcpServers\": {\n    \"jig\": { \"command\": \"other\" }\n  }\n}\n";
    workspace.write(".mcp.json", before);
    let output = setup(&workspace, &["claude-code", "--write"]);
    insta::assert_snapshot!(output, @r"
    error: `.mcp.json` has another entry `jig`: nothing was written
    hint: see both without --write; replace it with --force, or take another --name
    [exit 1]
    ");
    assert_eq!(read(workspace.root.join(".mcp.json")), before);
    let output = setup(&workspace, &["claude-code"]);
    assert!(
        output.contains("-    \"jig\": { \"command\": \"other\" }\n"),
        "{output}"
    );
    assert!(output.contains("--write --force does it"), "{output}");
    let output = setup(&workspace, &["claude-code", "--write", "--force"]);
    assert!(output.starts_with("written:"), "{output}");
    assert!(read(workspace.root.join(".mcp.json")).contains("\"stdio\""));
    // Under another name there is nothing to replace, and the second copy has a name of its own.
    setup(&workspace, &["claude-code", "--write", "--name", "jig-2"]);
    assert!(read(workspace.root.join(".mcp.json")).contains("\"jig-2\""));
    assert_eq!(read(workspace.root.join(".mcp.json.bak")), before);
    assert!(read(workspace.root.join(".mcp.json.bak2")).contains("\"stdio\""));
}

#[test]
fn a_file_that_is_not_valid_is_left_alone() {
    let workspace = Workspace::new();
    let check = |client: &str, path: &str, text: &str, expected: &str| {
        workspace.write(path, text);
        let output = setup(&workspace, &[client, "--write"]);
        assert!(
            output.contains(expected) && output.ends_with("[exit 1]"),
            "{output}"
        );
        assert_eq!(read(workspace.root.join(path)), text);
    };
    check(
        "claude-code",
        ".mcp.json",
        "{\n  \"mcpServers\": [\n}\n",
        "error: `.mcp.json`, line 3, column 1: a value was expected here: nothing was written",
    );
    check(
        "codex",
        ".codex/config.toml",
        "a = 1\nb =\n",
        "error: `.codex/config.toml`, line 2, column ",
    );
    check(
        "zed",
        ".zed/settings.json",
        "[]",
        "an object was expected here",
    );
    let output = setup(&workspace, &[]);
    assert!(output.contains("`.mcp.json`, line 3, column 1"), "{output}");
    assert!(output.ends_with("[exit 0]"), "{output}");
}

/// A repository could hold a link in place of a client's file. What it leads to, such as a file of the user's,
/// must not be read or changed.
#[test]
fn a_link_out_of_the_project_is_not_followed() {
    let workspace = Workspace::new();
    let outside = workspace.home.join("private.json");
    std::fs::write(&outside, "{}").unwrap();
    symlink(&outside, workspace.root.join(".mcp.json")).unwrap();
    symlink(&workspace.home, workspace.root.join(".vscode")).unwrap();
    for client in ["claude-code", "vscode"] {
        let output = setup(&workspace, &[client, "--write"]);
        assert!(output.contains("leads out of the project"), "{output}");
        assert!(output.ends_with("[exit 1]"), "{output}");
    }
    assert_eq!(read(&outside), "{}");
    assert!(!workspace.home.join("mcp.json").exists());
    // One that stays inside is what it leads to.
    workspace.write("settings/zed.json", "{}");
    std::fs::create_dir(workspace.root.join(".zed")).unwrap();
    symlink(
        "../settings/zed.json",
        workspace.root.join(".zed/settings.json"),
    )
    .unwrap();
    let output = setup(&workspace, &["zed", "--write"]);
    assert!(output.starts_with("written:"), "{output}");
    assert!(read(workspace.root.join("settings/zed.json")).contains("context_servers"));
}

/// People keep their own settings elsewhere, and link to them.
#[test]
fn a_link_of_the_user_is_followed_and_stays() {
    let workspace = Workspace::new();
    let kept = workspace.home.join("dotfiles/mcp.json");
    std::fs::create_dir_all(kept.parent().unwrap()).unwrap();
    std::fs::write(&kept, "{ }\n").unwrap();
    std::fs::create_dir(workspace.home.join(".cursor")).unwrap();
    let link = workspace.home.join(".cursor/mcp.json");
    symlink(&kept, &link).unwrap();
    let output = setup(&workspace, &["cursor", "--global", "--write"]);
    assert!(
        output.starts_with("written: `[home]/.cursor/mcp.json`"),
        "{output}"
    );
    assert!(read(&kept).contains("\"${workspaceFolder}\""));
    assert!(link.is_symlink());
}

#[test]
fn options_of_this_call_are_meant_for_the_server() {
    let workspace = Workspace::new();
    let args = |arguments: &[&str]| workspace.json(arguments)["entry"]["args"].clone();
    let root = workspace.root.as_str();
    assert_eq!(args(&["setup", "zed"]), json!(["mcp"]));
    assert_eq!(
        args(&["setup", "zed", "--global", "-C", "."]),
        json!(["mcp", "-C", root])
    );
    assert_eq!(
        args(&[
            "setup",
            "cursor",
            "--config",
            "ci.toml",
            "--set",
            "tools.a.run=ask"
        ]),
        json!([
            "mcp",
            "-C",
            "${workspaceFolder}",
            "--config",
            format!("{root}/ci.toml"),
            "--set",
            "tools.a.run=ask"
        ])
    );
}

#[test]
fn mistakes() {
    let workspace = Workspace::new();
    let check = |args: &[&str], expected: &str| {
        let output = setup(&workspace, args);
        assert!(output.contains(expected), "{output}");
        assert!(!output.ends_with("[exit 0]"), "{output}");
    };
    check(
        &["emacs"],
        "possible values: claude-code, codex, cursor, vscode, zed",
    );
    check(&["--write"], "<CLIENT>");
    check(
        &["zed", "--http", "http://127.0.0.1:1/mcp"],
        "jig writes none there",
    );
    check(&["cursor", "--http", "localhost"], "is no URL");
    check(&["cursor", "--name", "a.b"], "letters, digits");
    check(
        &["claude-code", "--global", "--write"],
        "claude mcp add --scope user jig -- [jig] mcp",
    );
    check(&["cursor", "--global", "--project"], "cannot be used with");
    let output = workspace
        .jig(&["setup", "cursor", "--global"])
        .env_remove("HOME")
        .output()
        .unwrap();
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("there is no home folder"),
        "{output:?}"
    );
}

/// The token is nowhere in what is written, also if it is known here.
#[test]
fn a_token_is_never_written() {
    let workspace = Workspace::new();
    for client in ["claude-code", "codex", "cursor", "vscode"] {
        let mut command = workspace.jig(&[
            "setup",
            client,
            "--http",
            "http://127.0.0.1:8080/mcp",
            "--write",
        ]);
        let output = command.env("JIG_MCP_TOKEN", "s3cret").output().unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    for file in [
        ".mcp.json",
        ".codex/config.toml",
        ".cursor/mcp.json",
        ".vscode/mcp.json",
    ] {
        let text = read(workspace.root.join(file));
        assert!(
            text.contains("http://127.0.0.1:8080/mcp") && !text.contains("s3cret"),
            "{text}"
        );
    }
}

/// An agent without a person in front of it is connected so that its calls wait for one elsewhere.
#[test]
fn a_headless_agent_waits_for_the_board() {
    let workspace = Workspace::new();
    setup(&workspace, &["claude-code", "--headless", "--write"]);
    let file = read(workspace.root.join(".mcp.json"));
    let written: serde_json::Value = serde_json::from_str(&file).unwrap();
    let args = &written["mcpServers"]["jig"]["args"];
    let expected = serde_json::json!(["mcp", "--set", "mcp.ask=\"board\""]);
    assert_eq!(*args, expected);
    // The server takes what was written.
    let mut words: Vec<&str> = args
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one.as_str())
        .collect();
    words[0] = "config";
    words.insert(1, "show");
    let shown = workspace.jig(&words).output().unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("board"), "{shown}");
}
