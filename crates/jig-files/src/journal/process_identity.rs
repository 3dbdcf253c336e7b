//! [`ProcessIdentity`]: a process that is told apart from later ones with the same number.

use std::os::fd::AsFd as _;

use rustix::fs::{self, Mode, OFlags};

use super::read_at_most;

/// A process: its number, and when it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessIdentity {
    /// Its number.
    pub pid: i32,
    /// When it started, in the kernel's ticks since boot.
    pub started: u64,
}

/// What the kernel says about a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProcessStat {
    /// Whether it has ended, and only its parent has not taken note of that.
    pub is_dead: bool,
    /// The number of its parent.
    pub parent: i32,
    /// When it started, in the kernel's ticks since boot.
    pub started: u64,
}

impl ProcessIdentity {
    /// The process of this number, if there is one now. `None` on systems without `/proc`.
    pub fn find(pid: u32) -> Option<Self> {
        let pid = i32::try_from(pid).ok()?;
        let started = ProcessStat::read(pid)?.started;
        Some(Self { pid, started })
    }

    /// Whether it runs.
    pub fn is_alive(self) -> bool {
        ProcessStat::read(self.pid)
            .is_some_and(|stat| stat.started == self.started && !stat.is_dead)
    }
}

impl ProcessStat {
    /// What the kernel says now about the process of this number; `None` if there is none.
    pub fn read(pid: i32) -> Option<Self> {
        let text = kernel_text(&format!("/proc/{pid}/stat"))?;
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

/// A small file of the kernel's.
pub(super) fn kernel_text(path: &str) -> Option<String> {
    let file = fs::open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    let content = read_at_most(file.as_fd(), 0, SHORT).ok()?;
    Some(String::from_utf8_lossy(&content).into_owned())
}

/// More than the kernel writes about one process.
const SHORT: u64 = 4096;
