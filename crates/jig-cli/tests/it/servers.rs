//! MCP servers behind `jig`: their tools are listed, called and shaped, each in the sandbox of its server.

use std::net::TcpListener;
use std::process::{Child, Stdio};

use serde_json::json;

use super::servers_workspace::{entry, with_server};
use super::vfs_tool::until;
use super::workspace_user::{Desk, Ran};

/// Every tool of a server is there under the server's name, and works.
#[test]
fn j026_tools_of_a_server_are_listed_and_called() {
    with_server(&entry(""), |desk| {
        let names = desk.served();
        assert!(names.contains(&"small_echo".to_owned()), "{names:?}");
        assert_eq!(names.len(), 11, "{names:?}");
        let listed = desk.ok(&["tools"]);
        assert!(
            listed.contains("FROM") && listed.contains("mcp.small"),
            "{listed}"
        );

        let text = desk.result(&["small_echo", "text=hello"]);
        assert_eq!(text, "hello");
        // What the schema calls a number is one, whatever a shell makes of it.
        let text = desk.result(&["small_echo", "text=7", "times=2"]);
        assert_eq!(text, "7 7");
        let picture = desk.call(&["small_picture"]);
        assert_eq!(picture["content"][0]["mimeType"], "image/png", "{picture}");

        let shown = desk.json(&["tools", "small_echo"]);
        assert_eq!(shown["source"], "mcp.small.echo");
        assert_eq!(shown["input_schema"]["required"], json!(["text"]));
        let hash = shown["definition"]["hash"].as_str().unwrap_or_default();
        assert_eq!(hash.len(), 64, "{shown:#}");
        let told = desk.ok(&["tools", "small_echo"]);
        assert!(
            told.contains(&hash[..12]) && told.contains("Says it again."),
            "{told}"
        );
    });
}

/// A call of another tool does not need the server, and does not start it.
#[test]
fn a_server_is_started_only_for_its_own_tools() {
    with_server(&entry(""), |desk| {
        desk.change_server(
            "def main():",
            "def main():\n    open('started', 'w').close()",
        );
        desk.workspace.write("a.txt", "hello\n");
        assert_eq!(desk.result(&["fs_read_file", "path=a.txt"]), "hello\n");
        desk.ok(&["policy", "explain", "fs_read_file", "read", "a.txt"]);
        desk.ok(&["servers"]);
        assert!(!desk.path("started").exists());
        // The twin: its own tool starts it, and then it is known what it has.
        desk.ok(&["call", "small_pid"]);
        assert!(desk.path("started").exists());
        std::fs::remove_file(desk.path("started")).unwrap();
        assert_eq!(desk.served().len(), 11);
        assert!(!desk.path("started").exists(), "the list is known already");
    });
}

/// Arguments that do not fit the server's schema are told in our words, before the server sees them.
#[test]
fn wrong_arguments_are_named() {
    with_server(&entry(""), |desk| {
        for (args, expected) in [
            (&["call", "small_echo"][..], "text"),
            (&["call", "small_echo", "text=a", "times=many"], "times"),
            (
                &["call", "small_ehco", "text=a"],
                "did you mean `small_echo`",
            ),
        ] {
            let ran = desk.alone(args);
            assert_eq!(ran.code, Some(1), "{ran:?}");
            assert!(ran.err.contains(expected), "{args:?}: {}", ran.err);
        }
    });
}

