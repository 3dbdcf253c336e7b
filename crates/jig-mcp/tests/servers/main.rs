//! MCP servers behind jig that misbehave, as real programs in their sandbox: each hurts nobody but itself, and
//! whoever calls it is told why.
#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the tests make real workspaces, and fail where that fails"
)]

mod calls;
mod ends;
mod floods;
mod lifecycle;
mod remote;
mod secrets;
mod starts;
mod trust;

use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use camino::{Utf8Path, Utf8PathBuf};
use jig_broker::CancelToken;
use jig_config::{Config, Sources};
use jig_engine::{Answer, Ask, Asker, Call, CallError, Engine, Nobody};
use jig_files::DiskFiles;
use jig_mcp::{ForgetfulMemory, ServerSelection, ServerState, ServerStatus, Servers};
use jig_proto::ToolError;
use serde_json::{Value, json};

/// A fresh workspace with servers.
struct World {
    _folder: tempfile::TempDir,
    root: Utf8PathBuf,
    servers: Arc<Servers>,
    memory: Arc<ForgetfulMemory>,
    reported: Arc<Mutex<Vec<String>>>,
    engine: Arc<Engine>,
    problems: Vec<(String, String)>,
    /// Variables of whoever runs jig, besides the search path.
    variables: Vec<(&'static str, &'static str)>,
}

impl World {
    /// One server, `x`, that starts in this way, and one, `good`, that behaves; both have been asked for their
    /// tools.
    fn new(how: &str) -> Self {
        Self::with(how, "")
    }

    /// The same, with more settings for `x`.
    fn with(how: &str, settings: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Utf8Path::from_path(folder.path()).unwrap();
        let root = root.canonicalize_utf8().unwrap().join("ws");
        std::fs::create_dir_all(&root).unwrap();
        std::fs::write(root.join("server.py"), include_str!("server.py")).unwrap();
        std::fs::write(root.join("secret.txt"), "hidden\n").unwrap();
        let reported = Arc::new(Mutex::new(Vec::new()));
        let report = {
            let reported = Arc::clone(&reported);
            Arc::new(move |text: &str| reported.lock().unwrap().push(text.to_owned()))
        };
        let memory = Arc::new(ForgetfulMemory::default());
        let servers = Servers::new(Arc::clone(&memory) as _, report);
        let mut world = Self {
            engine: Arc::new(engine(&root, config(&root, ""))),
            _folder: folder,
            root,
            servers,
            memory,
            reported,
            problems: Vec::new(),
            variables: Vec::new(),
        };
        world.starts("good", "well");
        world.starts("x", how);
        world.configure(settings, ServerSelection::Fresh);
        world
    }

    /// Says how a server starts from now on.
    fn starts(&self, server: &str, how: &str) {
        std::fs::write(self.root.join(format!("{server}.how")), how).unwrap();
    }

    /// Has all servers start anew when they are called the next time, `x` in another way.
    fn restart(&mut self, how: &str, settings: &str) {
        self.servers.stop_all();
        self.starts("x", how);
        self.configure(settings, ServerSelection::Known);
    }

    /// Puts another configuration in force, and asks these servers for their tools.
    fn configure(&mut self, settings: &str, which: ServerSelection) {
        let written = format!(
            "[mcp.servers.good]\ncommand = ['python3', 'server.py', 'good']\nrun = 'unattended'\n\
             [mcp.servers.x]\ncommand = ['python3', 'server.py', 'x']\nrun = 'unattended'\n{settings}"
        );
        let mut plain = engine(&self.root, config(&self.root, &written));
        plain.env = {
            let own = self.variables.iter();
            search_path()
                .chain(own.map(|(name, value)| (*name, (*value).to_owned())))
                .collect()
        };
        let plain = Arc::new(plain);
        self.servers.attach(Arc::clone(&plain));
        let offered = self.servers.offered(&plain, which, &|_| {});
        self.problems = offered.problems;
        let mut engine = engine(&self.root, offered.config);
        engine.servers = Some(Arc::clone(&self.servers) as _);
        self.engine = Arc::new(engine);
    }

    /// Calls a tool, and waits for the end of it.
    fn call(&self, tool: &str, arguments: Value) -> Result<String, CallError> {
        let calling = self.start(tool, arguments, None);
        calling
            .recv_timeout(LONG)
            .expect("the call comes to an end")
    }

    /// What a tool gives.
    fn text(&self, tool: &str, arguments: Value) -> String {
        let result = self.call(tool, arguments);
        result.unwrap_or_else(|error| panic!("{tool}: {error:?}\n{:?}", self.reports()))
    }

