//! [`ProcessIdentity`]: a process that is told apart from later ones with the same number.

use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{self, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

/// A process: its number, and when it started, in the kernel's ticks since boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProcessIdentity {
    pub(super) pid: i32,
    pub(super) started: u64,
}

/// What became of a process that was to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ProcessEnd {
    /// Whether it, or something that it had started, was there.
    pub(super) was_alive: bool,
    /// Whether all of it is gone now.
    pub(super) has_ended: bool,
}

impl ProcessIdentity {
    /// The process of this number, if there is one now.
    pub(super) fn find(pid: u32) -> Option<Self> {
        let pid = i32::try_from(pid).ok()?;
        let started = ProcessStat::read(pid)?.started;
        Some(Self { pid, started })
    }

    /// Whether it runs.
    pub(super) fn is_alive(self) -> bool {
        ProcessStat::read(self.pid)
            .is_some_and(|stat| stat.started == self.started && !stat.is_dead)
    }

    /// Kills it, with everything below it.
    pub(super) fn end(self) -> ProcessEnd {
        // Its children become those of another when it ends: they are looked for first.
        let mut all = match self.is_alive() {
            true => below(self),
            false => Vec::new(),
        };
        all.push(self);
        // The top first: it might start others.
        let held: Vec<OwnedFd> = all
            .iter()
            .rev()
            .filter_map(|process| process.hold())
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
    fn hold(self) -> Option<OwnedFd> {
        let pid = Pid::from_raw(self.pid)?;
        let held = pidfd_open(pid, PidfdFlags::empty()).ok()?;
        self.is_alive().then_some(held)
    }
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

/// What the kernel says about a process.
struct ProcessStat {
    is_dead: bool,
    parent: i32,
    started: u64,
}

impl ProcessStat {
    fn read(pid: i32) -> Option<Self> {
        let text = text(Path::new(&format!("/proc/{pid}/stat")))?;
        // The name of the program is in parentheses, and may hold anything.
        let (_, rest) = text.rsplit_once(')')?;
        let mut fields = rest.split_ascii_whitespace();
        Some(Self {
            is_dead: matches!(fields.next()?, "Z" | "X" | "x"),
            parent: fields.next()?.parse().ok()?,
            started: fields.nth(17)?.parse().ok()?,
        })
    }
}

/// What tells this boot of the machine from others.
pub(super) fn boot() -> Option<String> {
    let text = text(Path::new("/proc/sys/kernel/random/boot_id"))?;
    Some(text.trim().to_owned())
}

fn text(path: &Path) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = fs::open(path, flags, Mode::empty()).ok()?;
    let content = read_bounded(&file, SHORT).ok()?;
    Some(String::from_utf8_lossy(&content).into_owned())
}

/// Reads a file, at most its first `most` bytes.
pub(super) fn read_bounded(file: &OwnedFd, most: usize) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    let mut buffer = [0; 4096];
    while content.len() < most {
        match rustix::io::read(file, &mut buffer) {
            Ok(0) => break,
            Ok(length) => content.extend_from_slice(&buffer[..length]),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    content.truncate(most);
    Ok(content)
}

/// How long a process that was killed is waited for.
const PATIENCE: Duration = Duration::from_secs(5);

/// More than the kernel writes about one process.
const SHORT: usize = 4096;
