//! `jig approve` with a real `jig mcp`: refused calls, parked calls, held configurations.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use serde_json::{Value as Json, json};

use super::follow::follow;
use super::mcp_client::{Client, PATIENCE, text};
use super::station_access::is_out_of_reach;
use super::terminal_user::Seat;
use super::vfs_tool::until;
use super::workspace_user::{Desk, Ran, for_each_user};

/// A server at a desk, whose client can't be asked anything.
fn server(desk: &Desk) -> Client {
    let mut client = Client::of(desk.jig(&["mcp"]));
    client.initialize(json!({}));
    // Whoever is told of the server finds it.
    until("the server listens", || {
        desk.run(&["approve", "--json"]).out.contains("[]")
            && !desk.run(&["approve"]).err.contains("no MCP server")
    });
    client
}

fn create(client: &mut Client, path: &str) -> Json {
    client.call(
        "fs_create_file",
        json!({ "path": path, "content": "hello\n" }),
    )
}

/// The name of the question that a refusal tells.
#[track_caller]
fn told(result: &Json) -> String {
    assert_eq!(result["isError"], true, "{result}");
    let text = text(result);
    let (_, rest) = text
        .split_once("`jig approve ")
        .unwrap_or_else(|| panic!("{text}"));
    rest.split('`').next().unwrap().to_owned()
}

fn questions(desk: &Desk) -> Vec<Json> {
    let listed: Json = serde_json::from_str(&desk.ok(&["approve", "--json"])).unwrap();
    listed.as_array().unwrap().clone()
}

#[track_caller]
fn fails(ran: &Ran, words: &[&str]) {
    assert_eq!(ran.code, Some(1), "{ran:?}");
    for word in words {
        assert!(ran.err.contains(word), "{word} in {ran:?}");
    }
}

/// Denied at once, with the way out; allowed once, the same call works once.
#[test]
fn a_refused_call_is_allowed_once() {
    for_each_user(|desk| {
        let mut client = server(desk);
        let id = told(&create(&mut client, "a.txt"));
        assert!(!desk.path("a.txt").exists());
        // The same call again is the same question.
        assert_eq!(told(&create(&mut client, "a.txt")), id);
        let listed = questions(desk);
        assert_eq!(listed.len(), 1, "{listed:?}");
        assert_eq!(listed[0]["state"], "refused");
        assert_eq!(listed[0]["tool"], "fs_create_file");
        // Whoever has no terminal is shown it, and what to do.
        let shown = desk.run(&["approve", &id]);
        assert_eq!(shown.code, Some(0), "{shown:?}");
        assert!(shown.out.contains("\"a.txt\""), "{shown:?}");
        assert!(
            shown.err.contains(&format!("`jig approve {id} --once`")),
            "{shown:?}"
        );

        let allowed = desk.run(&["approve", &id, "--once"]);
        assert!(allowed.err.contains("allowed once"), "{allowed:?}");
        // Other arguments are another question.
        let other = told(&create(&mut client, "b.txt"));
        assert_ne!(other, id);
        let result = create(&mut client, "a.txt");
        assert_ne!(result["isError"], true, "{result}");
        assert_eq!(desk.read("a.txt"), "hello\n");
        // It was used up.
        std::fs::remove_file(desk.path("a.txt")).unwrap();
        assert_ne!(told(&create(&mut client, "a.txt")), id);
        assert!(!desk.path("a.txt").exists());
        let again = desk.run(&["approve", &id, "--once"]);
        fails(&again, &["was answered already", "jig approve"]);

        // Denied with a reason: the next call is told.
        let denied = desk.run(&["approve", &other, "--deny", "--reason", "not that file"]);
        assert_eq!(denied.code, Some(0), "{denied:?}");
        let result = create(&mut client, "b.txt");
        assert!(text(&result).contains("not that file"), "{result}");
        let (status, _) = client.close();
        assert!(status.success());
        // Who said so is in the log.
        let log = desk.ok(&["log", "--tool", "fs_create_file"]);
        for told in ["yes", "no (not that file)"] {
            let told = format!("{told}, by jig approve, after an earlier call was refused");
            assert_eq!(log.matches(&told).count(), 1, "{told}: {log}");
        }
    });
}

