//! Waiting in tests. Where an event tells that something has come, a test waits for that: a line of output, a message
//! of a channel, the end of a process. What is here is for the rest.

#![expect(
    clippy::disallowed_methods,
    reason = "the end of a process is waited for, and a test is run again in a process of its own"
)]

use std::process::{Child, Command, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

/// For how long a test waits for what must come: far longer than the busiest machine needs.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Waits until something holds that no event tells of. The test fails if that takes longer than [`PATIENCE`].
#[track_caller]
pub fn until(what: &str, holds: impl FnMut() -> bool) {
    assert!(within(PATIENCE, holds), "not within {PATIENCE:?}: {what}");
}

/// Gives what `look` finds, as soon as it finds something. The test fails if that takes longer than [`PATIENCE`].
#[track_caller]
pub fn until_some<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let mut found = None;
    until(what, || {
        found = look();
        found.is_some()
    });
    found.expect("it was just found")
}

/// Whether something comes to hold within a time; this returns as soon as it does.
pub fn within(time: Duration, mut holds: impl FnMut() -> bool) -> bool {
    let deadline = Instant::now() + time;
    // Looking takes time from those who are waited for, so it becomes rarer.
    let mut pause = Duration::from_micros(100);
    loop {
        if holds() {
            return true;
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return false;
        }
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// Lets time pass, in a test that is about time: a clock that must run out, somebody who is slow, a random moment. No
/// test waits like this for something that is to come.
pub fn let_pass(time: Duration) {
    thread::sleep(time);
}

/// Waits until a number has stopped growing above `least`, and gives it: it has stayed the same for a second.
///
/// Nothing tells that something will never happen again, so this is the one place where time passes to prove it.
#[track_caller]
pub fn until_it_rests(what: &str, least: u64, mut count: impl FnMut() -> u64) -> u64 {
    let mut last = (count(), Instant::now());
    until_some(what, || {
        let now = count();
        if now != last.0 {
            last = (now, Instant::now());
        }
        (now > least && last.1.elapsed() > REST).then_some(now)
    })
}

/// Waits for the end of a process, which is killed, and the test failed, if it lasts longer than [`PATIENCE`].
#[track_caller]
pub fn ended(child: &mut Child) -> ExitStatus {
    ended_within(child, PATIENCE).unwrap_or_else(|| {
        let _ = child.kill();
        let _ = child.wait();
        panic!("the process did not end within {PATIENCE:?}")
    })
}

/// How a process ended; `None` if it has not within this time.
pub fn ended_within(child: &mut Child, time: Duration) -> Option<ExitStatus> {
    // One that somebody has waited for before is no process any more.
    if let Ok(Some(status)) = child.try_wait() {
        return Some(status);
    }
    has_ended(child, time).then(|| child.wait().expect("it is a child of ours"))
}

/// The processes whose working directory is a folder or lies below it. When there is none, nothing that a test has
/// started in the folder can change anything there any more.
#[cfg(target_os = "linux")]
pub fn working_in(folder: &std::path::Path) -> Vec<u32> {
    let processes = std::fs::read_dir("/proc").expect("/proc is mounted");
    let ids = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    ids.filter(|id: &u32| {
        std::fs::read_link(format!("/proc/{id}/cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
    })
    .collect()
}

#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "only the kernel tells of the end of a process in time"
)]
fn has_ended(child: &Child, time: Duration) -> bool {
    use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd};
    // SAFETY: the call takes no pointers.
    let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, child.id(), 0) };
    let descriptor = i32::try_from(descriptor).unwrap_or(-1);
    assert!(descriptor >= 0, "{}", std::io::Error::last_os_error());
    // SAFETY: the kernel has just opened it for us.
    let process = unsafe { OwnedFd::from_raw_fd(descriptor) };
    let mut ends = libc::pollfd {
        fd: process.as_raw_fd(),
        events: libc::POLLIN,
        revents: 0,
    };
    let deadline = Instant::now() + time;
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let left = i32::try_from(left.as_millis()).unwrap_or(i32::MAX);
        // SAFETY: `ends` is one live structure.
        match unsafe { libc::poll(&raw mut ends, 1, left) } {
            // A signal came.
            -1 => {}
            ready => return ready == 1,
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn has_ended(child: &mut Child, time: Duration) -> bool {
    within(time, || !matches!(child.try_wait(), Ok(None)))
}

/// Runs the calling test in a process of its own, where no other test opens descriptors, starts threads or takes
/// memory: true in that process. False in the process that started it, once the test has passed there.
///
/// nextest gives every test its own process, so there it is true at once.
#[track_caller]
pub fn is_alone() -> bool {
    let thread = thread::current();
    let name = thread.name().unwrap_or_default();
    let by_nextest =
        std::env::var("NEXTEST_EXECUTION_MODE").is_ok_and(|mode| mode == "process-per-test");
    // With one thread for all tests, they run on the main one.
    if by_nextest || name == "main" || std::env::var(ALONE).is_ok_and(|alone| alone == name) {
        return true;
    }
    let tests = std::env::current_exe().expect("this program");
    let output = Command::new(tests)
        .args(["--exact", name, "--nocapture"])
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

/// Names the one test that a process was started for.
const ALONE: &str = "JIG_TEST_IS_ALONE";

const LONGEST_PAUSE: Duration = Duration::from_millis(10);

/// For how long nothing must happen before it counts as over.
const REST: Duration = Duration::from_secs(1);
