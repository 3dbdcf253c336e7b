//! [`ProcessView`]: the files as a process sees them, and what a path means there.
//!
//! Whatever a path names is only looked at, by handles that open nothing: no FIFO waits, no device acts. The
//! answer is a hint. Links may lead elsewhere by the time at which the process uses them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CString, OsStr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, StatxFlags};
use rustix::io::Errno;

#[cfg(test)]
mod tests;

/// A thread, as its directory in `/proc`. Once the thread has ended it stands for nobody else.
#[derive(Debug)]
pub(super) struct ProcThread(OwnedFd);

impl ProcThread {
    pub(super) fn of(number: u32) -> Result<Self, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        rustix::fs::open(format!("/proc/{number}"), flags, Mode::empty()).map(Self)
    }

    /// Its number in the innermost of its process namespaces.
    pub(super) fn inner_number(&self) -> Option<u32> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = rustix::fs::openat(&self.0, c"status", flags, Mode::empty()).ok()?;
        let mut text = [0; 4096];
        let length = rustix::io::read(&file, &mut text).ok()?;
        let mut lines = text[..length].split(|byte| *byte == b'\n');
        let numbers = lines.find_map(|line| line.strip_prefix(b"NSpid:"))?;
        let last = numbers.split(|byte| *byte == b'\t').next_back()?;
        std::str::from_utf8(last).ok()?.parse().ok()
    }

    /// Where one of its links leads: its working directory, its program, a descriptor.
    pub(super) fn link(&self, name: &str) -> Result<Vec<u8>, Errno> {
        rustix::fs::readlinkat(&self.0, name, Vec::new()).map(CString::into_bytes)
    }
}

/// The files as a process sees them, from its root on.
#[derive(Debug)]
pub(super) struct ProcessView {
    root: OwnedFd,
    /// What the kernel calls that root towards this process; empty for `/`.
    prefix: Vec<u8>,
    /// This process's own descriptors, by which the kernel tells their names.
    own: OwnedFd,
    /// What was found lately, by path and whether links are followed.
    known: RefCell<HashMap<(Vec<u8>, bool), ViewPath>>,
}

/// What a path means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ViewPath {
    /// Absolute, without `.` and `..`, and without links as far as it exists.
    pub(super) path: Vec<u8>,
    /// Whether there is something.
    pub(super) exists: bool,
}

