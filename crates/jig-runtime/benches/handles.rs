//! Two thousand idle handles: what each costs, and whether looking at one takes longer for the others.
//!
//! Every handle is a confined `cat`. A look at one of many and at an only one are taken in turns, so that
//! whatever else the machine does falls on both alike.
//!
//! `cargo bench -p jig-runtime --bench handles`; a number as argument is how many there are.
#![cfg(target_os = "linux")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its results")]
#![expect(
    clippy::disallowed_methods,
    reason = "the numbers come from /proc, and the workspace is made"
)]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use jig_broker::{Broker, BrokerParts, ConfineSettings, ProcessSettings};
use jig_files::{DiskFiles, FilesLookup, ProjectFiles};
use jig_policy::{DeclaredAccess, DefaultAccess, Guards, Policy, Workspace};
use jig_proto::vfs::ToolInput;
use jig_proto::{Action, Context, Fetch, HandleId};
use jig_runtime::{CommandLine, HandleOptions, Handles, Plan, Runtime as _, StdioRuntime};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::json;

fn main() {
    let count = std::env::args().find_map(|argument| argument.parse().ok());
    let count: usize = count.unwrap_or(2000);
    raise_descriptor_limit();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("there is a place");
    let root = Utf8Path::from_path(folder.path()).expect("it is UTF-8");
    let files: Arc<dyn ProjectFiles> = Arc::new(DiskFiles::open(root).expect("it is there"));

    let one = Handles::default();
    let only = spawn(&one, &files);
    let many = Handles::default();
    // What is there once for all is there now.
    let mut ids: Vec<HandleId> = (0..10).map(|_| spawn(&many, &files)).collect();

    let before = Memory::now();
    let start = Instant::now();
    let measured = count.saturating_sub(ids.len());
    ids.extend((0..measured).map(|_| spawn(&many, &files)));
    let took = start.elapsed() / measured.max(1) as u32;
    let after = Memory::now();
    println!(
        "{} live handles, {} ms to spawn each",
        ids.len(),
        took.as_millis()
    );
    let each = |after: u64, before: u64| after.saturating_sub(before) as f64 / measured as f64;
    println!(
        "each holds {:.1} KiB in the host ({:.1} KiB of the whole machine), {:.1} descriptors, {:.1} threads",
        each(after.resident, before.resident),
        each(before.available, after.available),
        each(after.descriptors, before.descriptors),
        each(after.threads, before.threads),
    );

    println!(
        "\n{:<28} {:>10} {:>10} {:>8} {:>8}",
        "", "only one", "of many", "fastest", "median"
    );
    let nothing = |handles: &Handles, id: &HandleId| {
        let start = Instant::now();
        let report = handles.fetch("cat", id, &Fetch::default(), None);
        report.expect("it is there");
        start.elapsed()
    };
    let echo = |handles: &Handles, id: &HandleId| {
        let wait = Fetch {
            wait: Some(Duration::from_secs(60)),
            ..Fetch::default()
        };
        let session = handles.session(id).expect("it is there");
        let seen = session.state().number;
        let start = Instant::now();
        session.apply(seen, json!({"line": "x"})).expect("it reads");
        let report = handles.fetch("cat", id, &wait, None);
        let report = report.expect("it is there").to_string();
        let took = start.elapsed();
        assert!(report.contains("x\\n"), "{report}");
        took
    };
    let same = &ids[ids.len() / 2];
    compare("fetch, nothing new", |_| {
        (nothing(&one, &only), nothing(&many, same))
    });
    compare("a line there and back", |_| {
        (echo(&one, &only), echo(&many, same))
    });
    println!("at most 2x is wanted");
    // What was not touched for long is in no cache: this is about the processor more than about us.
    compare("fetch from each in turn", |turn| {
        let id = &ids[turn % ids.len()];
        (nothing(&one, &only), nothing(&many, id))
    });

    let mut aborts: Vec<Duration> = (0..ABORTS.min(ids.len()))
        .map(|at| {
            let start = Instant::now();
            many.abort("cat", &ids[at]).expect("it is there");
            start.elapsed()
        })
        .collect();
    aborts.sort();
    if let Some(median) = aborts.get(aborts.len() / 2) {
        println!("\nan abort takes {} us", median.as_micros());
    }
    let start = Instant::now();
    many.end(Duration::from_secs(10));
    one.end(Duration::from_secs(10));
    println!("all ended after {:.1} s", start.elapsed().as_secs_f64());
}

