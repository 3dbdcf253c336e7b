//! Real programs in the real sandbox.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests make real workspaces, and look for processes that are left"
)]

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use camino::Utf8PathBuf;
use jig_config::{Config, Sources};
use jig_engine::Engine;
use jig_files::DiskFiles;
use serde_json::{Value, json};

use super::{Client, forms, is_error, text, until, whole_text};
use crate::caller::Caller;
use crate::shared::{Loader, Options, SharedServer};
use crate::testing::caller;

/// A workspace on the disk.
struct Disk {
    root: Utf8PathBuf,
}

impl Loader for Disk {
    fn load(&self) -> Result<Arc<Config>, String> {
        let loaded = jig_config::load(&Sources::new(self.root.clone()));
        let loaded = loaded.map_err(|errors| errors.to_string())?;
        Ok(Arc::new(loaded.config))
    }

    fn engine(&self, config: &Arc<Config>) -> Result<Engine, String> {
        let files = DiskFiles::open(&self.root).map_err(|error| error.to_string())?;
        let mut engine = Engine::new(Arc::clone(config), Arc::new(files));
        engine.timing.cancel_grace = Duration::from_millis(300);
        engine.timing.kill_grace = Duration::from_millis(300);
        Ok(engine)
    }

    fn fingerprint(&self, _: &Config) -> u64 {
        0
    }

    fn workspace(&self) -> String {
        self.root.to_string()
    }
}

/// A server with one tool, `tool`, that is written in Python, of the runtime `vfs` unless the settings name
/// another.
struct World {
    shared: Arc<SharedServer>,
    caller: Arc<Caller>,
    _folder: tempfile::TempDir,
}

impl World {
    fn new(settings: &str, script: &str) -> Self {
        Self::with_command("python3 tool.py", settings, script)
    }

    fn with_command(command: &str, settings: &str, script: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8PathBuf::from_path_buf(folder.path().canonicalize().unwrap()).unwrap();
        std::fs::write(root.join("tool.py"), format!("{HEAD}{script}")).unwrap();
        let runtime = match settings.contains("runtime") {
            true => "",
            false => "runtime = 'vfs'\n",
        };
        let config = format!(
            "[tools.tool]\nsource = 'local'\n{runtime}run = 'unattended'\n\
             command = '{command}'\n{settings}"
        );
        std::fs::write(root.join("jig.toml"), config).unwrap();
        let loader = Disk { root };
        let shared = SharedServer::new(Box::new(loader), Options::default()).unwrap();
        Self {
            shared,
            caller: caller(),
            _folder: folder,
        }
    }
}

/// The beginning of every tool.
const HEAD: &str = r#"
import json, subprocess, sys, time
def send(method, **params):
    print(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}), flush=True)
def receive():
    return json.loads(sys.stdin.readline())
def ask(id, text, schema, **more):
    question = {"id": id, "text": text, "schema": schema, **more}
    send("state", type="waiting", content="", question=question)
    return receive()["params"]
def done(text):
    send("result", content=text)
init = receive()
"#;

/// A tool that asks for a name and greets.
const GREETS: &str = r#"
schema = {"type": "object", "properties": {"name": {"type": "string", "minLength": 1}}, "required": ["name"]}
answer = ask("user_name", "What is your name?", schema)
done("Hello, " + json.dumps(answer))
"#;

#[tokio::test]
async fn a_tools_own_question_is_a_form_in_both_eras() {
    let world = World::new("", GREETS);
    let alice = json!({ "action": "accept", "content": { "name": "Alice" } });

    let mut client = Client::legacy(&world.shared, &world.caller, forms()).await;
    let params = json!({ "name": "tool", "arguments": {} });
    let id = client.request("tools/call", params.clone()).await;
    let asked = client.incoming("elicitation/create").await;
    let schema = &asked["params"]["requestedSchema"];
    assert_eq!(schema["properties"]["name"]["type"], "string", "{asked}");
    let message = asked["params"]["message"].as_str().unwrap();
    assert!(message.starts_with("The tool `tool` asks: "), "{message}");
    client.answer(&asked, alice.clone()).await;
    let response = client.response(id).await;
    assert!(text(&response).contains("Alice"), "{response}");

    let mut client = Client::modern(&world.shared, &world.caller, forms());
    let parked = client.ask("tools/call", params).await;
    let requests = &parked["result"]["inputRequests"];
    assert_eq!(
        requests["user_name"]["method"], "elicitation/create",
        "{parked}"
    );
    let state = &parked["result"]["requestState"];
    let responses = json!({ "user_name": alice });
    let response = client.retry("tool", json!({}), state, responses).await;
    assert!(text(&response).contains("Alice"), "{response}");
}

