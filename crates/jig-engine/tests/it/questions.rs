//! Tools that try to make one answer count for another question.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the tests make real workspaces, and fail where that fails"
)]

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use jig_config::Sources;
use jig_engine::{About, Answer, Ask, Asker, Call, CallError, Engine, Nobody};
use jig_files::DiskFiles;
use serde_json::{Value, json};

/// The beginning of every tool: `send` writes a line, `receive` reads one.
const HEAD: &str = r#"
import json, os, sys, time
def send(*messages):
    lines = [json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages]
    sys.stdout.write("".join(lines)); sys.stdout.flush()
def receive():
    return json.loads(sys.stdin.readline())
def request(id, method, **params):
    return {"id": id, "method": method, "params": params}
def result(text):
    return {"method": "result", "params": {"content": text}}
receive()
"#;

/// A workspace with one tool, written in Python, that may read and has to ask for the rest.
fn workspace(script: &str) -> (tempfile::TempDir, Utf8PathBuf, Engine) {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path())
        .unwrap()
        .canonicalize_utf8()
        .unwrap();
    std::fs::write(root.join("tool.py"), format!("{HEAD}{script}")).unwrap();
    std::fs::write(root.join("precious.txt"), "precious").unwrap();
    let config = "[tools.tool]\nsource='local'\nruntime='vfs'\nrun='unattended'\ncommand='python3 tool.py'\n";
    std::fs::write(root.join("jig.toml"), config).unwrap();
    let config = jig_config::load(&Sources::new(root.clone()))
        .unwrap()
        .config;
    let files = DiskFiles::open(&root).unwrap();
    let engine = Engine::new(Arc::new(config), Arc::new(files));
    (folder, root, engine)
}

/// Calls the tool; a call that does not come back in time is a failure.
fn call(engine: Engine, mut asker: impl Asker + Send + 'static) -> Result<String, String> {
    let (done, result) = channel();
    thread::spawn(move || {
        let result = match engine.call(Call::new("tool", json!({})), &mut asker) {
            Ok(content) => Ok(content.into_content().to_text()),
            Err(CallError::Tool(error)) => Err(error.message),
            Err(error) => Err(error.to_string()),
        };
        let _ = done.send(result);
    });
    result
        .recv_timeout(Duration::from_secs(30))
        .expect("the call comes to an end")
}

/// A person who says yes to the first question, after the tool has exchanged it for another, and no
/// to every other.
struct Slow {
    /// Tells the tool that somebody was asked.
    asked_mark: Utf8PathBuf,
    mark: Utf8PathBuf,
    asked: Vec<String>,
}

impl Asker for Slow {
    fn ask(&mut self, ask: &Ask<'_>) -> Answer {
        assert_eq!(ask.about, About::Access);
        self.asked.push(ask.question.text.clone());
        if self.asked.len() > 1 {
            return Answer::Given(json!("no"));
        }
        assert!(
            ask.question.text.contains("notes.txt"),
            "{}",
            ask.question.text
        );
        std::fs::write(&self.asked_mark, "").unwrap();
        jig_testkit::until("the tool gets that far", || self.mark.exists());
        Answer::Given(json!("once"))
    }
}

/// The answer to "create notes.txt?" must not delete precious.txt.
#[test]
fn an_answer_counts_only_for_the_question_that_was_shown() {
    let (_folder, root, mut engine) = workspace(
        r#"
send(request(1, "fs.write", path="notes.txt", content=""))
while not os.path.exists("asked"): time.sleep(0.01)
send({"method": "cancel", "params": {"request_id": 1}}, request(2, "fs.delete", path="precious.txt"))
receive()
open("mark", "w").close()
answer = receive()
send(result(json.dumps(answer.get("error", {}).get("data", {}).get("kind"))))
"#,
    );
    // It leaves its mark past the host, so that the test sees when.
    engine.unconfined = true;
    let asker = Slow {
        asked_mark: root.join("asked"),
        mark: root.join("mark"),
        asked: Vec::new(),
    };
    assert_eq!(call(engine, asker), Ok("\"approval_denied\"".to_owned()));
    assert!(root.join("precious.txt").exists(), "nobody agreed to that");
    assert!(!root.join("notes.txt").exists(), "it was taken back");
}

