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

/// The help of every command, at several widths: lines are broken at the width and nowhere else.
#[test]
fn help_is_wrapped_once() {
    let workspace = Workspace::new();
    let help = |command: &[String], width: usize| {
        let args: Vec<&str> = command.iter().map(String::as_str).collect();
        let mut jig = workspace.jig(&args);
        let output = jig.arg("--help").env("COLUMNS", width.to_string());
        String::from_utf8(output.output().unwrap().stdout).unwrap()
    };
    let mut commands = vec![Vec::new()];
    let mut seen = 0;
    while let Some(command) = commands.pop() {
        for width in [60, 80, 120] {
            let text = help(&command, width);
            assert!(text.contains("Usage: jig"), "{command:?}: {text}");
            let lines: Vec<&str> = text.lines().collect();
            for pair in lines.windows(2) {
                assert!(
                    !is_broken_early(pair[0], pair[1], width.min(100)),
                    "`jig {} --help` at {width} columns has a line that is broken early:\n{}\n{}\n\n{text}",
                    command.join(" "),
                    pair[0],
                    pair[1],
                );
            }
            let is_prose = |line: &&&str| line.starts_with(char::is_alphabetic);
            let prose = lines.iter().filter(is_prose);
            for line in prose.filter(|line| !line.starts_with("Usage:")) {
                assert!(
                    line.chars().count() <= width.min(100),
                    "{command:?}: {line}"
                );
            }
        }
        seen += 1;
        let text = help(&command, 80);
        let listed = text.split_once("Commands:\n").map(|(_, list)| list);
        for line in listed
            .unwrap_or_default()
            .lines()
            .take_while(|line| !line.is_empty())
        {
            let name = line
                .strip_prefix("  ")
                .and_then(|line| line.split(' ').next());
            if let Some(name) = name.filter(|name| !["", "help"].contains(name)) {
                commands.push([&command[..], &[name.to_owned()]].concat());
            }
        }
    }
    assert!(seen >= 40, "only {seen} commands were found");
}

/// Whether the first word of a line would fit at the end of the line before, whose text it goes on with.
fn is_broken_early(line: &str, next: &str, width: usize) -> bool {
    let indent = |line: &str| line.len() - line.trim_start().len();
    // Tables and examples have lines of their own: two to four spaces. Descriptions have ten, notes on examples six.
    let is_text = matches!(indent(line), 0 | 6 | 10..) && indent(line) == indent(next);
    let begins_anew = next.trim_start().starts_with(['-', '[', '<']);
    let ends = line.ends_with([':', '\\']) || line.trim_start().starts_with(['-', '<']);
    let word = next.split_whitespace().next().unwrap_or_default();
    let fits = line.chars().count() + 1 + word.chars().count() <= width;
    is_text && !begins_anew && !ends && !word.is_empty() && !line.trim().is_empty() && fits
}

/// Every command that does something shows how it is used.
#[test]
fn help_has_examples() {
    let workspace = Workspace::new();
    for command in [
        "init",
        "config",
        "tools",
        "policy",
        "call",
        "run",
        "proxy",
        "suggest",
        "mcp",
        "approve",
        "setup",
        "import",
        "log",
        "knowledge",
        "wasm",
        "vfs-host",
        "doctor",
        "completions",
    ] {
        for flag in ["--help", "-h"] {
            let help = workspace.run(&[command, flag]);
            let has_example = help.contains("xample") && help.contains("\n  jig ");
            assert!(has_example, "{command}: {help}");
        }
    }
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
    // The beginning of one name, and of several.
    let said = workspace.run(&["tools", "fs_gr"]);
    assert!(said.contains("did you mean `fs_grep_files`?"), "{said}");
    let said = workspace.run(&["tools", "fs"]);
    assert!(said.contains("hint: `jig tools` lists all"), "{said}");
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
