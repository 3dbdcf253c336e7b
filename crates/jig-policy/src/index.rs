//! A hash table from prefixes to rules, built once and then only read.
//!
//! Looking a target up costs one probe for each of its own prefixes, however many rules there are.
//! A hash only nominates: the caller compares the real key before it believes a match, so two keys
//! with one hash are never confused.

use std::collections::HashMap;

/// The state from which every hash starts.
pub(crate) const SEED: u64 = 0x9e37_79b9_7f4a_7c15;

/// Continues a hash over a whole component (a path component, a host, a segment).
pub(crate) fn absorb(state: u64, bytes: &[u8]) -> u64 {
    let mut state = state;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let mut word = [0; 8];
        word.copy_from_slice(chunk);
        state = fold(state ^ u64::from_le_bytes(word));
    }
    let mut last = [0; 8];
    last[..chunks.remainder().len()].copy_from_slice(chunks.remainder());
    // The length keeps `a` and `a\0` apart and closes the component: `ab`, `c` is not `a`, `bc`.
    fold(state ^ u64::from_le_bytes(last) ^ ((bytes.len() as u64) << 56))
}

/// Continues a hash by one byte, for keys of which every prefix is probed.
pub(crate) fn absorb_byte(state: u64, byte: u8) -> u64 {
    (state ^ u64::from(byte))
        .wrapping_mul(0x0000_0100_0000_01b3)
        .rotate_left(23)
}

/// Spreads a byte-wise hash over all bits before it is used as a key.
pub(crate) fn finish(state: u64) -> u64 {
    fold(state)
}

fn fold(word: u64) -> u64 {
    let wide = u128::from(word) * 0xd6e8_feb8_6659_fd93_u128 + u128::from(SEED);
    (wide as u64) ^ ((wide >> 64) as u64)
}

/// The table: keys to values of the caller's.
///
/// A probe that finds nothing mostly ends at a bit filter, which stays in the processor's cache and
/// whose answer the processor predicts well. One that finds something touches a slot and one record,
/// which holds the key, the value and the bits that decide: no more places in memory for many rules
/// than for few.
#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    filter: Vec<u64>,
    /// Where the record of a key begins, with bits of the key's hash before it.
    slots: Vec<u64>,
    /// Value (4 bytes), bits (1), length of the key (4), key.
    records: Vec<u8>,
}

/// A key with what it leads to.
pub(crate) struct IndexEntry {
    pub(crate) hash: u64,
    pub(crate) key: Vec<u8>,
    pub(crate) value: u32,
    /// What the caller wants to know without following `value`.
    pub(crate) bits: u8,
}

/// What a key leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct IndexHit {
    pub(crate) value: u32,
    pub(crate) bits: u8,
}

impl Index {
    /// Builds the table. Of several entries with one key the last counts.
    pub(crate) fn build(entries: impl IntoIterator<Item = IndexEntry>) -> Self {
        let mut latest: HashMap<Vec<u8>, (u64, IndexHit)> = HashMap::new();
        let mut order: Vec<Vec<u8>> = Vec::new();
        for entry in entries {
            let hit = IndexHit {
                value: entry.value,
                bits: entry.bits,
            };
            if latest
                .insert(entry.key.clone(), (entry.hash, hit))
                .is_none()
            {
                order.push(entry.key);
            }
        }
        if order.is_empty() {
            return Self::default();
        }
        let count = (order.len() * 2).next_power_of_two();
        let words = (order.len() * FILTER_BITS_PER_KEY / 64).next_power_of_two();
        let mut index = Self {
            filter: vec![0; words],
            slots: vec![EMPTY; count],
            records: Vec::new(),
        };
        for key in order {
            let Some((hash, hit)) = latest.remove(&key) else {
                continue;
            };
            let (word, bit) = index.filter_place(hash);
            index.filter[word] |= bit;
            let mut at = hash as usize & (count - 1);
            while index.slots[at] != EMPTY {
                at = (at + 1) & (count - 1);
            }
            index.slots[at] = (hash & TAG) | index.records.len() as u64;
            index.records.extend(hit.value.to_le_bytes());
            index.records.push(hit.bits);
            index.records.extend((key.len() as u32).to_le_bytes());
            index.records.extend(key);
        }
        index
    }

    /// What the key that has this hash, and that `same` recognises, leads to.
    #[inline]
    pub(crate) fn find(&self, hash: u64, same: impl Fn(&[u8]) -> bool) -> Option<IndexHit> {
        if self.slots.is_empty() {
            return None;
        }
        let (word, bit) = self.filter_place(hash);
        if self.filter[word] & bit == 0 {
            return None;
        }
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == EMPTY {
                return None;
            }
            if (slot ^ hash) & TAG == 0
                && let Some((hit, key)) = self.record((slot & !TAG) as usize)
                && same(key)
            {
                return Some(hit);
            }
            at = (at + 1) & mask;
        }
    }

    #[inline]
    fn filter_place(&self, hash: u64) -> (usize, u64) {
        // Other bits than those that choose the slot.
        let word = (hash >> 24) as usize & (self.filter.len() - 1);
        (word, 1 << (hash >> 58))
    }

    #[inline]
    fn record(&self, start: usize) -> Option<(IndexHit, &[u8])> {
        let record = self.records.get(start..)?;
        let (value, rest) = record.split_first_chunk::<4>()?;
        let (bits, rest) = rest.split_first()?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let key = rest.get(..u32::from_le_bytes(*length) as usize)?;
        let value = u32::from_le_bytes(*value);
        Some((IndexHit { value, bits: *bits }, key))
    }
}

/// Sixteen bits for a key let about one needless probe in sixteen through.
const FILTER_BITS_PER_KEY: usize = 16;

/// The bits of a slot that hold a part of the hash; the others hold the place of the record.
const TAG: u64 = 0xffff_ff00_0000_0000;

/// No record begins there: the table would not fit into memory.
const EMPTY: u64 = u64::MAX;

/// The depths (or lengths) at which any key of a policy ends, so that others are not probed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Levels(u64);

impl Levels {
    /// The deepest level that is told apart; all beyond it count as one.
    const LAST: usize = 63;

    /// Every level there may be.
    pub(crate) const ALL: Self = Self(u64::MAX);

    pub(crate) fn insert(&mut self, level: usize) {
        self.0 |= 1 << level.min(Self::LAST);
    }

    #[inline]
    pub(crate) fn may_hold(self, level: usize) -> bool {
        self.0 & (1 << level.min(Self::LAST)) != 0
    }

    /// No level at all.
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }
}

#[cfg(test)]
mod tests;
