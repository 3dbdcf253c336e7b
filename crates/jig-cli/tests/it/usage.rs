//! The command line itself: help, mistakes, completions, colours.

use insta::assert_snapshot;

use super::Workspace;

#[test]
fn help_teaches() {
    let workspace = Workspace::new();
    assert_snapshot!("help", workspace.run(&["--help"]));
    assert_snapshot!(
        "help_explain",
        workspace.run(&["policy", "explain", "--help"])
    );
}

/// Commands on what runs show how they are used, and completions know them.
#[test]
fn what_runs_is_taught_by_examples() {
    let workspace = Workspace::new();
    let completions = workspace.run(&["completions", "bash"]);
    for command in [
        "spawn", "ps", "fetch", "apply", "await", "abort", "attach", "servers",
    ] {
        let help = workspace.run(&[command, "--help"]);
        assert!(help.contains("Examples:\n  jig "), "{help}");
        assert!(help.ends_with("[exit 0]"), "{help}");
        assert!(
            completions.contains(&format!("jig__subcmd__{command}")),
            "{command}"
        );
    }
    assert!(!workspace.run(&["--help"]).contains("__station"));
}

#[test]
fn a_misspelt_tool_is_suggested() {
    let workspace = Workspace::new();
    assert_snapshot!(workspace.run(&["tools", "fs_reed_file"]), @"
    error: there is no tool `fs_reed_file` in the workspace `[workspace]`, which has no file of configuration
    hint: did you mean `fs_read_file`? `jig tools` lists all
    [exit 1]
    ");
    let answer = workspace.json(&["tools", "fs_reed_file"]);
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("fs_read_file")
    );
}

#[test]
fn mistakes_on_the_command_line_exit_with_2() {
    let workspace = Workspace::new();
    for args in [
        &["nonsense"][..],
        &["policy", "explain", "fs_read_file"],
        &["config"],
        &["--set"],
        &[],
    ] {
        let output = workspace.jig(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(!output.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn a_workspace_that_is_not_there_is_named() {
    let workspace = Workspace::new();
    assert_snapshot!(workspace.run(&["-C", "nowhere", "tools"]), @"
    error: the workspace `nowhere` is not a folder
    [exit 1]
    ");
}

#[test]
fn a_url_that_is_none_is_named() {
    let workspace = Workspace::new();
    assert_snapshot!(workspace.run(&["policy", "explain", "fs_read_file", "net", "https://"]), @"
    error: `https://` cannot be requested
    cause: it is not a URL
    cause: empty host
    [exit 1]
    ");
}

#[test]
fn every_shell_gets_completions() {
    let workspace = Workspace::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let output = workspace.jig(&["completions", shell]).output().unwrap();
        let script = String::from_utf8(output.stdout).unwrap();
        assert!(
            output.status.success() && script.contains("explain"),
            "{shell}: {script}"
        );
    }
}

#[test]
fn colours_only_where_they_are_wanted() {
    let workspace = Workspace::new();
    let coloured = |args: &[&str]| workspace.jig(args).output().unwrap().stdout.contains(&0x1b);
    assert!(!coloured(&["tools"]), "not into a pipe");
    assert!(coloured(&["--color", "always", "tools"]));
    assert!(!coloured(&["--color", "never", "tools"]));
}

/// `jig tools | head -1` is no error.
#[test]
fn a_reader_that_goes_away_is_no_error() {
    use std::process::Stdio;
    let workspace = Workspace::new();
    let mut child = workspace
        .jig(&["config", "schema"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(
        output.stderr.is_empty(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