/// Allowed for the turn, the tool is not asked about again in it.
#[test]
fn a_refused_call_is_allowed_for_the_turn() {
    let desk = Desk::new();
    let mut client = server(&desk);
    let id = told(&create(&mut client, "a.txt"));
    desk.ok(&["approve", &id, "--turn"]);
    for path in ["a.txt", "b.txt", "c.txt"] {
        let result = create(&mut client, path);
        assert_ne!(result["isError"], true, "{result}");
        assert!(desk.path(path).exists());
    }
    let log = desk.ok(&["log"]);
    let reason = "answered by what was said earlier in this turn";
    assert_eq!(log.matches(reason).count(), 2, "{log}");
    // Another turn knows nothing of it.
    drop(client);
    let mut client = server(&desk);
    told(&create(&mut client, "d.txt"));
}

/// An agent without a person in front of it ends soon after its refusal, and so does its server. Whoever allows it later
/// allows the same call of the next run, whichever server makes it, once.
#[test]
fn a_refused_call_is_allowed_after_its_server_ended() {
    for_each_user(|desk| {
        let run = |path: &str| {
            let mut client = Client::of(desk.jig(&["mcp"]));
            client.initialize(json!({}));
            let result = create(&mut client, path);
            assert!(client.close().0.success());
            result
        };
        let id = told(&run("a.txt"));
        assert_eq!(servers(desk), 0);
        // A framework that starts a server for each call is refused under the same name again.
        assert_eq!(told(&run("a.txt")), id);
        let listed = questions(desk);
        assert_eq!(listed.len(), 1, "{listed:?}");
        assert_eq!(listed[0]["server"], Json::Null);
        assert!(desk.ok(&["approve"]).contains("a.txt"));
        let allowed = desk.run(&["approve", &id, "--once"]);
        assert_eq!(allowed.code, Some(0), "{allowed:?}");
        assert!(questions(desk).is_empty());
        // Attack: another call, or the same of a tool that is declared in another way, is not what was allowed.
        let other = told(&run("b.txt"));
        assert_ne!(other, id);
        let changed = "[tools.fs_create_file]\ndescription = 'Another tool.'\n";
        desk.workspace.write("jig.toml", changed);
        assert_ne!(told(&run("a.txt")), id);
        std::fs::remove_file(desk.path("jig.toml")).unwrap();
        assert!(!desk.path("a.txt").exists() && !desk.path("b.txt").exists());

        assert_ne!(run("a.txt")["isError"], true);
        assert_eq!(desk.read("a.txt"), "hello\n");
        std::fs::remove_file(desk.path("a.txt")).unwrap();
        told(&run("a.txt"));
        let again = desk.run(&["approve", &id, "--once"]);
        fails(&again, &["is not asked any more", "jig approve"]);
    });
}

/// Attack: a tool to which the home is open neither sees nor changes what was refused and allowed.
#[test]
fn tools_do_not_reach_what_is_kept() {
    for_each_user(|desk| {
        let mut client = server(desk);
        let id = told(&create(&mut client, "a.txt"));
        let kept = desk.workspace.home.join(".local/state/jig/questions");
        let folder = std::fs::read_dir(&kept).unwrap().next().unwrap().unwrap();
        let file = folder.path().join("questions.json");
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(text.contains("a.txt"), "{text}");
        let home = desk.workspace.home.as_str();
        let file = file.to_str().unwrap();
        let script = format!("cat {file}; echo '{{}}' > {file}; rm -rf {kept}");
        let inside = [
            "run", "--write", home, "--write", ".", "--", "sh", "-c", &script,
        ];
        let ran = desk.run(&inside);
        assert!(!ran.out.contains("a.txt"), "{ran:?}");
        assert_eq!(std::fs::read_to_string(file).unwrap(), text);
        assert_eq!(told(&create(&mut client, "a.txt")), id);
    });
}

