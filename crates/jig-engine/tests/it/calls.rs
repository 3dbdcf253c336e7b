//! Calls of the tools that are part of jig: who is asked before they run, and what is kept from one to the next.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the tests make real workspaces, and fail where that fails"
)]

mod callers_thread;
mod guards;
mod looking;
mod output;
mod own_configuration;
mod runs;

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Mutex};

use camino::{Utf8Path, Utf8PathBuf};
use jig_broker::{AuditEntry, AuditSink};
use jig_config::Sources;
use jig_engine::{About, Answer, Ask, Asker, Call, CallError, Engine};
use jig_files::DiskFiles;
use serde_json::Value;

/// A workspace on the disk.
struct World {
    root: Utf8PathBuf,
    folder: tempfile::TempDir,
}

impl World {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let root = root.canonicalize_utf8().unwrap().join("workspace");
        std::fs::create_dir(&root).unwrap();
        let world = Self { root, folder };
        for (path, content) in files {
            world.write(path, content);
        }
        world
    }

    /// A directory beside the workspace.
    fn outside(&self) -> Utf8PathBuf {
        let outside = Utf8Path::from_path(self.folder.path()).unwrap();
        outside.canonicalize_utf8().unwrap()
    }

    fn write(&self, path: &str, content: &str) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Puts a link at `path`, in one step, whatever stands there.
    fn link(&self, path: &str, target: &str) {
        let new = self.root.join(format!("{path}.new"));
        std::os::unix::fs::symlink(target, &new).unwrap();
        std::fs::rename(new, self.root.join(path)).unwrap();
    }

    fn engine(&self, config: &str) -> Engine {
        self.engine_with(config, |_| ())
    }

    fn engine_with(&self, config: &str, change: impl FnOnce(&mut Sources)) -> Engine {
        self.write("jig.toml", config);
        let mut sources = Sources::new(self.root.clone());
        change(&mut sources);
        let config = jig_config::load(&sources).unwrap().config;
        let files = DiskFiles::open(&self.root).unwrap();
        Engine::new(Arc::new(config), Arc::new(files))
    }
}

/// Answers in this order, then that nobody is there, and notes what it was asked.
#[derive(Default)]
struct Person {
    answers: VecDeque<Answer>,
    asked: Vec<(About, String)>,
    /// What was shown with each question.
    shown: Vec<String>,
}

impl Person {
    fn who_says(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self {
            answers: answers.into_iter().collect(),
            asked: Vec::new(),
            shown: Vec::new(),
        }
    }
}

impl Asker for Person {
    fn ask(&mut self, ask: &Ask<'_>) -> Answer {
        self.asked.push((ask.about, ask.question.text.clone()));
        let context = ask.question.context.clone();
        self.shown.push(context.unwrap_or_default());
        self.answers.pop_front().unwrap_or(Answer::Unavailable)
    }
}

fn call(
    engine: &Engine,
    tool: &str,
    arguments: Value,
    asker: &mut dyn Asker,
) -> Result<String, CallError> {
    let reply = engine.call(Call::new(tool, arguments), asker)?;
    Ok(reply.into_content().to_text())
}

/// Keeps the lines of the audit log.
#[derive(Debug, Default)]
struct Lines(Mutex<Vec<AuditEntry>>);

impl Lines {
    /// The lines so far: operation, target, decision and how it ended.
    fn take(&self) -> Vec<String> {
        let entries = std::mem::take(&mut *self.0.lock().unwrap());
        let line = |entry: &AuditEntry| {
            let outcome = entry.outcome.as_deref().unwrap_or("-");
            let AuditEntry {
                operation, target, ..
            } = entry;
            format!("{operation} {target} {} {outcome}", entry.decision)
        };
        entries.iter().map(line).collect()
    }
}

impl AuditSink for Lines {
    fn record(&self, entry: &AuditEntry) -> io::Result<()> {
        self.0.lock().unwrap().push(entry.clone());
        Ok(())
    }
}
