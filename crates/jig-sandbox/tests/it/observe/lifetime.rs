//! When observing begins and ends, and where it cannot be had.

use super::*;

/// Names the one test that a process was started for.
const ALONE: &str = "JIG_TEST_ALONE";

/// Runs the test `name` in a process of its own. True in that process; false in the one that started it.
#[track_caller]
fn is_alone(name: &str) -> bool {
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let output = Command::new("/proc/self/exe")
        .args(["--exact", name, "--test-threads=1", "--nocapture"])
        .env(ALONE, name)
        .output()
        .expect("the test can be run again");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && text.contains("1 passed"),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    false
}

fn observers() -> usize {
    let tasks = fs::read_dir("/proc/self/task").expect("/proc is mounted");
    tasks
        .flatten()
        .filter(|task| {
            fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name == "jig-observer\n")
        })
        .count()
}

fn descriptors() -> usize {
    fs::read_dir("/proc/self/fd")
        .expect("/proc is mounted")
        .count()
}

const BUSY: &str = "echo ready; while :; do : < file; done";

#[track_caller]
fn await_ready(child: &mut jig_sandbox::Child) {
    let mut ready = [0; 6];
    let output = child.stdout.as_mut().expect("it is piped");
    output.read_exact(&mut ready).expect("it says so");
    assert_eq!(&ready, b"ready\n");
}

#[test]
fn a_killed_tree_leaves_no_thread_and_no_descriptor() {
    if is_inside()
        || !is_alone("observe::lifetime::a_killed_tree_leaves_no_thread_and_no_descriptor")
    {
        return;
    }
    let workspace = Workspace::of("file");
    // What is opened once, and stays open, is.
    run(request(Held::Free, &workspace, "/bin/true", &[]));
    until("the first is gone", || observers() == 0);
    let pooled = matches!(launch(), Launch::Pool(_));
    let before = descriptors();
    for held in all_ways_to_hold() {
        for ending in 0..4 {
            let mut child =
                spawn(request(held, &workspace, "/bin/sh", &["-c", BUSY])).expect("it starts");
            await_ready(&mut child);
            assert_eq!(observers(), 1);
            let observer = child.observer.take();
            match ending {
                0 => child.kill(),
                1 => drop(child.end(Duration::ZERO)),
                2 => drop(observer),
                // Whoever asks early is told what was seen so far.
                _ => assert!(!observer.expect("it is observed").finish().seen.is_empty()),
            }
            drop(child);
            until("it has ended with its tree", || observers() == 0);
        }
    }
    // A pool's keepers come and go.
    until("no descriptor is left", || {
        pooled || descriptors() <= before
    });
}

#[test]
fn a_tree_runs_on_when_nobody_wants_to_know_any_more() {
    if is_inside() {
        return;
    }
    for held in all_ways_to_hold() {
        let workspace = Workspace::of("file");
        let script = "echo ready; read line; cat file; echo > new; cat new && echo done";
        let mut request = request(held, &workspace, "/bin/sh", &["-c", script]);
        request.stdin = jig_sandbox::Stdio::Piped;
        let mut child = spawn(request).expect("it starts");
        await_ready(&mut child);
        drop(child.observer.take().expect("it is observed").finish());
        drop(child.stdin.take());
        let mut rest = String::new();
        let output = child.stdout.as_mut().expect("it is piped");
        output.read_to_string(&mut rest).expect("it is text");
        assert!(rest.ends_with("done\n"), "{held:?}: {rest}");
        assert!(child.wait().expect("it can be waited for").is_success());
    }
}

/// A program that cannot be executed is refused as ever, and nothing waits for an answer.
#[test]
fn a_program_that_does_not_start_leaves_nothing() {
    if is_inside() || !is_alone("observe::lifetime::a_program_that_does_not_start_leaves_nothing") {
        return;
    }
    for held in all_ways_to_hold() {
        let workspace = Workspace::of("file");
        let file = workspace.join("file");
        for program in ["/nonexistent/program", file.to_str().expect("it is text")] {
            spawn(request(held, &workspace, program, &[])).expect_err("it is no program");
        }
    }
    until("no observer is left", || observers() == 0);
}

/// Of two that watch one process the kernel allows only the first. What is started inside runs all the same.
#[test]
fn inside_of_an_observed_tree_programs_run_unobserved() {
    const TEST: &str = "observe::lifetime::inside_of_an_observed_tree_programs_run_unobserved";
    if is_inside() {
        let workspace = Workspace::of("");
        for held in [Held::Free, Held::Adopted] {
            let request = request(held, &workspace, "/bin/echo", &["nested"]);
            let mut child = spawn(request).expect("it starts");
            let mut output = String::new();
            let mut pipe = child.stdout.take().expect("it is piped");
            pipe.read_to_string(&mut output).expect("it is text");
            assert!(child.wait().expect("it can be waited for").is_success());
            assert_eq!(output, "nested\n");
            assert!(child.observer.is_none());
            let reason = child.unobserved.as_deref().expect("it says why");
            assert!(reason.contains("already"), "{reason}");
        }
        return;
    }
    for held in [Held::Free, Held::Adopted] {
        // A keeper that is a copy of its host may be closed to an observer without privileges.
        run_inside(held, TEST, &Workspace::of(""));
    }
}

/// Nothing is observed unless it is asked for.
#[test]
fn without_a_request_there_is_no_observer() {
    if is_inside() {
        return;
    }
    for held in all_ways_to_hold() {
        let workspace = Workspace::of("");
        let mut request = request(held, &workspace, "/bin/true", &[]);
        request.observe = false;
        let child = spawn(request).expect("it starts");
        assert!(child.observer.is_none() && child.unobserved.is_none());
        assert!(child.wait().expect("it can be waited for").is_success());
    }
}

/// A tree that stays is told of part by part: what it did is seen by whoever hears of it, once.
#[test]
fn what_was_seen_is_told_part_by_part() {
    if is_inside() {
        return;
    }
    let workspace = Workspace::of("first\nsecond");
    let script =
        "echo ready; read go; : < first; echo ready; read go; : < second; echo ready; read go";
    for held in all_ways_to_hold() {
        let mut request = request(held, &workspace, "/bin/sh", &["-c", script]);
        request.stdin = jig_sandbox::Stdio::Piped;
        let mut child = spawn(request).expect("it starts");
        let observer = child.observer.take().expect("it is observed");
        let names = |observation: &Observation| -> Vec<String> {
            let paths = observation
                .seen
                .iter()
                .filter_map(|seen| match &seen.target {
                    ObservedTarget::Path(path) => path.file_name(),
                    _ => None,
                });
            paths
                .map(|name| name.to_string_lossy().into_owned())
                .filter(|name| ["first", "second"].contains(&name.as_str()))
                .collect()
        };
        for expected in [None, Some("first"), Some("second")] {
            await_ready(&mut child);
            assert_eq!(names(&observer.take()), Vec::from_iter(expected));
            assert_eq!(names(&observer.take()), [""; 0]);
            let stdin = child.stdin.as_mut().expect("it is piped");
            std::io::Write::write_all(stdin, b"go\n").expect("it reads");
        }
        assert!(child.wait().expect("it ends").is_success());
        assert_eq!(names(&observer.finish()), [""; 0]);
    }
}
