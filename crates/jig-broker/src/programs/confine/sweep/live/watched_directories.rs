//! [`WatchedDirectories`]: the directories of which the kernel tells what comes into being in them.

use std::collections::{HashMap, VecDeque};
use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, AsRawFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;

use super::super::SweptProgram;
use crate::programs::confine::{host_files, listing, move_away, walk};

/// Directories below the roots of all programs that are watched.
#[derive(Debug, Default)]
pub(super) struct WatchedDirectories {
    /// `None` until something is watched.
    inotify: Option<OwnedFd>,
    /// How many may be watched; 0 until that is known.
    most: usize,
    /// Where each watched directory was when that was last seen. A directory that moves is told of where it goes.
    paths: HashMap<i32, PathBuf>,
}

/// What has come into being.
#[derive(Debug, Default)]
pub(super) struct DirectoryNews {
    pub(super) places: Vec<NewPlace>,
    /// Whether some of it was lost, so that everything has to be looked at.
    pub(super) is_lost: bool,
}

/// A name that has come into being, or whose link has gone.
#[derive(Debug)]
pub(super) struct NewPlace {
    /// Absolute.
    pub(super) path: PathBuf,
    pub(super) is_directory: bool,
}

impl WatchedDirectories {
    #[cfg(test)]
    pub(super) fn at_most(most: usize) -> Self {
        Self {
            most,
            ..Self::default()
        }
    }

    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.inotify.as_ref().map(OwnedFd::as_fd)
    }

    /// Watches all directories in which a program can make something. False if something can come into being unseen.
    pub(super) fn add_all(&mut self, swept: &SweptProgram) -> bool {
        let others = swept.bases().all(|base| match walk::open_directory(base) {
            // `base` is absolute.
            Ok(directory) => self.watch(&directory, swept, base),
            Err(_) => true,
        });
        self.add(swept, Path::new("")) && others
    }

    /// Watches a directory, relative to the program's root, and all below it in which the program can make something.
    /// False if something can come into being there unseen.
    pub(super) fn add(&mut self, swept: &SweptProgram, path: &Path) -> bool {
        let Ok(root) = walk::open_directory(&swept.root) else {
            return false;
        };
        let mut buffer = Vec::with_capacity(LISTING_BUFFER);
        let mut left = VecDeque::from([path.to_owned()]);
        while let Some(path) = left.pop_front() {
            let (here, below) = swept.can_make(&path);
            if !here && !below {
                continue;
            }
            let mut directory = walk::open_below(root.as_fd(), walk::at(&path));
            if matches!(directory, Err(Errno::ACCESS | Errno::PERM))
                && !swept.before.closed.contains(&path)
                && move_away::open_up(&swept.root, &path).is_ok()
            {
                directory = walk::open_below(root.as_fd(), walk::at(&path));
            }
            let Ok(directory) = directory else {
                // It is gone, or closed to the program as well.
                continue;
            };
            // Watched first: what comes into being while it is listed is told of.
            if here && !self.watch(&directory, swept, &path) {
                return false;
            }
            let Ok(found) = listing::read(&directory, &mut buffer, |_| false) else {
                continue;
            };
            left.extend(found.directories.iter().map(|name| path.join(name)));
        }
        true
    }

    fn watch(&mut self, directory: &OwnedFd, swept: &SweptProgram, path: &Path) -> bool {
        if self.inotify.is_none() {
            self.inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok();
        }
        if self.most == 0 {
            self.most = most_watched();
        }
        let Some(inotify) = &self.inotify else {
            return false;
        };
        let mut events = WatchFlags::CREATE | WatchFlags::MOVED_TO | WatchFlags::ONLYDIR;
        if swept.has_link_in(path) {
            events |= WatchFlags::DELETE | WatchFlags::MOVED_FROM;
        }
        // By its descriptor: at its path another directory may stand by now.
        let handle = format!("/proc/self/fd/{}", directory.as_raw_fd());
        match inotify::add_watch(inotify, handle, events | WatchFlags::MASK_ADD) {
            Ok(number) if self.paths.len() >= self.most && !self.paths.contains_key(&number) => {
                let _ = inotify::remove_watch(inotify, number);
                false
            }
            Ok(number) => {
                self.paths.insert(number, swept.root.join(path));
                true
            }
            Err(_) => false,
        }
    }

    /// Takes what the kernel tells.
    pub(super) fn news(&mut self) -> DirectoryNews {
        let mut news = DirectoryNews::default();
        let Some(inotify) = &self.inotify else {
            return news;
        };
        let mut buffer = [const { MaybeUninit::uninit() }; EVENT_BUFFER];
        let mut events = Reader::new(inotify, &mut buffer);
        // What was read is not there to be read again.
        while news.places.len() < MOST_AT_ONCE || !events.is_buffer_empty() {
            let event = match events.next() {
                Ok(event) => event,
                Err(Errno::INTR) => continue,
                Err(_) => break,
            };
            if event.events().contains(ReadFlags::QUEUE_OVERFLOW) {
                news.is_lost = true;
            }
            if event.events().contains(ReadFlags::IGNORED) {
                self.paths.remove(&event.wd());
            }
            let Some((directory, name)) = self.paths.get(&event.wd()).zip(event.file_name()) else {
                continue;
            };
            news.places.push(NewPlace {
                path: directory.join(OsStr::from_bytes(name.to_bytes())),
                is_directory: event.events().contains(ReadFlags::ISDIR),
            });
        }
        news
    }

    /// Watches no longer what lies below none of these roots.
    pub(super) fn keep(&mut self, roots: &[PathBuf]) {
        let Some(inotify) = &self.inotify else {
            return;
        };
        self.paths.retain(|number, path| {
            let is_kept = roots.iter().any(|root| path.starts_with(root));
            if !is_kept {
                // One that is gone is not watched any more.
                let _ = inotify::remove_watch(inotify, *number);
            }
            is_kept
        });
    }
}

/// How many directories are watched at most: a quarter of what the person's programs may watch together.
fn most_watched() -> usize {
    let limit = host_files::text(Path::new("/proc/sys/fs/inotify/max_user_watches"));
    let limit = limit.and_then(|text| text.trim().parse::<usize>().ok());
    limit.map_or(FEW_WATCHED, |limit| (limit / 4).min(MOST_WATCHED))
}

/// Each watch takes about a kilobyte of the kernel's memory.
const MOST_WATCHED: usize = 65_536;

/// Where the kernel does not say how many it allows.
const FEW_WATCHED: usize = 2_048;

/// How many names are looked at in one go.
const MOST_AT_ONCE: usize = 4_096;

/// Room for some hundred events.
const EVENT_BUFFER: usize = 32 * 1024;

/// As much as one system call may give.
const LISTING_BUFFER: usize = 32 * 1024;
