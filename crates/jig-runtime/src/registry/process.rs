//! [`end`]: ends a process with everything below it, and no later process of the same number.

use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use jig_files::{ProcessIdentity, ProcessStat};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// What became of a process that was to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProcessEnd {
    /// Whether it, or something that it had started, was there.
    pub(super) was_alive: bool,
    /// Whether all of it is gone now.
    pub(super) has_ended: bool,
}

/// Kills a process, with everything below it.
pub(super) fn end(top: ProcessIdentity) -> ProcessEnd {
    // Its children become those of another when it ends: they are looked for first.
    let mut all = match top.is_alive() {
        true => below(top),
        false => Vec::new(),
    };
    all.push(top);
    // The top first: it might start others.
    let held: Vec<OwnedFd> = all
        .iter()
        .rev()
        .filter_map(|process| hold(*process))
        .collect();
    for process in &held {
        // One that cannot be killed is found alive below.
        let _ = pidfd_send_signal(process, Signal::KILL);
    }
    let deadline = Instant::now() + PATIENCE;
    ProcessEnd {
        was_alive: !held.is_empty(),
        has_ended: held.iter().all(|process| has_ended(process, deadline)),
    }
}

/// A descriptor of exactly this process. The number may have gone to another one: but if this one is
/// still there after the descriptor was opened, it was there before too, and the descriptor is its.
fn hold(process: ProcessIdentity) -> Option<OwnedFd> {
    let pid = Pid::from_raw(process.pid)?;
    let held = pidfd_open(pid, PidfdFlags::empty()).ok()?;
    process.is_alive().then_some(held)
}

/// All processes that descend from one.
fn below(top: ProcessIdentity) -> Vec<ProcessIdentity> {
    #[expect(
        clippy::disallowed_methods,
        reason = "the processes of this machine are no part of a workspace"
    )]
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let pids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let all: Vec<(i32, ProcessStat)> = pids
        .filter_map(|pid| Some((pid, ProcessStat::read(pid)?)))
        .collect();
    let mut found = vec![top];
    let mut next = 0;
    while let Some(parent) = found.get(next).copied() {
        let children = all.iter().filter(|(_, stat)| stat.parent == parent.pid);
        // A process is younger than its parent; one that is not is the child of an earlier one.
        let children = children.filter(|(_, stat)| stat.started >= parent.started);
        let children = children.map(|(pid, stat)| ProcessIdentity {
            pid: *pid,
            started: stat.started,
        });
        let children: Vec<_> = children.filter(|child| !found.contains(child)).collect();
        found.extend(children);
        next += 1;
    }
    found.remove(0);
    found.reverse();
    found
}

fn has_ended(process: &OwnedFd, deadline: Instant) -> bool {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let Ok(limit) = Timespec::try_from(left) else {
            return false;
        };
        match poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&limit)) {
            Ok(0) => return false,
            Ok(_) => return true,
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// How long a process that was killed is waited for.
const PATIENCE: Duration = Duration::from_secs(5);
