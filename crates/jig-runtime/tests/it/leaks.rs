//! Many sessions that are spawned and ended leave nothing behind: no process, no descriptor, no thread, no
//! handle, and no memory.
//!
//! `JIG_LEAK_CALLS` is how many there are; a few hundred by default.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the test looks into /proc and runs itself again"
)]

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use camino::Utf8Path;
use jig_broker::{Broker, BrokerParts, ConfineSettings, ProcessSettings};
use jig_files::{DiskFiles, FilesLookup, ProjectFiles};
use jig_policy::{DeclaredAccess, DefaultAccess, Guards, Policy, Workspace};
use jig_proto::vfs::ToolInput;
use jig_proto::{Action, Context, Fetch, StateName};
use jig_pty::Size;
use jig_runtime::{
    CommandLine, HandleOptions, Handles, Plan, Runtime as _, Session, StdioRuntime, Timing,
    VfsRuntime,
};
use jig_testkit::until;
use serde_json::json;

const NOBODY: u32 = 65534;

/// As root it runs once more as nobody.
#[test]
fn s063_nothing_is_left_behind() {
    if !jig_testkit::is_alone() {
        return;
    }
    let folder = tempfile::tempdir_in("/var/tmp").unwrap();
    let root = Utf8Path::from_path(folder.path()).unwrap();
    let files: Arc<dyn ProjectFiles> = Arc::new(DiskFiles::open(root).unwrap());
    let calls = std::env::var("JIG_LEAK_CALLS");
    let calls: usize = calls.map_or(200, |calls| calls.parse().unwrap());

    // What is opened once, and stays, is opened by the first few.
    cycles(&files, 16);
    until("the first are gone", || living_descendants() == 0);
    let before = Traces::now();
    cycles(&files, calls);
    until("all processes are gone", || living_descendants() == 0);
    until("all threads are gone", || {
        Traces::now().threads <= before.threads
    });
    // Whoever looks after programs that run stops watching in a moment.
    until("all descriptors are closed", || {
        Traces::now().descriptors <= before.descriptors
    });
    let after = Traces::now();
    assert!(
        after.memory <= before.memory + GROWTH,
        "{before:?} {after:?}"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);

    // One that has stopped, and that nobody has fetched, holds nothing but what it said.
    let before = Traces::now();
    let kept: Vec<Session> = (0..30)
        .map(|number| {
            let mut plan = plan(&files, "echo end");
            plan.terminal = (number % 3 == 1).then(Size::default);
            match number % 3 {
                2 => VfsRuntime.start(plan).unwrap(),
                _ => StdioRuntime.start(plan).unwrap(),
            }
        })
        .inspect(|session| while session.wait(0, None).state.status() != StateName::Stopped {})
        .collect();
    until("their threads are gone", || {
        Traces::now().threads <= before.threads
    });
    until("their descriptors are closed", || {
        Traces::now().descriptors <= before.descriptors
    });
    drop(kept);

    if rustix::process::geteuid().is_root() {
        let output = Command::new("/proc/self/exe")
            .args(["--exact", "leaks::s063_nothing_is_left_behind"])
            .current_dir("/")
            .uid(NOBODY)
            .gid(NOBODY)
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success() && text.contains("1 passed"),
            "{text}{errors}"
        );
    }
}

/// Spawns and ends sessions of each kind, in each way. Some are left to the end of their turn.
fn cycles(files: &Arc<dyn ProjectFiles>, count: usize) {
    let turns = count.div_ceil(PER_TURN);
    for turn in 0..turns {
        let handles = Handles::default();
        for number in turn * PER_TURN..count.min((turn + 1) * PER_TURN) {
            cycle(&handles, files, number);
        }
        match turn % 2 {
            0 => handles.end(Duration::from_secs(5)),
            _ => drop(handles),
        }
    }
}