/// X-17: a tool of a server is renamed, described, hidden and asked about as any other.
#[test]
fn tools_are_renamed_hidden_and_ruled() {
    let config = format!(
        "{}{}",
        entry("hide = ['die', 'w*']\nprefix = 's_'\n"),
        r#"
[tools.say]
source = "mcp.small.echo"
description = "Says something."
run = [{ arg = "/text", prefix = "hello", mode = "unattended" }, { mode = "skip" }]
"#
    );
    with_server(&config, |desk| {
        let names = desk.served();
        assert!(names.contains(&"say".to_owned()), "{names:?}");
        for absent in ["s_echo", "s_die", "s_write", "small_read"] {
            assert!(!names.contains(&absent.to_owned()), "{absent}: {names:?}");
        }
        assert!(names.contains(&"s_read".to_owned()), "{names:?}");
        assert!(desk.ok(&["tools", "say"]).contains("Says something."));
        assert_eq!(desk.result(&["say", "text=hello you"]), "hello you");
        let skipped = desk.run(&["call", "say", "text=goodbye"]);
        assert!(!skipped.out.contains("goodbye"), "{skipped:?}");
        // What is hidden cannot be called either; what has another name is told with it.
        for (name, said) in [
            ("s_die", "`die` of the server `small` is hidden"),
            ("s_echo", "call `say`"),
            ("small_echo", "call `say`"),
            ("small_read", "call `s_read`"),
            ("s_nothing", "there is no tool `s_nothing`"),
        ] {
            let told = desk.run(&["call", name]);
            assert_eq!(told.code, Some(1), "{told:?}");
            assert!(told.err.contains(said), "{name}: {}", told.err);
        }
    });
}

/// What the server asks is asked by jig, and an answer known in advance is given.
#[test]
fn questions_and_progress_of_a_server_come_through() {
    with_server(&entry(""), |desk| {
        let told = desk.run(&["call", "small_ask", "--no-interaction"]);
        assert!(!told.out.contains("hello"), "{told:?}");
        assert_eq!(desk.result(&["small_slow"]), "done");
    });
}

/// A server that ends in the middle of a call: the reason, and its last words, are in the result.
#[test]
fn a_server_that_dies_says_why() {
    with_server(&entry(""), |desk| {
        let told = desk.told(&["call", "small_die"]);
        assert!(told.contains("[exit 1]"), "{told}");
        for part in ["small", "code 3", "it was too much for me"] {
            assert!(told.contains(part), "`{part}` is not in {told}");
        }
        assert_eq!(desk.result(&["small_echo", "text=again"]), "again");
    });
}

/// X-17: what a server may do stands with the server, and holds for its tools.
#[test]
fn x17_a_denied_file_is_explained_with_the_rule_of_the_server() {
    let rule = "[[mcp.servers.small.access.fs]]\npath = 'open'\nread = true\n\
                [[mcp.servers.small.access.fs]]\npath = 'server.py'\nread = true\n";
    with_server(&entry(rule), |desk| {
        desk.workspace.write("open/a.txt", "for everybody\n");
        desk.workspace.write("closed/b.txt", "for nobody\n");
        assert_eq!(
            desk.result(&["small_read", "path=open/a.txt"]),
            "for everybody\n"
        );
        let told = desk.told(&["call", "small_read", "path=closed/b.txt"]);
        assert!(
            told.contains("[exit 1]") && !told.contains("for nobody"),
            "{told}"
        );
        for part in [
            "closed/b.txt",
            "to allow it, add:",
            "[[mcp.servers.small.access.fs]]",
        ] {
            assert!(told.contains(part), "`{part}` is not in {told}");
        }
        let told = desk.told(&["call", "small_write", "path=open/a.txt", "text=mine"]);
        assert!(told.contains("update") || told.contains("write"), "{told}");
        assert_eq!(desk.read("open/a.txt"), "for everybody\n");

        // What was proposed is enough.
        let more = "[[mcp.servers.small.access.fs]]\npath = 'closed/b.txt'\nread = true\n";
        desk.serve(&entry(&format!("{rule}{more}")));
        assert_eq!(
            desk.result(&["small_read", "path=closed/b.txt"]),
            "for nobody\n"
        );
        // And it is in the log.
        let log = desk.ok(&["log"]);
        assert!(
            log.contains("small") && log.contains("closed/b.txt"),
            "{log}"
        );
    });
}