/// Prints how long two things take that are done in turns, and their ratio.
fn compare(name: &str, both: impl Fn(usize) -> (Duration, Duration)) {
    let mut times: [Vec<Duration>; 2] = Default::default();
    for turn in 0..ROUNDS {
        let (one, many) = both(turn);
        times[0].push(one);
        times[1].push(many);
    }
    for sorted in &mut times {
        sorted.sort();
    }
    let ratio = |at: usize| times[1][at].as_secs_f64() / times[0][at].as_secs_f64();
    println!(
        "{name:<28} {:>7.1} us {:>7.1} us {:>7.2}x {:>7.2}x",
        times[0][ROUNDS / 2].as_secs_f64() * 1e6,
        times[1][ROUNDS / 2].as_secs_f64() * 1e6,
        ratio(0),
        ratio(ROUNDS / 2)
    );
}

fn spawn(handles: &Handles, files: &Arc<dyn ProjectFiles>) -> HandleId {
    let reserved = handles.reserve(None, "cat", HandleOptions::default());
    let reserved = reserved.expect("there is room");
    let session = StdioRuntime.start(plan(files)).expect("cat starts");
    reserved.fill(session)
}

/// As the engine plans a spawn: the files are shared, the policy is compiled for the call.
fn plan(files: &Arc<dyn ProjectFiles>) -> Plan {
    let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(files)));
    let guards = Guards::of_workspace();
    let default = DefaultAccess::READ_WRITE;
    let policy = Policy::compile(&DeclaredAccess::default(), default, &guards, &workspace);
    let policy = Arc::new(policy.expect("it compiles"));
    let context = Context::new(files.display_root(), Action::Run).with_access(policy.to_wire());
    let home = Path::new("/nonexistent");
    let parts = BrokerParts {
        process: ProcessSettings {
            confine: Some(ConfineSettings {
                host_path: std::env::var_os("PATH").unwrap_or_default(),
                ..ConfineSettings::default()
            }),
            ..ProcessSettings::minimal(home)
        },
        ..BrokerParts::new("cat", "c1", Arc::clone(files), policy)
    };
    let input = ToolInput {
        name: "cat".to_owned(),
        ..ToolInput::default()
    };
    let view = Arc::new(files.materialize().expect("it is a directory"));
    let mut plan = Plan {
        command: Some(CommandLine::literal("cat", [] as [&str; 0], view, home)),
        stateful: true,
        ..Plan::new(input, context, Broker::new(parts))
    };
    plan.limits.time = None;
    plan.limits.output = None;
    plan
}

/// What is in use, memory in KiB.
struct Memory {
    resident: u64,
    available: u64,
    descriptors: u64,
    threads: u64,
}

impl Memory {
    fn now() -> Self {
        let list = |path: &str| fs::read_dir(path).expect("/proc is mounted").count() as u64;
        Self {
            resident: number("/proc/self/status", "VmRSS:"),
            available: number("/proc/meminfo", "MemAvailable:"),
            descriptors: list("/proc/self/fd"),
            threads: list("/proc/self/task"),
        }
    }
}

fn number(path: &str, key: &str) -> u64 {
    let text = fs::read_to_string(path).expect("/proc is mounted");
    let line = text.lines().find_map(|line| line.strip_prefix(key));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Each handle takes several descriptors, and the usual limit is a thousand.
fn raise_descriptor_limit() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, raised).expect("up to the hard limit everybody may");
}

const ROUNDS: usize = 1000;

/// How many are aborted one by one.
const ABORTS: usize = 50;