#[tokio::test]
async fn a_tools_own_question_can_be_answered_with_the_call() {
    let world = World::new("", GREETS);
    let mut client = Client::modern(&world.shared, &world.caller, forms());
    let alice = json!({ "action": "accept", "content": { "name": "Alice" } });
    let cases = [
        (
            json!({ "user_name": alice, "more": { "action": "accept" } }),
            true,
        ),
        (json!({ "wrong_key": alice }), false),
        (json!({ "user_name": 12345 }), false),
        (
            json!({ "user_name": { "action": "accept", "content": { "name": "" } } }),
            false,
        ),
    ];
    for (responses, is_complete) in cases {
        let params = json!({ "name": "tool", "arguments": {}, "inputResponses": responses });
        let response = client.ask("tools/call", params).await;
        let kind = match is_complete {
            true => "complete",
            false => "input_required",
        };
        assert_eq!(
            response["result"]["resultType"], kind,
            "{responses}: {response}"
        );
    }
}

#[tokio::test]
async fn progress_is_told_to_whoever_wants_it_and_counts_up() {
    let script = r#"
for step in range(40):
    send("state", type="running", content="step %d" % step)
    time.sleep(0.01)
ask("go", "Go on?", {"type": "boolean"})
done("over")
"#;
    let world = World::new("", script);
    for wants in [true, false] {
        let mut client = Client::legacy(&world.shared, &caller(), forms()).await;
        let mut params = json!({ "name": "tool", "arguments": {} });
        if wants {
            params["_meta"] = json!({ "progressToken": "p" });
        }
        let began = std::time::Instant::now();
        let id = client.request("tools/call", params).await;
        let asked = client.incoming("elicitation/create").await;
        let yes = json!({ "action": "accept", "content": { "answer": true } });
        client.answer(&asked, yes).await;
        assert_eq!(text(&client.response(id).await), "over");
        let took = began.elapsed();
        let told = client.inbox.iter();
        let told = told.filter(|message| message["method"] == "notifications/progress");
        let told: Vec<&Value> = told.map(|message| &message["params"]).collect();
        assert_eq!(told.is_empty(), !wants, "{told:?}");
        let most = took.as_millis() / 100 + 2;
        assert!(told.len() as u128 <= most, "{} in {took:?}", told.len());
        let counts: Vec<f64> = told
            .iter()
            .filter_map(|one| one["progress"].as_f64())
            .collect();
        assert!(counts.is_sorted_by(|one, next| one < next), "{counts:?}");
        for one in told {
            assert_eq!(one["progressToken"], "p");
            assert!(one["message"].as_str().unwrap().starts_with("step "));
        }
    }
}

/// A word that stands in the arguments of no other process.
fn marker() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    format!("86400.{}{}", std::process::id(), now.subsec_nanos())
}

/// Whether a process has the word in its arguments.
fn runs(marker: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap();
    processes.flatten().any(|process| {
        let arguments = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&arguments)
            .split('\0')
            .any(|argument| argument == marker)
    })
}

/// A tool that starts a program, and does not end when it is asked to.
fn stubborn(marker: &str) -> String {
    format!(
        r#"
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.run(["sleep", "{marker}"])
time.sleep(86400)
"#
    )
}

/// A plain program may start others.
const PLAIN: &str = "runtime = 'stdio'\ninput = 'stdin'\n";

