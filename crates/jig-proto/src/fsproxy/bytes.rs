//! [`StreamBuffer`]: what has arrived of a stream and is not used yet.

/// Memory that a stream is read into and taken from again.
///
/// It grows with what arrives, never with what is announced: a peer that promises much and sends
/// nothing costs nothing.
#[derive(Debug, Default)]
pub(super) struct StreamBuffer {
    /// All of it can be read into; what has arrived and is not used lies in `start..end`.
    memory: Vec<u8>,
    start: usize,
    end: usize,
    /// Whether the last read brought as much as there was space for, so that there may be more.
    is_behind: bool,
}

impl StreamBuffer {
    /// Room for more, never empty.
    ///
    /// The memory doubles when it is full, but to no more than `most` bytes as long as fewer than that
    /// are waiting.
    pub(super) fn space(&mut self, most: usize) -> &mut [u8] {
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
            if self.memory.len() > KEPT_BYTES {
                self.memory.truncate(KEPT_BYTES);
                self.memory.shrink_to_fit();
            }
        } else if self.start > 0 {
            // Whoever takes all that is whole leaves less than one message behind, and that is moved
            // once: it then lies at the beginning.
            self.memory.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        let is_small = self.memory.len() < KEPT_BYTES;
        if self.end == self.memory.len() || (self.is_behind && is_small) {
            let doubled = self.memory.len().saturating_mul(2).max(FIRST_BYTES);
            let size = match self.end < most {
                true => doubled.min(most),
                false => doubled,
            };
            if size > self.memory.len() {
                self.memory.reserve_exact(size - self.memory.len());
                self.memory.resize(size, 0);
            }
        }
        &mut self.memory[self.end..]
    }

    /// Says that so many bytes of the space are there now.
    ///
    /// # Panics
    ///
    /// If there was no space for so many.
    pub(super) fn filled(&mut self, count: usize) {
        assert!(
            count <= self.memory.len() - self.end,
            "more bytes were filled than there was space"
        );
        self.end += count;
        self.is_behind = self.end == self.memory.len();
    }

    /// What is waiting.
    pub(super) fn waiting(&self) -> &[u8] {
        &self.memory[self.start..self.end]
    }

    /// Takes the first `count` bytes of what is waiting.
    pub(super) fn take(&mut self, count: usize) -> &[u8] {
        let from = self.start;
        self.start = (from + count).min(self.end);
        &self.memory[from..self.start]
    }

    /// The bytes of memory that are held.
    pub(super) fn memory(&self) -> usize {
        self.memory.capacity()
    }
}

/// How much a first read may bring.
const FIRST_BYTES: usize = 8 * 1024;

/// How much memory is kept when nothing waits. Without it, every idle connection would hold as much
/// as its longest message took.
const KEPT_BYTES: usize = 64 * 1024;
