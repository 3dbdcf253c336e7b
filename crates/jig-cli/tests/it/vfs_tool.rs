//! Fixture tools: scripts that speak the VFS protocol by hand, and the `jig` that runs them.

use std::process::{Command, Output};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

pub(crate) use jig_testkit::until;
use serde_json::{Value as Json, json};

use super::{Workspace, parsed};

/// A workspace with one tool of the runtime `vfs`, which is called `probe`.
pub(crate) struct Probe {
    pub(crate) workspace: Workspace,
}

/// How a call ended.
#[derive(Debug)]
pub(crate) struct Called {
    pub(crate) code: Option<i32>,
    /// What `--json` printed.
    pub(crate) json: Json,
    pub(crate) took: Duration,
}

impl Probe {
    /// A tool in Python that may do everything with the files of the workspace.
    pub(crate) fn new(script: &str) -> Self {
        Self::with(script, READ_WRITE)
    }

    /// A tool in Python with more lines of configuration; they start below `[tools.probe]`.
    pub(crate) fn with(script: &str, config: &str) -> Self {
        let workspace = Workspace::new();
        let command = json!(format!("{} tool.py {}", python(), workspace.root));
        workspace.write("tool.py", format!("{PRELUDE}\n{script}\n"));
        workspace.write("jig.toml", format!("{HEAD}command = {command}\n{config}"));
        Self { workspace }
    }

    /// A tool in shell, which starts in a millisecond.
    pub(crate) fn shell(script: &str) -> Self {
        let workspace = Workspace::new();
        let command = json!(format!("/bin/sh tool.sh {}", workspace.root));
        workspace.write("tool.sh", script);
        workspace.write(
            "jig.toml",
            format!("{HEAD}command = {command}\n{READ_WRITE}"),
        );
        Self { workspace }
    }

    /// A tool that sends these requests one after the other and tells what it was answered.
    pub(crate) fn requests(requests: &Json, config: &str) -> Self {
        Self::with(&script_of(requests), config)
    }

    pub(crate) fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.workspace.write(path, content);
        self
    }

    /// `jig call probe`, about to start. The root is among its arguments, so that whatever belongs to
    /// the call can be told from all other processes.
    pub(crate) fn jig(&self) -> Command {
        let root = self.workspace.root.as_str();
        self.workspace.jig(&[
            "call",
            "probe",
            "--no-interaction",
            "--json",
            "--workspace",
            root,
            "--trace",
            self.trace_path().as_str(),
        ])
    }

    pub(crate) fn call(&self) -> Called {
        self.call_as(&mut self.jig())
    }

    pub(crate) fn call_as(&self, jig: &mut Command) -> Called {
        let start = Instant::now();
        let output = jig.output().unwrap();
        Called::of(&output, start.elapsed())
    }

    /// What the tool gave as its result, which is JSON in a text.
    pub(crate) fn result(&self) -> Json {
        self.call().result()
    }

    /// The lines of the exchange, each with its direction.
    pub(crate) fn trace(&self) -> Vec<Json> {
        let text = std::fs::read_to_string(self.trace_path()).unwrap();
        let lines = text.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Where the exchange is written: beside the workspace, so that no tool sees it.
    pub(crate) fn trace_path(&self) -> camino::Utf8PathBuf {
        self.workspace.home.join("trace.jsonl")
    }

    /// A file of the workspace; `None` if there is none.
    pub(crate) fn read(&self, path: &str) -> Option<Vec<u8>> {
        std::fs::read(self.workspace.root.join(path)).ok()
    }
}

impl Called {
    fn of(output: &Output, took: Duration) -> Self {
        Self {
            code: output.status.code(),
            json: parsed(output),
            took,
        }
    }

    /// The text of a result.
    pub(crate) fn text(&self) -> &str {
        assert_eq!(
            (self.code, &self.json["isError"]),
            (Some(0), &json!(false)),
            "{self:?}"
        );
        let content = &self.json["content"];
        let text = content.as_str().or(content[0]["text"].as_str());
        text.unwrap_or_else(|| panic!("no text in {content}"))
    }

    /// A result that is JSON in a text.
    pub(crate) fn result(&self) -> Json {
        serde_json::from_str(self.text()).unwrap()
    }

    /// The error of a call that failed.
    pub(crate) fn error(&self) -> &Json {
        assert_eq!(
            (self.code, &self.json["isError"]),
            (Some(1), &json!(true)),
            "{self:?}"
        );
        &self.json["error"]
    }
}

/// What a Python tool answers to `requests`: an array of `[method, params]`, each of which becomes its
/// `result` or, under the key `error`, its error.
pub(crate) fn script_of(requests: &Json) -> String {
    format!(
        "requests = json.loads({})\ndone([ask(method, **params) for method, params in requests])",
        json!(requests.to_string())
    )
}

/// The Python that stands behind `python3` on the search path, which may be a script that picks one.
pub(crate) fn python() -> &'static str {
    static PYTHON: OnceLock<String> = OnceLock::new();
    PYTHON.get_or_init(|| {
        let code = "import os, sys; print(os.path.realpath(sys.executable))";
        let output = Command::new("python3").args(["-c", code]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    })
}

/// Everything in the workspace.
pub(crate) const READ_WRITE: &str =
    "[[tools.probe.access.fs]]\npath = '.'\nread = true\nwrite = true\n";

const HEAD: &str = "[tools.probe]\nsource = 'local'\nruntime = 'vfs'\nrun = 'unattended'\n";

/// What every Python tool starts with: the protocol in 30 lines.
const PRELUDE: &str = r#"
import base64, json, os, signal, sys, time

def raw(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()

def send(**message):
    raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

def line():
    return sys.stdin.buffer.readline()

def receive():
    return json.loads(line())

last_id = 0

def ask(method, **params):
    global last_id
    last_id += 1
    send(id=last_id, method=method, params=params)
    answer = receive()
    assert answer["jsonrpc"] == "2.0" and answer["id"] == last_id, answer
    return answer["result"] if "result" in answer else {"error": answer["error"]}

def done(value):
    send(method="result", params={"content": json.dumps(value)})

first = line()
init = json.loads(first)
"#;