/// The rules of a server can be asked about before anything runs.
#[test]
fn the_rules_of_a_server_are_explained() {
    let rule = "[[mcp.servers.small.access.fs]]\npath = 'open'\nread = true\n";
    with_server(&entry(rule), |desk| {
        desk.workspace.write("open/a.txt", "");
        desk.workspace.write("closed/b.txt", "");
        for name in ["small", "mcp.small"] {
            let answer = desk.json(&["policy", "explain", name, "read", "open/a.txt"]);
            assert_eq!(answer["decision"], "allow", "{answer:#}");
            let answer = desk.json(&["policy", "explain", name, "read", "closed/b.txt"]);
            assert_eq!(answer["decision"], "uncovered", "{answer:#}");
            let suggestion = answer["suggestion"].as_str().unwrap_or_default();
            assert!(
                suggestion.contains("[[mcp.servers.small.access.fs]]"),
                "{suggestion}"
            );
        }
        // A tool of the server, once it is known.
        desk.served();
        let answer = desk.json(&["policy", "explain", "small_read", "read", "open/a.txt"]);
        assert_eq!(answer["decision"], "allow", "{answer:#}");
        let shown = desk.ok(&["policy", "show", "small"]);
        assert!(shown.contains("open"), "{shown}");
    });
}

/// The network of a server is that of its rules.
#[test]
fn a_denied_host_is_explained() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            use std::io::{Read as _, Write as _};
            let mut stream = stream;
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(b"HTTP/1.0 200 OK\r\n\r\nwelcome");
        }
    });
    let words = |desk: &Desk| {
        let port = format!("port={port}");
        desk.told(&["call", "small_connect", "host=127.0.0.1", &port])
    };
    with_server(&entry(""), |desk| {
        let told = words(desk);
        assert!(!told.contains("welcome"), "{told}");
        for part in ["[exit 1]", "[[mcp.servers.small.access.net]]"] {
            assert!(told.contains(part), "`{part}` is not in {told}");
        }
        let rule = format!(
            "[[mcp.servers.small.access.net]]\nhost = '127.0.0.1'\nport = {port}\nallow = true\n"
        );
        desk.serve(&entry(&rule));
        assert!(words(desk).contains("welcome"));
    });
}

/// A variable reaches a server only by name, and its value is nowhere to be seen.
#[test]
fn secrets_are_filled_and_never_shown() {
    const SECRET: &str = "s3cr3t-of-the-test-0123456789";
    with_server(&entry("env = { TOKEN = '${UPSTREAM_TOKEN}' }\n"), |desk| {
        let run = |args: &[&str]| {
            let output = desk
                .jig(args)
                .env("UPSTREAM_TOKEN", SECRET)
                .output()
                .unwrap();
            Ran::of(output)
        };
        // It has it: what it says about it is taken out of what it says.
        let ran = run(&["call", "small_variable", "name=TOKEN"]);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(!ran.out.contains("not set"), "{ran:?}");
        let other = run(&["call", "small_variable", "name=UPSTREAM_TOKEN"]);
        assert!(other.out.contains("not set"), "{other:?}");
        for args in [
            &["call", "small_variable", "name=TOKEN"][..],
            &["call", "small_variable", "name=TOKEN", "--json"],
            &["tools", "small_variable"],
            &["servers", "small"],
            &["servers", "small", "--json"],
            &["config", "show"],
            &["log", "--json"],
        ] {
            let ran = run(args);
            assert!(!ran.out.contains(SECRET), "{args:?}: {}", ran.out);
            assert!(!ran.err.contains(SECRET), "{args:?}: {}", ran.err);
        }
    });
}

/// A spawned tool of a server lives in the station, and goes on when the command that started it has ended.
#[test]
fn a_tool_of_a_server_is_spawned() {
    let config = format!(
        "{}\n[tools.later]\nsource = 'mcp.small.wait'\nstateful = true\n",
        entry("")
    );
    with_server(&config, |desk| {
        desk.ok(&[
            "spawn",
            "later",
            "path=now",
            "--id",
            "one",
            "--no-interaction",
        ]);
        let running = desk.json(&["ps"]).to_string();
        assert!(
            running.contains("running") && running.contains("later"),
            "{running}"
        );
        desk.workspace.write("now", "");
        let waited = desk.run(&["await", "one", "--timeout", "60s"]);
        assert!(waited.out.contains("it is there"), "{waited:?}");
        desk.run(&["abort", "--all"]);
    });
}

