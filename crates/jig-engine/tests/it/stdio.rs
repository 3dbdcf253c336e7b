//! Tools of the runtime `stdio`, as real programs in real workspaces. The numbers are those of the
//! contract that such tools were written for.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the tests make real workspaces, and fail where that fails"
)]

#[cfg(target_os = "linux")]
mod commands;
mod confined;
mod contract;
#[cfg(target_os = "linux")]
mod denials;
mod format;
mod input;
#[cfg(target_os = "linux")]
mod layer;
mod misbehaving;
mod questions;
#[cfg(target_os = "linux")]
mod remarks;

use std::collections::VecDeque;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use camino::{Utf8Path, Utf8PathBuf};
use jig_config::Sources;
use jig_engine::{Answer, Ask, Asker, Call, CallError, Engine};
use jig_files::DiskFiles;
use jig_proto::ToolError;
use serde_json::{Value, json};

/// A fresh workspace with one tool, `tool`.
struct World {
    _folder: tempfile::TempDir,
    root: Utf8PathBuf,
    engine: Arc<Engine>,
}

impl World {
    /// A workspace whose tool has these settings; it runs unasked.
    fn new(settings: &str) -> Self {
        Self::with(settings, &[], |_| {})
    }

    /// A workspace with files, whose engine is set up by `set`.
    fn with(settings: &str, files: &[(&str, &str)], set: impl FnOnce(&mut Engine)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let root = root.canonicalize_utf8().unwrap().join("ws");
        for (path, content) in files {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        }
        std::fs::create_dir_all(&root).unwrap();
        let mut config = "[tools.tool]\n".to_owned();
        for (key, value) in [("source", "local"), ("run", "unattended")] {
            if !settings.contains(&format!("{key} = '")) {
                config.push_str(&format!("{key} = '{value}'\n"));
            }
        }
        config.push_str(settings);
        std::fs::write(root.join("jig.toml"), &config).unwrap();
        let loaded = jig_config::load(&Sources::new(root.clone()));
        let config = loaded.unwrap_or_else(|errors| panic!("{config}\n{errors}"));
        let disk = DiskFiles::open(&root).unwrap();
        let mut engine = Engine::new(Arc::new(config.config), Arc::new(disk));
        set(&mut engine);
        Self {
            _folder: folder,
            root,
            engine: Arc::new(engine),
        }
    }

    /// The same workspace with its configuration read anew, and the engine set up by `set` after what it is
    /// now.
    #[cfg(target_os = "linux")]
    fn reloaded(self, set: impl FnOnce(&mut Engine)) -> Self {
        let loaded = jig_config::load(&Sources::new(self.root.clone()));
        let loaded = loaded.unwrap_or_else(|errors| panic!("{errors}"));
        let disk = DiskFiles::open(&self.root).unwrap();
        let mut engine = Engine::new(Arc::new(loaded.config), Arc::new(disk));
        engine.confine = self.engine.confine.clone();
        set(&mut engine);
        Self {
            engine: Arc::new(engine),
            ..self
        }
    }

    /// A workspace whose tool is a Python script; `call` holds the call, as `input = "stdin"` has it.
    fn python(settings: &str, script: &str) -> Self {
        let head = "import json, os, sys, time\ncall = json.loads(sys.stdin.readline())\n\
                    tool, context = call['tool'], call['context']\narguments, answers = tool['arguments'], tool['answers']\n";
        let settings = format!("command = 'python3 tool.py'\ninput = 'stdin'\n{settings}");
        Self::with(
            &settings,
            &[("tool.py", &format!("{head}{script}"))],
            |_| {},
        )
    }

    fn call(&self, arguments: Value) -> Result<String, CallError> {
        self.asked(arguments, jig_engine::Nobody)
    }

    /// Calls the tool; a call that does not come back in time is a failure.
    fn asked(
        &self,
        arguments: Value,
        mut asker: impl Asker + Send + 'static,
    ) -> Result<String, CallError> {
        let (done, result) = channel();
        let engine = Arc::clone(&self.engine);
        thread::spawn(move || {
            let result = engine.call(Call::new("tool", arguments), &mut asker);
            let _ = done.send(result.map(|reply| reply.into_content().to_text()));
        });
        result
            .recv_timeout(Duration::from_secs(60))
            .expect("the call comes to an end")
    }

    /// What the tool gives, without arguments.
    fn text(&self) -> String {
        self.call(json!({})).unwrap()
    }

    /// The error of the tool, without arguments.
    fn error(&self) -> ToolError {
        match self.call(json!({})) {
            Err(CallError::Tool(error)) => error,
            other => panic!("{other:?}"),
        }
    }

    fn has(&self, path: &str) -> bool {
        self.root.join(path).exists()
    }
}

/// Somebody who gives these answers, one after the other, and remembers what was said.
#[derive(Clone, Default)]
struct Person {
    answers: Arc<Mutex<VecDeque<Value>>>,
    asked: Arc<Mutex<Vec<jig_proto::Question>>>,
    told: Arc<Mutex<Vec<String>>>,
    warned: Arc<Mutex<Vec<String>>>,
}

impl Person {
    fn answering(answers: impl IntoIterator<Item = Value>) -> Self {
        let person = Self::default();
        person.answers.lock().unwrap().extend(answers);
        person
    }
}

impl Asker for Person {
    fn ask(&mut self, ask: &Ask<'_>) -> Answer {
        self.asked.lock().unwrap().push(ask.question.clone());
        match self.answers.lock().unwrap().pop_front() {
            Some(answer) => Answer::Given(answer),
            None => Answer::Unavailable,
        }
    }

    fn progress(&mut self, _: &str, text: &str) {
        self.told.lock().unwrap().push(text.to_owned());
    }

    fn warning(&mut self, _: &str, text: &str) {
        self.warned.lock().unwrap().push(text.to_owned());
    }
}

/// The error and its causes, in one text.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}
