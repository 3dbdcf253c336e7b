//! J-019: with the child, its host or its own end, every process of the tree is gone.

use std::io::Write;
use std::process::Stdio;

use super::*;

/// What a hostile or careless tool leaves running, and how many processes of it carry the mark.
const TREES: [(&str, &str, usize); 4] = [
    ("plain", "sleep 300 & echo ready; sleep 300", 3),
    (
        "daemon",
        "(setsid sh -c 'sleep 300 & exec sleep 300' >/dev/null 2>&1 </dev/null &); echo ready; sleep 300",
        4,
    ),
    (
        "stubborn",
        "trap '' TERM HUP INT; setsid sleep 300 & echo ready; while :; do sleep 300; done",
        3,
    ),
    (
        "swarm",
        "i=0; while [ $i -lt 50 ]; do setsid sleep 300 & i=$((i+1)); done; echo ready; sleep 300",
        52,
    ),
];

fn start(containment: Containment, script: &str, mark: &str) -> Child {
    let mut request = shell(script);
    request.env.insert(MARK.into(), mark.into());
    request.containment = containment;
    let mut child = spawn(request).expect("it starts");
    await_ready(&mut child);
    child
}

/// The tree is all there, and after `end` nothing of it is.
#[track_caller]
fn check(end: fn(Child)) {
    for containment in BOTH {
        for (name, script, size) in TREES {
            let mark = fresh_mark();
            let child = start(containment, script, &mark);
            let keeper = child.id();
            until("the tree grows", || marked(&mark).len() >= size);
            end(child);
            let left = marked(&mark);
            assert_eq!(left, [0_u32; 0], "{name} {containment:?}");
            assert!(!is_alive(keeper), "{name} {containment:?}");
        }
    }
}

#[test]
fn all_are_gone_after_a_kill() {
    check(|child| {
        child.kill();
        child.wait().expect("waitable");
    });
}

#[test]
fn all_are_gone_after_a_drop() {
    check(drop);
}

#[test]
fn all_are_gone_after_an_end_with_grace() {
    check(|child| {
        child.end(Duration::from_millis(50)).expect("waitable");
    });
}

/// The tool's own end is the end of what it left behind.
#[test]
fn all_are_gone_when_the_tool_exits() {
    for containment in BOTH {
        for (name, script, _) in TREES {
            let mark = fresh_mark();
            // The same trees, without the wait at the end.
            let (script, _) = script.split_once("echo ready;").expect("each says so");
            let script = format!("{script} echo ready; exit 6");
            let child = start(containment, &script, &mark);
            assert_eq!(
                child.wait().expect("waitable"),
                Exit::Exited { code: 6 },
                "{name}"
            );
            assert_eq!(marked(&mark), [0_u32; 0], "{name} {containment:?}");
        }
    }
}

/// The keeper is not the tool's to stop or kill, where it is in a namespace.
#[test]
fn a_tool_cannot_end_its_keeper() {
    let script = "kill -KILL 1; kill -STOP 1; kill -TERM 1; kill -KILL $PPID; echo ready; exit 9";
    let child = start(Containment::Required, script, &fresh_mark());
    assert_eq!(child.wait().expect("waitable"), Exit::Exited { code: 9 });
}

/// Without namespaces it can be stopped; that does not save the tool.
#[test]
fn a_stopped_keeper_is_woken_for_the_kill() {
    let mark = fresh_mark();
    let script = "sleep 300 & kill -STOP $PPID; echo ready; sleep 300";
    let child = start(Containment::WithoutNamespaces, script, &mark);
    child.kill();
    child.wait().expect("waitable");
    assert_eq!(marked(&mark), [0_u32; 0]);
}

/// A tool that stops its keeper again and again delays its end, and can neither prevent it nor hang us.
#[test]
fn a_keeper_that_is_always_stopped_is_killed_at_last() {
    let mark = fresh_mark();
    let script = "(setsid sh -c 'while kill -STOP $0; do :; done' $PPID &); echo ready; sleep 300";
    let child = start(Containment::WithoutNamespaces, script, &mark);
    child.kill();
    assert!(matches!(
        child.wait().expect("waitable"),
        Exit::Killed { signal: 9, .. }
    ));
    until("all are gone", || marked(&mark).is_empty());
}

/// Without namespaces, a tool that kills its keeper dies with it.
#[test]
fn a_tool_that_kills_its_keeper_dies() {
    let mark = fresh_mark();
    // Not at once, because a keeper that dies before it has spoken is a failed start.
    let mut request = shell("read line; kill -KILL $PPID; exec sleep 300");
    request.stdin = jig_sandbox::Stdio::Piped;
    request.env.insert(MARK.into(), mark.as_str().into());
    request.containment = Containment::WithoutNamespaces;
    let mut child = spawn(request).expect("it starts");
    drop(child.stdin.take());
    assert!(matches!(
        child.wait().expect("waitable"),
        Exit::Killed { signal: 9, .. }
    ));
    until("the tool is killed", || marked(&mark).is_empty());
}

/// The role of a host that is killed: starts a tree, says so, and waits for its death.
fn be_a_host(task: &str) {
    let (containment, rest) = task.split_once(' ').expect("two words come first");
    let (mark, script) = rest.split_once(' ').expect("two words come first");
    let containment = BOTH[containment.parse::<usize>().expect("it is a place")];
    let child = start(containment, script, mark);
    let mut line = std::io::stdout().lock();
    writeln!(line, "\nkeeper {}", child.id()).expect("the test listens");
    line.flush().expect("the test listens");
    loop {
        thread::park();
    }
}

const TASK: &str = "JIG_TEST_HOST";

#[test]
fn all_are_gone_after_the_host_is_killed() {
    if let Ok(task) = std::env::var(TASK) {
        be_a_host(&task);
    }
    for signal in [libc::SIGKILL, libc::SIGTERM] {
        for (place, containment) in BOTH.into_iter().enumerate() {
            for (name, script, size) in TREES {
                let mark = fresh_mark();
                let mut host = Command::new("/proc/self/exe")
                    .args([
                        "--exact",
                        "tree::all_are_gone_after_the_host_is_killed",
                        "--nocapture",
                    ])
                    .env(TASK, format!("{place} {mark} {script}"))
                    .stdout(Stdio::piped())
                    .spawn()
                    .expect("the test can be run again");
                let mut lines = BufReader::new(host.stdout.take().expect("piped")).lines();
                let keeper: u32 = lines
                    .find_map(|line| line.ok()?.strip_prefix("keeper ")?.parse().ok())
                    .expect("the host says when it is ready");
                until("the tree grows", || marked(&mark).len() >= size);
                assert!(is_alive(keeper));
                // SAFETY: the host was not waited for, so that the number is its own.
                unsafe { libc::kill(host.id().cast_signed(), signal) };
                host.wait().expect("waitable");
                until(&format!("{name} {containment:?} is gone"), || {
                    marked(&mark).is_empty() && !is_alive(keeper)
                });
            }
        }
    }
}
