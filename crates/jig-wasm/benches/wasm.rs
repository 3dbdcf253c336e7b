//! What a call of a component costs: ours against wasmtime with its own WASI and nothing else.
//!
//! `cargo xtask bench wasm` builds what this needs and runs it. The two sides of each comparison run in
//! turns, and ratios are printed: on a noisy machine absolute times mean little. The ratio of the minima is
//! the one to trust.
//!
//! `--floor PROGRAM` is `benches/wasm-floor`, `--jig PROGRAM` the binary; without one of them its comparisons
//! are left out.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the numbers come from /proc, and the workspace and its component are made"
)]

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use jig_broker::{Broker, BrokerParts};
use jig_files::{DiskFiles, FilesLookup, ProjectFiles};
use jig_policy::{DeclaredAccess, DefaultAccess, Guards, Policy, Workspace};
use jig_proto::vfs::ToolInput;
use jig_proto::{Action, Context, ProjectPath, StateName, ToolState};
use jig_runtime::{Component, ComponentSource, Mount, Plan, Runtime as _, Session};
use jig_wasm::{CacheDirs, CodeSource, Settings, WasmRuntime};
use serde_json::{Value, json};

fn main() {
    let temporary = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("there is a place");
    let folder = temporary.path().canonicalize().expect("it is there");
    let workspace = folder.join("ws");
    fs::create_dir(&workspace).expect("there is a place");
    fs::write(workspace.join("small"), "x".repeat(1024)).expect("there is a place");
    let ours = Ours::new(&workspace);

    println!("{:<44} {:>9} {:>9}  wanted", "", "fastest", "median");
    if let Some(floor) = argument("--floor") {
        against_the_floor(&ours, &floor, &workspace);
    }
    if let Some(jig) = argument("--jig") {
        whole_program(&jig, &folder, &workspace);
    }
    println!();
    loading(&ours, &folder);
    memory(&ours);
    growth(&ours);
}

// Calls.

fn against_the_floor(ours: &Ours, program: &Path, workspace: &Path) {
    let cases = [
        ("nothing", "noop", json!({}), "- (against bare wasmtime)"),
        (
            "a read of 1 KiB",
            "test",
            json!({"path": "small"}),
            "1.5, better 1.2, against bare wasmtime",
        ),
    ];
    for (name, guest, arguments, wanted) in cases {
        let mut floor = Floor::start(program, guest, workspace);
        let component = component(guest);
        compare(
            &format!("{name}, on the caller's thread"),
            wanted,
            || floor.run(&arguments),
            || ours.batch(&component, &arguments, |plan| ours.here(plan)),
        );
        compare(
            &format!("{name}, from start to stopped"),
            wanted,
            || floor.run(&arguments),
            || ours.batch(&component, &arguments, |plan| ours.session(plan)),
        );
    }
}

/// A whole `jig call`: of a component that is compiled already, and of a confined program.
fn whole_program(jig: &Path, folder: &Path, workspace: &Path) {
    fs::copy(guest_path("test"), workspace.join("test.wasm")).expect("there is a place");
    fs::write(workspace.join("jig.toml"), CONFIG).expect("there is a place");
    let call = |tool: &str| {
        let start = Instant::now();
        let output = Command::new(jig)
            .args(["call", tool, "path=small", "--no-interaction"])
            .current_dir(workspace)
            .env("HOME", folder)
            .env("JIG_TRUST", "1")
            .env_remove("XDG_CACHE_HOME")
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_STATE_HOME")
            .stdin(Stdio::null())
            .output()
            .expect("jig starts");
        let took = start.elapsed();
        assert!(
            output.stdout.windows(1024).any(|x| x == [b'x'; 1024]),
            "{output:?}"
        );
        took
    };
    compare(
        "`jig call` of a component",
        "- (against a confined `cat`)",
        || call("cats"),
        || call("reads"),
    );
}

/// Runs both sides in turn and prints the ratios of their times.
fn compare(
    name: &str,
    wanted: &str,
    mut plain: impl FnMut() -> Duration,
    mut ours: impl FnMut() -> Duration,
) {
    let mut times: [Vec<Duration>; 2] = Default::default();
    for round in 0..ROUNDS + 2 {
        let both = [plain(), ours()];
        // The first rounds fill the caches.
        if round >= 2 {
            times[0].push(both[0]);
            times[1].push(both[1]);
        }
    }
    for sorted in &mut times {
        sorted.sort();
    }
    let ratio = |at: usize| times[1][at].as_secs_f64() / times[0][at].as_secs_f64();
    println!(
        "{name:<44} {:>8.2}x {:>8.2}x  {wanted}",
        ratio(0),
        ratio(ROUNDS / 2)
    );
}

// What it takes to be ready, and to stay so.

