//! A workspace, a component that works in it, and what came of its call.
//!
//! ```ignore
//! let done = Tried::disk("test").file("a.txt", "hello").arguments(json!({"path": "a.txt"})).run();
//! assert_eq!(done.text(), "hello");
//! ```

#![expect(
    dead_code,
    reason = "each test program uses a part of it, and none of them all"
)]
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "fixtures are files, and one that fails is a failed test"
)]

use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::Duration;

use bytes::Bytes;
use camino::Utf8Path;
use jig_broker::{
    AuditEntry, AuditSink, Broker, BrokerParts, HostEnv, HttpSettings, ProcessSettings, Unapproved,
};
use jig_files::{DiskFiles, FilesLookup, MemoryFiles, ProjectFiles};
use jig_policy::{DeclaredAccess, DefaultAccess, Guards, Policy, Workspace};
use jig_proto::vfs::{Capabilities, ToolInput};
use jig_proto::{Action, Context, ProjectPath, StateName, ToolError, ToolState};
use jig_runtime::{
    AskedBy, Component, ComponentSource, Mount, Plan, RunLimits, Runtime as _, Session,
};
use jig_wasm::{CacheDirs, Settings, WasmRuntime};
use serde_json::{Map, Value};

/// A call that is about to be made. It begins with an empty workspace, the default access of components and
/// the guest's usual mount.
pub(crate) struct Tried {
    guest: ComponentSource,
    shown: String,
    backend: Backend,
    access: DeclaredAccess,
    default: DefaultAccess,
    input: ToolInput,
    implementation: Option<String>,
    action: Action,
    mounts: Vec<Mount>,
    variables: Vec<(String, String)>,
    limits: RunLimits,
    http: HttpSettings,
    process: Option<ProcessSettings>,
    stateful: bool,
    answers: Vec<Value>,
    runtime: WasmRuntime,
}

enum Backend {
    Disk(tempfile::TempDir),
    Memory(Arc<MemoryFiles>),
}

/// Which files a workspace has. For tables of tests that run on both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum On {
    Disk,
    Memory,
}

impl On {
    pub(crate) const ALL: [On; 2] = [On::Disk, On::Memory];
}

impl Tried {
    /// A guest of `target/guests`, in a workspace on disk.
    pub(crate) fn disk(guest: &str) -> Self {
        Self::on(On::Disk, guest)
    }

    /// A guest of `target/guests`, in a workspace in memory.
    pub(crate) fn memory(guest: &str) -> Self {
        Self::on(On::Memory, guest)
    }

    pub(crate) fn on(on: On, guest: &str) -> Self {
        Self::of(on, guest, ComponentSource::Bytes(self::guest(guest)))
    }

    /// Any component.
    pub(crate) fn of(on: On, shown: &str, guest: ComponentSource) -> Self {
        Self {
            guest,
            shown: shown.to_owned(),
            backend: match on {
                On::Disk => Backend::Disk(tempfile::tempdir().unwrap()),
                On::Memory => Backend::Memory(Arc::new(MemoryFiles::new())),
            },
            access: DeclaredAccess::default(),
            default: DefaultAccess::WASM,
            input: ToolInput {
                name: "tool".to_owned(),
                ..ToolInput::default()
            },
            implementation: None,
            action: Action::Run,
            mounts: vec![Mount {
                guest: "/workspace".to_owned(),
                path: ProjectPath::root(),
                writable: true,
            }],
            variables: Vec::new(),
            limits: RunLimits::default(),
            http: HttpSettings::default(),
            process: None,
            stateful: false,
            answers: Vec::new(),
            runtime: RUNTIME.clone(),
        }
    }

    /// A file of the workspace, with the directories above it.
    #[track_caller]
    pub(crate) fn file(self, path: &str, content: impl AsRef<[u8]>) -> Self {
        match &self.backend {
            Backend::Disk(folder) => {
                let path = folder.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(path, content).unwrap();
            }
            Backend::Memory(files) => {
                let content = Bytes::copy_from_slice(content.as_ref());
                files.put_file(&project_path(path), content, false).unwrap();
            }
        }
        self
    }

    /// A link of the workspace; its target is taken as it is.
    #[track_caller]
    pub(crate) fn link(self, path: &str, target: &str) -> Self {
        match &self.backend {
            Backend::Disk(folder) => {
                let path = folder.path().join(path);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::os::unix::fs::symlink(target, path).unwrap();
            }
            Backend::Memory(files) => files.put_link(&project_path(path), target).unwrap(),
        }
        self
    }

    /// The folder of a workspace on disk.
    #[track_caller]
    pub(crate) fn folder(&self) -> &Path {
        match &self.backend {
            Backend::Disk(folder) => folder.path(),
            Backend::Memory(_) => panic!("a workspace in memory has no folder"),
        }
    }