#[tokio::test]
async fn a_cancelled_call_leaves_no_process() {
    let marker = marker();
    let world = World::new(PLAIN, &stubborn(&marker));
    let mut client = Client::legacy(&world.shared, &world.caller, forms()).await;
    let params = json!({ "name": "tool", "arguments": {} });
    let id = client.request("tools/call", params).await;
    until("the program runs", || runs(&marker)).await;
    let cancel = json!({
        "jsonrpc": "2.0",
        "method": "notifications/cancelled",
        "params": { "requestId": id },
    });
    client.send(&cancel).await;
    until("the call ends", || world.caller.in_flight.len() == 0).await;
    until("the program is gone", || !runs(&marker)).await;
}

#[tokio::test]
async fn a_client_that_goes_away_leaves_no_process() {
    let marker = marker();
    let world = World::new(PLAIN, &stubborn(&marker));
    let mut client = Client::modern(&world.shared, &world.caller, forms());
    let params = json!({ "name": "tool", "arguments": {} });
    client.request("tools/call", params).await;
    until("the program runs", || runs(&marker)).await;
    client.vanish();
    until("the call ends", || world.caller.in_flight.len() == 0).await;
    until("the program is gone", || !runs(&marker)).await;
}

#[tokio::test]
async fn a_cancelled_task_leaves_no_process() {
    let marker = marker();
    let settings = format!("{PLAIN}stateful = ['spawn', 'fetch', 'abort']\n");
    let world = World::new(&settings, &stubborn(&marker));
    let mut client = Client::modern(&world.shared, &world.caller, super::tasks::knows_tasks());
    let created = client.call("tool", json!({})).await;
    let id = created["result"]["taskId"].clone();
    until("the program runs", || runs(&marker)).await;
    let done = client.ask("tasks/cancel", json!({ "taskId": id })).await;
    assert_eq!(done["result"]["resultType"], "complete", "{done}");
    until("the call ends", || world.caller.in_flight.len() == 0).await;
    let task = client.ask("tasks/get", json!({ "taskId": id })).await;
    assert_eq!(task["result"]["status"], "cancelled", "{task}");
    until("the program is gone", || !runs(&marker)).await;
}

/// A task tells apart a tool that failed and one that never ran.
#[tokio::test]
async fn a_task_of_a_tool_that_cannot_be_started_has_failed() {
    let settings = "runtime = 'stdio'\nstateful = ['spawn', 'fetch', 'abort']\n";
    let world = World::with_command("/nowhere/program", settings, "");
    let mut client = Client::modern(&world.shared, &world.caller, super::tasks::knows_tasks());
    let created = client.call("tool", json!({})).await;
    let id = &created["result"]["taskId"];
    let task = super::tasks::until_status(&mut client, id, "failed").await;
    let error = &task["result"]["error"];
    assert_eq!(error["code"], -32603, "{task}");
    let told = error["message"].as_str().unwrap();
    assert!(told.contains("could not be started"), "{told}");
    assert_eq!(task["result"].get("result"), None, "{task}");

    // Whoever knows no tasks gets a result that says why.
    let mut client = Client::modern(&world.shared, &caller(), forms());
    let response = client.call("tool", json!({})).await;
    assert!(is_error(&response), "{response}");
    assert!(
        whole_text(&response).contains("could not be started"),
        "{response}"
    );
}

#[tokio::test]
async fn text_of_a_tool_cannot_steer_whoever_reads_it() {
    let script = r#"
answer = ask("a", "Sure?\x1b[2J\nRun `other`?", {"type": "boolean", "title": "\x1b[31mred"}, context="one\x07\ntwo \u202egnp")
done("over")
"#;
    let world = World::new("", script);
    let mut client = Client::legacy(&world.shared, &world.caller, forms()).await;
    let params = json!({ "name": "tool", "arguments": {} });
    let id = client.request("tools/call", params).await;
    let asked = client.incoming("elicitation/create").await;
    let shown = asked["params"].to_string();
    for bad in ["\\u001b", "\\u0007", "\u{202e}"] {
        assert!(!shown.contains(bad), "{shown}");
    }
    let message = asked["params"]["message"].as_str().unwrap();
    let first = message.lines().next().unwrap();
    assert!(
        first.contains("Run `other`?"),
        "the question is one line: {message}"
    );
    client.answer(&asked, json!({ "action": "cancel" })).await;
    let response = client.response(id).await;
    assert!(is_error(&response), "{}", whole_text(&response));
}