/// A call whose form is answered by this action.
fn create_declined(client: &mut Client, path: &str, action: &str) -> Json {
    let arguments = json!({ "path": path, "content": "hello\n" });
    let params = json!({ "name": "fs_create_file", "arguments": arguments });
    let call = client.ask("tools/call", params);
    let form = client.until(|message| message["method"] == "elicitation/create");
    let result = json!({ "action": action });
    client.send(&json!({ "jsonrpc": "2.0", "id": form["id"], "result": result }));
    client.answer(call)["result"].clone()
}

/// A client that declares forms and declines them, as agents without a person do: the call ends at once, and a person
/// can allow the next one. With `mcp.ask = "board"` it is not asked at all, and the call waits for a person.
#[test]
fn what_a_client_declines_stays_on_the_board() {
    let desk = Desk::new();
    for action in ["decline", "cancel"] {
        let mut client = Client::of(desk.jig(&["mcp"]));
        client.initialize(json!({ "elicitation": { "form": {} } }));
        let path = format!("{action}.txt");
        let result = create_declined(&mut client, &path, action);
        let id = told(&result);
        assert!(text(&result).contains("the client"), "{result}");
        drop(client);
        desk.ok(&["approve", &id, "--once"]);
        let mut client = Client::of(desk.jig(&["mcp"]));
        client.initialize(json!({ "elicitation": { "form": {} } }));
        assert_ne!(create(&mut client, &path)["isError"], true);
    }

    let mut client = Client::of(desk.jig(&["mcp", "--set", "mcp.ask=\"board\""]));
    client.initialize(json!({ "elicitation": { "form": {} } }));
    thread::scope(|scope| {
        let calling = scope.spawn(|| create(&mut client, "board.txt"));
        let waits = || questions(&desk).iter().any(|one| one["state"] == "waiting");
        until("the call waits", waits);
        let listed = questions(&desk);
        let id = listed[0]["id"].as_str().unwrap();
        desk.ok(&["approve", id, "--once"]);
        assert_ne!(calling.join().unwrap()["isError"], true);
    });
}

