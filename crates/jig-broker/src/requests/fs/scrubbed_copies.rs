//! [`CopiedBytes`]: how much of open files is kept in a form without secrets.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many bytes the copies of one call's files take, all together.
///
/// A tool may open one large file a thousand times, and each open file would keep a copy of its own. Where
/// there is no room, a copy is made anew for each read: that is slow, and it is the tool's time.
#[derive(Debug, Default)]
pub(crate) struct CopiedBytes(Arc<AtomicU64>);

impl CopiedBytes {
    /// Room for a copy, if there is some.
    pub(super) fn room(&self, bytes: u64) -> Option<CopySpace> {
        let taken = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |taken| {
                taken.checked_add(bytes).filter(|sum| *sum <= MAX_COPIES)
            });
        taken.ok().map(|_| CopySpace {
            taken: Arc::clone(&self.0),
            bytes,
        })
    }

    /// How much is taken.
    #[cfg(test)]
    pub(super) fn taken(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Room that a copy takes, given back when it is dropped.
#[derive(Debug)]
pub(super) struct CopySpace {
    taken: Arc<AtomicU64>,
    bytes: u64,
}

impl Drop for CopySpace {
    fn drop(&mut self) {
        self.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The most that is kept for one call.
pub(super) const MAX_COPIES: u64 = 64 * 1024 * 1024;
