//! A workspace, a plan for a program in it, and a session to ask.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use jig_broker::{Broker, BrokerParts, ConfineSettings, HostEnv, ProcessSettings, SystemAccess};
use jig_files::{DiskFiles, FilesLookup, ProjectFiles};
use jig_policy::{
    DeclaredAccess, DeclaredCommandRule, DeclaredEnvRule, DefaultAccess, Guards, Policy,
    RuleOrigin, Workspace,
};
use jig_proto::vfs::ToolInput;
use jig_proto::{Action, Context, StateName, ToolError, ToolState, View};
use jig_pty::{CutSide, Settle, Size};
use jig_runtime::{
    BuiltinRuntime, CommandLine, Delivery, OutputLook, Plan, Runtime, Session, SessionOutput,
    StdioRuntime, Timing, Update, VfsRuntime,
};
pub(crate) use jig_testkit::until;
use serde_json::Value;

/// What a session is started as.
pub(crate) struct Case {
    pub(crate) program: String,
    pub(crate) args: Vec<String>,
    pub(crate) confined: bool,
    pub(crate) stateful: bool,
    pub(crate) terminal: Option<Size>,
    pub(crate) delivery: Delivery,
    pub(crate) timing: Timing,
    /// A secret that the tool is given as `TOKEN`.
    pub(crate) token: Option<&'static str>,
    /// The programs that it may have run.
    pub(crate) commands: Option<Vec<&'static str>>,
    pub(crate) arguments: Value,
    /// Folders of the host that it can read besides.
    pub(crate) system: Vec<PathBuf>,
    /// What lies in its workspace.
    pub(crate) files: Vec<(&'static str, &'static str)>,
}

impl Case {
    /// A stateful session of a shell script, confined.
    pub(crate) fn script(script: &str) -> Self {
        Self::program("/bin/sh", &["-c", script])
    }

    pub(crate) fn program(program: &str, args: &[&str]) -> Self {
        Self {
            program: program.to_owned(),
            args: args.iter().map(|arg| (*arg).to_owned()).collect(),
            confined: true,
            stateful: true,
            terminal: None,
            delivery: Delivery::Arguments,
            timing: Timing::default(),
            token: None,
            commands: None,
            arguments: Value::Object(Default::default()),
            system: Vec::new(),
            files: Vec::new(),
        }
    }

    pub(crate) fn on_terminal(self) -> Self {
        Self {
            terminal: Some(Size::default()),
            ..self
        }
    }

    pub(crate) fn start(self) -> Tool {
        self.start_in(&StdioRuntime)
    }

    pub(crate) fn start_vfs(self) -> Tool {
        self.start_in(&VfsRuntime)
    }

    pub(crate) fn start_builtin(self, runtime: BuiltinRuntime) -> Tool {
        self.start_in(&runtime)
    }

    fn start_in(self, runtime: &dyn Runtime) -> Tool {
        let folder = tempfile::tempdir_in("/var/tmp").unwrap();
        for (name, content) in &self.files {
            fs::write(folder.path().join(name), content).unwrap();
        }
        let plan = self.plan(folder.path());
        let session = runtime.start(plan).unwrap();
        Tool { session, folder }
    }

    pub(crate) fn plan(self, folder: &Path) -> Plan {
        let root = Utf8Path::from_path(folder).unwrap();
        let files: Arc<dyn ProjectFiles> = Arc::new(DiskFiles::open(root).unwrap());
        let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(&files)));
        let origin = || RuleOrigin::line("jig.toml", 1);
        let command = |program: &&str| DeclaredCommandRule {
            program: (*program).to_owned(),
            args: None,
            envs: Vec::new(),
            origin: origin(),
        };
        let token = DeclaredEnvRule {
            name: "TOKEN".to_owned(),
            read: true,
            header: false,
            origin: origin(),
        };
        let access = DeclaredAccess {
            commands: self.commands.map(|all| all.iter().map(command).collect()),
            env: self.token.map(|_| token).into_iter().collect(),
            ..DeclaredAccess::default()
        };
        let guards = Guards::of_workspace();
        let policy = Policy::compile(&access, DefaultAccess::READ_WRITE, &guards, &workspace);
        let policy = policy.unwrap();
        let context = Context::new(files.display_root(), Action::Run).with_access(policy.to_wire());
        let variables = self
            .token
            .map(|token| ("TOKEN".to_owned(), token.to_owned()));
        let home = Path::new("/nonexistent");
        let path = std::env::var_os("PATH").unwrap_or_default();
        let parts = BrokerParts {
            env: HostEnv::from_iter(variables),
            process: ProcessSettings {
                confine: self.confined.then(|| ConfineSettings {
                    host_path: path,
                    system: self.system.into_iter().map(readable).collect(),
                    ..ConfineSettings::default()
                }),
                ..ProcessSettings::minimal(home)
            },
            ..BrokerParts::new("tool", "c1", Arc::clone(&files), Arc::new(policy))
        };
        let Value::Object(arguments) = self.arguments else {
            panic!("arguments are an object");
        };
        let input = ToolInput {
            name: "tool".to_owned(),
            arguments,
            ..ToolInput::default()
        };
        let view = Arc::new(files.materialize().unwrap());
        let mut plan = Plan {
            command: Some(CommandLine::literal(self.program, self.args, view, home)),
            stateful: self.stateful,
            terminal: self.terminal,
            delivery: self.delivery,
            timing: self.timing,
            ..Plan::new(input, context, Broker::new(parts))
        };
        if self.stateful {
            plan.limits.time = None;
            plan.limits.output = None;
        }
        plan
    }
}

