//! Handles of real, confined programs.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "fixtures are files and processes, and one that fails is a failed test"
)]

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::registry::world::{LONG, World, started, until};
use jig_proto::{Fetch, HandleId, HandleReport, StateName, ToolState, View};
use jig_pty::Size;
use jig_runtime::{Await, HandleLimits, HandleOptions, Handles, Session, leftovers};
use serde_json::{Value, json};

fn add(handles: &Handles, session: Session) -> HandleId {
    let reserved = handles.reserve(None, "sh", HandleOptions::default());
    reserved.unwrap().fill(session)
}

fn text(report: &HandleReport) -> String {
    report.state.content().to_text()
}

/// Fetches until all that was shown satisfies the test.
fn read_until(handles: &Handles, id: &HandleId, is_enough: impl Fn(&str) -> bool) -> HandleReport {
    let look = Fetch {
        wait: Some(LONG),
        ..Fetch::default()
    };
    let mut all = String::new();
    loop {
        let report = handles.fetch("sh", id, &look, None).unwrap();
        all.push_str(&text(&report));
        if is_enough(&all) {
            return report;
        }
        assert_eq!(
            report.state.status(),
            StateName::Running,
            "{report}: {all:?}"
        );
    }
}

/// S-010 to S-013: the conversation of the document, with a program on pipes.
#[test]
fn s010_to_s013_a_conversation() {
    let world = World::new();
    let handles = Handles::default();
    let script = "echo 'diff --git a/...'; printf 'Stage this hunk? '; read -r answer
                  echo \"Next hunk: $answer\"; read -r answer; echo bye; exit 3";
    let id = add(&handles, world.script(world.plan("sh"), script));
    assert_eq!(id.as_str(), "h_1");
    let first = handles.settle(&id, None).unwrap();
    assert_eq!(first.state.status(), StateName::Running);
    if !text(&first).ends_with("Stage this hunk? ") {
        // The machine was too busy for it to come in one piece.
        read_until(&handles, &id, |all| all.ends_with("Stage this hunk? "));
    }
    let look = Fetch {
        wait: Some(LONG),
        ..Fetch::default()
    };
    let line = |line: &str| json!({ "line": line });
    let next = handles.apply("sh", &id, line("y"), &look, None).unwrap();
    assert_eq!(next.state.status(), StateName::Running);
    assert_eq!(text(&next), "Next hunk: y\n");
    handles.apply("sh", &id, line("n"), &look, None).ok();
    let mut last = handles.fetch("sh", &id, &look, None);
    // The report on the input may have been the last.
    if let Ok(report) = &last
        && report.state.status() == StateName::Running
    {
        last = handles.fetch("sh", &id, &look, None);
    }
    if let Ok(report) = last {
        check_exit(&report);
    }
    assert!(handles.list().is_empty());
    world.is_left();
}

fn check_exit(report: &HandleReport) {
    let ToolState::Stopped { result, .. } = &report.state else {
        panic!("{report}")
    };
    let error = result.as_ref().unwrap_err();
    assert!(error.message.contains("exited with code 3"), "{error:?}");
    assert_eq!(report.details.exit_code, Some(3));
}

/// The last output and the exit code are in the last report, once.
#[test]
fn s013_the_exit_code_is_told() {
    let world = World::new();
    let handles = Handles::default();
    let id = add(
        &handles,
        world.script(world.plan("sh"), "echo last words; exit 3"),
    );
    let ids = std::slice::from_ref(&id);
    let report = handles.wait(ids, Await::All, Some(LONG), None).unwrap();
    assert_eq!(text(&report[0]), "last words\n");
    check_exit(&report[0]);
    assert!(handles.fetch("sh", &id, &Fetch::default(), None).is_err());
}

/// S-063: an abort leaves nothing behind, also of a program that refuses and has let a child go.
#[test]
fn s063_abort_ends_the_whole_tree() {
    let world = World::new();
    let handles = Handles::default();
    let script = "trap '' TERM; (setsid sleep 1000 &); echo up; while :; do sleep 1000; done";
    let id = add(&handles, world.script(world.plan("sh"), script));
    read_until(&handles, &id, |all| all.contains("up"));
    let info = handles.list().remove(0);
    let pid = info.pid.unwrap();
    let at = started(pid);
    assert!(at.is_some());
    assert!(info.usage.unwrap().tasks >= 2, "{info:?}");
    let report = handles.abort("sh", &id).unwrap();
    assert_eq!(report.state.status(), StateName::Stopped);
    until("the process is gone", || started(pid) != at);
    world.is_left();
}

/// S-063: the end of the turn ends all, whatever they do.
#[test]
fn s063_the_turn_ends_with_all_processes() {
    let world = World::new();
    let handles = Handles::default();
    let scripts = [
        "exec cat",
        "trap '' TERM; echo up; while :; do sleep 1000; done",
        "while :; do echo flood; done",
        "read -r line",
    ];
    for script in scripts.iter().cycle().take(12) {
        add(&handles, world.script(world.plan("sh"), script));
    }
    assert_eq!(handles.counts().live, 12);
    handles.end(Duration::from_secs(1));
    assert_eq!((handles.counts().live, handles.counts().stopped), (0, 0));
    world.is_left();
}

