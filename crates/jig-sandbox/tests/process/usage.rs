//! What a tree uses: as the host asks for it, and as its keeper watches it.

use std::time::Duration;

use jig_sandbox::{ProcessLimit, TreeUsage};

use super::*;

fn python(script: &str) -> SpawnRequest {
    request("/usr/bin/python3", &["-c", script])
}

/// Threads, and children that only one of them has.
const THREADS: &str = "
import subprocess, threading, time
for i in range(3): threading.Thread(target=time.sleep, args=(300,)).start()
run = lambda: subprocess.run(['sleep', '300'])
threading.Thread(target=run).start()
time.sleep(300)";

#[test]
fn every_process_and_thread_counts() {
    for containment in BOTH {
        for (mut request, tasks) in [
            (shell("exec sleep 300"), 1),
            (
                shell("sleep 300 & (sleep 300 & sleep 300 & wait) & wait"),
                5,
            ),
            // What left its parent is the keeper's.
            (shell("(setsid sleep 300 &); exec sleep 300"), 2),
            (python(THREADS), 6),
        ] {
            request.containment = containment;
            let child = spawn(request).expect("it starts");
            until("all are counted", || child.usage().tasks == tasks);
            // Some is there once the program has begun.
            let some = 100 << 10..1 << 30;
            until("memory is counted", || some.contains(&child.usage().memory));
            child.kill();
            child.wait().expect("waitable");
            assert_eq!(child.usage(), TreeUsage::default());
        }
    }
}

#[test]
fn time_counts_also_of_what_has_ended() {
    let burn = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
    for containment in BOTH {
        for script in [
            format!("{burn}; echo ready; exec sleep 300"),
            format!("({burn}); echo ready; sleep 300"),
            // Its parent has ended before it, so that the keeper reaped it.
            format!("((setsid sh -c '{burn}; echo ready' &) &); sleep 300"),
        ] {
            let mut request = shell(&script);
            request.containment = containment;
            let mut child = spawn(request).expect("it starts");
            await_ready(&mut child);
            // The kernel tells it in hundredths of a second.
            let least = Duration::from_millis(30);
            until("its time is counted", || child.usage().cpu >= least);
            assert!(child.usage().cpu < Duration::from_secs(20));
        }
    }
}

/// Much more memory than its limit, kept.
const HOARD: &str = "exec /usr/bin/python3 -c 'import time
x = bytearray(150 << 20); time.sleep(300)'";

/// The tree is ended for its memory.
#[track_caller]
fn check(program: &str, script: &str) {
    for containment in BOTH {
        let mut request = request(program, &["-c", script]);
        request.limits.memory = Some(100 << 20);
        request.containment = containment;
        let child = spawn(request).expect("it starts");
        let exit = child.wait_timeout(Duration::from_secs(30));
        assert!(exit.expect("waitable").is_some(), "{containment:?}");
        assert_eq!(child.reached(), [ProcessLimit::Memory], "{containment:?}");
    }
}

/// a tree that did nothing for long is looked at rarely, but it is looked at.
#[test]
fn memory_is_watched_in_a_tree_that_stood_still() {
    check("/bin/sh", &format!("sleep 3; {HOARD}"));
}

/// the end of orphans keeps the keeper busy, and does not keep it from looking.
#[test]
fn memory_is_watched_by_a_busy_keeper() {
    let script = format!("(while :; do (sleep 0 &) done) >/dev/null 2>&1 & {HOARD}");
    check("/bin/sh", &script);
}

/// without namespaces too, where processes are found by their parents, of which each thread is one.
#[test]
fn memory_is_watched_below_every_thread() {
    check(
        "/usr/bin/python3",
        "import subprocess, threading, time
hoard = ['/usr/bin/python3', '-c', 'import time; x = bytearray(150 << 20); time.sleep(300)']
threading.Thread(target=lambda: subprocess.run(hoard)).start()
time.sleep(300)",
    );
}
