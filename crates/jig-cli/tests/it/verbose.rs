//! `--verbose` and `JIG_LOG`: what is decided, started and waited for, on standard error; never a secret, never in a
//! result.

use std::process::Output;

use serde_json::json;

use super::Workspace;
use super::mcp_client::Client;

/// In an argument, a variable, a header's value, a pattern and the path of a URL.
const SECRET: &str = "s3cr3t-7f2a9c";

fn workspace() -> Workspace {
    let workspace = Workspace::with(
        "[tools.deploy]\nsource = 'local'\nrun = 'unattended'\n\
         command = { program = 'sh', args = ['-c', 'echo done', 'x', '{{tool.arguments.token}}'] }\n\
         parameters.token.type = 'string'\n\
         access.env = [{ name = 'API_TOKEN', read = true }]\n\
         access.net = [{ host = 'api.test', allow = true }]\n\
         [tools.fs_create_file]\nrun = 'unattended'\n[tools.shell]\nrun = 'unattended'\n",
    );
    workspace.write("notes.txt", "one\n");
    workspace
}

fn run(workspace: &Workspace, args: &[&str], log: Option<&str>) -> Output {
    let mut command = workspace.jig(args);
    command
        .env("PATH", "/usr/bin:/bin")
        .env("API_TOKEN", SECRET);
    if let Some(log) = log {
        command.env("JIG_LOG", log);
    }
    command.output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Each with a secret in it, or a secret around it.
fn commands() -> Vec<Vec<String>> {
    let argument = format!("token={SECRET}");
    let shell = format!("echo {SECRET} $API_TOKEN");
    let content = format!("content={SECRET}");
    let pattern = format!("pattern={SECRET}");
    let url = format!("https://user:{SECRET}@api.test/{SECRET}?key={SECRET}");
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    vec![
        words(&["call", "deploy", &argument]),
        words(&["run", "--", "sh", "-c", &shell]),
        words(&["call", "fs_create_file", "path=new.txt", &content]),
        words(&["call", "fs_grep_files", &pattern]),
        words(&[
            "call",
            "shell",
            &format!("command={shell}"),
            "--no-interaction",
        ]),
        words(&["policy", "explain", "deploy", "net", &url]),
    ]
}

#[test]
fn decisions_and_starts_are_told() {
    let workspace = workspace();
    let output = run(&workspace, &["-v", "call", "deploy", "token=x"], None);
    let told = said(&output);
    for part in [
        "configuration read",
        "jig.toml",
        "call begins tool=\"deploy\" runtime=\"stdio\"",
        "program started tool=\"deploy\" program=\"sh\"",
        "program ended tool=\"deploy\"",
        "call ended tool=\"deploy\" is_error=false",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    assert!(!told.contains(" debug "), "{told}");
    // Refusals with `-v`, what is allowed with `-vv`.
    let words = [
        "call",
        "fs_read_file",
        "path=.env",
        "--no-interaction",
        "-v",
    ];
    let told = said(&run(&workspace, &words, None));
    let refused = "operation=\"fs.read\" on=\".env\" decision=\"deny\"";
    assert!(told.contains(refused), "{told}");
    assert!(
        told.contains("waits for an answer") || told.contains("uncovered"),
        "{told}"
    );
    let words = ["call", "fs_read_file", "path=notes.txt"];
    let told = said(&run(&workspace, &words, Some("jig_broker=debug")));
    assert!(told.contains("allowed tool=\"fs_read_file\""), "{told}");
    assert!(!told.contains("call begins"), "{told}");
}

#[test]
fn no_level_tells_a_secret() {
    let workspace = workspace();
    for words in commands() {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let plain = said(&run(&workspace, &words, None));
        let told = said(&run(&workspace, &words, Some("trace")));
        let more: Vec<&str> = told.lines().filter(|line| line.contains(" ms ")).collect();
        assert!(!more.is_empty(), "{words:?}: {told}");
        let leaked = more.iter().find(|line| line.contains(SECRET));
        assert_eq!(leaked, None, "{words:?}: {plain}");
    }
}

#[test]
fn results_are_the_same_byte_by_byte() {
    let workspace = workspace();
    for words in [
        &["call", "deploy", "token=x"][..],
        &["call", "fs_read_file", "path=notes.txt", "--json"],
        &[
            "call",
            "fs_read_file",
            "path=.env",
            "--no-interaction",
            "--json",
        ],
        &["run", "--", "cat", "notes.txt"],
        &["config", "show"],
    ] {
        let plain = run(&workspace, words, None);
        let told = run(&workspace, words, Some("trace"));
        assert_eq!(plain.stdout, told.stdout, "{words:?}");
        assert_eq!(plain.status, told.status, "{words:?}");
        let rest = said(&told);
        let rest: String = rest
            .split_inclusive('\n')
            .filter(|line| !line.contains(" ms "))
            .collect();
        assert_eq!(said(&plain), rest, "{words:?}");
    }
}

/// A tool does not learn that somebody watches, and no program of it says more because of that.
#[test]
fn the_variable_does_not_reach_tools() {
    let output = run(&workspace(), &["run", "--", "env"], Some("trace"));
    let seen = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(seen.contains("PATH="), "{seen}");
    assert!(!seen.contains("JIG_LOG"), "{seen}");
}

#[test]
fn a_filter_that_means_nothing_is_said_and_left_out() {
    let output = run(
        &workspace(),
        &["call", "fs_read_file", "path=notes.txt"],
        Some("rmcp=trace"),
    );
    assert_eq!(
        said(&output),
        "jig: JIG_LOG is not used: `rmcp=trace` is neither a level (error, warn, info, debug, trace, off) nor a part of \
         jig with its level (jig_broker=debug)\n"
    );
    assert!(output.status.success(), "{output:?}");
}

/// Lines on standard output are the protocol's alone.
#[test]
fn a_server_tells_on_standard_error() {
    let workspace = workspace();
    let mut command = workspace.jig(&["mcp", "-vv"]);
    command
        .env("PATH", "/usr/bin:/bin")
        .env("API_TOKEN", SECRET);
    let mut client = Client::of(command);
    client.initialize(json!({}));
    let result = client.call("deploy", json!({ "token": SECRET }));
    assert_eq!(result["content"][0]["text"], "done\n", "{result}");
    let (status, told) = client.close();
    assert!(status.success(), "{told}");
    assert!(told.contains("program started tool=\"deploy\""), "{told}");
    assert!(!told.contains(SECRET), "{told}");
}
