//! What a guest holds: directories and files.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use jig_broker::{OpenFile, PathStat};
use jig_files::PlaceKind;
use jig_proto::ProjectPath;
use jig_runtime::Mount;
use rustix::process::{Resource, getrlimit};

use super::error_codes::FilesystemFailure;
use crate::bindings::wasi::filesystem::types::ErrorCode;
use crate::guest::Guest;
use crate::limits::GuestEndReason;

/// An open file or directory of a guest.
#[derive(Debug)]
pub enum Descriptor {
    /// A directory.
    Directory(GuestDirectory),
    /// A file.
    File(GuestFileHandle),
}

impl Descriptor {
    pub(super) fn directory(&self) -> Result<&GuestDirectory, ErrorCode> {
        match self {
            Self::Directory(directory) => Ok(directory),
            Self::File(_) => Err(ErrorCode::NotDirectory),
        }
    }

    pub(super) fn file(&self) -> Result<&GuestFileHandle, ErrorCode> {
        match self {
            Self::File(file) => Ok(file),
            Self::Directory(_) => Err(ErrorCode::IsDirectory),
        }
    }
}

/// A directory that a guest holds.
///
/// It is a name: what another directory that takes its place holds is found by it, and judged as what it is.
#[derive(Debug, Clone)]
pub struct GuestDirectory {
    /// Where it is, without links.
    pub(super) path: ProjectPath,
    /// Which of the guest's mounts it is in.
    pub(super) mount: usize,
    /// Whether anything can be changed by way of it, as far as the rules allow that.
    pub(super) mutable: bool,
}

impl GuestDirectory {
    /// The directory that a mount is.
    pub(super) fn of_mount(mounts: &[Mount], mount: usize) -> Self {
        Self {
            path: mounts[mount].path.clone(),
            mount,
            mutable: mounts[mount].writable,
        }
    }

    /// The path as requests have it.
    pub(super) fn wire(&self) -> &str {
        match self.path.is_root() {
            true => ".",
            false => self.path.as_str(),
        }
    }
}

/// A file that a guest holds.
#[derive(Debug)]
pub struct GuestFileHandle {
    pub(super) open: Arc<OpenedGuestFile>,
    /// Whether it was opened for reading.
    pub(super) read: bool,
    /// Whether it was opened for writing.
    pub(super) write: bool,
    /// Whether each write waits for the disk.
    pub(super) sync: bool,
}

impl GuestFileHandle {
    /// The file, if it was opened for reading.
    pub(super) fn readable(&self) -> Result<&Arc<OpenedGuestFile>, ErrorCode> {
        match self.read {
            true => Ok(&self.open),
            false => Err(ErrorCode::BadDescriptor),
        }
    }

    /// The file, if it was opened for writing.
    pub(super) fn writable(&self) -> Result<&Arc<OpenedGuestFile>, ErrorCode> {
        match self.write {
            true => Ok(&self.open),
            false => Err(ErrorCode::BadDescriptor),
        }
    }
}

/// A file that the broker has opened. Streams share it with the descriptor that they were made of.
#[derive(Debug)]
pub(super) struct OpenedGuestFile {
    file: OpenFile,
    changes: Arc<AtomicU64>,
}

impl OpenedGuestFile {
    /// The file, to be read.
    pub(super) fn file(&self) -> &OpenFile {
        &self.file
    }

    /// The file, to be changed.
    pub(super) fn changing(&self) -> &OpenFile {
        self.changes.fetch_add(1, Ordering::Relaxed);
        &self.file
    }
}

/// What is known of the files and directories that a guest holds, all together.
#[derive(Debug, Default)]
pub(crate) struct OpenFiles {
    /// How often the guest has changed something. Each open file has a copy, so it also counts those.
    changes: Arc<AtomicU64>,
    /// Each listing has a copy.
    pub(super) listings: Arc<()>,
    /// What the guest was told last.
    told: Option<PathAnswer>,
}

/// What a guest was told about a path.
///
/// Libraries ask two questions about whatever they look at, in either order: for its state, and for its hash,
/// which is that of its canonical path. The answer to the first serves for the second, so that each look is
/// one look, and one line in the audit log.
#[derive(Debug)]
struct PathAnswer {
    base: ProjectPath,
    text: String,
    follow: bool,
    what: PathAnswerKind,
}