#[test]
fn mistakes_are_explained() {
    let desk = Desk::new();
    fails(
        &desk.run(&["approve"]),
        &["no MCP server runs", "jig setup", "--all"],
    );
    fails(
        &desk.run(&["approve", "q_1", "--once"]),
        &["no MCP server runs"],
    );
    fails(
        &desk.run(&["approve", "x"]),
        &["`x` is no question", "`q_1`"],
    );
    assert_eq!(questions(&desk), [] as [Json; 0]);
    let mut client = server(&desk);
    fails(
        &desk.run(&["approve", "q_7", "--once"]),
        &["no question `q_7`"],
    );
    fails(
        &desk.run(&["approve", "--server", "1"]),
        &["no server with the pid 1"],
    );
    fails(
        &desk.run(&["approve", "--watch"]),
        &["no terminal", "--json"],
    );
    let usage = desk.run(&["approve", "--once"]);
    assert_eq!(usage.code, Some(2), "{usage:?}");
    let usage = desk.run(&["approve", "q_1", "--once", "--deny"]);
    assert_eq!(usage.code, Some(2), "{usage:?}");
    let id = told(&create(&mut client, "a.txt"));
    let ran = desk.run(&["approve", &id, "--answer", "7"]);
    fails(&ran, &["takes no value"]);
    let shown = desk.run(&["approve", &id]);
    assert!(shown.out.contains("a.txt"), "{shown:?}");
    follow(
        "`jig approve ID` shows a question, and asks",
        &ran.err,
        &shown.err,
    );

    // Two servers of one workspace ask under names of their own.
    let mut second = server_too(&desk);
    let other = told(&create(&mut second, "b.txt"));
    assert_ne!(other, id);
    desk.ok(&["approve", &other, "--once"]);
    assert_ne!(create(&mut second, "b.txt")["isError"], true);
    assert_eq!(questions(&desk).len(), 1);

    // From another workspace.
    let other = desk.beside("other");
    std::fs::create_dir(&other).unwrap();
    fails(
        &desk.run(&["-C", other.as_str(), "approve"]),
        &["no MCP server runs for"],
    );
    let listed = desk.ok(&["-C", other.as_str(), "approve", "--all"]);
    assert!(listed.contains(&id), "{listed}");
    let mut third = Client::of({
        let mut command = desk.jig(&["-C", other.as_str(), "mcp"]);
        command.stdin(Stdio::piped());
        command
    });
    until("the third server listens", || {
        desk.run(&["-C", other.as_str(), "approve"]).code == Some(0)
    });
    let ran = desk.run(&["-C", other.as_str(), "approve", &id, "--once"]);
    fails(
        &ran,
        &["another workspace", &format!("-C {}", desk.workspace.root)],
    );
    let (_, command) = ran.err.split_once("hint: `jig ").unwrap();
    let words: Vec<&str> = command.split('`').next().unwrap().split(' ').collect();
    let shown = desk.run(&words);
    assert!(shown.out.contains("a.txt"), "{shown:?}");
    follow("`jig -C {} approve {id}`", &ran.err, &shown.err);

    // Those of other workspaces may have the same names.
    third.initialize(json!({}));
    assert_eq!(told(&create(&mut third, "c.txt")), id);
    let pid = third.pid().to_string();
    let ran = desk.run(&["approve", "--all", &id, "--once"]);
    fails(&ran, &["2 servers ask", &format!("--server {pid}")]);
    let once = desk.run(&["approve", "--all", &id, "--once", "--server", &pid]);
    assert_eq!(once.code, Some(0), "{once:?}");
    follow("say which: {}", &ran.err, &once.err);
}

fn server_too(desk: &Desk) -> Client {
    let before = servers(desk);
    let mut client = Client::of(desk.jig(&["mcp"]));
    client.initialize(json!({}));
    until("the second server listens", || servers(desk) > before);
    client
}

/// How many servers have a socket.
fn servers(desk: &Desk) -> usize {
    let folder = desk.workspace.home.join(".local/state/jig/run");
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.ends_with(".ask")).count()
}

/// An editor, or CI: `jig approve --watch --json`.
struct Editor {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<Json>,
    /// What came while something else was waited for: events and replies come in no order.
    aside: Vec<Json>,
}

impl Editor {
    fn new(desk: &Desk) -> Self {
        let mut child = desk
            .jig(&["approve", "--watch", "--json"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (sender, lines) = channel();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                let _ = sender.send(serde_json::from_str(&line).unwrap());
            }
        });
        Self {
            stdin: child.stdin.take(),
            child,
            lines,
            aside: Vec::new(),
        }
    }

    fn until(&mut self, fits: impl Fn(&Json) -> bool) -> Json {
        if let Some(place) = self.aside.iter().position(&fits) {
            return self.aside.remove(place);
        }
        loop {
            let line = self.lines.recv_timeout(PATIENCE).unwrap();
            if fits(&line) {
                return line;
            }
            self.aside.push(line);
        }
    }

    fn event(&mut self, event: &str) -> Json {
        self.until(|line| line["event"] == event)
    }

    fn send(&mut self, line: Json) {
        writeln!(self.stdin.as_mut().unwrap(), "{line}").unwrap();
    }

    fn ask(&mut self, mut line: Json) -> Json {
        line["request"] = json!("mine");
        self.send(line);
        self.until(|line| line["request"] == "mine")
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}

