//! Where jig keeps what people accepted: outside of the workspace, so that no tool can reach it.
//!
//! Each workspace has a folder, named by a hash of its path. In it lies what was accepted of the workspace's own
//! configuration ([`AcceptedConfiguration`]), and a file for the tools of each MCP server. The folder is locked while a
//! file is changed, so that several jigs lose nothing of each other's; a file is replaced as a whole.
//!
//! What is accepted is content, at a path. A workspace that is moved is asked about again. One that a stranger puts in
//! the place of another has nothing accepted but the very content that a person accepted there.

mod configuration;

pub(crate) use configuration::nothing_beside_it;
pub use configuration::{
    AcceptedConfiguration, AcceptedWorkspace, accept_made, accept_written, all,
};

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use jig_mcp::{ContentUpdate, ForgetfulMemory, Memory};
use rustix::fs::{self, AtFlags, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

use crate::environment::CommandEnvironment;

/// What is remembered of the servers of the workspace at `root`. Nothing is made before something is kept.
pub fn of(root: &Utf8Path, env: &CommandEnvironment) -> Arc<dyn Memory> {
    match env.state() {
        Some(state) => Arc::new(AcceptedFolder::new(&state, root)),
        None => Arc::new(ForgetfulMemory::default()),
    }
}

/// The memory of the questions that were refused in the workspace at `root`, and of what was answered to them.
pub fn questions(root: &Utf8Path, env: &CommandEnvironment) -> Option<Arc<dyn Memory>> {
    let folder = AcceptedFolder::named("questions", &env.state()?, root);
    Some(Arc::new(folder))
}

/// The files of one workspace.
#[derive(Debug)]
struct AcceptedFolder {
    path: Utf8PathBuf,
}

impl AcceptedFolder {
    fn new(state: &Utf8Path, root: &Utf8Path) -> Self {
        Self::named(FOLDER, state, root)
    }

    fn named(name: &str, state: &Utf8Path, root: &Utf8Path) -> Self {
        // What was accepted in one workspace says nothing of another: nobody may find a second path with the
        // same hash.
        let hash = blake3::hash(root.as_str().as_bytes()).to_hex();
        let path = state.join(name).join(&hash[..HASH]);
        Self { path }
    }

    /// The folder, if it is there and nobody else's.
    fn open(&self) -> io::Result<OwnedFd> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = fs::open(self.path.as_std_path(), flags, Mode::empty())?;
        let stat = fs::fstat(&folder)?;
        match is_own(&stat) {
            true => Ok(folder),
            false => Err(io::Error::other("the folder is not the user's own")),
        }
    }

    fn make(&self) -> io::Result<OwnedFd> {
        make(&self.path)?;
        self.open()
    }

    fn change(&self, name: &str, change: &mut ContentUpdate<'_>) -> io::Result<()> {
        let folder = self.make()?;
        // The folder itself is the lock: there is no file of it to be left behind, and it goes with its
        // descriptor, which is that of this one change.
        loop {
            match fs::flock(&folder, FlockOperation::LockExclusive) {
                Err(Errno::INTR) => {}
                locked => break locked?,
            }
        }
        match change(read(&folder, name)) {
            Some(bytes) => write(&folder, name, &bytes),
            None => Ok(()),
        }
    }
}

impl Memory for AcceptedFolder {
    fn get(&self, name: &str) -> Option<Vec<u8>> {
        read(&self.open().ok()?, name)
    }

    fn update(&self, name: &str, change: &mut ContentUpdate<'_>) -> Result<(), String> {
        let changed = self.change(name, change);
        changed.map_err(|error| format!("cannot write `{}`: {error}", self.path.join(name)))
    }

    fn mark(&self, name: &str) -> u64 {
        let Ok(stat) = fs::lstat(self.path.join(name).as_std_path()) else {
            return 0;
        };
        let mut mark = DefaultHasher::new();
        // A file that is replaced is another one, even if it is as old and as long.
        (stat.st_dev, stat.st_ino, stat.st_size).hash(&mut mark);
        (stat.st_mtime, stat.st_mtime_nsec).hash(&mut mark);
        (stat.st_ctime, stat.st_ctime_nsec).hash(&mut mark);
        mark.finish()
    }
}

/// A whole file, if it is ours alone and not far too large.
fn read(folder: &OwnedFd, name: &str) -> Option<Vec<u8>> {
    // A FIFO must not keep us waiting, and a link leads to what the folder does not protect.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = fs::openat(folder, name, flags, Mode::empty()).ok()?;
    let stat = fs::fstat(&file).ok()?;
    let size = usize::try_from(stat.st_size).ok()?;
    let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    if !is_file || !is_own(&stat) || size > LARGEST {
        return None;
    }
    let mut bytes = vec![0; size];
    let mut have = 0;
    while have < size {
        match rustix::io::read(&file, &mut bytes[have..]) {
            Ok(0) => break,
            Ok(count) => have += count,
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
    bytes.truncate(have);
    Some(bytes)
}

/// Puts a file in its place at once: nobody sees a half of it.
fn write(folder: &OwnedFd, name: &str, bytes: &[u8]) -> io::Result<()> {
    let mut random = [0; 8];
    while getrandom(&mut random, GetRandomFlags::empty())? < random.len() {}
    let temporary = format!(".new-{:016x}", u64::from_ne_bytes(random));
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = fs::openat(folder, &*temporary, flags, Mode::RUSR | Mode::WUSR)?;
    let placed =
        write_all(&file, bytes).and_then(|()| Ok(fs::renameat(folder, &*temporary, folder, name)?));
    if placed.is_err() {
        let _ = fs::unlinkat(folder, &*temporary, AtFlags::empty());
    }
    placed
}

fn write_all(file: &OwnedFd, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(file, bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Makes a folder, and those above it, for the user alone.
fn make(path: &Utf8Path) -> io::Result<()> {
    match (fs::mkdir(path.as_std_path(), Mode::RWXU), path.parent()) {
        (Ok(()) | Err(Errno::EXIST), _) => Ok(()),
        (Err(Errno::NOENT), Some(parent)) => {
            make(parent)?;
            match fs::mkdir(path.as_std_path(), Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => Ok(()),
                Err(error) => Err(error.into()),
            }
        }
        (Err(error), _) => Err(error.into()),
    }
}

/// Whether something belongs to the user, and nobody else can change it.
fn is_own(stat: &Stat) -> bool {
    let is_ours = stat.st_uid == rustix::process::geteuid().as_raw();
    is_ours && !Mode::from_raw_mode(stat.st_mode).intersects(Mode::WGRP | Mode::WOTH)
}

/// The folder of all that was accepted, in that of jig's state.
const FOLDER: &str = "accepted";

/// How much of the hash of a path names its folder: nobody finds two paths with the same 128 bits.
const HASH: usize = 32;

/// The largest file that is read, in bytes: what somebody put there must not fill our memory.
const LARGEST: usize = 64 << 20;

#[cfg(test)]
mod tests;
