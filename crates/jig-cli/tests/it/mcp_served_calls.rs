//! Calls of MCP servers behind `jig mcp`: what the client sees of a question, of progress, of a cancelled call and of
//! the end of either side.

use serde_json::{Value as Json, json};

use super::mcp_client::{Client, text};
use super::servers_workspace::{entry, with_server};
use super::workspace_user::Desk;

/// A client of a server that runs already.
fn ready(desk: &Desk, capabilities: Json) -> Client {
    let mut client = Client::of(desk.jig(&["mcp"]));
    client.initialize(capabilities);
    let said = client.call("small_echo", json!({ "text": "up" }));
    assert_eq!(text(&said), "up", "{said}");
    client
}

#[test]
fn a_question_of_the_server_and_its_progress_reach_the_client() {
    with_server(&entry(""), |desk| {
        let mut client = ready(desk, json!({ "elicitation": {} }));
        let params = json!({ "name": "small_ask", "arguments": {} });
        let id = client.ask("tools/call", params);
        let asked = client.until(|message| message["method"] == "elicitation/create");
        client.send(&json!({
            "jsonrpc": "2.0",
            "id": asked["id"],
            "result": { "action": "accept", "content": { "answer": "Ada" } },
        }));
        assert_eq!(text(&client.answer(id)["result"]), "hello Ada");

        let params = json!({ "name": "small_slow", "_meta": { "progressToken": "p" } });
        let id = client.ask("tools/call", params);
        let first = client.receive();
        assert_eq!(first["method"], "notifications/progress", "{first}");
        assert_eq!(first["params"]["progressToken"], "p", "{first}");
        assert_eq!(text(&client.answer(id)["result"]), "done");
    });
}

/// Whatever a server says before its result is told before it, also while somebody is being asked.
#[test]
fn last_words_come_before_the_result() {
    const ASK_AND_GO_ON: &str = r#"
        schema = {"type": "object", "properties": {"name": {"type": "string"}}}
        asked = {"message": "Well?", "requestedSchema": schema}
        send({"id": "ask-1", "method": "elicitation/create", "params": asked})
        wait("go")
        token = params["_meta"]["progressToken"]
        said = {"progressToken": token, "progress": 1, "message": "my last words"}
        send({"method": "notifications/progress", "params": said})
        return text("done")"#;
    with_server(&entry(""), |desk| {
        desk.change_server("\n        return ask()", ASK_AND_GO_ON);
        let mut client = ready(desk, json!({ "elicitation": {} }));
        let params = json!({ "name": "small_ask", "_meta": { "progressToken": "p" } });
        let id = client.ask("tools/call", params);
        client.until(|message| message["method"] == "elicitation/create");
        desk.workspace.write("go", "");
        let said = client
            .until(|message| message["method"] == "notifications/progress" || message["id"] == id);
        assert_eq!(said["params"]["message"], "my last words (1)", "{said}");
        assert_eq!(text(&client.answer(id)["result"]), "done");
    });
}

#[test]
fn a_call_that_is_given_up_has_no_answer() {
    with_server(&entry(""), |desk| {
        let mut client = ready(desk, json!({}));
        let params = json!({ "name": "small_wait", "arguments": { "path": "go" } });
        let waits = client.ask("tools/call", params.clone());
        // Of two with one id, the second is refused, and the first goes on.
        let second =
            json!({ "jsonrpc": "2.0", "id": waits, "method": "tools/call", "params": params });
        client.send(&second);
        let refused = client.until(|message| message["error"].is_object());
        let told = refused["error"]["message"].as_str().unwrap();
        assert!(told.contains("has no answer yet"), "{refused}");
        client.send(&json!({
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": { "requestId": waits },
        }));
        // Lines are read one after the other: now it is given up.
        client.request("ping", json!({}));
        desk.workspace.write("go", "");
        assert_eq!(
            text(&client.call("small_echo", json!({ "text": "next" }))),
            "next"
        );
        let late = client.aside.iter().find(|message| message["id"] == waits);
        assert_eq!(late, None);
        let log = desk.run(&["log", "--json"]).out;
        assert!(log.contains(r#""outcome":"cancelled""#), "{log}");
    });
}

/// A script sends what it has and closes: it gets its results.
#[test]
fn a_client_that_closes_gets_its_results() {
    with_server(&entry(""), |desk| {
        let mut client = ready(desk, json!({}));
        let asked: Vec<u64> = (0..20)
            .map(|number| {
                let arguments = json!({ "text": format!("number {number}") });
                let params = json!({ "name": "small_echo", "arguments": arguments });
                client.ask("tools/call", params)
            })
            .collect();
        client.shut();
        for (number, id) in asked.into_iter().enumerate() {
            let said = client.answer(id);
            assert_eq!(text(&said["result"]), format!("number {number}"));
        }
        assert!(client.ended().0.success());

        // All at once, and closed before anybody can have read it.
        desk.workspace.write("a.txt", "alpha");
        let mut client = ready(desk, json!({}));
        let params = json!({ "name": "fs_read_file", "arguments": { "path": "a.txt" } });
        let lines = (100..160).map(|id| {
            let read =
                json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params });
            format!("{read}\n")
        });
        client.send_raw(lines.collect::<String>().as_bytes());
        client.shut();
        for id in 100..160 {
            assert_eq!(text(&client.answer(id)["result"]), "alpha");
        }
        assert!(client.ended().0.success());
    });
}