/// While somebody watches, a call is parked until they answer, and runs once.
#[test]
fn a_watched_call_is_parked_and_answered() {
    for_each_user(|desk| {
        let mut client = server(desk);
        let mut editor = Editor::new(desk);
        let hello = editor.event("server");
        assert_eq!(
            (&hello["pid"], &hello["protocol"]),
            (&json!(client.pid()), &json!(1))
        );
        let params =
            json!({ "name": "fs_create_file", "arguments": { "path": "a.txt", "content": "x" } });
        let call = client.ask("tools/call", params.clone());
        let asked = editor.event("question")["question"].clone();
        assert_eq!(asked["state"], "waiting");
        assert_eq!(asked["decisions"], json!(["once", "turn", "deny"]));
        let wrong = editor.ask(json!({ "do": "answer", "id": asked["id"], "decision": "accept" }));
        assert_eq!(wrong["error"]["kind"], "no_answer");
        // A line that is nothing is said so, and the next one is read.
        writeln!(editor.stdin.as_mut().unwrap(), "nothing").unwrap();
        editor.until(|line| line["error"]["kind"] == "not_understood");
        let reply = editor
            .ask(json!({ "do": "answer", "id": asked["id"], "decision": "once", "by": "vi" }));
        assert_eq!(reply["ok"]["decision"], "once");
        let result = client.answer(call)["result"].clone();
        assert_ne!(result["isError"], true, "{result}");
        let settled = editor.event("settled");
        assert_eq!(
            (&settled["id"], &settled["by"]),
            (&asked["id"], &json!("vi"))
        );
        let late = editor.ask(json!({ "do": "answer", "id": asked["id"], "decision": "once" }));
        assert_eq!(late["error"]["kind"], "already_answered");

        // Answered from elsewhere.
        let call = client.ask("tools/call", params.clone());
        let asked = editor.event("question")["question"].clone();
        desk.ok(&[
            "approve",
            asked["id"].as_str().unwrap(),
            "--deny",
            "--reason",
            "enough",
        ]);
        let result = client.answer(call)["result"].clone();
        assert!(text(&result).contains("enough"), "{result}");
        assert_eq!(editor.event("settled")["decision"], "deny");

        // When the last who could answer goes, the call goes on without.
        let call = client.ask("tools/call", params);
        let asked = editor.event("question")["question"].clone();
        drop(editor);
        let result = client.answer(call)["result"].clone();
        assert_eq!(told(&result), asked["id"].as_str().unwrap());
    });
}

/// A client that gives up its call takes the question with it.
#[test]
fn a_cancelled_call_is_not_asked_about_any_more() {
    let desk = Desk::new();
    let mut client = server(&desk);
    let mut editor = Editor::new(&desk);
    editor.event("server");
    let params =
        json!({ "name": "fs_create_file", "arguments": { "path": "a.txt", "content": "x" } });
    let call = client.ask("tools/call", params);
    let asked = editor.event("question")["question"].clone();
    client.send(&json!({
        "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": call },
    }));
    assert_eq!(editor.event("settled")["id"], asked["id"]);
    let late = desk.run(&["approve", asked["id"].as_str().unwrap(), "--once"]);
    fails(&late, &["is not asked any more"]);
    assert!(!desk.path("a.txt").exists());
}