#[derive(Debug)]
enum PathAnswerKind {
    /// All about it, when it was found out, and after how many changes.
    Look(PathStat, Instant, u64),
    /// That it is an entry of a directory, at this path.
    Entry(ProjectPath),
}

impl PathAnswer {
    /// Whether it makes no difference that a link at the end of the path was not followed.
    fn is_what_it_leads_to(&self) -> bool {
        let PathAnswerKind::Look(look, ..) = &self.what else {
            return false;
        };
        !self.follow && !matches!(look.kind, PlaceKind::Link(_))
    }
}

impl OpenFiles {
    /// The guest changes something.
    pub(super) fn change(&self) {
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// The guest was told about a path.
    pub(super) fn looked(&mut self, base: ProjectPath, text: String, follow: bool, look: PathStat) {
        let changes = self.changes.load(Ordering::Relaxed);
        self.told = Some(PathAnswer {
            base,
            text,
            follow,
            what: PathAnswerKind::Look(look, Instant::now(), changes),
        });
    }

    /// The guest was told about an entry of a directory.
    pub(super) fn listed(&mut self, directory: &ProjectPath, name: &str) {
        let Ok(own) = ProjectPath::normalize(name) else {
            return;
        };
        self.told = Some(PathAnswer {
            base: directory.clone(),
            text: name.to_owned(),
            follow: false,
            what: PathAnswerKind::Entry(directory.join(&own)),
        });
    }

    /// The canonical path of what the guest was told about just now, if that was this.
    pub(super) fn told_path(
        &mut self,
        base: &ProjectPath,
        text: &str,
        follow: bool,
    ) -> Option<ProjectPath> {
        match self.told(base, text, follow)? {
            PathAnswerKind::Look(look, ..) => Some(look.path),
            PathAnswerKind::Entry(path) => Some(path),
        }
    }

    /// The state of what the guest was told about just now, if that was this and is as good as new.
    pub(super) fn told_look(
        &mut self,
        base: &ProjectPath,
        text: &str,
        follow: bool,
    ) -> Option<PathStat> {
        match self.told(base, text, follow)? {
            PathAnswerKind::Look(look, at, changes) => {
                let unchanged = changes == self.changes.load(Ordering::Relaxed);
                (unchanged && at.elapsed() < JUST_NOW).then_some(look)
            }
            PathAnswerKind::Entry(_) => None,
        }
    }

    /// What the guest was told last, if that was this. It serves once.
    fn told(&mut self, base: &ProjectPath, text: &str, follow: bool) -> Option<PathAnswerKind> {
        let told = self.told.take()?;
        let same = told.text == text && told.base == *base;
        let same = same && (told.follow == follow || told.is_what_it_leads_to());
        same.then_some(told.what)
    }
}

impl Guest {
    /// Whether one more file may be opened. A file on disk takes a descriptor of ours, and those that this
    /// process can have are for all calls together.
    pub(super) fn expect_room(&self) -> Result<(), FilesystemFailure> {
        let most = self.meter.descriptors.min(share_of_descriptors());
        let held = Arc::strong_count(&self.files.changes) as u64 - 1;
        match held < most {
            true => Ok(()),
            false => Err(FilesystemFailure::Ended(
                GuestEndReason::Descriptors(most).into(),
            )),
        }
    }

    /// An open file, counted.
    pub(super) fn counted(&self, file: OpenFile) -> Arc<OpenedGuestFile> {
        Arc::new(OpenedGuestFile {
            file,
            changes: Arc::clone(&self.files.changes),
        })
    }
}

/// How many of the descriptors that this process can have one guest may take.
fn share_of_descriptors() -> u64 {
    static SHARE: OnceLock<u64> = OnceLock::new();
    *SHARE.get_or_init(|| share_of(getrlimit(Resource::Nofile).current))
}

/// A quarter, so that several calls beside each other, and what else this process does, have enough.
fn share_of(descriptors: Option<u64>) -> u64 {
    descriptors.map_or(u64::MAX, |most| (most / 4).max(1))
}

/// How long the answer to one question serves for the other that belongs to it.
const JUST_NOW: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use super::share_of;

    #[test]
    fn one_guest_gets_a_quarter_of_the_descriptors() {
        let check = |most: Option<u64>, expected: u64| assert_eq!(share_of(most), expected);
        check(None, u64::MAX);
        check(Some(20_000), 5000);
        check(Some(1024), 256);
        check(Some(3), 1);
        check(Some(0), 1);
    }
}