    pub(crate) fn files(&self) -> Arc<dyn ProjectFiles> {
        match &self.backend {
            Backend::Disk(folder) => {
                let root = Utf8Path::from_path(folder.path()).unwrap();
                Arc::new(DiskFiles::open(root).unwrap())
            }
            Backend::Memory(files) => Arc::clone(files) as Arc<dyn ProjectFiles>,
        }
    }

    /// Rules as they are written in a configuration, below `access` of the tool:
    /// `fs = [{ path = "src", read = true }]`.
    #[track_caller]
    pub(crate) fn rules(self, toml: &str) -> Self {
        let access = access(toml);
        self.access(access)
    }

    pub(crate) fn access(mut self, access: DeclaredAccess) -> Self {
        self.access = access;
        self
    }

    /// What holds for a resource that no rule speaks of.
    pub(crate) fn default_access(mut self, default: DefaultAccess) -> Self {
        self.default = default;
        self
    }

    #[track_caller]
    pub(crate) fn arguments(mut self, arguments: Value) -> Self {
        self.input.arguments = object(arguments);
        self
    }

    /// Answers that are known before the call.
    #[track_caller]
    pub(crate) fn known(mut self, answers: Value) -> Self {
        self.input.answers = object(answers);
        self
    }

    #[track_caller]
    pub(crate) fn options(mut self, options: Value) -> Self {
        self.input.options = object(options);
        self
    }

    /// The name of the tool inside of the component.
    pub(crate) fn implementation(mut self, name: &str) -> Self {
        self.implementation = Some(name.to_owned());
        self
    }

    pub(crate) fn action(mut self, action: Action) -> Self {
        self.action = action;
        self
    }

    /// In place of the mounts so far.
    pub(crate) fn mounts(mut self, mounts: Vec<Mount>) -> Self {
        self.mounts = mounts;
        self
    }

    /// A variable of the host.
    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn limits(mut self, change: impl FnOnce(&mut RunLimits)) -> Self {
        change(&mut self.limits);
        self
    }

    pub(crate) fn http(mut self, http: HttpSettings) -> Self {
        self.http = http;
        self
    }

    pub(crate) fn process(mut self, process: ProcessSettings) -> Self {
        self.process = Some(process);
        self
    }

    pub(crate) fn stateful(mut self) -> Self {
        self.stateful = true;
        self
    }

    /// What the next question is answered with, the policy's or the tool's. Questions beyond those are
    /// declined.
    pub(crate) fn answer(mut self, answer: impl Into<Value>) -> Self {
        self.answers.push(answer.into());
        self
    }

    /// A runtime of its own, in place of the one that the tests of a process share.
    pub(crate) fn runtime(mut self, runtime: &WasmRuntime) -> Self {
        self.runtime = runtime.clone();
        self
    }

    /// The component, as a plan has it.
    pub(crate) fn component(&self) -> Component {
        Component {
            shown: self.shown.clone(),
            source: self.guest.clone(),
            mounts: self.mounts.clone(),
        }
    }

    pub(crate) fn plan(&self, audit: &Arc<Kept>) -> Plan {
        let files = self.files();
        let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(&files)));
        let guards = Guards::of_workspace();
        let policy = Policy::compile(&self.access, self.default, &guards, &workspace).unwrap();
        let root = self.mounts.first().map_or("/", |mount| &mount.guest);
        let context = Context::new(root, self.action).with_access(policy.to_wire());
        let home = Path::new("/nonexistent");
        let process = self.process.clone();
        let parts = BrokerParts {
            env: HostEnv::from_iter(self.variables.clone()),
            http: self.http.clone(),
            process: process.unwrap_or_else(|| ProcessSettings::minimal(home)),
            audit: Arc::clone(audit) as Arc<dyn AuditSink>,
            ..BrokerParts::new("tool", "c1", files, Arc::new(policy))
        };
        Plan {
            implementation: self.implementation.clone(),
            component: Some(self.component()),
            limits: self.limits,
            stateful: self.stateful,
            offer: OFFER,
            ..Plan::new(self.input.clone(), context, Broker::new(parts))
        }
    }

    /// Starts the call and leaves it to the test.
    pub(crate) fn start(&self) -> (Session, Arc<Kept>) {
        let audit = Arc::new(Kept::default());
        let session = self.runtime.start(self.plan(&audit)).unwrap();
        (session, audit)
    }

    /// Does the call to its end.
    #[track_caller]
    pub(crate) fn run(self) -> Done {
        let (session, audit) = self.start();
        let mut answers = self.answers.iter().cloned();
        let mut asked = Vec::new();
        let mut seen = 0;
        let result = loop {
            let update = session.wait(seen, Some(LIMIT));
            assert!(update.number > seen, "the call hangs: {update:?}");
            seen = update.number;
            match update.state {
                ToolState::Running { .. } => {}
                ToolState::Waiting { question, .. } => {
                    asked.push((update.asker.unwrap(), question.text));
                    match answers.next() {
                        Some(answer) => session.apply(seen, answer).unwrap(),
                        None => session.decline(seen, Unapproved::Unavailable).unwrap(),
                    }
                }
                ToolState::Stopped { result, .. } => break result,
            }
        };
        let audit = audit.0.lock().unwrap().clone();
        Done {
            result: result.map(|content| content.to_text()),
            audit,
            asked,
            tried: self,
        }
    }
}