/// A first call of a process, with and without the code that another process has left.
fn loading(ours: &Ours, folder: &Path) {
    let mut settings = Settings::default();
    settings.cache = Some(CacheDirs {
        code: folder.join("code"),
        key: folder.join("key/wasm.key"),
    });
    let component = component("test");
    let take = |settings: &Settings, expected: CodeSource| {
        let start = Instant::now();
        let runtime = WasmRuntime::new(settings.clone()).expect("it was made before");
        let prepared = runtime.prepare(&component).expect("it compiles");
        assert_eq!(prepared.from, expected);
        ours.session_with(&runtime, ours.plan(&component, &json!({"path": "small"})));
        start.elapsed()
    };
    take(&settings, CodeSource::Compiled);
    let mut times: [Vec<Duration>; 2] = Default::default();
    for _ in 0..LOADINGS {
        times[0].push(take(&Settings::default(), CodeSource::Compiled));
        times[1].push(take(&settings, CodeSource::Disk));
    }
    for sorted in &mut times {
        sorted.sort();
    }
    let [compiled, loaded] = times.map(|sorted| sorted[LOADINGS / 2].as_secs_f64());
    println!(
        "a first call takes {:.1} ms with the code on disk, and {:.0} times as long without",
        loaded * 1e3,
        compiled / loaded
    );
}

/// What an instance takes that is in the middle of its call: it waits for somebody to allow its read.
fn memory(ours: &Ours) {
    let component = component("test");
    let ask = |_| {
        let policy = ours.policy(DefaultAccess::NOTHING);
        let plan = ours.plan_under(policy, &component, &json!({"path": "small"}));
        let session = ours.runtime.start(plan).expect("it starts");
        until(&session, StateName::Waiting);
        session
    };
    // What is there once for all is there now.
    let mut held: Vec<Session> = (0..10).map(ask).collect();
    let before = Used::now();
    held.extend((0..INSTANCES).map(ask));
    let after = Used::now();
    let each = |after: u64, before: u64| after.saturating_sub(before) as f64 / INSTANCES as f64;
    println!(
        "an instance in the middle of its call holds {:.0} KiB, its thread and its call included, and {:.1} \
         descriptors",
        each(after.resident, before.resident),
        each(after.descriptors, before.descriptors)
    );
    for session in held {
        session.cancel();
        until(&session, StateName::Stopped);
    }
    if let Some(program) = argument("--floor") {
        let mut floor = Floor::start(&program, "test", Path::new("/"));
        let each = floor.ask(&format!("hold {INSTANCES}"));
        println!("one of bare wasmtime, which has not begun to run, {each} KiB");
    }
}

/// Whether many calls leave anything behind.
fn growth(ours: &Ours) {
    let component = component("test");
    let calls = |count: usize| {
        for _ in 0..count {
            ours.session(ours.plan(&component, &json!({"path": "small"})));
        }
    };
    calls(MANY / 10);
    let before = Used::now();
    calls(MANY);
    let after = Used::now();
    println!(
        "{MANY} calls: {} KiB -> {} KiB resident, {} -> {} descriptors, {} -> {} threads",
        before.resident,
        after.resident,
        before.descriptors,
        after.descriptors,
        before.threads,
        after.threads
    );
    let grown = after.resident.saturating_sub(before.resident);
    assert!(grown < 4096, "it has grown by {grown} KiB");
    assert!(after.descriptors <= before.descriptors, "descriptors stay");
}

/// What this process has in use, memory in KiB.
struct Used {
    resident: u64,
    descriptors: u64,
    threads: u64,
}

impl Used {
    fn now() -> Self {
        let count = |path: &str| fs::read_dir(path).expect("/proc is mounted").count() as u64;
        let status = fs::read_to_string("/proc/self/status").expect("/proc is mounted");
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        Self {
            resident: number.and_then(|number| number.parse().ok()).unwrap_or(0),
            descriptors: count("/proc/self/fd"),
            threads: count("/proc/self/task"),
        }
    }
}

// Our side.

struct Ours {
    runtime: WasmRuntime,
    files: Arc<dyn ProjectFiles>,
    policy: Arc<Policy>,
}

impl Ours {
    fn new(workspace: &Path) -> Self {
        let root = Utf8Path::from_path(workspace).expect("it is UTF-8");
        let files: Arc<dyn ProjectFiles> = Arc::new(DiskFiles::open(root).expect("it is there"));
        let policy = policy(&files, DefaultAccess::WASM);
        Self {
            runtime: WasmRuntime::new(Settings::default()).expect("this machine can"),
            files,
            policy,
        }
    }

    fn policy(&self, default: DefaultAccess) -> Arc<Policy> {
        policy(&self.files, default)
    }

    fn plan(&self, component: &Component, arguments: &Value) -> Plan {
        self.plan_under(Arc::clone(&self.policy), component, arguments)
    }

