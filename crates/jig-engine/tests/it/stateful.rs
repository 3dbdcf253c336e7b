//! Stateful tools through the embedder's API: real programs in the real sandbox.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the tests make real workspaces and fail where that fails"
)]

mod dispatch;
mod explained;
#[path = "../../../jig-cli/tests/support/follow.rs"]
mod follow;
mod git;
mod git_attacks;
mod inquiries;
mod output;
mod programs;
mod turn;

use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use jig_config::Sources;
use jig_engine::{Asker, Call, CallError, Engine, Nobody, Reply};
use jig_files::DiskFiles;
use jig_proto::{HandleReport, StateName, ToolState};
use serde_json::{Value, json};

/// A workspace, and the engine that runs its tools.
struct Workshop {
    engine: Engine,
    root: Utf8PathBuf,
    _folder: tempfile::TempDir,
}

impl Workshop {
    /// With these tools, and these files.
    fn new(config: &str, files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let root = root.canonicalize_utf8().unwrap();
        std::fs::write(root.join("jig.toml"), config).unwrap();
        for (name, content) in files {
            std::fs::write(root.join(name), content).unwrap();
        }
        let loaded = jig_config::load(&Sources::new(root.clone())).unwrap();
        let files = DiskFiles::open(&root).unwrap();
        let engine = Engine::new(Arc::new(loaded.config), Arc::new(files));
        Self {
            engine,
            root,
            _folder: folder,
        }
    }

    fn ask(&self, tool: &str, arguments: Value, asker: &mut dyn Asker) -> Result<Reply, CallError> {
        self.engine.call(Call::new(tool, arguments), asker)
    }

    /// A command to a handle that must succeed.
    fn report(&self, tool: &str, arguments: Value) -> HandleReport {
        match self.ask(tool, arguments.clone(), &mut Nobody) {
            Ok(Reply::Handle(report)) => report,
            other => panic!("{tool} {arguments}: {other:?}"),
        }
    }

    /// Why a call comes to nothing.
    fn refusal(&self, tool: &str, arguments: Value) -> String {
        match self.ask(tool, arguments.clone(), &mut Nobody) {
            Err(error) => error.to_string(),
            Ok(reply) => panic!("{tool} {arguments}: {reply:?}"),
        }
    }

    /// What a tool that is called without an action comes to.
    fn called(&self, tool: &str, arguments: Value) -> String {
        match self.ask(tool, arguments, &mut Nobody) {
            Ok(Reply::Content(content)) => content.to_text(),
            other => panic!("{tool}: {other:?}"),
        }
    }

    /// Fetches until the handle stands so, and gives back all that was said on the way.
    fn until(&self, tool: &str, id: &str, status: StateName) -> (HandleReport, String) {
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut said = String::new();
        loop {
            let report = self.report(tool, json!({"action": "fetch", "id": id, "wait_ms": 1000}));
            said.push_str(&report.state.content().to_text());
            if report.state.status() == status {
                return (report, said);
            }
            assert!(Instant::now() < deadline, "{id} never is {status}: {said}");
        }
    }

    /// Fetches until the handle has said something, and gives back all that it said.
    fn until_said(&self, tool: &str, id: &str, wanted: &str) -> String {
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut said = String::new();
        while !said.contains(wanted) {
            assert!(
                Instant::now() < deadline,
                "{id} never says {wanted}: {said}"
            );
            let report = self.report(tool, json!({"action": "fetch", "id": id, "wait_ms": 1000}));
            said.push_str(&report.state.content().to_text());
        }
        said
    }
}

/// What a stopped tool returned.
fn result(report: &HandleReport) -> Result<String, String> {
    match &report.state {
        ToolState::Stopped { result, .. } => match result {
            Ok(content) => Ok(content.to_text()),
            Err(error) => Err(error.message.clone()),
        },
        state => panic!("it has not stopped: {state:?}"),
    }
}

/// A program that repeats what it reads, and others that the tests share.
const TOOLS: &str = r#"
[tools.cat]
source = "local"
run = "unattended"
stateful = true
command = "cat"

[tools.check]
source = "local"
run = "unattended"
stateful = ["spawn", "fetch", "abort"]
command = { program = "sh", args = ["-c", "echo begun; echo done >&2; exit {{ tool.arguments.code }}"] }
parameters.code = { type = "integer", default = 0 }

[tools.background]
source = "local"
run = "unattended"
stateful = ["spawn", "fetch"]
command = { program = "sh", args = ["-c", "echo up; sleep 600"] }

[tools.plan]
source = "local"
run = "unattended"
command = { program = "sh", args = ["-c", "echo planned {{ tool.arguments.action }}"] }
parameters.action = { type = "string", required = true, enum = ["create", "next", "prev"] }
"#;
