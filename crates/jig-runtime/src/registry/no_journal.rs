//! Where processes cannot be told apart from later ones with the same number, none are noted: to end the
//! wrong one would be worse than to leave one behind.

use std::io;
use std::path::Path;

use jig_proto::HandleId;

use super::leftover::Leftover;

/// Notes nothing.
#[derive(Debug)]
pub(super) struct HandleJournal;

impl HandleJournal {
    pub(super) fn in_directory(_directory: &Path) -> io::Result<Self> {
        Ok(Self)
    }

    pub(super) fn add(&self, _number: u64, _id: &HandleId, _tool: &str, _pid: u32) {}

    pub(super) fn remove(&self, _number: u64) {}
}

/// Finds nothing: see [`Handles::with_journal`](super::Handles::with_journal).
pub fn leftovers(_directory: &Path) -> Vec<Leftover> {
    Vec::new()
}
