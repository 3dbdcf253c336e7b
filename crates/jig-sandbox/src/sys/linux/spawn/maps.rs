//! Which users and groups a new user namespace has: the same numbers as outside.

use std::fmt::Write;

use rustix::fs::{Mode, OFlags};
use rustix::thread::CapabilitySet;

use crate::sys::linux::procfs;
use crate::sys::linux::stage::raw::RawErrno;
use crate::sys::linux::stage::record::{StartStep, StepFailure};

/// How the users are mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum UserMaps {
    /// By the keeper, only its own user and group, which is all that an ordinary user may ask for.
    Own { uid: String, gid: String },
    /// By the host, which may map all users that it has itself. A root tool that works on the files of
    /// others, as in many containers, needs them: its rights end at users that are not mapped.
    All { uid: String, gid: String },
}

impl UserMaps {
    /// The widest that this thread may have.
    pub(super) fn widest() -> Self {
        let needed = CapabilitySet::SETUID | CapabilitySet::SETGID;
        let may_map_all =
            rustix::thread::capabilities(None).is_ok_and(|sets| sets.effective.contains(needed));
        let all = |file| {
            may_map_all
                .then(|| identity(&procfs::read(file)?))
                .flatten()
        };
        match (
            all("/proc/thread-self/uid_map"),
            all("/proc/thread-self/gid_map"),
        ) {
            (Some(uid), Some(gid)) => UserMaps::All { uid, gid },
            _ => {
                let uid = rustix::process::geteuid().as_raw();
                let gid = rustix::process::getegid().as_raw();
                UserMaps::Own {
                    uid: format!("{uid} {uid} 1"),
                    gid: format!("{gid} {gid} 1"),
                }
            }
        }
    }

    /// The host's part: maps the users of a keeper that waits for it. Says whether it has such a part.
    pub(super) fn write_for(&self, keeper: i32) -> Result<bool, StepFailure> {
        let UserMaps::All { uid, gid } = self else {
            return Ok(false);
        };
        let write = |file: &str, text: &str| -> rustix::io::Result<()> {
            let path = format!("/proc/{keeper}/{file}");
            let fd = rustix::fs::open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
            // The kernel takes a map in one write or not at all.
            rustix::io::write(&fd, text.as_bytes()).map(drop)
        };
        write("uid_map", uid)
            .and_then(|()| write("gid_map", gid))
            .map_err(|errno| StepFailure::at(StartStep::Map)(RawErrno(errno.raw_os_error())))?;
        Ok(true)
    }
}

/// A map that gives each number of `map` to itself: `inside outside count`, line by line.
pub(super) fn identity(map: &str) -> Option<String> {
    let mut text = String::new();
    for line in map.lines() {
        let mut fields = line.split_whitespace();
        let (inside, count) = (fields.next()?, fields.nth(1)?);
        writeln!(text, "{inside} {inside} {count}").ok()?;
    }
    (!text.is_empty()).then_some(text)
}