/// A person at a terminal is asked, and what they type is the answer.
#[test]
fn a_person_answers_at_the_terminal() {
    for_each_user(|desk| {
        let mut client = server(desk);
        let id = told(&create(&mut client, "a.txt"));
        let mut seat = Seat::new(desk, &["approve", &id]);
        seat.sees_text("Run `fs_create_file`?");
        seat.sees_text("for this [t]urn");
        seat.types("o\r");
        let (status, screen) = seat.ends();
        assert!(
            status.success() && screen.contains("allowed once"),
            "{screen}"
        );
        assert_ne!(create(&mut client, "a.txt")["isError"], true);

        // One after the other.
        let mut seat = Seat::new(desk, &["approve", "--watch"]);
        seat.sees_text("watching 1 server");
        let ask = |client: &mut Client, path: &str| {
            let arguments = json!({ "path": path, "content": "x" });
            client.ask(
                "tools/call",
                json!({ "name": "fs_create_file", "arguments": arguments }),
            )
        };
        let call = ask(&mut client, "b.txt");
        seat.sees_text("b.txt");
        seat.types("n not that one\r");
        let result = client.answer(call)["result"].clone();
        assert!(text(&result).contains("not that one"), "{result}");
        // Somebody else is faster: the question goes, and the next one comes.
        let call = ask(&mut client, "c.txt");
        seat.sees_text("c.txt");
        let waiting = questions(desk).pop().unwrap();
        desk.ok(&["approve", waiting["id"].as_str().unwrap(), "--once"]);
        seat.sees_text("was answered by jig approve (once)");
        client.answer(call);
        assert!(desk.path("c.txt").exists());
        let call = ask(&mut client, "d.txt");
        seat.sees_text("d.txt");
        // Leaving answers nothing: nobody is there any more, so that the call goes on without.
        seat.types("\u{3}");
        let (status, _) = seat.ends();
        assert!(!status.success());
        let result = client.answer(call)["result"].clone();
        told(&result);
        assert!(!desk.path("d.txt").exists());
    });
}

/// What a tool writes into a question steers nobody's terminal.
#[test]
fn arguments_do_not_steer_the_terminal() {
    let desk = Desk::new();
    let mut client = server(&desk);
    let id = told(&create(&mut client, "\u{1b}]0;owned\u{7}.txt"));
    let shown = desk.ok(&["approve", &id]) + &desk.ok(&["approve"]);
    assert!(
        !shown.contains('\u{1b}') && !shown.contains('\u{7}'),
        "{shown:?}"
    );
}

/// A configuration that allows more waits for a person; what narrows does not.
#[test]
fn a_wider_configuration_is_held() {
    for_each_user(|desk| {
        let mut client = server(desk);
        told(&create(&mut client, "a.txt"));
        let changed = |client: &mut Client| {
            client.until(|line| line["method"] == "notifications/tools/list_changed");
        };
        desk.workspace
            .write("jig.toml", "[tools.fs_create_file]\nrun = \"unattended\"\n");
        let config = || {
            questions(desk)
                .into_iter()
                .find(|one| one["about"] == "config")
        };
        until("the change is noticed", || config().is_some());
        let id = config().unwrap()["id"].as_str().unwrap().to_owned();
        told(&create(&mut client, "a.txt"));
        // A program that does not watch, an agent for example, cannot accept it.
        let unseen = desk.run(&["approve", &id, "--once"]);
        fails(&unseen, &["at a terminal"]);
        fails(&desk.run(&["approve", &id, "--turn"]), &["at a terminal"]);
        let shown = desk.run(&["approve", &id]);
        assert!(shown.out.contains("fs_create_file"), "{shown:?}");
        assert!(shown.out.contains("jig.toml:2"), "{shown:?}");
        told(&create(&mut client, "a.txt"));
        let mut seat = Seat::new(desk, &["approve", &id]);
        seat.sees_text("Accept what the files of the workspace allow?");
        seat.types("y\r");
        let (status, screen) = seat.ends();
        assert!(status.success() && screen.contains("accepted"), "{screen}");
        follow(
            "read it and answer at a terminal: `jig approve {id}`",
            &unseen.err,
            &screen,
        );
        // The file alone was news, too: it is there now, and what it says that is not held back counts.
        changed(&mut client);
        until("it is in force", || {
            create(&mut client, "a.txt")["isError"] != true
        });

        // Narrower: at once.
        desk.workspace
            .write("jig.toml", "[tools.fs_create_file]\nenable = false\n");
        changed(&mut client);
        let mut is_off = || {
            let params = json!({ "name": "fs_create_file", "arguments": {} });
            client.request("tools/call", params)["error"].is_object()
        };
        // A file that is being written may be seen empty first, which is narrower than before as well.
        until("the tool is off", &mut is_off);

        // Wider again, and denied: it stays so, and is not asked again.
        desk.workspace.write(
            "jig.toml",
            "[tools.fs_create_file]\nenable = false\n[tools.fs_delete_file]\nrun = \"unattended\"\n",
        );
        until("the change is noticed", || config().is_some());
        let id = config().unwrap()["id"].as_str().unwrap().to_owned();
        desk.ok(&["approve", &id, "--deny"]);
        assert!(config().is_none());
        assert!(is_off());
        // What does not load changes nothing, and is told.
        desk.workspace.write("jig.toml", "nonsense = [");
        let (_, stderr) = {
            let said = || client_config(&mut client).contains("do not load");
            until("the fault is noticed", said);
            client.close()
        };
        assert!(stderr.contains("does not load"), "{stderr}");
    });
}

