//! Tools of MCP servers, behind a script in place of the servers: what the engine asks, checks, cuts and notes.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the tests make real workspaces, and fail where that fails"
)]

mod arguments;
mod asked;
mod handles;
mod hostile;
mod listed;
mod results;

use std::collections::VecDeque;
use std::fmt;
use std::io;
use std::sync::{Arc, Mutex};
use std::thread;

use camino::Utf8Path;
use jig_broker::{AuditEntry, AuditSink, CancelToken};
use jig_config::{Definition, Sources};
use jig_engine::{
    About, Answer, Ask, Asker, Call, CallError, Engine, HeldOffer, Nobody, Reply, ServedCall,
    ServerCall, ToolServers,
};
use jig_files::DiskFiles;
use jig_proto::{Content, ToolError};
use jig_runtime::InProcess;
use serde_json::{Value, json};

type Act = dyn Fn(ServerCall, &mut InProcess) -> Result<Content, ToolError> + Send + Sync;

/// Servers that do what a test says.
struct Script {
    act: Box<Act>,
    /// What is held, one after the other.
    held: Mutex<VecDeque<Result<HeldOffer, String>>>,
    /// Whether what was accepted is held no longer.
    keeps: bool,
    accepted: Mutex<Vec<HeldOffer>>,
    calls: Mutex<Vec<ServerCall>>,
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Script")
    }
}

impl Script {
    fn new(
        act: impl Fn(ServerCall, &mut InProcess) -> Result<Content, ToolError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            act: Box::new(act),
            held: Mutex::default(),
            keeps: true,
            accepted: Mutex::default(),
            calls: Mutex::default(),
        }
    }

    /// Every call has this result.
    fn saying(result: Value) -> Self {
        Self::new(move |_, _| Content::from_mcp(result.clone()))
    }

    fn holding(mut self, held: impl IntoIterator<Item = HeldOffer>) -> Self {
        self.held = Mutex::new(held.into_iter().map(Ok).collect());
        self
    }
}

impl ToolServers for Script {
    fn call(self: Arc<Self>, call: ServerCall, mut served: ServedCall) {
        self.calls.lock().unwrap().push(call.clone());
        // What a test says may wait for answers.
        thread::spawn(move || {
            let result = (self.act)(call, &mut served.door);
            served.end(result);
        });
    }

    fn held(
        &self,
        _server: &str,
        _tool: &str,
        _cancel: Option<&CancelToken>,
    ) -> Result<Option<HeldOffer>, ToolError> {
        match self.held.lock().unwrap().front() {
            None => Ok(None),
            Some(Ok(held)) => Ok(Some(held.clone())),
            Some(Err(why)) => Err(ToolError::new(why.clone())),
        }
    }

    fn accept(&self, held: &HeldOffer) -> Result<(), String> {
        self.accepted.lock().unwrap().push(held.clone());
        if self.keeps {
            self.held.lock().unwrap().pop_front();
        }
        Ok(())
    }
}

/// An engine whose configuration has a server `s`, with the tools that it describes.
struct World {
    engine: Engine,
    script: Arc<Script>,
    lines: Arc<Lines>,
    _folder: tempfile::TempDir,
}

impl World {
    fn new(script: Script, tools: &[Value]) -> Self {
        Self::with("", script, tools)
    }

    fn with(config: &str, script: Script, tools: &[Value]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let root = root.canonicalize_utf8().unwrap();
        let server = match config.contains("[mcp.servers.s]") {
            true => "",
            false => "[mcp.servers.s]\ncommand = \"true\"\nrun = \"unattended\"\n",
        };
        std::fs::write(root.join("jig.toml"), format!("{server}{config}")).unwrap();
        let config = jig_config::load(&Sources::new(root.clone()))
            .unwrap()
            .config;
        let tools: Vec<Arc<Definition>> = tools
            .iter()
            .map(|tool| Arc::new(Definition::from_json(tool.clone()).unwrap()))
            .collect();
        let config = config.with_definitions(&|_| Some(tools.clone()));
        let files = DiskFiles::open(&root).unwrap();
        let mut engine = Engine::new(Arc::new(config), Arc::new(files));
        let (script, lines) = (Arc::new(script), Arc::new(Lines::default()));
        engine.servers = Some(Arc::clone(&script) as Arc<dyn ToolServers>);
        engine.audit = Arc::clone(&lines) as Arc<dyn AuditSink>;
        Self {
            engine,
            script,
            lines,
            _folder: folder,
        }
    }

    fn call(&self, tool: &str, arguments: Value) -> Result<Content, CallError> {
        self.call_with(tool, arguments, &mut Nobody)
    }

    fn call_with(
        &self,
        tool: &str,
        arguments: Value,
        asker: &mut dyn Asker,
    ) -> Result<Content, CallError> {
        let reply = self.engine.call(Call::new(tool, arguments), asker)?;
        match reply {
            Reply::Content(content) => Ok(content),
            other => panic!("{tool}: {other:?}"),
        }
    }

    /// How often the servers were called.
    fn calls(&self) -> usize {
        self.script.calls.lock().unwrap().len()
    }
}

/// A tool that takes anything.
fn plain(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

/// A result of one text.
fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

/// Answers in this order, then that nobody is there, and notes what it was asked.
#[derive(Default)]
struct Person {
    answers: VecDeque<Answer>,
    asked: Vec<(About, String, String)>,
    progress: Vec<String>,
}

impl Person {
    fn who_says(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self {
            answers: answers.into_iter().collect(),
            ..Self::default()
        }
    }
}

impl Asker for Person {
    fn ask(&mut self, ask: &Ask<'_>) -> Answer {
        let context = ask.question.context.clone().unwrap_or_default();
        self.asked
            .push((ask.about, ask.question.text.clone(), context));
        self.answers.pop_front().unwrap_or(Answer::Unavailable)
    }

    fn progress(&mut self, _tool: &str, text: &str) {
        self.progress.push(text.to_owned());
    }
}

fn yes() -> Answer {
    Answer::Given(json!(true))
}

/// Keeps the lines of the audit log.
#[derive(Debug, Default)]
struct Lines(Mutex<Vec<AuditEntry>>);

impl Lines {
    fn take(&self) -> Vec<AuditEntry> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl AuditSink for Lines {
    fn record(&self, entry: &AuditEntry) -> io::Result<()> {
        self.0.lock().unwrap().push(entry.clone());
        Ok(())
    }
}