    /// As the engine makes it, which is not measured here.
    fn plan_under(&self, policy: Arc<Policy>, component: &Component, arguments: &Value) -> Plan {
        let context = Context::new("/workspace", Action::Run).with_access(policy.to_wire());
        let parts = BrokerParts::new("tool", "c1", Arc::clone(&self.files), policy);
        let input = ToolInput {
            name: "tool".to_owned(),
            arguments: arguments.as_object().cloned().unwrap_or_default(),
            ..ToolInput::default()
        };
        Plan {
            component: Some(component.clone()),
            ..Plan::new(input, context, Broker::new(parts))
        }
    }

    /// As many calls as the floor makes for one answer.
    fn batch(&self, component: &Component, arguments: &Value, call: impl Fn(Plan)) -> Duration {
        let plan = |_| self.plan(component, arguments);
        let plans: Vec<Plan> = (0..BATCH).map(plan).collect();
        let start = Instant::now();
        plans.into_iter().for_each(call);
        start.elapsed()
    }

    fn here(&self, plan: Plan) {
        self.runtime.run_here(plan).expect("it succeeds");
    }

    fn session(&self, plan: Plan) {
        self.session_with(&self.runtime, plan);
    }

    fn session_with(&self, runtime: &WasmRuntime, plan: Plan) {
        let session = runtime.start(plan).expect("it starts");
        match until(&session, StateName::Stopped) {
            ToolState::Stopped { result, .. } => drop(result.expect("it succeeds")),
            other => panic!("it is not over: {other:?}"),
        }
    }
}

fn policy(files: &Arc<dyn ProjectFiles>, default: DefaultAccess) -> Arc<Policy> {
    let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(files)));
    let guards = Guards::of_workspace();
    let policy = Policy::compile(&DeclaredAccess::default(), default, &guards, &workspace);
    Arc::new(policy.expect("it compiles"))
}

fn until(session: &Session, status: StateName) -> ToolState {
    let mut seen = 0;
    loop {
        let update = session.wait(seen, None);
        if update.state.status() == status {
            return update.state;
        }
        seen = update.number;
    }
}

/// A component as the engine hands it over: a file that is open.
fn component(guest: &str) -> Component {
    let file = fs::File::open(guest_path(guest)).expect("`cargo xtask guests` makes it");
    Component {
        shown: guest.to_owned(),
        source: ComponentSource::File(Arc::new(file)),
        mounts: vec![Mount {
            guest: "/workspace".to_owned(),
            path: ProjectPath::root(),
            writable: true,
        }],
    }
}

fn guest_path(name: &str) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.join(format!("../../target/guests/{name}.wasm"))
}

// The floor's side.

/// The program of bare wasmtime, which makes calls when it is told to.
struct Floor {
    process: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
}

impl Floor {
    fn start(program: &Path, guest: &str, workspace: &Path) -> Self {
        let mut process = Command::new(program)
            .arg(guest_path(guest))
            .arg(workspace)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the floor starts");
        let to = process.stdin.take();
        let from = process.stdout.take().expect("it is piped");
        let from = BufReader::new(from);
        Self { process, to, from }
    }

    fn run(&mut self, arguments: &Value) -> Duration {
        let nanoseconds = self.ask(&format!("run {BATCH} {arguments}"));
        Duration::from_nanos(nanoseconds)
    }

    fn ask(&mut self, line: &str) -> u64 {
        let to = self.to.as_mut().expect("it is open until the end");
        writeln!(to, "{line}").expect("the floor listens");
        let mut answer = String::new();
        self.from.read_line(&mut answer).expect("the floor answers");
        answer.trim().parse().expect("it is a number")
    }
}

impl Drop for Floor {
    fn drop(&mut self) {
        // It ends when its input does.
        drop(self.to.take());
        let _ = self.process.wait();
    }
}

/// The value after a word of the command line.
fn argument(name: &str) -> Option<PathBuf> {
    let mut words = std::env::args_os();
    words.find(|word| word == name)?;
    words.next().map(PathBuf::from)
}

/// How many calls are measured at once.
const BATCH: usize = 50;

const ROUNDS: usize = 60;

/// How often a component is compiled, which takes most of a second.
const LOADINGS: usize = 9;

const INSTANCES: usize = 100;

const MANY: usize = 10_000;

const CONFIG: &str = r#"
[tools.reads]
source = "local"
wasm = "test.wasm"
run = "unattended"
description = "Reads a file."
parameters.path = { type = "string", required = true, description = "The file." }

[tools.cats]
source = "local"
command = "cat {{tool.arguments.path}}"
run = "unattended"
description = "Reads a file."
parameters.path = { type = "string", required = true, description = "The file." }
"#;
