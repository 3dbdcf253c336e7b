//! [`VirtualFiles`]: files that exist only for one tree of clients.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jig_proto::fsproxy::{OpenEffects, ProxyError};

/// The virtual namespace: what no rule speaks of is kept here, by name, as long as the manager lives. All
/// clients of the tree see the same files.
#[derive(Debug)]
pub(super) struct VirtualFiles {
    files: Mutex<HashMap<String, Arc<VirtualFile>>>,
    most_files: usize,
    room: Arc<VirtualFileSpace>,
}

/// How much all content may take.
#[derive(Debug)]
struct VirtualFileSpace {
    used: AtomicU64,
    most: u64,
}

/// One file. What one handle writes, every other sees at once.
#[derive(Debug)]
pub(super) struct VirtualFile {
    content: Mutex<Vec<u8>>,
    room: Arc<VirtualFileSpace>,
}

impl VirtualFiles {
    pub(super) fn new(most_files: usize, most_bytes: u64) -> Self {
        Self {
            files: Mutex::default(),
            most_files,
            room: Arc::new(VirtualFileSpace {
                used: AtomicU64::new(0),
                most: most_bytes,
            }),
        }
    }

    /// The file of a name, created or emptied as `opening` says; `None` if it is missing and stays so.
    pub(super) fn open(
        &self,
        name: &str,
        opening: OpenEffects,
    ) -> Result<Option<Arc<VirtualFile>>, ProxyError> {
        let file = {
            let mut files = self.files();
            match files.get(name) {
                Some(file) => Arc::clone(file),
                None if !opening.create => return Ok(None),
                None if files.len() >= self.most_files => {
                    return Err(ProxyError::range(format!(
                        "there are {} virtual files already, the most that there can be",
                        self.most_files
                    )));
                }
                None => {
                    let file = Arc::new(VirtualFile {
                        content: Mutex::default(),
                        room: Arc::clone(&self.room),
                    });
                    files.insert(name.to_owned(), Arc::clone(&file));
                    file
                }
            }
        };
        if opening.truncate {
            file.clear();
        }
        Ok(Some(file))
    }

    /// The names of all files, sorted.
    pub(super) fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.files().keys().cloned().collect();
        names.sort();
        names
    }

    fn files(&self) -> MutexGuard<'_, HashMap<String, Arc<VirtualFile>>> {
        // A panic elsewhere cannot leave the map half-changed.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl VirtualFile {
    /// Reads up to `max` bytes from `offset` to the end of `into`; none at the end and past it.
    pub(super) fn read_at(&self, offset: u64, max: usize, into: &mut Vec<u8>) -> usize {
        let content = self.content();
        let start = usize::try_from(offset).map_or(content.len(), |at| at.min(content.len()));
        let some = &content[start..start.saturating_add(max).min(content.len())];
        into.extend_from_slice(some);
        some.len()
    }

    /// Writes all of `bytes` at `offset`, or nothing. A gap before it, which is there when another handle has
    /// emptied the file, reads as zeros and takes room as any content does.
    pub(super) fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<(), ProxyError> {
        if bytes.is_empty() {
            return Ok(());
        }
        let mut content = self.content();
        let end = offset.saturating_add(bytes.len() as u64);
        self.make_room(&mut content, end)?;
        // There is memory up to the end of it now, so that the number fits.
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        if start > content.len() {
            content.resize(start, 0);
        }
        let over = bytes.len().min(content.len() - start);
        let (over, beyond) = bytes.split_at(over);
        content[start..start + over.len()].copy_from_slice(over);
        content.extend_from_slice(beyond);
        Ok(())
    }

    /// Writes all of `bytes` at the end, or nothing. Gives the new size.
    pub(super) fn append(&self, bytes: &[u8]) -> Result<u64, ProxyError> {
        let mut content = self.content();
        let size = content.len() as u64 + bytes.len() as u64;
        self.make_room(&mut content, size)?;
        content.extend_from_slice(bytes);
        Ok(size)
    }

    /// Empties the file and gives its room back.
    fn clear(&self) {
        let content = std::mem::take(&mut *self.content());
        self.room.give_back(content.len() as u64);
    }

    /// Takes the room that content of `size` bytes needs, and the memory for it.
    fn make_room(&self, content: &mut Vec<u8>, size: u64) -> Result<(), ProxyError> {
        let more = size.saturating_sub(content.len() as u64);
        if more == 0 {
            return Ok(());
        }
        self.room.take(more)?;
        let count = usize::try_from(more).unwrap_or(usize::MAX);
        if content.try_reserve(count).is_err() {
            self.room.give_back(more);
            return Err(ProxyError::io("the host has no memory for a virtual file"));
        }
        Ok(())
    }

    fn content(&self) -> MutexGuard<'_, Vec<u8>> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for VirtualFile {
    fn drop(&mut self) {
        self.clear();
    }
}

impl VirtualFileSpace {
    fn take(&self, more: u64) -> Result<(), ProxyError> {
        let fits = |used: u64| used.checked_add(more).filter(|sum| *sum <= self.most);
        let taken = self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, fits);
        taken.map(|_| ()).map_err(|_| {
            ProxyError::range(format!(
                "virtual files can hold {} bytes altogether",
                self.most
            ))
        })
    }

    fn give_back(&self, count: u64) {
        self.used.fetch_sub(count, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