/// The resource that tells of the configuration.
fn client_config(client: &mut Client) -> String {
    client
        .request("resources/read", json!({ "uri": "jig://config" }))
        .to_string()
}

/// Attack: a tool to which the home is open, and one that tries to answer for its user, reach neither the socket
/// nor the key. Whoever is not confined does.
#[test]
fn tools_reach_neither_the_socket_nor_the_key() {
    for_each_user(|desk| {
        let mut client = server(desk);
        let id = told(&create(&mut client, "a.txt"));
        let folder = desk.workspace.home.join(".local/state/jig/run");
        is_out_of_reach(desk, &folder, [".ask", ".ask-key"]);
        // The program itself, inside of a sandbox with the whole home.
        let jig = desk.jig(&[]);
        let program = jig.get_program().to_str().unwrap();
        let home = desk.workspace.home.as_str();
        let inside = [
            "run", "--write", home, "--write", ".", "--", program, "approve", &id, "--once",
        ];
        let ran = desk.run(&inside);
        assert_ne!(ran.code, Some(0), "{ran:?}");
        told(&create(&mut client, "a.txt"));
        assert!(!desk.path("a.txt").exists());
    });
}

/// Who has the key and sits in namespaces of their own is turned away: that is how a tool would come, should
/// it ever get so far.
#[test]
fn other_namespaces_are_not_served() {
    for_each_user(|desk| {
        let other = ["unshare", "--user", "--map-current-user", "--mount"];
        if !desk.has(&[&other[..], &["true"]].concat()) {
            return;
        }
        let mut client = server(desk);
        let id = told(&create(&mut client, "a.txt"));
        let jig = desk.jig(&["approve", &id, "--once"]);
        let mut inside = desk.command(other[0]);
        inside.args(&other[1..]).arg(jig.get_program());
        let ran = Ran::of(inside.args(jig.get_args()).output().unwrap());
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.err.contains("container or sandbox"), "{ran:?}");
        told(&create(&mut client, "a.txt"));
    });
}

/// An agent that tries 300 things leaves 256 questions, and nothing else behind.
#[test]
fn three_hundred_questions() {
    let desk = Desk::new();
    let mut client = server(&desk);
    let ids: Vec<String> = (0..300)
        .map(|number| told(&create(&mut client, &format!("{number}.txt"))))
        .collect();
    assert_eq!(questions(&desk).len(), 256);
    fails(
        &desk.run(&["approve", &ids[0], "--once"]),
        &["is not asked any more"],
    );
    desk.ok(&["approve", &ids[299], "--once"]);
    assert_ne!(create(&mut client, "299.txt")["isError"], true);
    assert_eq!(servers(&desk), 1);
    let (status, _) = client.close();
    assert!(status.success());
    // The files of the server go with it.
    assert_eq!(servers(&desk), 0);
    let folder = desk.workspace.home.join(".local/state/jig/run");
    assert_eq!(std::fs::read_dir(folder).unwrap().count(), 0);
}