fn cycle(handles: &Handles, files: &Arc<dyn ProjectFiles>, number: usize) {
    let kind = number % 5;
    let script = match kind {
        0 => "echo up; exec cat",
        1 => "(setsid sleep 1000 &); trap '' TERM; echo up; while :; do sleep 1000; done",
        2 => "echo up; exec cat",
        3 => {
            r#"read -r init; echo '{"jsonrpc":"2.0","method":"state","params":{"type":"running","content":"up"}}'; read -r more"#
        }
        _ => {
            r#"echo '{"type":"needs_input","question":{"id":"q","text":"Q?","answer_type":"text"}}'"#
        }
    };
    let mut plan = plan(files, script);
    plan.terminal = (kind == 2).then(Size::default);
    let reserved = handles
        .reserve(None, "tool", HandleOptions::default())
        .unwrap();
    let session = match kind {
        3 => VfsRuntime.start(plan),
        _ => StdioRuntime.start(plan),
    };
    let id = reserved.fill(session.unwrap());
    // Some are ended before they have said anything.
    let first = Fetch {
        wait: Some(Duration::from_secs(60)),
        ..Fetch::default()
    };
    match number % 12 {
        0 => drop(handles.settle(&id, None).unwrap()),
        1..6 => drop(handles.fetch("tool", &id, &first, None).unwrap()),
        _ => {}
    }
    if number.is_multiple_of(7) && kind == 0 {
        handles
            .apply("tool", &id, json!({"line": "x"}), &Fetch::default(), None)
            .unwrap();
    }
    if !number.is_multiple_of(11) {
        let report = handles.abort("tool", &id).unwrap();
        assert_eq!(report.state.status(), StateName::Stopped);
        assert!(handles.session(&id).is_none(), "{id} is told and gone");
    }
}

fn plan(files: &Arc<dyn ProjectFiles>, script: &str) -> Plan {
    let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(files)));
    let guards = Guards::of_workspace();
    let default = DefaultAccess::READ_WRITE;
    let policy = Policy::compile(&DeclaredAccess::default(), default, &guards, &workspace).unwrap();
    let context = Context::new(files.display_root(), Action::Run).with_access(policy.to_wire());
    let home = Path::new("/nonexistent");
    let parts = BrokerParts {
        process: ProcessSettings {
            confine: Some(ConfineSettings {
                host_path: "/usr/bin:/bin".into(),
                ..ConfineSettings::default()
            }),
            ..ProcessSettings::minimal(home)
        },
        ..BrokerParts::new("tool", "c1", Arc::clone(files), Arc::new(policy))
    };
    let input = ToolInput {
        name: "tool".to_owned(),
        ..ToolInput::default()
    };
    let view = Arc::new(files.materialize().unwrap());
    let mut plan = Plan {
        command: Some(CommandLine::literal("sh", ["-c", script], view, home)),
        stateful: true,
        timing: Timing {
            cancel_grace: Duration::from_millis(50),
            kill_grace: Duration::from_millis(50),
            ..Timing::default()
        },
        ..Plan::new(input, context, Broker::new(parts))
    };
    plan.limits.time = None;
    plan.limits.output = None;
    plan
}

#[derive(Debug)]
struct Traces {
    descriptors: usize,
    threads: usize,
    /// Resident memory in KiB.
    memory: usize,
}

impl Traces {
    fn now() -> Self {
        let list = |path: &str| fs::read_dir(path).unwrap().count();
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        Self {
            descriptors: list("/proc/self/fd"),
            threads: list("/proc/self/task"),
            memory: number.unwrap().parse().unwrap(),
        }
    }
}

/// How many processes below this one are alive.
fn living_descendants() -> usize {
    let processes: Vec<(u32, u32, bool)> = fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| {
            let pid: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
            let (state, rest) = stat.rsplit_once(") ")?.1.split_once(' ')?;
            Some((pid, rest.split(' ').next()?.parse().ok()?, state != "Z"))
        })
        .collect();
    let own = std::process::id();
    let mut found = BTreeSet::from([own]);
    while let Some((pid, ..)) = processes
        .iter()
        .find(|(pid, parent, _)| found.contains(parent) && !found.contains(pid))
    {
        found.insert(*pid);
    }
    let is_ours =
        |(pid, _, is_alive): &&(u32, u32, bool)| *is_alive && *pid != own && found.contains(pid);
    processes.iter().filter(is_ours).count()
}

/// How many handles a turn has.
const PER_TURN: usize = 25;

/// What an allocator may hold on to, in KiB. One leaked page a call would be far above it in a long run.
const GROWTH: usize = 16 * 1024;
