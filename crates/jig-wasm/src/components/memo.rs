//! [`ComponentMemo`]: what is known of components, of bounded size.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use super::bytes::ComponentFileStamp;
use super::{CompiledComponent, LoadingComponent};
use crate::{ComponentError, ComponentTool};

/// What is known of components.
#[derive(Default)]
pub(super) struct ComponentMemo {
    /// The hashes of bytes, by their stamps, and when each was last asked for.
    hashes: HashMap<ComponentFileStamp, (blake3::Hash, u64)>,
    /// The components by their hashes, and when each was last asked for.
    entries: HashMap<blake3::Hash, (MemoEntry, u64)>,
    /// How components describe themselves, by their hashes, and when each was last asked for.
    descriptions: HashMap<blake3::Hash, (Option<Vec<ComponentTool>>, u64)>,
    /// Counts what is asked for.
    clock: u64,
}

pub(super) enum MemoEntry {
    Loading(LoadingComponent),
    Ready(Arc<CompiledComponent>),
    /// The same bytes would fail again.
    Failed(ComponentError),
}

impl ComponentMemo {
    pub(super) fn hash(&mut self, stamp: &ComponentFileStamp) -> Option<blake3::Hash> {
        self.clock += 1;
        let (hash, used) = self.hashes.get_mut(stamp)?;
        *used = self.clock;
        Some(*hash)
    }

    pub(super) fn remember(&mut self, stamp: ComponentFileStamp, hash: blake3::Hash) {
        if stamp.held() > MAX_HELD {
            return;
        }
        self.clock += 1;
        self.hashes.insert(stamp, (hash, self.clock));
        while self.hashes.len() > MAX_HASHES || self.held() > MAX_HELD {
            forget_oldest(&mut self.hashes, |_| true);
        }
    }

    pub(super) fn entry(&mut self, hash: &blake3::Hash) -> Option<&MemoEntry> {
        self.clock += 1;
        let (entry, used) = self.entries.get_mut(hash)?;
        *used = self.clock;
        Some(entry)
    }

    pub(super) fn begin(&mut self, hash: blake3::Hash, shown: &str, size: u64) {
        let loading = MemoEntry::Loading(LoadingComponent {
            shown: shown.to_owned(),
            since: Instant::now(),
            size,
        });
        self.entries.insert(hash, (loading, self.clock));
    }

    pub(super) fn finish(
        &mut self,
        hash: blake3::Hash,
        made: Result<Arc<CompiledComponent>, ComponentError>,
    ) {
        self.clock += 1;
        let entry = match made {
            Ok(ready) => MemoEntry::Ready(ready),
            Err(error) => MemoEntry::Failed(error),
        };
        self.entries.insert(hash, (entry, self.clock));
        // Somebody waits for those that are being loaded, and one that is alone is kept however large it is.
        while self.entries.len() > MAX_COMPONENTS || (self.loaded() > 1 && self.size() > MAX_SIZE) {
            let is_loaded = |entry: &MemoEntry| !matches!(entry, MemoEntry::Loading(_));
            if !forget_oldest(&mut self.entries, is_loaded) {
                break;
            }
        }
    }

    /// How many components are not being loaded.
    fn loaded(&self) -> usize {
        let entries = self.entries.values();
        let loaded = entries.filter(|(entry, _)| !matches!(entry, MemoEntry::Loading(_)));
        loaded.count()
    }

    /// The size of all components that are ready, by their binaries.
    fn size(&self) -> u64 {
        let entries = self.entries.values();
        let sizes = entries.map(|(entry, _)| match entry {
            MemoEntry::Ready(ready) => ready.size,
            MemoEntry::Loading(_) | MemoEntry::Failed(_) => 0,
        });
        sizes.sum()
    }

    pub(super) fn description(
        &mut self,
        hash: &blake3::Hash,
    ) -> Option<Option<Vec<ComponentTool>>> {
        self.clock += 1;
        let (known, used) = self.descriptions.get_mut(hash)?;
        *used = self.clock;
        Some(known.clone())
    }

    pub(super) fn describe(&mut self, hash: blake3::Hash, known: Option<Vec<ComponentTool>>) {
        self.clock += 1;
        self.descriptions.insert(hash, (known, self.clock));
        if self.descriptions.len() > MAX_DESCRIPTIONS {
            forget_oldest(&mut self.descriptions, |_| true);
        }
    }

    /// How many bytes are held by the stamps that are remembered.
    pub(super) fn held(&self) -> usize {
        self.hashes.keys().map(ComponentFileStamp::held).sum()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn loading(&self) -> Vec<LoadingComponent> {
        let entries = self.entries.values();
        let loading = entries.filter_map(|(entry, _)| match entry {
            MemoEntry::Loading(compiling) => Some(compiling.clone()),
            MemoEntry::Ready(_) | MemoEntry::Failed(_) => None,
        });
        loading.collect()
    }
}

/// Says whether there was one.
fn forget_oldest<K: Clone + Eq + std::hash::Hash, V>(
    map: &mut HashMap<K, (V, u64)>,
    may_go: impl Fn(&V) -> bool,
) -> bool {
    let going = map.iter().filter(|(_, (value, _))| may_go(value));
    let oldest = going.min_by_key(|(_, (_, used))| *used);
    match oldest.map(|(key, _)| key.clone()) {
        Some(oldest) => map.remove(&oldest).is_some(),
        None => false,
    }
}

/// How many components are kept ready. A process that serves many workspaces for days would otherwise keep
/// every version of every component.
pub(super) const MAX_COMPONENTS: usize = 64;

/// The most bytes that the binaries of those have together; their code is a few times as large. Larger ones
/// are loaded from the disk again.
const MAX_SIZE: u64 = 256 << 20;

/// How many stamps are remembered.
const MAX_HASHES: usize = 128;

/// The most bytes that stamps hold in memory. Files that have no descriptors may be other bytes with each call.
const MAX_HELD: usize = 64 << 20;

/// How many descriptions are remembered. Each can be as large as a component may describe itself.
const MAX_DESCRIPTIONS: usize = 64;
