//! Waiting, asking and killing.

use std::io::Write;
use std::os::fd::AsFd;

use jig_sandbox::{Interest, Stdio, Waker, poll, set_nonblocking};

use super::*;

const KILLED: Exit = Exit::Killed {
    signal: libc::SIGKILL,
    core: false,
};

#[test]
fn waiting_takes_the_time_it_was_given() {
    for containment in BOTH {
        let mut request = shell("exec sleep 300");
        request.containment = containment;
        let child = spawn(request).expect("it starts");
        assert_eq!(child.try_wait().expect("waitable"), None);
        let start = Instant::now();
        let limit = Duration::from_millis(120);
        assert_eq!(child.wait_timeout(limit).expect("waitable"), None);
        let took = start.elapsed();
        assert!(took >= limit && took < Duration::from_secs(20), "{took:?}");
        // A limit beyond the clock's range is none, and does not matter here.
        child.kill();
        assert_eq!(
            child.wait_timeout(Duration::MAX).expect("waitable"),
            Some(KILLED)
        );
        // It can be asked again, and killed again.
        child.kill();
        child.terminate();
        assert_eq!(child.wait().expect("waitable"), KILLED);
        assert_eq!(child.try_wait().expect("waitable"), Some(KILLED));
    }
}

/// V-111, V-112: a tool that cleans up on SIGTERM gets to do so.
#[test]
fn asked_to_end_it_cleans_up() {
    for containment in BOTH {
        let mut request =
            shell("trap 'echo bye; exit 7' TERM; echo ready; while :; do sleep 0.05; done");
        request.containment = containment;
        let mut child = spawn(request).expect("it starts");
        await_ready(&mut child);
        let exit = child.end(Duration::from_secs(20)).expect("waitable");
        assert_eq!(exit, Exit::Exited { code: 7 });
        let mut rest = String::new();
        child
            .stdout
            .take()
            .expect("piped")
            .read_to_string(&mut rest)
            .expect("readable");
        assert_eq!(rest, "bye\n");
    }
}

/// A daemon that left the session is asked too, and one that is stopped hears it.
#[test]
fn the_whole_tree_is_asked() {
    let directory = tempfile::tempdir().expect("there is a directory for temporary files");
    for containment in BOTH {
        let mut request = shell(
            "(setsid sh -c 'trap \"echo daemon >>told; exit\" TERM; echo >up; kill -STOP $$; while :; do sleep 0.05; done' &)
             trap 'while ! [ -e told ]; do sleep 0.05; done; exit 3' TERM
             while ! [ -e up ]; do sleep 0.05; done; echo ready; while :; do sleep 0.05; done",
        );
        request.cwd = directory.path().to_owned();
        request.containment = containment;
        let mut child = spawn(request).expect("it starts");
        await_ready(&mut child);
        let exit = child.end(Duration::from_secs(20)).expect("waitable");
        assert_eq!(exit, Exit::Exited { code: 3 }, "{containment:?}");
        for file in ["told", "up"] {
            fs::remove_file(directory.path().join(file)).expect("the daemon wrote it");
        }
    }
}

/// V-113: the kill is the backstop for one that does not listen.
#[test]
fn who_does_not_end_is_killed() {
    for containment in BOTH {
        let mut request = shell("trap '' TERM; echo ready; while :; do sleep 1; done");
        request.containment = containment;
        let mut child = spawn(request).expect("it starts");
        await_ready(&mut child);
        let start = Instant::now();
        let grace = Duration::from_millis(100);
        assert_eq!(child.end(grace).expect("waitable"), KILLED);
        let took = start.elapsed();
        assert!(took >= grace && took < Duration::from_secs(20), "{took:?}");
    }
}

/// One thread waits, another kills.
#[test]
fn threads_share_a_child() {
    let child = spawn(shell("exec sleep 300")).expect("it starts");
    thread::scope(|scope| {
        let waiters: Vec<_> = (0..4).map(|_| scope.spawn(|| child.wait())).collect();
        scope.spawn(|| child.kill());
        for waiter in waiters {
            let exit = waiter.join().expect("it does not panic").expect("waitable");
            assert_eq!(exit, KILLED);
        }
    });
}

/// A tool that does not read, with a host that waits for everything at once.
#[test]
fn readiness_of_all_kinds_is_seen() {
    let mut request = shell("exec sleep 300");
    request.stdin = Stdio::Piped;
    let child = spawn(request).expect("it starts");
    let (stdin, stdout) = (
        child.stdin.as_ref().expect("piped"),
        child.stdout.as_ref().expect("piped"),
    );
    set_nonblocking(stdin.as_fd(), true).expect("it is ours");
    let waker = Waker::new().expect("there are descriptors");
    let interests = [
        Interest::Readable(stdout.as_fd()),
        Interest::Writable(stdin.as_fd()),
        Interest::Exited(&child),
        Interest::Woken(&waker),
    ];
    let look = |limit| {
        let ready = poll(&interests, limit).expect("pollable");
        [0, 1, 2, 3].map(|place| ready.contains(place))
    };
    assert_eq!(
        look(None),
        [false, true, false, false],
        "there is room to write"
    );

    // The pipe is filled up without blocking, so that there is room no more.
    let mut written = 0;
    while let Ok(count) = (&*stdin).write(&[b'x'; 4096]) {
        written += count;
    }
    assert!(written > 0);
    let start = Instant::now();
    assert_eq!(look(Some(Duration::from_millis(50))), [false; 4]);
    assert!(start.elapsed() >= Duration::from_millis(50));

    thread::scope(|scope| {
        scope.spawn(|| waker.clone().wake());
        assert_eq!(look(None), [false, false, false, true]);
    });
    assert!(waker.clear());
    assert!(!waker.clear());

    child.kill();
    until("the child ends", || look(None)[2]);
    assert_eq!(child.wait().expect("waitable"), KILLED);
    assert_eq!(
        look(None),
        [true, true, true, false],
        "nothing blocks any more"
    );
}
