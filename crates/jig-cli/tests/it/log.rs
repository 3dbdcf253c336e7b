//! `jig log`: every run is there, and every answer with who gave it; what cannot be written down does not run.

use serde_json::{Value as Json, json};

use super::mcp_client::Client;
use super::servers_workspace::{SERVER, entry, with_server};
use super::station::Hall;
use super::vfs_tool::until;
use super::workspace_user::{Desk, Ran, for_each_user};

/// The lines of the log.
pub(crate) fn lines(desk: &Desk, args: &[&str]) -> Vec<Json> {
    let text = desk.ok(&[&["--json", "log"], args].concat());
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// What lines say, in short: operation, decision, outcome.
fn in_short(lines: &[Json]) -> Vec<String> {
    let text = |value: &Json| value.as_str().unwrap_or("-").to_owned();
    let parts = lines.iter().map(|line| {
        let parts = [&line["operation"], &line["decision"], &line["outcome"]];
        parts.map(text).join(" ")
    });
    parts.collect()
}

/// Whether a line of this operation gives this reason.
fn has(lines: &[Json], operation: &str, reason: &str) -> bool {
    lines
        .iter()
        .any(|line| line["operation"] == operation && line["reason"] == reason)
}

const TOOLS: &str = "
[tools.fine]
source = 'local'
run = 'unattended'
command = 'touch made'
questions.known.answer = 'yes'
parameters.path.type = 'string'
parameters.content.type = 'string'

[tools.bad]
source = 'local'
run = 'unattended'
command = 'sh -c \"exit 3\"'

[tools.missing]
source = 'local'
run = 'unattended'
command = 'no-such-program'
";

#[test]
fn every_run_has_its_lines() {
    for_each_user(|desk| {
        desk.workspace.write("jig.toml", TOOLS);
        let long = "x".repeat(2000);
        desk.ok(&["call", "fine", "path=a.txt", &format!("content={long}")]);
        let ran = lines(desk, &[]);
        assert_eq!(in_short(&ran), ["call allow -", "call allow ok"]);
        assert_eq!(
            ran[0]["target"],
            r#"{"path":"a.txt","content":"[2000 bytes]"}"#
        );
        assert_eq!(ran[0]["reason"], "`known` answered by the configuration");
        assert_eq!(ran[1]["reason"], "it exited with code 0");
        assert!(ran[1]["duration_us"].is_u64(), "{ran:?}");
        assert_eq!(ran[0]["call"], ran[1]["call"]);

        assert_eq!(desk.run(&["call", "bad"]).code, Some(1));
        assert_eq!(desk.run(&["call", "missing"]).code, Some(1));
        let ran = lines(desk, &["-n", "4"]);
        assert_eq!(
            in_short(&ran),
            [
                "call allow -",
                "call allow error",
                "call allow -",
                "call allow not_started"
            ]
        );
        assert_eq!(ran[1]["reason"], "it exited with code 3");

        desk.ok(&["call", "shell", "command=touch z", "--yes"]);
        let ran = lines(desk, &["--tool", "shell"]);
        assert_eq!(
            in_short(&ran),
            ["ask.run allow -", "call allow -", "call allow ok"]
        );
        assert_eq!(ran[0]["reason"], "yes, by --yes");
        assert_eq!(ran[1]["target"], r#"{"command":"touch z"}"#);

        assert_eq!(desk.run(&["run", "--", "sh", "-c", "exit 4"]).code, Some(4));
        let ran = lines(desk, &["--tool", "jig-run"]);
        assert_eq!(in_short(&ran), ["run allow -", "run allow error"]);
        assert_eq!(ran[0]["target"], "sh -c exit 4");
        assert_eq!(ran[1]["reason"], "exited with code 4");
        let told = desk.ok(&["log", "-n", "1"]);
        assert!(
            told.contains("sh -c exit 4  exited with code 4  error"),
            "{told}"
        );

        // Nothing that is only looked at is in the log.
        let before = lines(desk, &[]).len();
        desk.ok(&["run", "--dry-run", "--", "true"]);
        desk.ok(&["tools"]);
        assert_eq!(lines(desk, &[]).len(), before);
    });
}

/// A tool that asks nobody for anything is there, too; one whose requests are there has no further line.
#[test]
fn what_runs_inside_of_jig_has_one_line() {
    let desk = Desk::new();
    desk.workspace.write("a.txt", "hello\n");
    desk.ok(&["call", "fs_read_file", "path=a.txt"]);
    assert_eq!(in_short(&lines(&desk, &[])), ["fs.read allow ok"]);
}

#[test]
fn handles_have_a_start_and_an_end() {
    let desk = Desk::new();
    let hall = Hall::new(&desk);
    assert_eq!(hall.spawn(&["echo", "--id", "one"]), "one");
    let ran = lines(&desk, &["--tool", "echo"]);
    assert_eq!(in_short(&ran), ["spawn allow -"]);
    assert_eq!(ran[0]["handle"], "one");
    desk.ok(&["abort", "one"]);
    until("its end is in the log", || {
        in_short(&lines(&desk, &["--tool", "echo"])) == ["spawn allow -", "spawn allow cancelled"]
    });
    let report = hall.json(&["spawn", "asks", "--id", "two"]);
    let report = match report["state"] == "waiting" {
        true => report,
        false => hall.json(&["fetch", "two", "--wait", "20s"]),
    };
    assert_eq!(report["state"], "waiting", "{report}");
    desk.ok(&["apply", "two", "yes", "--wait", "20s"]);
    let ran = lines(&desk, &["--tool", "asks"]);
    let by = "answered, by a person with `jig apply` or `jig attach`";
    assert!(has(&ran, "ask.tool", by), "{ran:?}");
    assert!(ran.iter().all(|line| line["handle"] == "two"), "{ran:?}");
}

/// Who answered, and by which way; where nobody could, that is said.
#[test]
fn answers_are_there_with_who_gave_them() {
    let desk = Desk::with(TOOLS);
    let ran = desk.run(&["call", "shell", "command=true", "--no-interaction"]);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    let refused = &lines(&desk, &[])[0];
    assert_eq!(
        (&refused["operation"], &refused["decision"]),
        (&json!("ask.run"), &json!("deny"))
    );
    assert_eq!(refused["reason"], "nobody can be asked here");
    assert_eq!(refused["target"], "Run `shell`?");

    // The form of a client.
    let mut client = Client::of(desk.jig(&["mcp"]));
    client.initialize(json!({ "elicitation": {} }));
    for (action, content) in [
        ("accept", json!({ "decision": "allow once" })),
        ("decline", json!({})),
    ] {
        let call = json!({ "name": "shell", "arguments": { "command": "true" } });
        let asking = client.ask("tools/call", call);
        let question = client.until(|message| message["method"] == "elicitation/create");
        let result = json!({ "action": action, "content": content });
        client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": result }));
        client.answer(asking);
    }
    assert!(client.close().0.success());
    let ran = lines(&desk, &["--tool", "shell"]);
    assert!(
        has(&ran, "ask.run", "yes, by the client's form"),
        "{ran:#?}"
    );
    let no = ran.iter().rfind(|line| line["operation"] == "ask.run");
    let no = no.unwrap();
    assert_eq!(no["decision"], "deny");
    let reason = no["reason"].as_str().unwrap();
    assert!(reason.ends_with(", by the client's form"), "{reason}");
}

/// A log that cannot be written is an error before anything runs; only a person can say otherwise.
#[test]
fn without_a_log_nothing_runs() {
    for_each_user(|desk| {
        desk.workspace.write("jig.toml", TOOLS);
        // Where the log would be.
        let state = desk.workspace.home.join(".local/state/jig");
        std::fs::create_dir_all(&state).unwrap();
        std::fs::write(state.join("log"), "no folder").unwrap();
        let refused = |ran: Ran, code: i32| {
            assert_eq!(ran.code, Some(code), "{ran:?}");
            assert!(ran.err.contains("the log in `"), "{ran:?}");
            assert!(ran.err.contains("cannot be written"), "{ran:?}");
            assert!(ran.err.contains("--optional-log"), "{ran:?}");
            assert!(!desk.path("made").exists());
        };
        refused(desk.run(&["call", "fine"]), 1);
        refused(desk.run(&["run", "--", "touch", "made"]), 125);
        refused(desk.run(&["proxy", "--", "true"]), 125);
        refused(desk.run(&["mcp"]), 1);
        refused(desk.run(&["suggest", "--", "touch", "made"]), 1);
        // What only looks needs no log.
        desk.ok(&["run", "--dry-run", "--", "true"]);

        // A flag, or the person's own file.
        let ran = desk.run(&["--optional-log", "call", "fine"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.err.contains("nothing is written down"), "{ran:?}");
        assert!(desk.path("made").exists());
        let ran = desk.run(&["run", "--optional-log", "--", "true"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let own = desk.workspace.home.join(".config/jig");
        std::fs::create_dir_all(&own).unwrap();
        std::fs::write(own.join("config.toml"), "[log]\nrequired = false\n").unwrap();
        let ran = desk.run(&["call", "fine"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        std::fs::remove_file(own.join("config.toml")).unwrap();

        // Never a file of the workspace.
        std::fs::remove_file(desk.path("made")).unwrap();
        let text = format!("{TOOLS}\n[log]\nrequired = false\n");
        desk.workspace.write("jig.toml", text);
        let ran = desk.run(&["call", "fine"]);
        assert_eq!(ran.code, Some(3), "{ran:?}");
        assert!(
            ran.err
                .contains("a file of the workspace cannot say that tools run without a log"),
            "{ran:?}"
        );
        assert!(!desk.path("made").exists());
    });
}

/// A disk that is full is no reason to run what nobody would know of.
#[test]
fn on_a_full_disk_nothing_runs() {
    let desk = Desk::with(TOOLS);
    if !desk.has(&["unshare", "--map-root-user", "--mount", "true"]) {
        return;
    }
    let state = desk.workspace.home.join(".local/state");
    std::fs::create_dir_all(&state).unwrap();
    let full = "mount -t tmpfs -o size=64k none \"$1\" && mkdir -p \"$1/jig\" || exit 77\n\
                head -c 1M /dev/zero > \"$1/fill\" 2> /dev/null; shift; exec \"$@\"";
    let jig = desk.jig(&["call", "fine"]);
    let mut command = desk.command("unshare");
    command.args(["--map-root-user", "--mount", "sh", "-c", full, "sh"]);
    command
        .arg(&state)
        .arg(jig.get_program())
        .args(jig.get_args());
    let ran = Ran::of(command.output().unwrap());
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains("the log cannot be written"), "{ran:?}");
    assert!(ran.err.contains("--optional-log"), "{ran:?}");
    assert!(!desk.path("made").exists(), "{ran:?}");
}

/// A server is started several times to see what it needs: each start is there, with its end, and neither its
/// arguments nor its variables, which may be secrets.
#[test]
fn runs_of_jig_import_are_there() {
    for_each_user(|desk| {
        if !desk.has(&["python3", "--version"]) {
            return;
        }
        const SECRET: &str = "sk-test-0123456789abcdefghij";
        desk.workspace.write("server.py", SERVER);
        let server = json!({ "command": "python3", "args": ["server.py", "--tools", "echo"], "env": { "KEY": SECRET } });
        let broken = json!({ "command": "python3", "args": ["-c", "exit(3)"] });
        let servers = json!({ "mcpServers": { "mine": server, "broken": broken } });
        desk.workspace.write(".mcp.json", servers.to_string());
        let told = desk.told(&["import", "claude", "--suggest"]);
        let lines = lines(desk, &[]);
        let imports = lines.iter().filter(|line| line["operation"] == "import");
        let imports: Vec<Json> = imports.cloned().collect();
        let of = |server: &str| {
            let about = format!("`{server}`");
            // One runs after the other.
            let runs = imports
                .chunks(2)
                .filter(|run| run[0]["reason"].as_str().unwrap().contains(&about));
            let runs: Vec<Vec<String>> = runs.map(in_short).collect();
            assert!(!runs.is_empty(), "{server}: {lines:?}\n{told}");
            runs
        };
        // Once with much in reach, once under the rules that this took.
        let good = of("mine");
        assert!(good.len() >= 2, "{good:?}");
        assert!(
            good.iter()
                .all(|run| *run == ["import allow -", "import allow ok"]),
            "{good:?}"
        );
        let bad = of("broken");
        assert!(
            bad.iter()
                .all(|run| *run == ["import allow -", "import allow error"]),
            "{bad:?}"
        );
        let all = desk.ok(&["--json", "log"]);
        assert!(!all.contains(SECRET) && !all.contains("exit(3)"), "{all}");
    });
}

/// A command that prints a secret is there, with what it is for, and the secret is not.
#[test]
fn commands_that_print_secrets_are_there() {
    let env = "[mcp.servers.small.env]\nTOKEN = { command = ['printf', 'hush-hush-%s', 'very'] }\n\
               [mcp.servers.other]\ncommand = ['python3', 'server.py']\nrun = 'unattended'\n\
               [mcp.servers.other.env]\nTOKEN = { command = ['false', 'hush-hush'] }\n";
    with_server(&entry(env), |desk| {
        let told = desk.result(&["small_variable", "name=TOKEN"]);
        assert!(!told.contains("hush-hush"), "{told}");
        let told = desk.told(&["call", "other_echo", "text=a"]);
        assert!(!told.contains("hush-hush"), "{told}");
        let lines = lines(desk, &[]);
        let secrets: Vec<Json> = lines
            .into_iter()
            .filter(|line| line["operation"] == "secret")
            .collect();
        let of = |tool: &str| -> Vec<Json> {
            secrets
                .iter()
                .filter(|line| line["tool"] == tool)
                .cloned()
                .collect()
        };
        let small = of("small");
        assert_eq!(in_short(&small), ["secret allow -", "secret allow ok"]);
        assert_eq!(small[0]["target"], "printf");
        assert_eq!(small[0]["call"], small[1]["call"]);
        assert!(small[1]["duration_us"].is_u64());
        assert!(
            small[0]["reason"].as_str().unwrap().contains("env.TOKEN"),
            "{small:?}"
        );
        assert_eq!(
            in_short(&of("other")),
            ["secret allow -", "secret allow error"]
        );
        let all = desk.ok(&["--json", "log"]);
        assert!(!all.contains("hush-hush"), "{all}");
    });
}