    /// How a tool fails.
    fn error(&self, tool: &str, arguments: Value) -> ToolError {
        match self.call(tool, arguments) {
            Err(CallError::Tool(error)) => error,
            other => panic!("{tool}: {other:?}"),
        }
    }

    /// Calls a tool on a thread of its own.
    fn start(
        &self,
        tool: &str,
        arguments: Value,
        cancel: Option<CancelToken>,
    ) -> Receiver<Result<String, CallError>> {
        self.asked(tool, arguments, cancel, Nobody)
    }

    /// The same, with somebody who can be asked.
    fn asked(
        &self,
        tool: &str,
        arguments: Value,
        cancel: Option<CancelToken>,
        mut asker: impl Asker + Send + 'static,
    ) -> Receiver<Result<String, CallError>> {
        let (done, result) = channel();
        let engine = Arc::clone(&self.engine);
        let mut call = Call::new(tool, arguments);
        call.cancel = cancel;
        thread::spawn(move || {
            let result = engine.call(call, &mut asker);
            let _ = done.send(result.map(|reply| reply.into_content().to_text()));
        });
        result
    }

    /// Sees that the server that behaves still does, and soon.
    fn good_is_well(&self) {
        let begun = Instant::now();
        assert_eq!(
            self.text("good_echo", json!({ "text": "still here" })),
            "still here"
        );
        assert!(begun.elapsed() < LONG / 2, "it took {:?}", begun.elapsed());
    }

    fn status(&self, name: &str) -> ServerStatus {
        let status = self.servers.status();
        status.into_iter().find(|it| it.name == name).unwrap()
    }

    /// Waits until the state of a server is such.
    fn until(&self, name: &str, is_it: impl Fn(&ServerState) -> bool) -> ServerStatus {
        let status = wait_for(|| {
            let status = self.status(name);
            is_it(&status.state).then_some(status)
        });
        status.unwrap_or_else(|| panic!("{:?}", self.status(name)))
    }

    fn reports(&self) -> Vec<String> {
        self.reported.lock().unwrap().clone()
    }

    /// The process of a server, as the world outside its sandbox sees it.
    fn pid(&self, name: &str) -> u32 {
        self.status(name).pid.unwrap()
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.servers.stop_all();
    }
}

fn config(root: &Utf8Path, written: &str) -> Arc<Config> {
    // Beside the workspace: what the user's own file declares needs nobody's acceptance.
    let file = root.with_file_name("user.toml");
    std::fs::write(&file, written).unwrap();
    let mut sources = Sources::new(root.to_owned());
    sources.user_config = Some(file);
    let loaded = jig_config::load(&sources);
    Arc::new(
        loaded
            .unwrap_or_else(|errors| panic!("{written}\n{errors}"))
            .config,
    )
}

fn engine(root: &Utf8Path, config: Arc<Config>) -> Engine {
    let mut engine = Engine::new(config, Arc::new(DiskFiles::open(root).unwrap()));
    engine.env = search_path().collect();
    engine
}

/// The variable by which programs are found.
fn search_path() -> impl Iterator<Item = (&'static str, String)> {
    std::env::var("PATH").into_iter().map(|path| ("PATH", path))
}

/// What `look` sees, as soon as it does.
fn wait_for<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    let mut seen = None;
    jig_testkit::within(LONG, || {
        seen = look();
        seen.is_some()
    });
    seen
}

/// Whether a process is there, and is more than what is left until somebody asks for its end.
fn is_alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"));
    stat.is_ok_and(|stat| !stat.contains(") Z "))
}

/// How much memory this process has, in MiB.
fn memory() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let words = line.unwrap().split_whitespace().nth(1);
    words.unwrap().parse::<usize>().unwrap() >> 10
}

/// Somebody who gives one answer, and remembers what was asked and told.
#[derive(Clone, Default)]
struct Person {
    answer: Option<Value>,
    asked: Arc<Mutex<Vec<String>>>,
    told: Arc<Mutex<Vec<String>>>,
}

impl Asker for Person {
    fn ask(&mut self, ask: &Ask<'_>) -> Answer {
        let question = serde_json::to_string(ask.question).unwrap();
        self.asked.lock().unwrap().push(question);
        match &self.answer {
            Some(answer) => Answer::Given(answer.clone()),
            None => Answer::Unavailable,
        }
    }

    fn progress(&mut self, _: &str, text: &str) {
        self.told.lock().unwrap().push(text.to_owned());
    }
}

/// Longer than anything takes that works, also where much else runs.
const LONG: Duration = Duration::from_secs(60);
