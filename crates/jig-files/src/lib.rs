//! The files of a workspace behind one trait.
//!
//! [`ProjectFiles`] is what the rest of jig knows about files. [`DiskFiles`] serves a directory of
//! the operating system, [`MemoryFiles`] a tree that exists only in memory, and [`NullFiles`] stands
//! where there is no workspace. One test suite runs over all of them.
//!
//! Acting takes two steps. [`ProjectFiles::locate`] turns a path into a [`Place`]: a bare handle,
//! not yet opened for reading or writing, together with the canonical path that a policy judges.
//! The operations then take the `Place`, so that what was judged is what is used: a directory that
//! is swapped with a link in between cannot redirect them.
//!
//! ```
//! use jig_files::{MemoryFiles, ProjectFiles, WriteOptions};
//! use jig_proto::ProjectPath;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let files = MemoryFiles::new();
//! let place = files.locate(&ProjectPath::normalize("src/main.rs")?)?;
//! assert!(!place.exists());
//! // Here a caller asks the policy about `place.resolved()`.
//! files.write(&place, b"fn main() {}", &WriteOptions::default())?;
//!
//! let place = files.locate(&ProjectPath::normalize("src/main.rs")?)?;
//! assert_eq!(files.read(&place, 1024)?, "fn main() {}");
//! # Ok(())
//! # }
//! ```
//!
//! This crate knows no rules: where it walks a tree it is handed a [`Filter`]. It reads no
//! configuration, and its errors never name a path of the host.

mod cache_slot;
#[cfg(unix)]
mod disk;
#[cfg(not(unix))]
#[path = "disk/unsupported.rs"]
mod disk;
mod edits;
mod error;
mod files;
mod filled_folder;
mod grep;
mod handle;
mod hash;
#[cfg(unix)]
mod journal;
mod layer;
mod located_path;
mod lookup;
mod memory;
mod null;
mod view;

pub use cache_slot::Slot;
#[cfg(unix)]
pub use disk::write_all;
pub use disk::{DiskFiles, DiskOptions};
pub use edits::{EditProblem, FileEdit};
pub use error::FilesError;
pub use files::{
    DirEntry, DirEntryKind, Filter, Listing, ProjectFiles, RenameOptions, WriteOptions,
};
pub use filled_folder::{Shelf, ShelfFilling};
pub use grep::{Case, GrepFileMatches, GrepLine, GrepQuery, Matches};
pub use handle::{FileHandle, OpenOptions};
pub use hash::{ContentHash, HashSyntaxError};
#[cfg(unix)]
pub use journal::{
    FoundJournal, Journal, JournalContent, JournalFolder, MOST_JOURNAL_BYTES, ProcessIdentity,
    ProcessStat, make_private_directories,
};
pub use layer::{
    ApplyReport, Change, ChangeKind, ChangeLayer, Diff, DiffLimits, FailedChange, PathKind,
    UnfitEntry,
};
pub use located_path::{Place, PlaceKind};
pub use lookup::FilesLookup;
pub use memory::MemoryFiles;
pub use null::NullFiles;
pub use view::{Conflict, FilesView, SyncReport};
