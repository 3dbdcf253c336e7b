//! [`OutputMeter`]: what a command prints is counted, and ends it when it is too much.

use std::io::{PipeReader, Read as _};
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicU64, Ordering};

use jig_sandbox::Child;

use super::relay::write_all;

/// Counts what a command prints on all its streams together.
pub(super) struct OutputMeter {
    /// The most bytes; `None` counts nothing.
    most: Option<u64>,
    printed: AtomicU64,
}

impl OutputMeter {
    /// Ends a command that prints more than `most` bytes.
    pub(super) fn new(most: Option<u64>) -> Self {
        Self {
            most,
            printed: AtomicU64::new(0),
        }
    }

    /// Counts so many bytes more, and says how many of them may pass. A command that prints too much is killed: one
    /// that is asked to end would go on meanwhile.
    pub(super) fn admit(&self, count: usize, child: &Child) -> usize {
        let Some(most) = self.most else {
            return count;
        };
        let bytes = u64::try_from(count).unwrap_or(u64::MAX);
        let before = self.printed.fetch_add(bytes, Ordering::SeqCst);
        let room = usize::try_from(most.saturating_sub(before)).unwrap_or(usize::MAX);
        if room < count {
            child.kill();
        }
        room.min(count)
    }

    /// Whether the command printed too much.
    pub(super) fn is_reached(&self) -> bool {
        self.most
            .is_some_and(|most| self.printed.load(Ordering::SeqCst) > most)
    }

    /// Passes what comes from `pipe` on to `stream`, until nobody can write into the pipe any more.
    pub(super) fn pass_on(&self, mut pipe: &PipeReader, stream: BorrowedFd<'_>, child: &Child) {
        let mut buffer = [0; 16 << 10];
        let mut is_heard = true;
        loop {
            let count = match pipe.read(&mut buffer) {
                Ok(0) => return,
                Ok(count) => count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(_) => return,
            };
            if !is_heard {
                continue;
            }
            let count = self.admit(count, child);
            if write_all(stream, &buffer[..count]).is_err() {
                // Nobody reads it any more, which a command that prints there itself would hear in this way.
                is_heard = false;
                child.signal(signal_hook::consts::SIGPIPE);
            }
        }
    }
}