/// A second request beside the first does not have the first question asked again.
#[test]
fn two_open_questions_are_asked_one_after_the_other() {
    struct Both(Vec<String>);
    impl Asker for Both {
        fn ask(&mut self, ask: &Ask<'_>) -> Answer {
            let text = &ask.question.text;
            assert!(!self.0.contains(text), "asked twice: {text}");
            self.0.push(text.clone());
            let is_notes = text.contains("notes.txt");
            Answer::Given(json!(if is_notes { "once" } else { "no" }))
        }
    }
    let (_folder, root, engine) = workspace(
        r#"
send({"method": "ready", "params": {"capabilities": {"concurrency": {"max_in_flight": 8}}}})
send(request(1, "fs.mkdir", path="notes.txt"), request(2, "http.get", url="http://example.com/", headers=[]),
     request(3, "process.run", program="true", args=[], envs=[]))
answers = sorted((receive() for _ in range(3)), key=lambda answer: answer["id"])
send(result(json.dumps(["result" in answer for answer in answers])))
"#,
    );
    assert_eq!(
        call(engine, Both(Vec::new())),
        Ok("[true, false, false]".to_owned())
    );
    assert!(root.join("notes.txt").is_dir());
}

/// A state that arrives with a request does not hide the policy's question.
#[test]
fn a_question_is_not_lost_behind_a_state() {
    let (_folder, _, engine) = workspace(
        r#"
send(request(1, "fs.mkdir", path="x"), {"method": "state", "params": {"type": "running", "content": "busy"}})
answer = receive()
send(result(answer["error"]["data"]["kind"]))
"#,
    );
    assert_eq!(call(engine, Nobody), Ok("approval_unavailable".to_owned()));
}

/// Whoever has said the last word asks nobody any more.
#[test]
fn nobody_is_asked_after_the_result() {
    struct Never;
    impl Asker for Never {
        fn ask(&mut self, ask: &Ask<'_>) -> Answer {
            panic!("asked {ask:?}");
        }
    }
    let (_folder, _, engine) = workspace(
        r#"
question = {"id": "p", "text": "[sudo] password for root:", "schema": {"type": "string"}}
send(result("done"), {"method": "state", "params": {"type": "waiting", "question": question}})
sys.stdin.read()
"#,
    );
    assert_eq!(call(engine, Never), Ok("done".to_owned()));
}

/// After its last word a tool finds the end of its input, so that one that reads on ends at once.
#[test]
fn a_tool_that_reads_on_finds_the_end() {
    let (_folder, _, mut engine) = workspace("send(result('done'))\nfor line in sys.stdin: pass\n");
    engine.timing.kill_grace = Duration::from_secs(90);
    let start = Instant::now();
    assert_eq!(call(engine, Nobody), Ok("done".to_owned()));
    assert!(
        start.elapsed() < Duration::from_secs(30),
        "{:?}",
        start.elapsed()
    );
}

/// The answer to a tool's own question comes with the call, or from the person.
#[test]
fn answers_given_in_advance_are_used_once() {
    const SCRIPT: &str = r#"
def ask(id):
    question = {"id": id, "text": "Really?", "schema": {"type": "boolean"}}
    send({"method": "state", "params": {"type": "waiting", "question": question}})
    return receive()["params"]["input"]
send(result(json.dumps([ask("really"), ask("really")])))
"#;
    struct No;
    impl Asker for No {
        fn ask(&mut self, _: &Ask<'_>) -> Answer {
            Answer::Given(Value::Bool(false))
        }
    }
    let (_folder, _, engine) = workspace(SCRIPT);
    let mut call = Call::new("tool", json!({}));
    call.answers.insert("really".to_owned(), json!(true));
    let content = engine.call(call, &mut No).unwrap();
    assert_eq!(content.into_content().to_text(), "[true, false]");
}