impl ProcessView {
    /// The view of a thread.
    pub(super) fn of(thread: &ProcThread) -> Result<Self, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let name = thread.link("root")?;
        Ok(Self {
            root: rustix::fs::openat(&thread.0, c"root", flags, Mode::empty())?,
            prefix: if name == b"/" { Vec::new() } else { name },
            own: rustix::fs::open(c"/proc/self/fd", flags, Mode::empty())?,
            known: RefCell::default(),
        })
    }

    /// Whether a thread has this view too.
    pub(super) fn is_of(&self, thread: &ProcThread) -> bool {
        const MOUNT_ID: StatxFlags = StatxFlags::from_bits_retain(0x1000);
        let identity = |directory: BorrowedFd<'_>, path, flags| {
            let facts = rustix::fs::statx(directory, path, flags, StatxFlags::INO | MOUNT_ID)?;
            Ok::<_, Errno>((
                facts.stx_dev_major,
                facts.stx_dev_minor,
                facts.stx_ino,
                facts.stx_mnt_id,
            ))
        };
        let own = identity(self.root.as_fd(), c"", AtFlags::EMPTY_PATH);
        own.is_ok() && own == identity(thread.0.as_fd(), c"root", AtFlags::empty())
    }

    /// What the kernel calls a place towards this process, as the owner of the view calls it; `None` if it is
    /// no place in the view, such as a pipe.
    pub(super) fn inside(&self, name: &[u8]) -> Option<Vec<u8>> {
        let rest = name.strip_prefix(&self.prefix[..])?;
        match rest {
            [] if !self.prefix.is_empty() => Some(b"/".to_vec()),
            [b'/', ..] => Some(rest.to_vec()),
            _ => None,
        }
    }

    /// What an absolute path means. A link at its end is followed if `follow` says so.
    pub(super) fn find(&self, path: &[u8], follow: bool) -> ViewPath {
        let plain = lexical(path);
        // What is in there depends on who asks.
        if is_of_processes(&plain) {
            return ViewPath {
                path: plain,
                exists: true,
            };
        }
        let key = (path.to_vec(), follow);
        if let Some(found) = self.known.borrow().get(&key) {
            return found.clone();
        }
        let found = self
            .find_at_once(path, follow)
            .unwrap_or_else(|| self.walk(path, follow));
        self.remember(key, &found);
        found
    }

    /// To be called when names were made or removed: what was found may not be so any more.
    pub(super) fn forget(&self) {
        self.known.borrow_mut().clear();
    }

    fn remember(&self, key: (Vec<u8>, bool), found: &ViewPath) {
        let mut known = self.known.borrow_mut();
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        if key.0.len() <= LONGEST_KNOWN {
            known.insert(key, found.clone());
        }
    }

    /// With a few calls, in the cases that are most frequent: it exists, or only its last part does not.
    fn find_at_once(&self, path: &[u8], follow: bool) -> Option<ViewPath> {
        match self.open(path, follow) {
            Ok(fd) => self.name(&fd).map(|path| ViewPath { path, exists: true }),
            // A link that leads nowhere names the place that it leads to.
            Err(Errno::NOENT) if follow && !self.is_nothing(path) => None,
            Err(Errno::NOENT) => {
                let end = path.iter().rposition(|byte| *byte != b'/')? + 1;
                let slash = path[..end].iter().rposition(|byte| *byte == b'/')?;
                let name = &path[slash + 1..end];
                if matches!(name, b"." | b"..") {
                    return None;
                }
                let mut path = self.directory(&path[..slash + 1])?;
                push(&mut path, name);
                Some(ViewPath {
                    path,
                    exists: false,
                })
            }
            Err(_) => None,
        }
    }

    fn is_nothing(&self, path: &[u8]) -> bool {
        matches!(self.open(path, false), Err(Errno::NOENT))
    }

    /// What a directory is called that exists; `None` if it does not.
    fn directory(&self, path: &[u8]) -> Option<Vec<u8>> {
        let key = (path.to_vec(), true);
        if let Some(found) = self.known.borrow().get(&key) {
            return found.exists.then(|| found.path.clone());
        }
        let path = self.name(&self.open(path, true).ok()?)?;
        let found = ViewPath { path, exists: true };
        self.remember(key, &found);
        Some(found.path)
    }

    fn open(&self, path: &[u8], follow: bool) -> Result<OwnedFd, Errno> {
        let mut flags = OFlags::PATH | OFlags::CLOEXEC;
        if !follow {
            flags |= OFlags::NOFOLLOW;
        }
        let path = if path.is_empty() { b"/" } else { path };
        // For this call, the root of absolute paths and links is the directory that it is given.
        rustix::fs::openat2(
            &self.root,
            OsStr::from_bytes(path),
            flags,
            Mode::empty(),
            ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS,
        )
    }

    fn name(&self, fd: &OwnedFd) -> Option<Vec<u8>> {
        let number = fd.as_raw_fd().to_string();
        let name = rustix::fs::readlinkat(&self.own, number, Vec::new()).ok()?;
        self.inside(name.as_bytes())
    }

    /// One part after the other, up to the first that cannot be looked at; the rest as it is written.
    fn walk(&self, path: &[u8], follow: bool) -> ViewPath {
        let mut rest: Vec<Vec<u8>> = parts(path).rev().map(<[u8]>::to_vec).collect();
        let mut done = Vec::new();
        // `None` stands for the root.
        let mut here: Option<OwnedFd> = None;
        let mut exists = true;
        let (mut steps, mut links) = (0, 0);
        while let Some(part) = rest.pop() {
            steps += 1;
            exists &= steps <= MOST_STEPS;
            if part == b".." {
                pop(&mut done);
                if exists {
                    here = self.open(&done, true).ok();
                    exists = here.is_some();
                }
                continue;
            }
            // `/dev/fd/3` leads to a descriptor of whoever looks, which here would be this process's own.
            if !exists || is_of_processes(&done) {
                push(&mut done, &part);
                continue;
            }
            let directory = here.as_ref().unwrap_or(&self.root);
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let Ok(fd) =
                rustix::fs::openat(directory, OsStr::from_bytes(&part), flags, Mode::empty())
            else {
                exists = false;
                push(&mut done, &part);
                continue;
            };
            let target = if follow || !rest.is_empty() {
                link_of(&fd)
            } else {
                None
            };
            match target {
                Some(target) if links < MOST_LINKS => {
                    links += 1;
                    if target.starts_with(b"/") {
                        done.clear();
                        here = None;
                    }
                    rest.extend(parts(&target).rev().map(<[u8]>::to_vec));
                }
                target => {
                    exists = target.is_none();
                    here = Some(fd);
                    push(&mut done, &part);
                }
            }
        }
        if done.is_empty() {
            done.push(b'/');
        }
        ViewPath { path: done, exists }
    }
}

/// Whether a path lies in the file system of processes, where it depends on who asks.
fn is_of_processes(path: &[u8]) -> bool {
    path == b"/proc" || path.starts_with(b"/proc/")
}

/// What a link says; `None` if it is none.
fn link_of(fd: &OwnedFd) -> Option<Vec<u8>> {
    let facts = rustix::fs::fstat(fd).ok()?;
    if FileType::from_raw_mode(facts.st_mode) != FileType::Symlink {
        return None;
    }
    let target = rustix::fs::readlinkat(fd, c"", Vec::new()).ok()?;
    Some(target.into_bytes())
}

/// An absolute path without `.`, `..` and superfluous slashes, by its text alone.
pub(super) fn lexical(path: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(path.len());
    for part in parts(path) {
        match part {
            b".." => pop(&mut plain),
            part => push(&mut plain, part),
        }
    }
    if plain.is_empty() {
        plain.push(b'/');
    }
    plain
}

fn parts(path: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    path.split(|byte| *byte == b'/')
        .filter(|part| !matches!(part, [] | [b'.']))
}

/// Adds a part to an absolute path. The root may be empty or a slash.
fn push(path: &mut Vec<u8>, part: &[u8]) {
    if !path.ends_with(b"/") {
        path.push(b'/');
    }
    path.extend_from_slice(part);
}

fn pop(path: &mut Vec<u8>) {
    let slash = path.iter().rposition(|byte| *byte == b'/');
    path.truncate(slash.unwrap_or(0));
}

/// As the kernel has it.
const MOST_LINKS: u32 = 40;

/// A path of thousands of parts would keep whoever looks busy.
const MOST_STEPS: u32 = 512;

/// What is remembered is a few hundred kilobytes at the most: many names, or a few long ones.
const MOST_KNOWN: usize = 2048;
const LONGEST_KNOWN: usize = 512;