/// A program on a terminal: the report says so, and the screen is shown.
#[test]
fn s005_a_program_on_a_terminal() {
    let world = World::new();
    let handles = Handles::default();
    let mut plan = world.plan("sh");
    plan.terminal = Some(Size { rows: 10, cols: 40 });
    let script = "test -t 0 && echo on a terminal; exec cat";
    let id = add(&handles, world.script(plan, script));
    read_until(&handles, &id, |all| all.contains("on a terminal"));
    assert!(handles.list()[0].terminal);
    let look = Fetch {
        view: View::Screen,
        ..Fetch::default()
    };
    let report = handles.fetch("sh", &id, &look, None).unwrap();
    let terminal = report.details.terminal.unwrap();
    assert_eq!((terminal.rows, terminal.cols), (10, 40));
    assert!(text(&report).contains("on a terminal"), "{report}");
    handles.abort("sh", &id).unwrap();
    world.is_left();
}

fn journals(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .map(|path| std::fs::read_to_string(path).unwrap_or_default())
        .collect()
}

/// S-067: the journal names the processes of live handles, and is gone with the last of them, also if
/// nobody asks.
#[test]
fn s067_the_journal_follows_the_handles() {
    let world = World::new();
    let state = tempfile::tempdir().unwrap();
    let handles = Handles::with_journal(HandleLimits::default(), state.path()).unwrap();
    assert!(journals(state.path()).is_empty());
    let first = add(&handles, world.script(world.plan("sh"), "exec cat"));
    let second = add(&handles, world.script(world.plan("sh"), "read -r line"));
    for id in [&first, &second] {
        until("the process is known", || {
            handles.session(id).unwrap().pid().is_some()
        });
        handles.fetch("sh", id, &Fetch::default(), None).unwrap();
    }
    let pid = handles.session(&first).unwrap().pid().unwrap();
    let journal = journals(state.path());
    assert_eq!(journal.len(), 1);
    // The first line names the process of jig.
    let lines = journal[0].lines().skip(1);
    let lines: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert_eq!(lines.len(), 2);
    assert_eq!(
        (&lines[0]["id"], &lines[0]["tool"]),
        (&json!("h_1"), &json!("sh"))
    );
    assert_eq!(lines[0]["pid"], json!(pid));
    assert_eq!(lines[0]["started"].to_string(), started(pid).unwrap());
    assert_eq!(leftovers(state.path()), []);
    handles.abort("sh", &first).unwrap();
    // This one ends by itself.
    let end = json!({ "end": true });
    let sent = handles.session(&second).unwrap();
    let number = sent.state().number;
    sent.apply(number, end).unwrap();
    until("the journal is gone", || journals(state.path()).is_empty());
    world.is_left();
}

/// S-067: a jig with a live handle is killed; nothing runs on, and the next one says what there was.
#[test]
fn s067_a_killed_jig_leaves_nothing() {
    let state = tempfile::tempdir().unwrap();
    let mut jig = Command::new(std::env::current_exe().unwrap());
    jig.args([
        "--exact",
        "registry_processes::jig_that_is_killed",
        "--nocapture",
    ]);
    jig.env(STATE, state.path()).stdout(Stdio::piped());
    let mut jig = jig.spawn().unwrap();
    let lines = BufReader::new(jig.stdout.take().unwrap()).lines();
    let told = lines.map(Result::unwrap);
    let pid = told.into_iter().find_map(|line| {
        let (_, pid) = line.split_once("spawned ")?;
        pid.parse::<u32>().ok()
    });
    let pid = pid.unwrap();
    let at = started(pid);
    assert!(at.is_some());
    assert_eq!(leftovers(state.path()), []);
    jig.kill().unwrap();
    jig.wait().unwrap();
    let left = leftovers(state.path());
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!((left[0].id.as_str(), left[0].tool.as_str()), ("h_1", "sh"));
    assert!(left[0].has_ended, "{left:?}");
    assert!(started(pid).is_none() || started(pid) != at);
    assert!(journals(state.path()).is_empty());
    assert_eq!(leftovers(state.path()), []);
}

/// Not a test of its own: the process that [`s067_a_killed_jig_leaves_nothing`] kills.
#[test]
fn jig_that_is_killed() {
    let Some(state) = std::env::var_os(STATE) else {
        return;
    };
    let world = World::new();
    let handles = Handles::with_journal(HandleLimits::default(), Path::new(&state)).unwrap();
    let script = "trap '' TERM; echo up; while :; do sleep 1000; done";
    let id = add(&handles, world.script(world.plan("sh"), script));
    read_until(&handles, &id, |all| all.contains("up"));
    println!("spawned {}", handles.list()[0].pid.unwrap());
    let _ = handles.until(&[id], Await::All, Some(LONG), None);
}

const STATE: &str = "JIG_TEST_STATE";
