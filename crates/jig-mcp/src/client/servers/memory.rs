//! [`Memory`]: where what was accepted of servers is kept, for the next jig of the same workspace.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Small files of one workspace, outside of what its tools can reach. This crate knows no files: whoever starts
/// it brings them.
///
/// Several processes may use the same files at once. What comes back from [`get`](Self::get) is not trusted:
/// anything that is odd counts as absent.
pub trait Memory: Send + Sync {
    /// The content of a file; `None` if there is none, if it cannot be read, or if it is far too large.
    fn get(&self, name: &str) -> Option<Vec<u8>>;

    /// Changes a file, while no other process does: `change` is given its content and returns what is to be
    /// written instead, or `None` to leave it as it is. A crash leaves the old content or the new one.
    ///
    /// # Errors
    ///
    /// If the file cannot be written, in the words that a person reads.
    fn update(&self, name: &str, change: &mut ContentUpdate<'_>) -> Result<(), String>;

    /// A number that changes when a file changes. It is cheap: it is asked every second while somebody may
    /// accept something elsewhere.
    fn mark(&self, name: &str) -> u64;
}

/// How a file changes: from its content, if it has any, to what is written instead, if anything is.
pub type ContentUpdate<'c> = dyn FnMut(Option<Vec<u8>>) -> Option<Vec<u8>> + 'c;

/// A memory that ends with its process: everything is asked again by the next.
#[derive(Debug, Default)]
pub struct ForgetfulMemory {
    files: Mutex<HashMap<String, (u64, Vec<u8>)>>,
}

impl ForgetfulMemory {
    fn files(&self) -> MutexGuard<'_, HashMap<String, (u64, Vec<u8>)>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Memory for ForgetfulMemory {
    fn get(&self, name: &str) -> Option<Vec<u8>> {
        self.files().get(name).map(|(_, bytes)| bytes.clone())
    }

    fn update(&self, name: &str, change: &mut ContentUpdate<'_>) -> Result<(), String> {
        let mut files = self.files();
        let (number, old) = match files.get(name) {
            Some((number, bytes)) => (*number, Some(bytes.clone())),
            None => (0, None),
        };
        if let Some(new) = change(old) {
            files.insert(name.to_owned(), (number + 1, new));
        }
        Ok(())
    }

    fn mark(&self, name: &str) -> u64 {
        self.files().get(name).map_or(0, |(number, _)| *number)
    }
}
