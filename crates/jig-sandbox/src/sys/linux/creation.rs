//! The calls that make names, as a supervisor performs them, and [`CreationReports`]: what it refused.

use std::ffi::OsString;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::sync::OnceLock;

use rustix::net::{RecvFlags, SendFlags};

use super::confine::{self, UnwatchedCondition};
use super::order::Instruction;
use super::stage::calls::{O_CREAT, O_PATH};
use super::stage::order::{self, HeldNumber};
use crate::process::{RefusedName, RefusedNames};

/// The calls, with what they are towards the supervisor, and when they pass.
#[rustfmt::skip]
const CALLS: &[(&str, u32, UnwatchedCondition)] = {
    use UnwatchedCondition::*;
    &[
        ("open", order::HELD_OPEN, MakesNothing(1)),
        ("openat", order::HELD_OPEN | order::HELD_AT, MakesNothing(2)),
        ("creat", order::HELD_CREAT, Never),
        ("mkdir", order::HELD_MKDIR, Never),
        ("mkdirat", order::HELD_MKDIR | order::HELD_AT, Never),
        ("mknod", order::HELD_MKNOD, Never),
        ("mknodat", order::HELD_MKNOD | order::HELD_AT, Never),
        ("symlink", order::HELD_SYMLINK, Never),
        ("symlinkat", order::HELD_SYMLINK | order::HELD_AT, Never),
        ("link", order::HELD_LINK, Never),
        ("linkat", order::HELD_LINK | order::HELD_AT, Never),
        ("rename", order::HELD_RENAME, Never),
        ("renameat", order::HELD_RENAME | order::HELD_AT, Never),
        ("renameat2", order::HELD_RENAME | order::HELD_AT | order::HELD_FLAGS, Never),
        ("bind", order::HELD_BIND, Never),
        ("umask", order::HELD_UMASK, Never),
        // Whoever confined itself further would not be by what the supervisor performs for it. It hears that
        // this kernel has that switched off.
        ("landlock_create_ruleset", 0, Refused(NOT_SUPPORTED)),
        ("landlock_restrict_self", 0, Refused(NOT_SUPPORTED)),
    ]
};

const NOT_SUPPORTED: u16 = libc::EOPNOTSUPP as u16;

/// The calls by name, and when they pass.
pub(super) fn calls() -> impl Iterator<Item = (&'static str, UnwatchedCondition)> {
    CALLS.iter().map(|(name, _, unless)| (*name, *unless))
}

/// The filter that shows them, and nothing else.
pub(super) fn filter() -> &'static [Instruction] {
    static FILTER: OnceLock<Vec<Instruction>> = OnceLock::new();
    FILTER.get_or_init(|| confine::watching(calls()))
}

/// Their numbers on this machine.
pub(super) fn numbers() -> &'static [HeldNumber] {
    static NUMBERS: OnceLock<Vec<HeldNumber>> = OnceLock::new();
    NUMBERS.get_or_init(|| {
        let held = CALLS.iter().filter(|(_, kind, _)| *kind != 0);
        held.filter_map(|(name, kind, _)| {
            Some(HeldNumber {
                number: confine::number_here(name)?,
                kind: *kind,
            })
        })
        .collect()
    })
}

/// Whether a call is for the supervisor.
pub(super) fn is_held(number: u32, arguments: &[u64; 6]) -> bool {
    let Some(held) = numbers().iter().find(|held| held.number == number) else {
        return false;
    };
    let place = usize::from(held.kind & order::HELD_AT != 0) + 1;
    let flags = (arguments[place] as u32).cast_signed();
    held.kind & 0xff != order::HELD_OPEN || flags & O_CREAT != 0 && flags & O_PATH == 0
}

/// The host's end of the line to a supervisor.
#[derive(Debug)]
pub(crate) struct CreationReports(OwnedFd);

impl CreationReports {
    pub(super) fn new(line: OwnedFd) -> Self {
        Self(line)
    }

    /// What was refused since this was last asked.
    pub(crate) fn take(&self) -> RefusedNames {
        let mut refused = RefusedNames::default();
        let mut record = [0; 8192];
        loop {
            match rustix::net::recv(&self.0, &mut record[..], RecvFlags::DONTWAIT) {
                Ok((5.., length)) => {
                    let (number, path) = record[..length.min(record.len())].split_at(4);
                    let entry = u32::from_ne_bytes(number.try_into().unwrap_or_default());
                    let path = PathBuf::from(OsString::from_vec(path.to_vec()));
                    let one = RefusedName {
                        path,
                        entry: entry as usize,
                    };
                    if !refused.names.contains(&one) {
                        refused.names.push(one);
                    }
                }
                _ => return refused,
            }
        }
    }

    /// A copy of the line, by which calls are passed on.
    pub(super) fn line(&self) -> rustix::io::Result<OwnedFd> {
        rustix::io::fcntl_dupfd_cloexec(self.0.as_fd(), 0)
    }
}

/// Passes a call on. The supervisor answers it.
pub(super) fn pass_on(line: &OwnedFd, call: &[u8]) -> rustix::io::Result<()> {
    rustix::net::send(line, call, SendFlags::NOSIGNAL).map(drop)
}

/// Why the kernel refused to have a tool supervised, in words.
pub(super) fn why_not(errno: crate::machine::Errno) -> String {
    let reason = match errno.0 {
        libc::EBUSY => {
            "something around jig watches its system calls already, such as a container or another jig, \
             and the kernel allows only one to do so"
        }
        libc::EINVAL | libc::ENOSYS => {
            "this kernel cannot have system calls performed by another process"
        }
        _ => "the kernel refuses to have its system calls performed by another process",
    };
    format!("{reason} ({errno})")
}
