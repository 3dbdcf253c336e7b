//! [`ComponentCache`]: compiled code on disk, so that the next process starts warm.
//!
//! What is loaded from here runs as native code, so nothing is trusted that somebody else may have put here.
//! An entry is read whole and authenticated by a key that lies elsewhere, and the bytes that were
//! authenticated are the ones that are used. Anything that is odd counts as absent: the component is compiled
//! again.

mod disk;

use std::hash::{Hash as _, Hasher};
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::OnceLock;

use wasmtime::Engine;

use disk::CacheFolder;

#[cfg(test)]
mod tests;

/// Where compiled code is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheDirs {
    /// The directory for the code, which belongs to the user alone. It is made if it is missing.
    pub code: PathBuf,
    /// The file for the key that tells our own code from what others put there. It is made if it is missing;
    /// not in the directory of the code, which other programs may be allowed to write.
    pub key: PathBuf,
}

/// What is kept on disk for other processes.
#[derive(Debug)]
pub(crate) struct ComponentCache {
    dirs: CacheDirs,
    /// Opened by whoever needs it first: most processes run no component.
    opened: OnceLock<Result<CacheFolder, String>>,
}

/// Names one entry: what it is, and of which component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CacheEntryId(blake3::Hash);

impl CacheEntryId {
    /// The compiled code of a component, for this engine and no other.
    pub(crate) fn code(component: &blake3::Hash, engine: &Engine) -> Self {
        let mut hasher = Blake3Hasher(blake3::Hasher::new_derive_key("jig 1 wasm compiled code"));
        hasher.write(component.as_bytes());
        engine.precompile_compatibility_hash().hash(&mut hasher);
        Self(hasher.0.finalize())
    }

    /// What a component says of itself.
    pub(crate) fn description(component: &blake3::Hash) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("jig 1 wasm description");
        hasher.update(component.as_bytes());
        Self(hasher.finalize())
    }

    fn name(&self) -> String {
        self.0.to_hex().to_string()
    }
}

/// Bytes that were written by jig, for this entry. Only the check of their seal makes one.
pub(crate) struct SealedBytes(Vec<u8>);

impl SealedBytes {
    /// The content of an entry, if its seal is right.
    fn open(key: &CacheKey, identity: &CacheEntryId, bytes: Vec<u8>) -> Option<Self> {
        let (seal, content) = bytes.split_at_checked(SEAL)?;
        let seal: [u8; SEAL] = seal.try_into().ok()?;
        // Hashes are compared in constant time.
        (key.seal(identity, content) == seal).then_some(Self(bytes))
    }
}

impl Deref for SealedBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0[SEAL..]
    }
}

/// What only the user's own programs know.
struct CacheKey([u8; 32]);

impl CacheKey {
    /// The seal covers what the entry is for: somebody who can write the directory could otherwise put the
    /// code of one component in the place of another's.
    fn seal(&self, identity: &CacheEntryId, content: &[u8]) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        hasher.update(identity.0.as_bytes());
        hasher.update(content);
        hasher.finalize()
    }
}

impl ComponentCache {
    pub(crate) fn new(dirs: CacheDirs) -> Self {
        Self {
            dirs,
            opened: OnceLock::new(),
        }
    }

    /// What was kept, if it is there and beyond doubt.
    pub(crate) fn load(&self, identity: &CacheEntryId) -> Option<SealedBytes> {
        let folder = self.folder().ok()?;
        let bytes = folder.read(&identity.name(), MAX_ENTRY)?;
        SealedBytes::open(&folder.key, identity, bytes)
    }

    /// Whether something is there. It may still turn out to be of no use.
    pub(crate) fn has(&self, identity: &CacheEntryId) -> bool {
        // Nothing is made for a question.
        if self.opened.get().is_none() && !disk::is_there(&self.dirs) {
            return false;
        }
        let folder = self.folder().ok();
        folder.is_some_and(|folder| folder.has(&identity.name(), MAX_ENTRY))
    }

    /// Keeps something, if that is possible.
    ///
    /// # Errors
    ///
    /// Why it is not.
    pub(crate) fn store(&self, identity: &CacheEntryId, content: &[u8]) -> Result<(), String> {
        let folder = self.folder()?;
        let size = content.len() as u64 + SEAL as u64;
        if size > MAX_ENTRY {
            return Err(format!("an entry of {size} bytes is too large"));
        }
        let seal = folder.key.seal(identity, content);
        let written = folder.write(&identity.name(), &[seal.as_bytes(), content]);
        folder.prune(MAX_TOTAL);
        written.map_err(|error| format!("{}: {error}", self.dirs.code.display()))
    }

    fn folder(&self) -> Result<&CacheFolder, String> {
        let opened = self.opened.get_or_init(|| CacheFolder::open(&self.dirs));
        opened.as_ref().map_err(Clone::clone)
    }
}

/// Feeds what can be hashed to BLAKE3: the hashes of the standard library are no names for code.
struct Blake3Hasher(blake3::Hasher);

impl Hasher for Blake3Hasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Nobody asks for it.
    fn finish(&self) -> u64 {
        0
    }
}

/// The length of a seal.
const SEAL: usize = blake3::OUT_LEN;

/// The largest entry: what somebody put there must not fill our memory.
const MAX_ENTRY: u64 = 512 << 20;

/// What all entries may take together. The oldest go first.
const MAX_TOTAL: u64 = 2 << 30;
