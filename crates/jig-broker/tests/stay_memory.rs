//! Programs that stay cannot fill the host's memory, whatever they print and whoever does not read it.
//!
//! In a process of its own, because it looks at how much memory that has.

#![cfg(target_os = "linux")]
#![expect(
    clippy::disallowed_methods,
    reason = "the tests prepare workspaces and look at themselves from outside"
)]
#![expect(clippy::unwrap_used, reason = "a fixture that fails is a failed test")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use camino::Utf8Path;
use jig_broker::{Broker, BrokerParts, JudgedRequest};
use jig_files::{DiskFiles, FilesLookup, ProjectFiles};
use jig_policy::{
    DeclaredAccess, DeclaredCommandRule, DefaultAccess, Guards, Policy, RuleOrigin, Workspace,
};
use jig_proto::vfs::{
    ProcessOutput, ProcessRead, ProcessStart, ProcessStop, TerminalSize, VfsReply, VfsRequest,
};
use jig_proto::{Fetch, View};

/// How much memory this process has, in bytes.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kilobytes = line.unwrap().split_whitespace().nth(1).unwrap();
    kilobytes.parse::<u64>().unwrap() * 1024
}

fn broker(root: &Utf8Path) -> Broker {
    let files: Arc<dyn ProjectFiles> = Arc::new(DiskFiles::open(root).unwrap());
    let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(&files)));
    let access = DeclaredAccess {
        commands: Some(vec![DeclaredCommandRule {
            program: "sh".to_owned(),
            args: None,
            envs: Vec::new(),
            origin: RuleOrigin::line("jig.toml", 1),
        }]),
        ..DeclaredAccess::default()
    };
    let policy = Policy::compile(
        &access,
        DefaultAccess::READ_ONLY,
        &Guards::default(),
        &workspace,
    );
    let mut parts = BrokerParts::new("editor", "c1", files, Arc::new(policy.unwrap()));
    parts.process.env = jig_sandbox::minimal_environment(root.as_std_path());
    parts.secrets.remember("a secret that is looked for");
    Broker::new(parts)
}

fn ask(broker: &Broker, request: &VfsRequest<'_>) -> VfsReply<'static> {
    match broker.judge(request) {
        JudgedRequest::Ready(work) => work.perform().unwrap(),
        other => panic!("{other:?}"),
    }
}

fn look(broker: &Broker, process: u64, view: View) -> ProcessOutput<'static> {
    let read = ProcessRead {
        fetch: Fetch {
            view,
            wait: Some(Duration::from_millis(100)),
            ..Fetch::default()
        },
        ..ProcessRead::new(process)
    };
    match ask(broker, &VfsRequest::ProcessRead(read)) {
        VfsReply::Output(output) => output,
        other => panic!("{other:?}"),
    }
}

#[test]
fn floods_do_not_fill_memory() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let broker = broker(Utf8Path::from_path(&root).unwrap());
    let terminal = Some(TerminalSize::default());
    let floods = [
        ("lines", "yes 'some line of output'", None),
        ("one line", "yes | tr -d '\\n'", None),
        ("no text", "cat /dev/zero", None),
        ("to both", "yes & yes >&2", None),
        ("lines on a screen", "yes 'some line of output'", terminal),
        ("one line on a screen", "yes | tr -d '\\n'", terminal),
        // Each asks where the cursor is, and nobody reads the answers.
        (
            "questions",
            "stty -echo; yes \"$(printf '\\033[6n\\033[c')\"",
            terminal,
        ),
        // A string that does not end.
        (
            "a title",
            "echo begin; printf '\\033]0;'; yes | tr -d '\\n'",
            terminal,
        ),
    ];
    // What is needed once, such as the memory of threads, is there afterwards.
    flood(&broker, "echo hello; sleep 0.2", None, Duration::ZERO);
    for (name, script, terminal) in floods {
        let before = memory();
        flood(&broker, script, terminal, Duration::from_secs(2));
        let grown = memory().saturating_sub(before);
        assert!(grown < MOST, "{name}: {grown} bytes more");
    }
}

/// Lets a program print for this time, or as much as is enough, without reading, and ends it.
fn flood(broker: &Broker, script: &str, terminal: Option<TerminalSize>, time: Duration) {
    let start = ProcessStart {
        args: vec!["-c".into(), script.into()],
        terminal,
        ..ProcessStart::new("sh")
    };
    let VfsReply::Started(started) = ask(broker, &VfsRequest::ProcessStart(start)) else {
        panic!("it is allowed");
    };
    let process = started.process;
    let begin = Instant::now();
    let mut seq = 0;
    while seq == 0 || begin.elapsed() < time && seq < ENOUGH {
        // What is there is bounded, whatever was printed.
        let output = look(broker, process, View::All);
        assert!(output.content.len() <= 256 * 1024, "{script}");
        seq = output.seq;
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "{script} prints nothing"
        );
        jig_testkit::let_pass(Duration::from_millis(50));
    }
    let VfsReply::Output(end) = ask(broker, &VfsRequest::ProcessStop(ProcessStop { process }))
    else {
        panic!("it is a stop");
    };
    assert!(!end.running);
}

/// How much more memory may be there after some hundred megabytes of output. What the allocator keeps is
/// part of it.
const MOST: u64 = 24 << 20;

/// What is kept without a bound is far more than [`MOST`] once so many bytes were printed.
const ENOUGH: u64 = 4 * MOST;
