//! [`Slot`]: a folder of jig's own for the caches of confined programs, which stays from run to run.
//!
//! One run at a time uses a slot, because what programs lock to share a cache lies in their private homes, and
//! because no two layers can be kept in one directory. Runs beside each other get different slots.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "these folders are jig's own, below its state, and hold no file of a workspace"
)]

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::Shelf;
use crate::filled_folder::private;

#[cfg(test)]
mod tests;

/// A folder for caches that nobody else uses as long as this exists.
#[derive(Debug)]
pub struct Slot {
    path: PathBuf,
    /// The folder, locked.
    _lock: File,
}

impl Slot {
    /// The first slot of an owner below `state` that is free; it is made if it is missing. Other words are
    /// another owner. `None` if all are in use.
    ///
    /// # Errors
    ///
    /// If the operating system does not let it be made.
    pub fn take<'w>(
        state: &Path,
        kind: &str,
        owner: impl IntoIterator<Item = &'w str>,
    ) -> io::Result<Option<Self>> {
        let shelf = Shelf::of(state, kind, owner);
        private(shelf.home(), true)?;
        // What is mounted over has to be named without links.
        let home = fs::canonicalize(shelf.home())?;
        for number in 1..=MOST_SLOTS {
            let path = home.join(number.to_string());
            made(&path)?;
            let lock = File::open(&path)?;
            if lock.try_lock().is_ok() {
                return Ok(Some(Self { path, _lock: lock }));
            }
        }
        Ok(None)
    }

    /// A folder in it, with what was in it before. It is open to nobody but the user.
    ///
    /// # Errors
    ///
    /// If the operating system does not let it be made.
    pub fn folder(&self, name: &str) -> io::Result<PathBuf> {
        let path = self.path.join(name);
        made(&path)?;
        Ok(path)
    }

    /// A folder in it that is empty, whatever was in it before.
    ///
    /// # Errors
    ///
    /// If the operating system does not let it be made or emptied.
    pub fn empty_folder(&self, name: &str) -> io::Result<PathBuf> {
        let path = self.folder(name)?;
        crate::layer::empty(&File::open(&path)?)?;
        Ok(path)
    }
}

fn made(path: &Path) -> io::Result<()> {
    match private(path, false) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// More runs at once than these do without.
const MOST_SLOTS: usize = 16;