/// A session and the folder in which it works.
pub(crate) struct Tool {
    pub(crate) session: Session,
    pub(crate) folder: tempfile::TempDir,
}

impl Tool {
    /// Everything that was said so far.
    pub(crate) fn said(&self) -> String {
        self.look(View::New, 0).text
    }

    pub(crate) fn look(&self, view: View, after: u64) -> SessionOutput {
        self.session.output(&OutputLook {
            view,
            after,
            max: 1 << 20,
            cut: CutSide::Front,
        })
    }

    /// Waits until something was said that `is_there` finds, and gives all that was said.
    #[track_caller]
    pub(crate) fn until(&self, what: &str, is_there: impl Fn(&str) -> bool) -> String {
        let deadline = Instant::now() + LIMIT;
        loop {
            let (update, seq) = (self.session.state(), self.session.seq());
            let said = self.said();
            if is_there(&said) {
                return said;
            }
            let has_stopped = update.state.status() == StateName::Stopped;
            assert!(
                !has_stopped,
                "no {what}, but {said:?} and {:?}",
                update.state
            );
            assert!(Instant::now() < deadline, "no {what}, but {said:?}");
            self.session
                .wait_news(update.number, seq, Some(Duration::from_millis(500)));
        }
    }

    #[track_caller]
    pub(crate) fn until_said(&self, text: &str) -> String {
        self.until(text, |said| said.contains(text))
    }

    /// Waits until the screen shows a text, and gives the screen.
    #[track_caller]
    pub(crate) fn until_shown(&self, text: &str) -> String {
        let deadline = Instant::now() + LIMIT;
        loop {
            let (number, seq) = (self.session.state().number, self.session.seq());
            let shown = self.look(View::Screen, 0).text;
            if shown.contains(text) {
                return shown;
            }
            assert!(Instant::now() < deadline, "no {text:?} on {shown}");
            self.session
                .wait_news(number, seq, Some(Duration::from_millis(500)));
        }
    }

    #[track_caller]
    pub(crate) fn apply(&self, input: impl Into<Value>) {
        let seen = self.session.state().number;
        self.session.apply(seen, input.into()).unwrap();
    }

    /// The first update in the given status.
    #[track_caller]
    pub(crate) fn until_status(&self, status: StateName) -> Update {
        let deadline = Instant::now() + LIMIT;
        let mut seen = 0;
        loop {
            let update = self.session.wait(seen, Some(LIMIT));
            if update.state.status() == status {
                return update;
            }
            let has_stopped = update.state.status() == StateName::Stopped;
            assert!(!has_stopped && Instant::now() < deadline, "{update:?}");
            seen = update.number;
        }
    }

    #[track_caller]
    pub(crate) fn result(&self) -> Result<String, ToolError> {
        match self.until_status(StateName::Stopped).state {
            ToolState::Stopped { result, .. } => result.map(|content| content.to_text()),
            other => panic!("{other:?}"),
        }
    }

    /// Waits until it has settled, and gives what was said after `seq`.
    pub(crate) fn settled(&self, seq: u64) -> String {
        let seen = self.session.state().number;
        self.session.settle(seen, seq, &Settle::default());
        self.look(View::New, seq).text
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.folder.path().join(name).exists()
    }
}

fn readable(path: PathBuf) -> SystemAccess {
    SystemAccess {
        path,
        write: false,
        execute: false,
    }
}

/// How many processes have this text in their command line.
pub(crate) fn processes_with(text: &str) -> usize {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|entry| fs::read(entry.path().join("cmdline")).ok());
    lines
        .filter(|line| String::from_utf8_lossy(line).contains(text))
        .count()
}

/// Far longer than anything takes: the machine may be busy.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);
