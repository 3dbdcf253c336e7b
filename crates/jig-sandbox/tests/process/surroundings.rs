//! The keeper tells nothing of the host, and the host notices nothing of its children.

use std::sync::atomic::AtomicUsize;

use jig_sandbox::Enforcement;

use super::*;

/// The keeper is a copy of the host: its environment, arguments and memory must be out of reach.
#[test]
fn the_keeper_keeps_the_hosts_secrets() {
    let child = spawn(shell("sleep 300")).expect("it starts");
    let of_keeper = |file| fs::read(format!("/proc/{}/{file}", child.id()));
    let command = of_keeper("cmdline").expect("everybody may read it");
    assert_eq!(
        String::from_utf8_lossy(&command).trim_end_matches('\0'),
        "jig-keeper"
    );
    // Root outside may look, and finds nothing; others may not.
    match of_keeper("environ") {
        Ok(environ) => assert!(environ.iter().all(|byte| *byte == 0)),
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied),
    }

    if child.status.processes != Enforcement::Enforced {
        return;
    }
    // From inside, also as root of the namespace, nothing can be opened. Of itself a process may.
    let script = "for pid in 1 $$; do
        for file in environ mem maps auxv; do
            (: < /proc/$pid/$file) 2>/dev/null && echo $pid $file
        done
        for link in cwd root exe fd/0; do
            readlink /proc/$pid/$link >/dev/null && echo $pid $link
        done
    done; ls /proc | grep -c '^[0-9]'";
    let (_, output, _) = run(shell(script));
    let (opened, processes) = output.trim().rsplit_once('\n').expect("lines");
    let of_itself = "2 environ\n2 mem\n2 maps\n2 auxv\n2 cwd\n2 root\n2 exe\n2 fd/0";
    assert_eq!(opened, of_itself);
    let processes: u32 = processes.parse().expect("it is a number");
    assert!((2..=5).contains(&processes), "only its own: {processes}");
}

static CHILD_SIGNALS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn count(_: libc::c_int) {
    CHILD_SIGNALS.fetch_add(1, Ordering::SeqCst);
}

/// A host with a handler hears nothing; one that ignores its children, or waits for any child, takes
/// no status away.
#[test]
fn other_waiters_are_not_disturbed() {
    // A launcher is an ordinary child, and so is the zygote of a pool.
    if !launches_directly() || !is_alone("surroundings::other_waiters_are_not_disturbed") {
        return;
    }
    let handler = count as extern "C" fn(libc::c_int) as libc::sighandler_t;
    for disposition in [handler, libc::SIG_IGN] {
        // SAFETY: the handler is async-signal-safe.
        unsafe { libc::signal(libc::SIGCHLD, disposition) };
        let child = spawn(shell("exit 7")).expect("it starts");
        // SAFETY: a null status is allowed.
        let other = unsafe { libc::waitpid(-1, std::ptr::null_mut(), 0) };
        assert_eq!(other, -1, "there is no child to see");
        assert_eq!(child.wait().expect("waitable"), Exit::Exited { code: 7 });
    }
    assert_eq!(CHILD_SIGNALS.load(Ordering::SeqCst), 0);
}

#[test]
fn nothing_remains_of_many() {
    if !is_alone("surroundings::nothing_remains_of_many") {
        return;
    }
    warm_up();
    let before = settled_descriptors();
    for number in 0..200 {
        let mut request = shell("exit 4");
        request.containment = BOTH[number % 2];
        assert_eq!(run(request).0, Exit::Exited { code: 4 });
        if number % 10 == 0 {
            assert!(spawn(request_for_nothing()).is_err());
            drop(spawn(shell("sleep 300")).expect("it starts"));
        }
    }
    assert_eq!(settled_descriptors(), before);
    assert_no_child_is_left();
}

fn request_for_nothing() -> SpawnRequest {
    request("/nonexistent/program", &[])
}

/// The child is not tied to the thread that started it.
#[test]
fn it_outlives_the_thread_that_started_it() {
    for containment in BOTH {
        let starter = thread::spawn(move || {
            let mut request = shell("echo ready; read line; exit 5");
            request.stdin = jig_sandbox::Stdio::Piped;
            request.containment = containment;
            let child = spawn(request).expect("it starts");
            // SAFETY: the call takes no arguments.
            (child, unsafe { libc::gettid() })
        });
        let (mut child, thread) = starter.join().expect("it does not panic");
        // The join may return before the kernel has ended the thread.
        until("the thread ends", || {
            !fs::exists(format!("/proc/self/task/{thread}")).unwrap_or(true)
        });
        await_ready(&mut child);
        assert_eq!(child.try_wait().expect("waitable"), None);
        drop(child.stdin.take());
        assert_eq!(child.wait().expect("waitable"), Exit::Exited { code: 5 });
    }
}

/// Eight threads start children while others allocate: no lock is needed after the fork, no pipe of
/// one is held open by another, and no status is mixed up.
#[test]
fn threads_start_children_at_once() {
    if !is_alone("surroundings::threads_start_children_at_once") {
        return;
    }
    warm_up();
    let before = settled_descriptors();
    let done = AtomicUsize::new(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            while done.load(Ordering::Relaxed) < 8 {
                drop(std::hint::black_box(vec![0_u8; 4096]));
            }
        });
        for number in 0..8_usize {
            let done = &done;
            scope.spawn(move || {
                for round in 0..10 {
                    let code = i32::try_from(number * 10 + round).expect("small");
                    let mut request = shell(&format!("echo {code}; exit {code}"));
                    request.containment = BOTH[round % 2];
                    let (exit, output, _) = run(request);
                    assert_eq!((exit, output), (Exit::Exited { code }, format!("{code}\n")));
                }
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
    });
    assert_eq!(settled_descriptors(), before);
    assert_no_child_is_left();
}
