//! `jig import`: servers of clients, in the form that each client documents, become servers of jig.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value as Json, json};

use super::mcp_client::Client;
use super::servers_workspace::SERVER;
use super::workspace_user::{Desk, for_each_user};

/// The key that stands in the files of clients, and nowhere else afterwards.
const KEY: &str = "sk-test-0123456789abcdefghij";

/// A test at the desk of every user who can run the server, with the server in the workspace.
fn with_client(test: impl Fn(&Desk)) {
    for_each_user(|desk| {
        if desk.has(&["python3", "--version"]) {
            desk.workspace.write("server.py", SERVER);
            test(desk);
        }
    });
}

fn write_home(desk: &Desk, path: &str, text: &str) {
    let path = desk.workspace.home.join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// What a client sees of `jig mcp`: the tools of these servers.
fn served(desk: &Desk, prefixes: &[&str]) -> Vec<String> {
    let mut command = desk.jig(&["mcp"]);
    command.env("API_KEY", KEY).env("GREETING", "hello");
    let mut client = Client::of(command);
    client.initialize(json!({}));
    let listed = client.request("tools/list", json!({}));
    let tools = listed["result"]["tools"]
        .as_array()
        .unwrap_or_else(|| panic!("{listed}"));
    let names = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap().to_owned());
    let mut names: Vec<String> = names
        .filter(|name| prefixes.iter().any(|prefix| name.starts_with(prefix)))
        .collect();
    names.sort();
    let echo = names.iter().find(|name| name.ends_with("_echo")).unwrap();
    let mut call = desk.jig(&["call", echo, "text=it works", "--yes", "--no-interaction"]);
    let called = call
        .env("API_KEY", KEY)
        .env("GREETING", "hello")
        .output()
        .unwrap();
    assert_eq!(
        String::from_utf8_lossy(&called.stdout).trim(),
        "it works",
        "{called:?}"
    );
    names
}

/// Imports, checks what came of it, and gives the written file.
#[track_caller]
fn imported(desk: &Desk, args: &[&str]) -> String {
    let told = desk.told(&[&["import"], args, &["--write"]].concat());
    assert!(told.contains("[exit 0]"), "{told}");
    assert!(told.contains("written"), "{told}");
    assert!(!told.contains(KEY), "{told}");
    let text = desk.read("jig.toml");
    assert!(!text.contains(KEY), "{text}");
    desk.ok(&["config", "check"]);
    text
}

/// A client's own file of the user: `claude mcp add` writes such, for all projects and for one.
#[test]
fn claude_code() {
    with_client(|desk| {
        let stdio = |args: Json, env: Json| json!({ "type": "stdio", "command": "python3", "args": args, "env": env });
        let all = json!({
            "numStartups": 7,
            "mcpServers": {
                "mine": stdio(json!(["server.py", "--tools", "echo,variable"]), json!({ "API_KEY": KEY })),
                "shared": { "command": "never" },
            },
            "projects": {
                desk.workspace.root.as_str(): {
                    "mcpServers": { "local": stdio(json!(["server.py", "--tools", "pid"]), json!({})) },
                    "disabledMcpjsonServers": ["off"],
                },
                "/another": { "mcpServers": { "foreign": { "command": "x" } } },
            },
        });
        write_home(desk, ".claude.json", &all.to_string());
        let project = json!({ "mcpServers": {
            "shared": stdio(json!(["${CLAUDE_PROJECT_DIR}/server.py", "--tools", "echo"]), json!({ "G": "${GREETING:-hi}" })),
            "off": { "command": "python3", "args": ["server.py"] },
            "old": { "type": "sse", "url": "https://example.com/sse" },
            "jig": { "type": "stdio", "command": "jig", "args": ["mcp"] },
        } });
        desk.workspace.write(".mcp.json", project.to_string());

        let text = imported(desk, &["claude"]);
        assert!(
            text.contains("[mcp.servers.local]") && !text.contains("foreign"),
            "{text}"
        );
        assert!(
            text.contains("args = [\"./server.py\", \"--tools\", \"echo\"]"),
            "{text}"
        );
        assert!(text.contains("API_KEY = \"${API_KEY}\""), "{text}");
        assert!(text.contains("G = \"${GREETING:-hi}\""), "{text}");
        assert!(
            !text.contains("[mcp.servers.old]") && !text.contains("[mcp.servers.jig]"),
            "{text}"
        );
        assert_eq!(
            served(desk, &["mine_", "shared_", "local_", "off_"]),
            ["local_pid", "mine_echo", "mine_variable", "shared_echo"]
        );
    });
}