/// What a call came to.
pub(crate) struct Done {
    pub(crate) result: Result<String, ToolError>,
    pub(crate) audit: Vec<AuditEntry>,
    /// What was asked, and by whom.
    pub(crate) asked: Vec<(AskedBy, String)>,
    /// What was tried: its workspace is as the call has left it.
    pub(crate) tried: Tried,
}

impl Done {
    /// The result of a call that succeeded.
    #[track_caller]
    pub(crate) fn text(&self) -> &str {
        match &self.result {
            Ok(text) => text,
            Err(error) => panic!("it failed: {error:?}"),
        }
    }

    /// The error of a call that failed.
    #[track_caller]
    pub(crate) fn error(&self) -> &ToolError {
        match &self.result {
            Ok(text) => panic!("it succeeded: {text:?}"),
            Err(error) => error,
        }
    }

    /// The audit log, one `operation target decision` for each line.
    pub(crate) fn decisions(&self) -> Vec<String> {
        let line =
            |entry: &AuditEntry| format!("{} {} {}", entry.operation, entry.target, entry.decision);
        self.audit.iter().map(line).collect()
    }

    /// A file as the call has left it.
    pub(crate) fn read(&self, path: &str) -> Option<Vec<u8>> {
        let files = self.tried.files();
        let place = files.locate(&project_path(path)).ok()?;
        files.read(&place, 1 << 30).ok().map(|bytes| bytes.to_vec())
    }
}

/// An audit log in memory.
#[derive(Debug, Default)]
pub(crate) struct Kept(pub(crate) Mutex<Vec<AuditEntry>>);

impl AuditSink for Kept {
    fn record(&self, entry: &AuditEntry) -> std::io::Result<()> {
        // The lines for the start and the end of the call itself are told apart elsewhere.
        if entry.operation == "call" {
            return Ok(());
        }
        self.0.lock().unwrap().push(entry.clone());
        Ok(())
    }
}

/// The bytes of a guest of `target/guests`.
#[track_caller]
pub(crate) fn guest(name: &str) -> Bytes {
    let path = guest_path(name);
    match fs::read(&path) {
        Ok(bytes) => Bytes::from(bytes),
        Err(error) => panic!("{}: {error}: run `cargo xtask guests`", path.display()),
    }
}

pub(crate) fn guest_path(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap();
    root.join("target/guests").join(format!("{name}.wasm"))
}

/// Rules, read as those of a tool are.
#[track_caller]
pub(crate) fn access(toml: &str) -> DeclaredAccess {
    let folder = tempfile::tempdir().unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    let text = format!(
        "[tools.tool]\nsource = \"local\"\nruntime = \"vfs\"\ncommand = \"tool\"\n\n[tools.tool.access]\n{toml}\n"
    );
    fs::write(root.join("jig.toml"), text).unwrap();
    let loaded = match jig_config::load(&jig_config::Sources::new(root)) {
        Ok(loaded) => loaded,
        Err(errors) => panic!("{errors}"),
    };
    loaded.config.tool("tool").unwrap().access.clone()
}

pub(crate) fn project_path(path: &str) -> ProjectPath {
    ProjectPath::normalize(path).unwrap()
}

#[track_caller]
fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("not an object: {other}"),
    }
}

/// The first update in this status.
#[track_caller]
pub(crate) fn until(session: &Session, status: StateName) -> jig_runtime::Update {
    let mut seen = 0;
    loop {
        let update = session.wait(seen, Some(LIMIT));
        if update.state.status() == status {
            return update;
        }
        let is_over = update.state.status() == StateName::Stopped || update.number == seen;
        assert!(!is_over, "{update:?}");
        seen = update.number;
    }
}

/// The runtime that the tests of one process share. What it compiles is kept for all others.
pub(crate) static RUNTIME: LazyLock<WasmRuntime> = LazyLock::new(|| {
    let guests = guest_path("any").with_file_name("");
    let mut settings = Settings::default();
    settings.cache = Some(CacheDirs {
        code: guests.join("cache"),
        key: guests.join("cache.key"),
    });
    WasmRuntime::new(settings).unwrap()
});

/// Far longer than anything takes: the machine may be busy.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);

/// What the engine offers to every tool.
const OFFER: Capabilities = Capabilities {
    concurrency: NonZeroU32::new(32),
    pending: true,
    pages: true,
    ranges: true,
    etag: true,
    blobs: true,
    fd_pass: true,
};