/// A client that closes and does not come back keeps nothing running.
#[test]
fn a_client_that_is_gone_gives_up_its_calls() {
    with_server(&entry(""), |desk| {
        let mut client = ready(desk, json!({}));
        let params = json!({ "name": "small_wait", "arguments": { "path": "never" } });
        client.ask("tools/call", params);
        client.shut();
        assert!(client.ended().0.success());
        let log = desk.run(&["log", "--json"]).out;
        assert!(log.contains(r#""outcome":"cancelled""#), "{log}");
    });
}

/// The server dies in the middle of a call: its client learns why, and the next call has another server.
#[test]
fn a_server_that_dies_is_told_of() {
    with_server(&entry(""), |desk| {
        let mut client = ready(desk, json!({}));
        let died = client.call("small_die", json!({}));
        assert_eq!(died["isError"], true, "{died}");
        assert!(text(&died).contains("it was too much for me"), "{died}");
        let said = client.call("small_echo", json!({ "text": "again" }));
        assert!(text(&said).starts_with("again"), "{said}");
    });
}

/// A server asks, and then knows it by itself: the form goes, and the call has its result.
#[test]
fn a_question_goes_with_its_call() {
    with_server(&entry(""), |desk| {
        let asks = r#""method": "elicitation/create", "params": params})"#;
        let goes_on = "    time.sleep(0.5)\n    return text('I know it by now')";
        desk.change_server(asks, &format!("{asks}\n{goes_on}"));
        let mut client = ready(desk, json!({ "elicitation": {} }));
        let id = client.ask(
            "tools/call",
            json!({ "name": "small_ask", "arguments": {} }),
        );
        let asked = client.until(|message| message["method"] == "elicitation/create");
        assert_eq!(text(&client.answer(id)["result"]), "I know it by now");
        let gone = client.until(|message| message["method"] == "notifications/cancelled");
        assert_eq!(gone["params"]["requestId"], asked["id"], "{gone}");
        let open: Json = serde_json::from_str(&desk.run(&["approve", "--json"]).out).unwrap();
        assert_eq!(open, json!([]));
        let said = client.call("small_echo", json!({ "text": "next" }));
        assert_eq!(text(&said), "next");
    });
}

/// A server that puts what it was refused in friendly words does not hide it. A call during which nothing was refused says
/// nothing but what the server said.
#[test]
fn a_friendly_failure_names_the_refused_host() {
    const FRIENDLY: &str = "def connect(host, port):
    try:
        return connected(host, port)
    except OSError:
        return text('the site is busy, try later')


def connected(host, port):
";
    // It has a network, in which it reaches one host.
    let other = "[[mcp.servers.small.access.net]]\nhost = '127.0.0.1'\nport = 1\nallow = true\n";
    with_server(&entry(other), |desk| {
        desk.change_server("def connect(host, port):\n", FRIENDLY);
        let mut client = ready(desk, json!({}));
        let arguments = json!({ "host": "site.test", "port": 9 });
        let said = client.call("small_connect", arguments);
        assert_ne!(said["isError"], true, "{said}");
        assert_eq!(
            text(&said).lines().next(),
            Some("the site is busy, try later")
        );
        let all = said["content"].to_string();
        for part in [
            "was refused",
            "127.0.0.1",
            "[[mcp.servers.small.access.net]]",
        ] {
            assert!(all.contains(part), "`{part}` is not in {said}");
        }
        let said = client.call("small_echo", json!({ "text": "hello" }));
        assert_eq!(said["content"].as_array().unwrap().len(), 1, "{said}");
    });
}
