//! The command line of `jig mcp`: mistakes, what a person is told, and `--check`.

use std::os::unix::fs::PermissionsExt;

use serde_json::json;

use super::Workspace;
use super::log::lines;
use super::mcp_client::Client;
use super::workspace_user::Desk;

#[test]
fn mistakes_are_explained() {
    let workspace = Workspace::new();
    let write = |name: &str, text: &str, mode: u32| {
        let path = workspace.home.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(mode)).unwrap();
        path.into_string()
    };
    let token = "a-token-that-is-long-enough";
    let open = write("open", token, 0o644);
    let empty = write("empty", "# nothing\n\n", 0o600);
    let short = write("short", "# mine\nsecret\n", 0o600);
    let odd = write("odd", "a token with spaces in it\n", 0o600);
    let twice = write("twice", &format!("{token}\n{token}\n"), 0o600);
    let missing = workspace.home.join("missing").into_string();
    let folder = workspace.home.as_str().to_owned();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = taken.local_addr().unwrap().to_string();
    let local = "127.0.0.1:0";
    let cases: &[(&[&str], i32, &[&str])] = &[
        (
            &["--http", "0.0.0.0:8080"],
            1,
            &[
                "`0.0.0.0:8080` can be reached from outside",
                "--allow-remote",
            ],
        ),
        (
            &["--http", "[::]:8080"],
            1,
            &["can be reached from outside"],
        ),
        (&["--http", "8080"], 2, &["missing: 127.0.0.1:8080 is"]),
        (&["--http", ":81"], 2, &["missing: 127.0.0.1:81 is"]),
        (&["--http", "127.0.0.1"], 2, &["such as 127.0.0.1:8080"]),
        (&["--http", "myhost:90"], 2, &["such as 127.0.0.1:90"]),
        (&["--http", "127.0.0.1:99999"], 2, &["a port are wanted"]),
        (&["--token-file", &open], 2, &["--http"]),
        (&["--allow-remote"], 2, &["--http"]),
        (&["--check", "--http", local], 2, &["cannot be used with"]),
        (
            &["--http", local, "--token-file", &open],
            1,
            &["others than you can read", "chmod 600"],
        ),
        (
            &["--http", local, "--token-file", &empty],
            1,
            &["there is no token"],
        ),
        (
            &["--http", local, "--token-file", &short],
            1,
            &["line 2", "fewer than 16"],
        ),
        (
            &["--http", local, "--token-file", &odd],
            1,
            &["line 1", "character"],
        ),
        (
            &["--http", local, "--token-file", &twice],
            1,
            &["line 2", "line 1, too"],
        ),
        (
            &["--http", local, "--token-file", &missing],
            1,
            &["cannot read"],
        ),
        (
            &["--http", local, "--token-file", &folder],
            1,
            &["is no file"],
        ),
        (
            &["--http", local, "--allow-origin", "app.example.com"],
            1,
            &["is no origin", "SCHEME://HOST"],
        ),
        (
            &["--http", local, "--allow-origin", "https://a.example/path"],
            1,
            &["is no origin"],
        ),
        (&["--http", &taken], 1, &["cannot listen at", "port 0"]),
    ];
    for (args, code, texts) in cases {
        let output = workspace.run(&[&["mcp"], *args].concat());
        for text in *texts {
            assert!(output.contains(text), "{args:?}: no `{text}` in {output}");
        }
        assert!(
            output.ends_with(&format!("[exit {code}]")),
            "{args:?}: {output}"
        );
        assert!(!output.contains(token), "{args:?}: {output}");
    }
}

#[test]
fn a_configuration_that_is_not_valid_ends_as_usual() {
    let workspace = Workspace::with("[tools.x]\nsource = 7\n");
    for args in [
        &["mcp"][..],
        &["mcp", "--check"],
        &["mcp", "--http", "127.0.0.1:0"],
    ] {
        let output = workspace.run(args);
        assert!(output.contains("jig.toml:2"), "{output}");
        assert!(output.ends_with("[exit 3]"), "{output}");
    }
}

/// What a person names is served, whatever it is.
#[test]
fn a_home_that_is_named_is_served() {
    let workspace = Workspace::new();
    let home = workspace.home.clone().into_string();
    let mut client = Client::start(&workspace, &["-C", &home]);
    client.initialize(json!({}));
    assert_eq!(client.close().0.code(), Some(0));
}

#[test]
fn a_token_that_was_made_is_shown_once_and_works() {
    use std::io::{BufRead, BufReader};
    let workspace = Workspace::new();
    let mut command = workspace.jig(&["mcp", "--http", "127.0.0.1:0"]);
    command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let url = lines.next().unwrap().unwrap();
    let token = lines.next().unwrap().unwrap();
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(url.starts_with("jig: serves at http://127.0.0.1:"), "{url}");
    let token = token.strip_prefix("jig: the token for this run: ").unwrap();
    assert_eq!(token.len(), 64, "{token}");
    assert!(output.stdout.is_empty(), "stdout is for programs");
}

#[test]
fn check_reports_what_an_agent_sees() {
    let workspace = Workspace::with(
        r#"
[tools.greet]
source = "local"
runtime = "stdio"
command = "echo hello"
description = "Says hello"
run = "unattended"
"#,
    );
    let output = workspace.run(&["mcp", "--check"]);
    for text in [
        "2026-07-28, 2025-11-25",
        "fs_read_file",
        "greet",
        "`fs_list_files` answered in",
        "jig approve",
    ] {
        assert!(output.contains(text), "no `{text}` in {output}");
    }
    assert!(output.ends_with("[exit 0]"), "{output}");
    let report = workspace.json(&["mcp", "--check"]);
    assert_eq!(report["protocols"], json!(["2026-07-28", "2025-11-25"]));
    assert_eq!(report["findings"], json!([]));
    let tools = report["tools"].as_array().unwrap();
    let of = |name: &str| tools.iter().find(|tool| tool["name"] == name).unwrap();
    assert_eq!(of("fs_read_file")["read_only"], true);
    assert_eq!(of("fs_read_file")["run"], "unattended");
    assert_eq!(of("fs_create_file")["run"], "ask");
    assert_eq!(of("greet")["description"], "Says hello");
}

/// One for each version of the protocol, however many folders there are.
#[test]
fn check_writes_few_lines_to_the_log() {
    let desk = Desk::new();
    for path in ["a.txt", "b.txt", "one/two/three/c.txt", "four/d.txt"] {
        desk.workspace.write(path, "text");
    }
    let output = desk.run(&["mcp", "--check"]);
    assert_eq!(output.code, Some(0), "{}", output.out);
    let lines = lines(&desk, &["-n", "1000"]);
    let targets = lines.iter().map(|line| line["target"].as_str());
    assert_eq!(targets.collect::<Vec<_>>(), [Some("."), Some(".")]);
}

#[test]
fn check_finds_fault() {
    let cases = [
        (
            "[tools.mute]\nsource = \"local\"\nruntime = \"stdio\"\ncommand = \"true\"\n",
            "`mute` has no description: an agent does not know what it is for; add `description = \"…\"` to \
             `[tools.mute]`",
        ),
        ("[tools.'*']\nenable = false\n", "there is no tool"),
    ];
    for (config, finding) in cases {
        let workspace = Workspace::with(config);
        let output = workspace.run(&["mcp", "--check"]);
        assert!(output.contains(finding), "{output}");
        assert!(output.ends_with("[exit 1]"), "{output}");
    }
}
