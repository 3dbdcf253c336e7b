//! Probing changes nothing in the process that asks, and leaves nothing behind.
#![cfg(target_os = "linux")]
#![expect(
    unsafe_code,
    reason = "signals and children are looked at by system calls"
)]
#![expect(clippy::disallowed_methods, reason = "the tests look into /proc")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, mem, ptr, thread};

use jig_sandbox::{Machine, Namespaces, ProbeResult, probe};

/// The tests count what belongs to the whole process, so they take turns.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A probe that ran to its end: no trial was lost to a missing, killed or hanging child.
fn is_complete(machine: &Machine) -> bool {
    let Namespaces { user, .. } = machine.namespaces;
    [user, machine.seccomp.filters, machine.seccomp.notify]
        .iter()
        .all(|trial| {
            !matches!(
                trial,
                ProbeResult::NotTried
                    | ProbeResult::TimedOut
                    | ProbeResult::Killed { .. }
                    | ProbeResult::NoChild { .. }
            )
        })
}

fn open_descriptors() -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir("/proc/self/fd")
        .expect("/proc is mounted")
        .map(|entry| entry.expect("/proc is mounted").path())
        // The descriptor of this very listing is gone by the time it is looked at.
        .filter_map(|path| {
            fs::read_link(&path)
                .ok()
                .map(|to| format!("{path:?} {to:?}"))
        })
        .collect();
    names.sort();
    names
}

/// All that the kernel says about this thread's confinement.
fn standing() -> String {
    let mut text = String::new();
    for name in [
        "user",
        "mnt",
        "net",
        "pid",
        "pid_for_children",
        "ipc",
        "uts",
        "cgroup",
    ] {
        text += &format!(
            "{:?}\n",
            fs::read_link(format!("/proc/thread-self/ns/{name}")).expect("/proc is mounted")
        );
    }
    for file in ["limits", "mountinfo", "cgroup", "uid_map", "gid_map"] {
        text += &fs::read_to_string(format!("/proc/thread-self/{file}")).expect("/proc is mounted");
    }
    let status = fs::read_to_string("/proc/thread-self/status").expect("/proc is mounted");
    let kept = [
        "Uid",
        "Gid",
        "Groups",
        "Sig",
        "Shd",
        "Cap",
        "NoNewPrivs",
        "Seccomp",
        "Threads",
    ];
    for line in status
        .lines()
        .filter(|line| kept.iter().any(|name| line.starts_with(name)))
    {
        // The number of queued signals is that of the user, not of the process.
        if !line.starts_with("SigQ") && !line.starts_with("Threads") {
            text += &format!("{line}\n");
        }
    }
    text
}

/// Whether the process has any child, running or dead, of whatever kind.
fn has_children() -> bool {
    // SAFETY: a null status is allowed.
    let result = unsafe { libc::waitpid(-1, ptr::null_mut(), libc::__WALL | libc::WNOHANG) };
    let error = std::io::Error::last_os_error();
    !(result == -1 && error.raw_os_error() == Some(libc::ECHILD))
}

#[test]
fn no_descriptor_no_child_and_no_change_remains() {
    let _turn = alone();
    let (descriptors, before) = (open_descriptors(), standing());
    for _ in 0..20 {
        assert!(is_complete(&probe()));
    }
    assert_eq!(open_descriptors(), descriptors);
    assert!(!has_children());
    assert_eq!(standing(), before);
}

#[test]
fn threads_probe_at_once_and_agree() {
    let _turn = alone();
    let descriptors = open_descriptors();
    let first = probe();
    assert!(is_complete(&first));
    let done = AtomicUsize::new(0);
    thread::scope(|scope| {
        // Threads that allocate all the time make it likely that a fork finds the lock taken.
        for _ in 0..2 {
            scope.spawn(|| {
                while done.load(Ordering::Relaxed) < 6 {
                    drop(std::hint::black_box(vec![0_u8; 4096]));
                }
            });
        }
        for _ in 0..6 {
            scope.spawn(|| {
                let found: Vec<Machine> = (0..5).map(|_| probe()).collect();
                done.fetch_add(1, Ordering::Relaxed);
                for machine in found {
                    assert_eq!(machine, first);
                }
            });
        }
    });
    assert_eq!(open_descriptors(), descriptors);
    assert!(!has_children());
}

static CHILD_SIGNALS: AtomicUsize = AtomicUsize::new(0);

extern "C" fn count(_: libc::c_int) {
    CHILD_SIGNALS.fetch_add(1, Ordering::SeqCst);
}

/// Sets the disposition of SIGCHLD and returns the old one.
fn on_child_signal(handler: libc::sighandler_t) -> libc::sigaction {
    // SAFETY: sigaction is plain data, valid when zero; the handler is async-signal-safe.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = handler;
        let mut old: libc::sigaction = mem::zeroed();
        assert_eq!(
            libc::sigaction(libc::SIGCHLD, &raw const action, &raw mut old),
            0
        );
        old
    }
}

#[test]
fn the_host_hears_nothing_of_the_children() {
    let _turn = alone();
    let old = on_child_signal(count as extern "C" fn(libc::c_int) as libc::sighandler_t);
    let heard = probe();
    assert_eq!(CHILD_SIGNALS.load(Ordering::SeqCst), 0);
    // A host that ignores its children has them reaped by the kernel: ours must not be lost so.
    on_child_signal(libc::SIG_IGN);
    let ignored = probe();
    on_child_signal(old.sa_sigaction);
    assert!(is_complete(&heard));
    assert_eq!(heard, ignored);
}

/// A few milliseconds are meant; the bound is loose, for machines that are done.
#[test]
fn it_is_quick() {
    let _turn = alone();
    let best = (0..10)
        .map(|_| {
            let start = Instant::now();
            probe();
            start.elapsed()
        })
        .min();
    assert!(best < Some(Duration::from_millis(100)), "{best:?}");
}
