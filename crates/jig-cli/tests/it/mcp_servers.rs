//! `jig mcp` with MCP servers behind it: what an agent is listed, when, and what a person accepts meanwhile.

use serde_json::{Value as Json, json};

use super::mcp_client::{Client, text};
use super::servers_workspace::{SERVER, entry, with_server};
use super::terminal_user::Seat;
use super::vfs_tool::until;
use super::workspace_user::{Desk, for_each_user};

/// A client that can't be asked anything.
fn connected(desk: &Desk) -> Client {
    let mut client = Client::of(desk.jig(&["mcp"]));
    client.initialize(json!({}));
    client
}

/// The tools of servers that an agent is listed, each with its description.
fn listed(client: &mut Client) -> Vec<(String, String)> {
    let answer = client.request("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap().clone();
    let served = tools.into_iter().filter_map(|tool| {
        let name = tool["name"].as_str()?.strip_prefix("small_")?.to_owned();
        Some((name, tool["description"].as_str()?.to_owned()))
    });
    served.collect()
}

fn names(client: &mut Client) -> Vec<String> {
    listed(client).into_iter().map(|(name, _)| name).collect()
}

/// Waits until the agent is told that the list has changed.
fn told_of_change(client: &mut Client) {
    client.until(|message| message["method"] == "notifications/tools/list_changed");
}

/// The question about this on the board, when it is there.
#[track_caller]
fn question(desk: &Desk, about: &str) -> Json {
    let mut found = Json::Null;
    until("the question is on the board", || {
        let listed: Json =
            serde_json::from_str(&desk.run(&["approve", "--json"]).out).unwrap_or_default();
        let questions = listed.as_array().into_iter().flatten();
        let mut questions = questions.filter(|one| one["about"] == about && one["tool"].is_null());
        found = questions.next().cloned().unwrap_or_default();
        found.is_object()
    });
    found
}

/// Somebody reads a question at a terminal, and says yes.
#[track_caller]
fn accepted(desk: &Desk, question: &Json, sees: &[&str]) {
    let mut seat = Seat::new(desk, &["approve", question["id"].as_str().unwrap()]);
    let asked = seat.sees_text("[y]es, [l]ater, [n]o");
    for words in sees {
        assert!(asked.contains(words), "{words} in {asked}");
    }
    seat.types("y\n");
    seat.sees_text("accepted");
    assert_eq!(seat.ends().0.code(), Some(0));
}

fn has_python(desk: &Desk) -> bool {
    desk.has(&["python3", "--version"])
}

/// A server that came with the workspace stands on the board. A person who has read it accepts it at a terminal,
/// and the agent is told that there are other tools.
#[test]
fn a_server_is_accepted_on_the_board() {
    for_each_user(|desk| {
        if !has_python(desk) {
            return;
        }
        desk.workspace.write("server.py", SERVER);
        desk.workspace
            .write("jig.toml", entry("tools = ['echo']\n"));
        let mut client = connected(desk);
        assert_eq!(names(&mut client), <[&str; 0]>::default());
        let question = question(desk, "server");
        let id = question["id"].as_str().unwrap();
        // Nobody accepts it by a command that an agent told them.
        let unseen = desk.run(&["approve", id, "--once"]);
        assert_eq!(unseen.code, Some(1), "{unseen:?}");
        assert!(unseen.err.contains("what it may do"), "{unseen:?}");
        let config = client.request("resources/read", json!({ "uri": "jig://config" }));
        let told = format!("`jig approve {id}` or `jig servers accept small`");
        assert!(config.to_string().contains(&told), "{config}");
        accepted(desk, &question, &["python3 server.py", "small"]);
        told_of_change(&mut client);
        assert_eq!(names(&mut client), ["echo"]);
        let result = client.call("small_echo", json!({ "text": "hello" }));
        assert_eq!(text(&result), "hello");
        client.close();
    });
}

/// The same is accepted by another jig while the server runs.
#[test]
fn a_server_is_accepted_elsewhere() {
    let desk = Desk::new();
    if !has_python(&desk) {
        return;
    }
    desk.workspace.write("server.py", SERVER);
    desk.workspace
        .write("jig.toml", entry("tools = ['echo']\n"));
    let mut client = connected(&desk);
    assert_eq!(names(&mut client), <[&str; 0]>::default());
    desk.ok(&["servers", "accept", "small", "--yes"]);
    told_of_change(&mut client);
    assert_eq!(names(&mut client), ["echo"]);
    assert_eq!(desk.ok(&["approve", "--json"]).trim(), "[]");
    client.close();
}

/// A tool that its server describes in another way goes on being listed as it was accepted, and is not called. Both
/// hashes are shown to whoever accepts it.
#[test]
fn a_change_is_held_until_it_is_accepted() {
    with_server(&entry("tools = ['echo', 'die']\n"), |desk| {
        let mut client = connected(desk);
        let before = listed(&mut client);
        assert_eq!(before[1], ("echo".to_owned(), "Says it again.".to_owned()));
        assert_eq!(
            text(&client.call("small_echo", json!({ "text": "a" }))),
            "a"
        );
        desk.change_server("Says it again.", "Says it again, and to others.");
        // It is started anew by the next call.
        client.call("small_die", json!({}));
        let refused = client.call("small_echo", json!({ "text": "a" }));
        assert_eq!(refused["isError"], true, "{refused}");
        let told = text(&refused);
        assert!(
            told.contains("changed the definition of its tool `echo`"),
            "{told}"
        );
        assert_eq!(listed(&mut client), before, "what was accepted is listed");
        let question = question(desk, "definition");
        let shown: Json = serde_json::from_str(&desk.ok(&[
            "approve",
            question["id"].as_str().unwrap(),
            "--json",
        ]))
        .unwrap();
        let context = shown["context"].as_str().unwrap();
        for line in [
            "accepted: ",
            "now:      ",
            "- Says it again.",
            "+ Says it again, and to others.",
        ] {
            assert!(context.contains(line), "{line} in {context}");
        }
        accepted(desk, &question, &["Says it again, and to others."]);
        told_of_change(&mut client);
        let after = listed(&mut client);
        assert_eq!(after[1].1, "Says it again, and to others.");
        assert_eq!(
            text(&client.call("small_echo", json!({ "text": "b" }))),
            "b"
        );
        client.close();
    });
}

/// A server that takes its time: it starts when there is a file.
fn waiting_for_a_file(desk: &Desk) {
    let wait = "import os, time\nwhile not os.path.exists('go'):\n    time.sleep(0.01)\n";
    let body = SERVER.split_once("import base64").unwrap().1;
    desk.workspace
        .write("server.py", format!("{wait}import base64{body}"));
}

/// The client is answered at once, the first list when the servers have told their tools; later ones need no server
/// at all.
#[test]
fn the_first_list_waits_and_the_next_does_not() {
    let desk = Desk::new();
    if !has_python(&desk) {
        return;
    }
    desk.serve(&entry("tools = ['echo']\n"));
    waiting_for_a_file(&desk);
    let mut client = connected(&desk);
    let list = client.ask("tools/list", json!({}));
    let call = client.ask(
        "tools/call",
        json!({ "name": "small_echo", "arguments": { "text": "hello" } }),
    );
    // Others are answered meanwhile, also calls.
    let read = client.call("fs_list_files", json!({}));
    assert_ne!(read["isError"], true, "{read}");
    assert!(client.aside.iter().all(|message| message["id"] != list));
    desk.workspace.write("go", "");
    let answer = client.answer(list).to_string();
    assert!(answer.contains("\"small_echo\""), "{answer}");
    // A call of a tool that nobody knew yet has waited for the same.
    assert_eq!(text(&client.answer(call)["result"]), "hello");
    client.close();

    std::fs::remove_file(desk.path("go")).unwrap();
    let mut client = connected(&desk);
    assert_eq!(names(&mut client), ["echo"]);
    let config = client.request("resources/read", json!({ "uri": "jig://config" }));
    assert!(
        config
            .to_string()
            .contains("small: starts with the next call"),
        "{config}"
    );
    client.close();
}

/// A server that cannot be started is told of, and the tools of the others are there.
#[test]
fn a_server_that_fails_takes_nothing_from_the_others() {
    let desk = Desk::new();
    if !has_python(&desk) {
        return;
    }
    let more = "tools = ['echo']\n[mcp.servers.none]\ncommand = ['/no/such/program']\n\
                [mcp.servers.mute]\ncommand = ['sleep', '1000']\nstart = '1s'\n";
    desk.serve(&entry(more));
    let mut client = connected(&desk);
    assert_eq!(names(&mut client), ["echo"]);
    let config = client.request("resources/read", json!({ "uri": "jig://config" }));
    let config = config.to_string();
    assert!(config.contains("none: failed"), "{config}");
    assert!(config.contains("mute: failed"), "{config}");
    let (_, told) = client.close();
    assert!(told.contains("/no/such/program"), "{told}");
}

/// A server that is added to a file of the workspace is asked about once, with the configuration that adds it.
#[test]
fn a_server_that_is_added_is_accepted_with_its_configuration() {
    let desk = Desk::with("");
    if !has_python(&desk) {
        return;
    }
    desk.workspace.write("server.py", SERVER);
    let mut client = connected(&desk);
    assert_eq!(names(&mut client), <[&str; 0]>::default());
    desk.workspace
        .write("jig.toml", entry("tools = ['echo']\n"));
    let question = question(&desk, "config");
    assert_eq!(names(&mut client), <[&str; 0]>::default());
    accepted(&desk, &question, &["python3 server.py"]);
    until("the server is asked for its tools", || {
        names(&mut client) == ["echo"]
    });
    assert_eq!(
        desk.ok(&["approve", "--json"]).trim(),
        "[]",
        "nothing is asked twice"
    );
    // One that goes takes its tools along.
    desk.workspace.write("jig.toml", "");
    until("its tools are gone", || names(&mut client).is_empty());
    client.close();
}

/// Two agents at once: what one of them has accepted counts for both.
#[test]
fn two_servers_share_what_was_accepted() {
    let desk = Desk::new();
    if !has_python(&desk) {
        return;
    }
    desk.workspace.write("server.py", SERVER);
    desk.workspace
        .write("jig.toml", entry("tools = ['echo']\n"));
    let mut clients = [connected(&desk), connected(&desk)];
    for client in &mut clients {
        assert_eq!(names(client), <[&str; 0]>::default());
    }
    desk.ok(&["servers", "accept", "small", "--yes"]);
    for client in &mut clients {
        told_of_change(client);
        assert_eq!(names(client), ["echo"]);
        let result = client.call("small_echo", json!({ "text": "hello" }));
        assert_eq!(text(&result), "hello");
    }
    for client in clients {
        client.close();
    }
}

/// A server that starts and then says nothing holds up neither the list nor the tools of others. What it has is
/// announced when it is there.
#[test]
fn a_slow_server_holds_up_nobody() {
    let desk = Desk::new();
    if !has_python(&desk) {
        return;
    }
    desk.workspace.write("server.py", SERVER);
    // It goes on when a file appears.
    let slow = "import os, time\nwhile not os.path.exists('go'):\n    time.sleep(0.02)\n";
    desk.workspace.write("slow.py", format!("{slow}{SERVER}"));
    let own = entry("tools = ['echo']\n");
    let other = own
        .replace("servers.small", "servers.slow")
        .replace("server.py", "slow.py");
    // Entries of a file that the person names need nobody's consent.
    let file = desk.workspace.home.join("own.toml");
    std::fs::write(&file, format!("{own}\n{other}")).unwrap();
    let mut client = Client::of(desk.jig(&["--config", file.as_str(), "mcp"]));
    client.initialize(json!({}));
    let named = |client: &mut Client, server: &str| {
        let answer = client.request("tools/list", json!({}));
        let tools = answer["result"]["tools"].as_array().unwrap().clone();
        tools
            .iter()
            .any(|tool| tool["name"] == format!("{server}_echo"))
    };
    until("the quick server is listed", || named(&mut client, "small"));
    assert!(!named(&mut client, "slow"));
    let said = client.call("small_echo", json!({ "text": "hello" }));
    assert_eq!(text(&said), "hello");
    client.aside.clear();
    desk.workspace.write("go", "");
    told_of_change(&mut client);
    until("the slow server is listed", || named(&mut client, "slow"));
    client.close();
}