/// Codex: TOML, names of variables instead of values, and times.
#[test]
fn codex() {
    with_client(|desk| {
        let config = format!(
            r#"
model = "gpt-5"

[mcp_servers.small]
command = "python3"
args = ["server.py"]
env_vars = ["GREETING"]
startup_timeout_sec = 20
tool_timeout_sec = 45
enabled_tools = ["echo", "variable", "pid"]
disabled_tools = ["pid"]

[mcp_servers.small.env]
API_KEY = "{KEY}"

[mcp_servers.remote]
url = "https://example.com/mcp"
bearer_token_env_var = "REMOTE_TOKEN"
enabled = false
"#
        );
        write_home(desk, ".codex/config.toml", &config);
        let text = imported(desk, &["codex"]);
        for part in [
            "start = \"20s\"",
            "time = \"45s\"",
            "tools = [\"echo\", \"variable\", \"pid\"]",
            "hide = [\"pid\"]",
            "Authorization = \"Bearer ${REMOTE_TOKEN}\"",
            "enable = false",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(served(desk, &["small_"]), ["small_echo", "small_variable"]);
        // A variable that Codex hands on reaches the server; what it says of it does not come back.
        let mut call = desk.jig(&[
            "call",
            "small_variable",
            "name=GREETING",
            "--no-interaction",
            "--yes",
        ]);
        let told = call
            .env("GREETING", "hello there")
            .env("API_KEY", KEY)
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&told.stdout).into_owned();
        assert_eq!(told.trim(), "[REDACTED]");
    });
}

/// Cursor and VS Code: variables of editors, comments, values that are asked for.
#[test]
fn cursor_and_vs_code() {
    with_client(|desk| {
        let cursor = json!({ "mcpServers": { "small": {
            "command": "python3",
            "args": ["${workspaceFolder}/server.py", "--tools", "echo"],
            "env": { "API_KEY": "${env:API_KEY}" },
        } } });
        desk.workspace.write(".cursor/mcp.json", cursor.to_string());
        let text = imported(desk, &["cursor", "--suggest"]);
        assert!(text.contains("\"./server.py\""), "{text}");
        assert_eq!(served(desk, &["small_"]), ["small_echo"]);

        let vscode = r#"// what we use
{
  "inputs": [
    { "type": "promptString", "id": "api-key", "description": "The key of the service", "password": true },
  ],
  "servers": {
    "small": { "type": "stdio", "command": "python3", "args": ["server.py"] },
    "other": {
      "type": "stdio",
      "command": "python3",
      "args": ["${workspaceFolder}/server.py", "--tools", "echo"], // one tool
      "env": { "API_KEY": "${input:api-key}" },
      "envFile": "${workspaceFolder}/service.env",
    },
  },
}
"#;
        desk.workspace.write(".vscode/mcp.json", vscode);
        desk.workspace
            .write("service.env", format!("# comment\nexport GREETING={KEY}\n"));
        let told = desk.ok(&["import", "vscode"]);
        assert!(told.contains("API_KEY  what the client asks for as `api-key` (“The key of the service”) of `other`"), "{told}");
        assert!(
            told.contains("GREETING  `${workspaceFolder}/service.env`"),
            "{told}"
        );
        assert!(
            told.contains(
                "small (.vscode/mcp.json) is not taken over: jig has another server `small`"
            ),
            "{told}"
        );
        let text = imported(desk, &["vscode"]);
        assert!(
            text.contains("API_KEY = \"${API_KEY}\"\nGREETING = \"${GREETING}\""),
            "{text}"
        );
        assert_eq!(
            served(desk, &["small_", "other_"]),
            ["other_echo", "small_echo"]
        );
    });
}

