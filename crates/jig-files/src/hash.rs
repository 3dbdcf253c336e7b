//! [`ContentHash`]: the name of one version of a file's content.

use std::fmt;
use std::str::FromStr;

/// The BLAKE3 hash of a file's whole content, written as 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ContentHash(blake3::Hash);

impl ContentHash {
    /// The hash of `content`.
    pub fn of(content: &[u8]) -> Self {
        Self(blake3::hash(content))
    }

    /// Hashes content that arrives in pieces.
    #[cfg(unix)]
    pub(crate) fn of_pieces<E>(
        mut next: impl FnMut(&mut [u8]) -> Result<usize, E>,
    ) -> Result<Self, E> {
        let mut hasher = blake3::Hasher::new();
        let mut buffer = vec![0; PIECE];
        loop {
            match next(&mut buffer)? {
                0 => return Ok(Self(hasher.finalize())),
                length => hasher.update(&buffer[..length]),
            };
        }
    }
}

impl FromStr for ContentHash {
    type Err = HashSyntaxError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        blake3::Hash::from_hex(text)
            .map(Self)
            .map_err(|_| HashSyntaxError)
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_hex())
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}

/// The text is not the hash of anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a content hash is 64 hexadecimal digits")]
pub struct HashSyntaxError;

/// How much of a file is held at once while it is hashed.
#[cfg(unix)]
const PIECE: usize = 64 * 1024;
