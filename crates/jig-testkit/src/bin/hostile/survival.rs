//! Outliving the call: something goes on beating in the workspace.
//!
//! Whatever is left behind ends when it cannot beat any more, and after some seconds in any case.

use std::fs::OpenOptions;
use std::io::Write;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::sys::{self, call};
use crate::table::Program;
use crate::verdict::{Args, Verdict};

pub(crate) const PROGRAMS: &[Program] = &[
    ("child", |args| leave(args, || ())),
    ("child-in-new-group", |args| {
        leave(args, || {
            let _ = call!(libc::SYS_setpgid, 0, 0);
        })
    }),
    ("child-in-new-session", |args| {
        leave(args, || {
            let _ = call!(libc::SYS_setsid);
        })
    }),
    ("child-with-pipes", child_with_pipes),
    ("child-without-descriptors", |args| {
        leave(args, || {
            let _ = call!(libc::SYS_close_range, 0, u32::MAX, 0);
        })
    }),
    ("child-without-death-signal", |args| {
        leave(args, || {
            let _ = call!(libc::SYS_prctl, libc::PR_SET_PDEATHSIG, 0, 0, 0, 0);
        })
    }),
    ("child-ignoring-signals", |args| leave(args, ignore_signals)),
    ("child-of-parent", child_of_parent),
    ("daemon", |args| daemon(args, beat)),
    ("daemon-with-reaper", |args| {
        let heart = args.text(0)?;
        sys::fork(|| {
            let _ = call!(libc::SYS_setsid);
            let _ = call!(libc::SYS_prctl, libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
            let orphan = sys::fork(|| {
                beat(heart);
                0
            });
            let _ = orphan.and_then(sys::wait);
            0
        })?;
        started(heart)
    }),
    ("daemon-as-shell", |args| {
        daemon(args, |heart| {
            let script = "for i in $(seq 250); do echo >> \"$0\" || exit; sleep 0.02; done";
            let _ = Command::new("/bin/sh").args(["-c", script, heart]).status();
        })
    }),
    ("many-daemons", |args| {
        for _ in 0..30 {
            daemon(args, beat)?;
        }
        Ok("left 30 of them".to_owned())
    }),
    ("refuse-to-end", |args| {
        ignore_signals();
        beat(args.text(0)?);
        Ok("was never ended".to_owned())
    }),
    ("stop-and-beat", stop_and_beat),
    ("fork-storm", fork_storm),
    ("stopped-daemons", |args| {
        daemon(args, |heart| {
            // A stopped process does not hear a polite signal.
            let stopped = sys::fork(|| {
                let _ = call!(libc::SYS_kill, std::process::id(), libc::SIGSTOP);
                0
            });
            beat(heart);
            if let Ok(stopped) = stopped {
                let _ = call!(libc::SYS_kill, stopped, libc::SIGKILL);
            }
        })
    }),
];

/// How long anything left behind lives at most, if nobody ends it.
const LIFE: Duration = Duration::from_secs(5);

/// Grows the file until it cannot be written any more, or life ends.
pub(crate) fn beat(heart: &str) {
    let end = Instant::now() + LIFE;
    while Instant::now() < end {
        let file = OpenOptions::new().append(true).create(true).open(heart);
        if file.and_then(|mut file| file.write_all(b".")).is_err() {
            return;
        }
        sys::pause_for(20);
    }
}

/// Leaves a child that beats, without the streams of its parent.
fn leave(args: &Args, prepare: impl FnOnce()) -> Verdict {
    let heart = args.text(0)?;
    sys::fork(|| {
        quiet();
        prepare();
        beat(heart);
        0
    })?;
    started(heart)
}

/// Waits for the first beat, so that the child is past its preparations.
fn started(heart: &str) -> Verdict {
    for _ in 0..100 {
        if std::fs::metadata(heart).is_ok() {
            break;
        }
        sys::pause_for(5);
    }
    Ok("left something running".to_owned())
}

/// Gives the streams back, so that a reader of them comes to the end.
fn quiet() {
    for descriptor in 0..3 {
        let _ = call!(libc::SYS_close, descriptor);
    }
}

fn ignore_signals() {
    for signal in 1..64 {
        // SAFETY: ignoring a signal runs no code; those that cannot be ignored are refused.
        unsafe { libc::signal(signal, libc::SIG_IGN) };
    }
}

/// Keeps the pipes open: a reader that waits for their end waits for the child.
fn child_with_pipes(args: &Args) -> Verdict {
    let heart = args.text(0)?;
    sys::fork(|| {
        beat(heart);
        0
    })?;
    started(heart)
}

/// A child whose parent is the parent of this process: who waits for this one does not know of it.
fn child_of_parent(args: &Args) -> Verdict {
    let heart = args.text(0)?;
    if call!(libc::SYS_clone, libc::CLONE_PARENT, 0, 0, 0, 0)? == 0 {
        quiet();
        beat(heart);
        // SAFETY: the child shares nothing, and ends here.
        unsafe { libc::_exit(0) }
    }
    started(heart)
}

/// Forks twice, with a new session in between, so that nobody is its parent.
fn daemon(args: &Args, body: impl FnOnce(&str)) -> Verdict {
    let heart = args.text(0)?;
    sys::in_child(|| {
        let _ = call!(libc::SYS_setsid);
        let _ = sys::fork(|| {
            quiet();
            ignore_signals();
            body(heart);
            0
        });
        0
    })?;
    started(heart)
}

/// A child stops its parent, which therefore never ends by itself, and cannot hear a polite signal.
fn stop_and_beat(args: &Args) -> Verdict {
    let heart = args.text(0)?;
    let parent = std::process::id();
    sys::fork(|| {
        ignore_signals();
        let _ = call!(libc::SYS_kill, parent, libc::SIGSTOP);
        beat(heart);
        let _ = call!(libc::SYS_kill, parent, libc::SIGKILL);
        0
    })?;
    sys::pause_for(LIFE.as_millis() as u64);
    Ok("was never ended".to_owned())
}

/// Each process lives for a moment and starts the next, so that a killer who counts comes too late.
fn fork_storm(args: &Args) -> Verdict {
    let heart = args.text(0)?.to_owned();
    let end = Instant::now() + LIFE;
    ignore_signals();
    for _ in 0..4 {
        let heart = &heart;
        sys::fork(|| {
            let _ = call!(libc::SYS_setsid);
            loop {
                let file = OpenOptions::new().append(true).create(true).open(heart);
                let is_over = file.and_then(|mut file| file.write_all(b".")).is_err();
                if is_over || Instant::now() > end {
                    return 0;
                }
                sys::pause_for(1);
                // SAFETY: each copy has a single thread.
                match unsafe { libc::fork() } {
                    0 | -1 => {}
                    // SAFETY: `_exit` has no preconditions.
                    _ => unsafe { libc::_exit(0) },
                }
            }
        })?;
    }
    sys::pause_for(LIFE.as_millis() as u64);
    Ok("was never ended".to_owned())
}
