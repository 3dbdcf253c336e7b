//! [`Opened`]: a file that can be read.

use std::io::{self, Cursor, Read, Seek, SeekFrom};

/// The file of the standard library.
#[expect(
    clippy::disallowed_types,
    reason = "a file that the host has opened for the tool is one of the operating system"
)]
pub(super) type StdFile = std::fs::File;

/// A file that was opened by [`Host::open`](super::Host::open), to be read from its beginning.
///
/// Exhaustive: there is no third way in which a file can arrive.
#[derive(Debug)]
pub enum Opened {
    /// The file itself, opened by the host for reading. Nothing can be written through it.
    File(StdFile),
    /// Its content, where the host can't or won't pass the file.
    Bytes(Cursor<Vec<u8>>),
}

impl Opened {
    /// All of it that was not read yet.
    ///
    /// # Errors
    ///
    /// If the file can't be read.
    pub fn into_bytes(self) -> io::Result<Vec<u8>> {
        match self {
            Self::Bytes(bytes) if bytes.position() == 0 => Ok(bytes.into_inner()),
            mut other => {
                let mut content = Vec::new();
                other.read_to_end(&mut content)?;
                Ok(content)
            }
        }
    }
}

impl Read for Opened {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Bytes(bytes) => bytes.read(buffer),
        }
    }

    /// Each knows how much is left, and makes room for that at once.
    fn read_to_end(&mut self, content: &mut Vec<u8>) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read_to_end(content),
            Self::Bytes(bytes) => bytes.read_to_end(content),
        }
    }
}

impl Seek for Opened {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Bytes(bytes) => bytes.seek(to),
        }
    }
}
