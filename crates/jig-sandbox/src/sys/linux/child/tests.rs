#![expect(unsafe_code, reason = "the jobs are forked, and misbehave on purpose")]

use super::*;

/// Long enough that no busy machine reaches it, so that only a hang does.
const LONG: Duration = Duration::from_secs(20);

fn hang() -> Result<(), Errno> {
    loop {
        // SAFETY: `pause` takes no pointers. All signals but SIGKILL are blocked.
        unsafe { libc::pause() };
    }
}

fn die() -> Result<(), Errno> {
    // SAFETY: neither call takes pointers.
    unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
    hang()
}

#[track_caller]
fn check(limit: Duration, job: fn(&Reporter), expected: &[ProbeResult]) -> Duration {
    let start = Instant::now();
    // SAFETY: the jobs below only call uapi, the reporter, and what is async-signal-safe in libc.
    let attempts = unsafe { attempts(limit, job) };
    let took = start.elapsed();
    let found: Vec<ProbeResult> = (0..expected.len())
        .map(|number| attempts.trial(number))
        .collect();
    assert_eq!(found, expected);
    took
}

#[test]
fn each_attempt_is_kept_apart() {
    check(
        LONG,
        |reporter| {
            reporter.attempt(0, || Ok(()));
            reporter.attempt(1, || Err::<(), _>(Errno::PERM));
            reporter.attempt(2, || Ok(false));
            reporter.attempt(3, || Ok(true));
            reporter.attempt_in_child(5, || Ok(()));
            reporter.attempt_in_child(6, || Err(Errno::BUSY));
            reporter.attempt(MOST + 1, || Ok(()));
        },
        &[
            ProbeResult::Works,
            ProbeResult::Failed { errno: Errno::PERM },
            ProbeResult::NoEffect,
            ProbeResult::Works,
            ProbeResult::NotTried,
            ProbeResult::Works,
            ProbeResult::Failed { errno: Errno::BUSY },
        ],
    );
}

#[test]
fn values_come_back() {
    // SAFETY: the job only uses the reporter.
    let attempts = unsafe {
        attempts(LONG, |reporter| {
            reporter.attempt(0, || Ok(42));
        })
    };
    assert_eq!((attempts.value(0), attempts.value(1)), (Some(42), None));
}

#[test]
fn a_killed_child_loses_only_what_it_was_doing() {
    check(
        LONG,
        |reporter| {
            reporter.attempt(0, || Ok(()));
            reporter.attempt(1, die);
            reporter.attempt(2, || Ok(()));
        },
        &[
            ProbeResult::Works,
            ProbeResult::Killed {
                signal: libc::SIGKILL,
            },
            ProbeResult::NotTried,
        ],
    );
}

#[test]
fn a_killed_grandchild_is_seen() {
    check(
        LONG,
        |reporter| {
            reporter.attempt_in_child(0, die);
            reporter.attempt(1, || Ok(()));
        },
        &[
            ProbeResult::Killed {
                signal: libc::SIGKILL,
            },
            ProbeResult::Works,
        ],
    );
}

#[test]
fn a_hung_child_is_killed_and_reaped() {
    let job = |reporter: &Reporter| {
        // SAFETY: `getpid` takes no arguments.
        reporter.attempt(0, || Ok(unsafe { libc::getpid() }));
        reporter.attempt(1, hang);
    };
    // SAFETY: the job only makes async-signal-safe calls.
    let attempts = unsafe { attempts(Duration::from_millis(100), job) };
    assert_eq!(attempts.trial(1), ProbeResult::TimedOut);
    let pid = attempts.value(0).expect("the first attempt was reported");
    assert_eq!(
        uapi::wait(pid, false),
        Err(Errno(libc::ECHILD)),
        "it is no child any more"
    );
}

#[test]
fn a_hung_grandchild_is_ended_with_its_parent() {
    check(
        Duration::from_millis(30),
        |reporter| reporter.attempt_in_child(0, hang),
        &[ProbeResult::TimedOut],
    );
}

/// Another thread's fork inherits the writing end, and the pipe does not end with our child.
#[test]
fn a_pipe_that_stays_open_does_not_delay() {
    let took = check(
        LONG,
        |reporter| {
            reporter.attempt(0, || Ok(()));
            // SAFETY: the copy only sleeps and exits.
            if let Ok(Fork::Child) = unsafe { uapi::fork() } {
                // SAFETY: `sleep` takes no pointers.
                unsafe { libc::sleep(15) };
                uapi::exit();
            }
        },
        &[ProbeResult::Works],
    );
    assert!(took < Duration::from_secs(10), "took {took:?}");
}

#[test]
fn a_child_that_cannot_be_started_is_no_verdict() {
    let attempts = Attempts::not_started(Errno(11));
    assert_eq!(attempts.trial(0), ProbeResult::NoChild { errno: Errno(11) });
    assert_eq!(attempts.value(0), None);
}

/// A signal to the process group must not run the host's handlers in the copy.
#[test]
fn children_run_with_all_signals_blocked() {
    check(
        LONG,
        |reporter| {
            reporter.attempt(0, || {
                // SAFETY: neither call takes pointers. The default action would end the process.
                let sent = unsafe { libc::kill(libc::getpid(), libc::SIGTERM) };
                Ok(sent == 0)
            });
        },
        &[ProbeResult::Works],
    );
}
