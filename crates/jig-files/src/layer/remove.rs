//! Removing a whole tree that a tool made: of any depth, with any names and permissions.

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use super::change::PathKind;
use super::entries;

/// Removes everything in a directory of ours. No link is followed.
pub(super) fn all_within(directory: BorrowedFd<'_>) -> Result<(), Errno> {
    // What lies too deep is moved up to here, where it is met again.
    within(directory, directory, 0, &mut 0)
}

fn within(
    directory: BorrowedFd<'_>,
    top: BorrowedFd<'_>,
    depth: usize,
    moved: &mut u64,
) -> Result<(), Errno> {
    loop {
        // Some at a time: a tool can make more names than fit into memory.
        let names = some_names(directory)?;
        if names.is_empty() {
            return Ok(());
        }
        for name in names {
            remove(directory, &name, top, depth, moved)?;
        }
    }
}

fn remove(
    parent: BorrowedFd<'_>,
    name: &CStr,
    top: BorrowedFd<'_>,
    depth: usize,
    moved: &mut u64,
) -> Result<(), Errno> {
    let Some(stat) = entries::look(parent, name)? else {
        return Ok(());
    };
    if entries::what(&stat) != PathKind::Directory {
        return rustix::fs::unlinkat(parent, name, AtFlags::empty());
    }
    // A tool may have closed it, and overlayfs closes its own.
    if entries::mode(&stat) & 0o700 != 0o700 {
        entries::set_mode(entries::hold(parent, name)?.as_fd(), Mode::RWXU)?;
    }
    if depth >= MOST_DEPTH {
        let flat = format!("{FLATTENED}{moved}");
        *moved += 1;
        return rustix::fs::renameat(parent, name, top, flat);
    }
    let directory = entries::directory(parent, name)?;
    within(directory.as_fd(), top, depth + 1, moved)?;
    rustix::fs::unlinkat(parent, name, AtFlags::REMOVEDIR)
}

fn some_names(directory: BorrowedFd<'_>) -> Result<Vec<CString>, Errno> {
    let mut names = Vec::new();
    for entry in crate::disk::open_entries(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        if name != c"." && name != c".." {
            names.push(name.to_owned());
        }
        if names.len() >= AT_A_TIME {
            break;
        }
    }
    Ok(names)
}

/// Each level holds descriptors of the host.
const MOST_DEPTH: usize = 100;

const AT_A_TIME: usize = 10_000;

/// Where these go, nothing has a name that a tool chose.
const FLATTENED: &str = "deep-";
