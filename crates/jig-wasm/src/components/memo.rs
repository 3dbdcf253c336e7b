//! [`Memo`]: what is known of components, of bounded size.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use super::bytes::Stamp;
use super::{Compiling, Ready};
use crate::{ComponentError, Description};

/// What is known of components.
#[derive(Default)]
pub(super) struct Memo {
    /// The hashes of bytes, by their stamps, and when each was last asked for.
    hashes: HashMap<Stamp, (blake3::Hash, u64)>,
    /// The components by their hashes, and when each was last asked for.
    entries: HashMap<blake3::Hash, (Entry, u64)>,
    /// How components describe themselves, by their hashes, and when each was last asked for.
    descriptions: HashMap<blake3::Hash, (Option<Vec<Description>>, u64)>,
    /// Counts what is asked for.
    clock: u64,
}

pub(super) enum Entry {
    Loading(Compiling),
    Ready(Arc<Ready>),
    /// The same bytes would fail again.
    Failed(ComponentError),
}

impl Memo {
    pub(super) fn hash(&mut self, stamp: &Stamp) -> Option<blake3::Hash> {
        self.clock += 1;
        let (hash, used) = self.hashes.get_mut(stamp)?;
        *used = self.clock;
        Some(*hash)
    }

    pub(super) fn remember(&mut self, stamp: Stamp, hash: blake3::Hash) {
        self.clock += 1;
        self.hashes.insert(stamp, (hash, self.clock));
        if self.hashes.len() > MAX_HASHES {
            forget_oldest(&mut self.hashes, |_| true);
        }
    }

    pub(super) fn entry(&mut self, hash: &blake3::Hash) -> Option<&Entry> {
        self.clock += 1;
        let (entry, used) = self.entries.get_mut(hash)?;
        *used = self.clock;
        Some(entry)
    }

    pub(super) fn begin(&mut self, hash: blake3::Hash, shown: &str, size: u64) {
        let loading = Entry::Loading(Compiling {
            shown: shown.to_owned(),
            since: Instant::now(),
            size,
        });
        self.entries.insert(hash, (loading, self.clock));
    }

    pub(super) fn finish(&mut self, hash: blake3::Hash, made: Result<Arc<Ready>, ComponentError>) {
        self.clock += 1;
        let entry = match made {
            Ok(ready) => Entry::Ready(ready),
            Err(error) => Entry::Failed(error),
        };
        self.entries.insert(hash, (entry, self.clock));
        if self.entries.len() > MAX_COMPONENTS {
            // Somebody waits for those that are being loaded.
            forget_oldest(&mut self.entries, |entry| {
                !matches!(entry, Entry::Loading(_))
            });
        }
    }

    pub(super) fn description(&mut self, hash: &blake3::Hash) -> Option<Option<Vec<Description>>> {
        self.clock += 1;
        let (known, used) = self.descriptions.get_mut(hash)?;
        *used = self.clock;
        Some(known.clone())
    }

    pub(super) fn describe(&mut self, hash: blake3::Hash, known: Option<Vec<Description>>) {
        self.clock += 1;
        self.descriptions.insert(hash, (known, self.clock));
        if self.descriptions.len() > MAX_HASHES {
            forget_oldest(&mut self.descriptions, |_| true);
        }
    }

    /// How many bytes are held by the stamps that are remembered.
    pub(super) fn held(&self) -> usize {
        self.hashes.keys().map(Stamp::held).sum()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn loading(&self) -> Vec<Compiling> {
        let entries = self.entries.values();
        let loading = entries.filter_map(|(entry, _)| match entry {
            Entry::Loading(compiling) => Some(compiling.clone()),
            Entry::Ready(_) | Entry::Failed(_) => None,
        });
        loading.collect()
    }
}

fn forget_oldest<K: Clone + Eq + std::hash::Hash, V>(
    map: &mut HashMap<K, (V, u64)>,
    may_go: impl Fn(&V) -> bool,
) {
    let going = map.iter().filter(|(_, (value, _))| may_go(value));
    let oldest = going.min_by_key(|(_, (_, used))| *used);
    if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
        map.remove(&oldest);
    }
}

/// How many components are kept ready. A process that serves many workspaces for days would otherwise keep
/// every version of every component.
pub(super) const MAX_COMPONENTS: usize = 64;

/// How many stamps are remembered. Those of bytes in memory keep them there.
const MAX_HASHES: usize = 128;