/// What a server needs is learned from its start, and is enough for it.
#[test]
fn rules_are_learned_where_a_server_can_be_run() {
    with_client(|desk| {
        desk.workspace.write("data/words.txt", "hello\n");
        desk.workspace.write("other/secret.txt", "no\n");
        desk.workspace.write(
            "server.py",
            format!("words = open('data/words.txt').read()\n{SERVER}"),
        );
        let entry = json!({ "command": "python3", "args": ["server.py", "--tools", "echo,read"] });
        write_home(
            desk,
            ".cursor/mcp.json",
            &json!({ "mcpServers": { "small": entry } }).to_string(),
        );
        let told = desk.json(&["import", "cursor", "--write"]);
        let server = &told["servers"][0];
        assert_eq!(
            server["access"],
            json!({ "how": "learned", "why": null, "tools": 2, "said": null }),
            "{told:#}"
        );
        let text = desk.read("jig.toml");
        assert!(
            text.contains("path = \"data/words.txt\"\nread = true"),
            "{text}"
        );
        assert!(!text.contains("path = \".\""), "{text}");
        // What its start read, it may read; and no more.
        let read = |path: &str| desk.call(&["small_read", &format!("path={path}"), "--yes"]);
        assert_eq!(read("data/words.txt")["isError"], json!(false));
        let denied = read("other/secret.txt");
        assert_eq!(denied["isError"], json!(true), "{denied:#}");
        assert!(
            denied.to_string().contains("mcp.servers.small.access.fs"),
            "{denied:#}"
        );
    });
}

