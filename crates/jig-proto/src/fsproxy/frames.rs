//! [`FrameBuffer`]: bytes as they arrive become frames.

use crate::fsproxy::bytes::StreamBuffer;

/// Cuts a stream into frames.
///
/// Read into [`space`](Self::space), say how much came with [`filled`](Self::filled), and take frames
/// with [`next`](Self::next) until there is none. The memory grows with what arrives and stays within
/// the limit and the four bytes of a length; an announced length above the limit is an error before
/// anything of that frame is kept.
#[derive(Debug)]
pub struct FrameBuffer {
    bytes: StreamBuffer,
    max: usize,
}

/// A frame was announced that is longer than the limit. There is no way to go on: its end is as far
/// away as its sender likes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a frame of {length} bytes was announced; the limit is {limit}")]
pub struct FrameTooLong {
    /// The length that was announced.
    pub length: u32,
    /// The limit.
    pub limit: usize,
}

impl FrameBuffer {
    /// A buffer for frames of at most `max` bytes, such as [`MAX_FRAME`](super::MAX_FRAME).
    pub fn new(max: usize) -> Self {
        Self {
            bytes: StreamBuffer::default(),
            max,
        }
    }

    /// Where to read the next bytes of the stream to; never empty.
    pub fn space(&mut self) -> &mut [u8] {
        self.bytes.space(self.max.saturating_add(PREFIX))
    }

    /// Says that so many bytes were read into the beginning of the space.
    ///
    /// # Panics
    ///
    /// If that is more than [`space`](Self::space) had.
    pub fn filled(&mut self, count: usize) {
        self.bytes.filled(count);
    }

    /// Takes the next frame, without its length; `None` means that more of the stream is needed.
    ///
    /// # Errors
    ///
    /// [`FrameTooLong`], from then on for every call: the connection can only be closed.
    #[expect(
        clippy::should_implement_trait,
        reason = "what it returns is borrowed from the buffer, which no iterator can do"
    )]
    pub fn next(&mut self) -> Result<Option<&[u8]>, FrameTooLong> {
        let Some(prefix) = self.bytes.waiting().first_chunk::<PREFIX>() else {
            return Ok(None);
        };
        let announced = u32::from_be_bytes(*prefix);
        let length = match usize::try_from(announced) {
            Ok(length) if length <= self.max => length,
            _ => {
                return Err(FrameTooLong {
                    length: announced,
                    limit: self.max,
                });
            }
        };
        if self.bytes.waiting().len() - PREFIX < length {
            return Ok(None);
        }
        Ok(Some(&self.bytes.take(PREFIX + length)[PREFIX..]))
    }

    /// Whether nothing waits: at the end of a stream, whether it ended between two frames.
    pub fn is_empty(&self) -> bool {
        self.bytes.waiting().is_empty()
    }

    /// The first byte that waits, by which a [`Variant`](super::Variant) is told from another.
    pub fn first(&self) -> Option<u8> {
        self.bytes.waiting().first().copied()
    }

    /// What waits, for another reader.
    pub fn into_rest(self) -> Vec<u8> {
        self.bytes.waiting().to_vec()
    }

    /// The bytes of memory that are held.
    pub fn memory(&self) -> usize {
        self.bytes.memory()
    }
}

/// The bytes of a length.
pub(super) const PREFIX: usize = 4;

#[cfg(test)]
mod tests;
