//! [`ProxyFile`]: one open file of one client.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use jiff::Timestamp;
use jig_broker::OpenFile;
use jig_proto::fsproxy::{OpenEffects, ProxyError};

use super::refusal::refusal;
use super::virtual_files::VirtualFile;

/// One open file of one client. It is used by the thread of that client only; what others see of it does not
/// change.
#[derive(Debug)]
pub(super) struct ProxyFile {
    pub(super) name: String,
    pub(super) mode: String,
    pub(super) opened_at: Timestamp,
    pub(super) is_top_level: bool,
    pub(super) opening: OpenEffects,
    pub(super) file: ProxyFileBacking,
    /// Where the next read or write begins, as the offset of a descriptor.
    pub(super) offset: Mutex<u64>,
    /// Its place among the handles of the tree.
    pub(super) _seat: CountedHandle,
}

/// What is open.
#[derive(Debug)]
pub(super) enum ProxyFileBacking {
    Real(Box<OpenFile>),
    Virtual(Arc<VirtualFile>),
}

impl ProxyFile {
    /// Reads up to `max` bytes to the end of `into`; true at the end of the file.
    pub(super) fn read(&self, max: usize, into: &mut Vec<u8>) -> Result<bool, ProxyError> {
        if !self.opening.read {
            return Err(self.wrong("read"));
        }
        let mut offset = self.offset.lock().unwrap_or_else(PoisonError::into_inner);
        let count = match &self.file {
            ProxyFileBacking::Real(file) => {
                let bytes = file
                    .read_at(*offset, max)
                    .map_err(|error| refusal(&error))?;
                into.extend_from_slice(&bytes);
                bytes.len()
            }
            ProxyFileBacking::Virtual(file) => file.read_at(*offset, max, into),
        };
        *offset = offset.saturating_add(count as u64);
        Ok(count == 0)
    }

    /// Writes all bytes.
    pub(super) fn write(&self, bytes: &[u8]) -> Result<(), ProxyError> {
        if !self.opening.write {
            return Err(self.wrong("written"));
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let mut offset = self.offset.lock().unwrap_or_else(PoisonError::into_inner);
        if self.opening.append {
            let end = self.append(bytes)?;
            // As of a descriptor: what is read next is what comes after that.
            *offset = end.unwrap_or(*offset);
            return Ok(());
        }
        match &self.file {
            ProxyFileBacking::Real(file) => {
                let written = file.write_at(*offset, bytes);
                written.map_err(|error| refusal(&error))?;
            }
            ProxyFileBacking::Virtual(file) => file.write_at(*offset, bytes)?,
        }
        *offset = offset.saturating_add(bytes.len() as u64);
        Ok(())
    }

    /// Whether the file exists only for the clients of the tree.
    pub(super) fn is_virtual(&self) -> bool {
        matches!(self.file, ProxyFileBacking::Virtual(_))
    }

    /// Writes at the end. Gives where that is then, if the handle is also read.
    fn append(&self, bytes: &[u8]) -> Result<Option<u64>, ProxyError> {
        match &self.file {
            ProxyFileBacking::Real(file) => {
                file.append(bytes).map_err(|error| refusal(&error))?;
                match self.opening.read {
                    true => file.size().map(Some).map_err(|error| refusal(&error)),
                    false => Ok(None),
                }
            }
            ProxyFileBacking::Virtual(file) => file.append(bytes).map(Some),
        }
    }

    fn wrong(&self, done: &str) -> ProxyError {
        ProxyError::perm(format!(
            "the handle was opened with mode `{}` and cannot be {done}",
            self.mode
        ))
    }
}

/// The number of open handles of a tree.
#[derive(Debug, Default)]
pub(super) struct Seats(AtomicUsize);

/// One of them, given back when it is dropped.
#[derive(Debug)]
pub(super) struct CountedHandle(Arc<Seats>);

impl Seats {
    /// Takes one, if there are not `most` already.
    pub(super) fn take(self: &Arc<Self>, most: usize) -> Option<CountedHandle> {
        let more = |taken: usize| (taken < most).then(|| taken + 1);
        let taken = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        taken.is_ok().then(|| CountedHandle(Arc::clone(self)))
    }
}

impl Drop for CountedHandle {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}