/// Where it cannot be run, its rules are a guess, and it is said why.
#[test]
fn rules_are_guessed_where_it_cannot() {
    with_client(|desk| {
        let servers = json!({ "mcpServers": {
            "gone": { "command": "no-such-program-anywhere" },
            "dies": { "command": "python3", "args": ["-c", &format!("import sys; sys.exit('{KEY} is wrong')")], "env": { "API_KEY": KEY } },
            "unset": { "command": "python3", "args": ["server.py"], "env": { "A": "${env:NOT_SET_HERE}" } },
            "away": { "url": "https://example.com/mcp", "headers": { "X-Api-Key": KEY } },
        } });
        write_home(desk, ".cursor/mcp.json", &servers.to_string());
        let told = desk.told(&["import", "cursor"]);
        for part in [
            "no-such-program-anywhere",
            "[secret] is wrong",
            "the variable `NOT_SET_HERE` is not set",
            "reached at its address",
            "AWAY_X_API_KEY  the header `X-Api-Key` of `away`",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert!(!told.contains(KEY), "{told}");
        assert!(!desk.path("jig.toml").exists());
        let quiet = desk.json(&["import", "cursor", "--no-suggest"]);
        let how: Vec<&str> = quiet["servers"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| one["access"]["how"].as_str().unwrap())
            .collect();
        assert_eq!(how, ["guessed", "guessed", "guessed", "none"], "{quiet:#}");
        assert!(!quiet.to_string().contains(KEY), "{quiet}");
    });
}

/// A second import has nothing to do, and what was there is kept.
#[test]
fn twice_is_once_and_a_copy_is_kept() {
    let desk = Desk::with("# mine\n[tools.a]\nsource = 'local'\ncommand = 'true'\n");
    let before = desk.read("jig.toml");
    let servers = json!({ "mcpServers": {
        "One Server": { "command": "true", "args": ["$x", "a b"], "env": { "A": "1" } },
        "two": { "url": "https://example.com/mcp?key=abcdefgh", "headers": { "Authorization": format!("Bearer {KEY}") } },
    } });
    write_home(&desk, ".cursor/mcp.json", &servers.to_string());
    let import = |args: &[&str]| desk.json(&[&["import", "cursor", "--no-suggest"], args].concat());

    let shown = import(&[]);
    assert_eq!(
        desk.read("jig.toml"),
        before,
        "nothing is written without --write"
    );
    assert_eq!(shown["written"], json!(false));
    let diff = shown["diff"].as_str().unwrap();
    assert!(
        diff.contains("+[mcp.servers.One_Server]") && diff.contains("+args = [\"$$x\", \"a b\"]"),
        "{diff}"
    );

    let written = import(&["--write"]);
    assert_eq!(
        written["accepted"],
        json!(["One_Server", "two"]),
        "{written:#}"
    );
    let after = desk.read("jig.toml");
    assert!(after.starts_with(&before), "{after}");
    let backup = written["backup"].as_str().unwrap().to_owned();
    assert!(backup.starts_with("jig.toml.bak-20"), "{backup}");
    assert_eq!(desk.read(&backup), before);
    let mode = std::fs::metadata(desk.path(&backup))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600, "there may be secrets in it");

    let again = import(&["--write"]);
    assert_eq!(again["written"], json!(false), "{again:#}");
    let states: Vec<&Json> = again["servers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["state"])
        .collect();
    assert_eq!(states, ["present", "present"], "{again:#}");
    assert_eq!(desk.read("jig.toml"), after);
    let copies = std::fs::read_dir(&desk.workspace.root).unwrap().count();
    assert_eq!(copies, 2, "the file and one copy");
}

/// The person's own servers go into their own file, where nobody has to accept them.
#[test]
fn global_servers_are_the_persons_own() {
    with_client(|desk| {
        let own = json!({ "mcpServers": { "own": { "command": "python3", "args": ["server.py", "--tools", "echo"] } } });
        let project =
            json!({ "mcpServers": { "theirs": { "command": "python3", "args": ["server.py"] } } });
        write_home(desk, ".cursor/mcp.json", &own.to_string());
        desk.workspace
            .write(".cursor/mcp.json", project.to_string());
        let told = desk.told(&["import", "cursor", "--global", "--write"]);
        assert!(
            told.contains("written: `[home]/.config/jig/config.toml` has 1 server more"),
            "{told}"
        );
        assert!(!told.contains("theirs"), "{told}");
        assert!(!desk.path("jig.toml").exists());
        assert_eq!(served(desk, &["own_"]), ["own_echo"]);
    });
}

/// Whoever has no servers where jig looks learns where that is.
#[test]
fn a_client_without_servers_is_told_where_jig_looked() {
    let desk = Desk::new();
    insta::assert_snapshot!(desk.told(&["import", "claude"]), @r"
    error: Claude Code has no servers in `.mcp.json`, `~/.claude.json`
    hint: --file names another file
    [exit 1]
    ");
    insta::assert_snapshot!(desk.told(&["import", "vscode", "--file", "missing.json"]), @r"
    error: there is no file `missing.json`
    [exit 1]
    ");
    desk.workspace.write("empty.json", "{ \"servers\": {} }");
    desk.workspace.write(
        "other.json",
        "{ \"mcpServers\": { \"a\": { \"command\": \"a\" } } }",
    );
    insta::assert_snapshot!(desk.told(&["import", "codex", "--file", "other.json"]), @r"
    error: `other.json`, line 1, column 1: invalid key-value pair, expected key
    [exit 1]
    ");
    insta::assert_snapshot!(desk.told(&["import", "claude", "--file", "other.json", "--only", "b"]), @r"
    error: no server has the name that --only wants
    hint: there are a
    [exit 1]
    ");
    insta::assert_snapshot!(desk.told(&["import", "cursor", "--file", "empty.json"]), @r"
    error: `empty.json` has no servers at `mcpServers`
    hint: name the client that the file belongs to: claude, codex, cursor or vscode
    [exit 1]
    ");
}