/// Another configuration has servers of its own. Those that a handle is on, or waits for, are left alone.
#[test]
fn a_spawn_with_another_configuration_ends_no_server_of_a_handle() {
    let config = format!(
        "{}\n[tools.later]\nsource = 'mcp.small.wait'\nstateful = true\n",
        entry("")
    );
    with_server(&config, |desk| {
        let spawn = |id: &str, more: &[&str]| {
            let path = format!("path={id}");
            let plain = ["spawn", "later", &path, "--id", id, "--no-interaction"];
            let mut jig = desk.jig(&[&plain[..], more].concat());
            jig.stdin(Stdio::null()).stdout(Stdio::piped());
            jig.stderr(Stdio::piped()).spawn().unwrap()
        };
        let ends_well = |spawning: Child| {
            let ran = Ran::of(spawning.wait_with_output().unwrap());
            assert_eq!(ran.code, Some(0), "{ran:?}");
        };
        let slowly = "def main():\n    open('begun', 'w').close()\n    time.sleep(2)";
        desk.change_server("def main():", slowly);
        let other = ["--set", "mcp.servers.small.env.OTHER=value"];
        let first = spawn("first", &[]);
        until("its server starts", || desk.path("begun").exists());
        ends_well(spawn("other", &other));
        ends_well(first);
        // By now both are in the middle of a call.
        ends_well(spawn("again", &[]));
        for id in ["first", "other", "again"] {
            desk.workspace.write(id, "");
            let waited = desk.run(&["await", id, "--timeout", "60s"]);
            assert!(waited.out.contains("it is there"), "{id}: {waited:?}");
        }
        desk.run(&["abort", "--all"]);
    });
}

/// A server has the variables of who started it: nobody else works on it in their name.
#[test]
fn a_spawn_with_another_environment_has_a_server_of_its_own() {
    let config = format!(
        "{}\n[tools.later]\nsource = 'mcp.small.wait'\nstateful = true\n",
        entry("env.WHO = '${WHO}'\n")
    );
    with_server(&config, |desk| {
        desk.change_server("\"it is there\"", "f\"it is there, {os.environ['WHO']}\"");
        for who in ["me", "you"] {
            let path = format!("path={who}");
            let args = ["spawn", "later", &path, "--id", who, "--no-interaction"];
            let spawned = Ran::of(desk.jig(&args).env("WHO", who).output().unwrap());
            assert_eq!(spawned.code, Some(0), "{spawned:?}");
        }
        for who in ["me", "you"] {
            desk.workspace.write(who, "");
            let waited = desk.run(&["await", who, "--timeout", "60s"]);
            let expected = format!("it is there, {who}");
            assert!(waited.out.contains(&expected), "{who}: {waited:?}");
        }
        desk.run(&["abort", "--all"]);
    });
}

/// A command can be run as the server is, to see what it would see.
#[test]
fn any_command_runs_under_the_rules_of_a_server() {
    let rule = "[[mcp.servers.small.access.fs]]\npath = 'open'\nread = true\n";
    with_server(&entry(rule), |desk| {
        desk.workspace.write("open/a.txt", "for everybody\n");
        desk.workspace.write("closed/b.txt", "for nobody\n");
        let policy = ["run", "--policy", "mcp.small", "--", "cat"];
        let read = |path: &str| desk.told(&[&policy[..], &[path]].concat());
        assert!(read("open/a.txt").contains("for everybody"));
        let told = read("closed/b.txt");
        assert!(!told.contains("for nobody"), "{told}");
        assert!(told.contains("[[mcp.servers.small.access.fs]]"), "{told}");
    });
}

/// What a server says of itself does not steer the terminal of whoever looks at it.
#[test]
fn words_of_a_server_do_not_steer_a_terminal() {
    with_server(&entry(""), |desk| {
        desk.change_server(
            "Says it again.",
            r"\u001b[2J\u001b]0;mine\u0007 \u202emirrored",
        );
        desk.change_server(r#"tool("slow""#, r#"tool("s\u001b[31mlow""#);
        for args in [
            &["tools", "--color", "always"][..],
            &["tools", "small_echo", "--color", "always"],
            &["servers", "small", "--color", "always"],
        ] {
            let told = desk.ok(args);
            for bad in ["\u{1b}[2J", "\u{1b}]0", "\u{7}", "\u{202e}", "\u{1b}[31m"] {
                assert!(!told.contains(bad), "{args:?}: {told:?}");
            }
        }
        // Its tool can be called all the same.
        assert_eq!(desk.result(&["small_echo", "text=a"]), "a");
    });
}
