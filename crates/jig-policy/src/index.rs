//! A hash table from prefixes to rules, built once and then only read.
//!
//! Looking a target up costs one probe for each of its own prefixes, however many rules there are.
//! A bit filter in front answers most of the probes that find nothing, so that those stay within
//! the processor's cache. A hash only nominates: the caller compares the real text before it
//! believes a match, so two texts with one hash are never confused.

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

/// The table. Values are positions in a list of the caller's.
#[derive(Debug, Clone, Default)]
pub(crate) struct Index {
    filter: Vec<u64>,
    slots: Vec<Slot>,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    hash: u64,
    value: u32,
}

const EMPTY: u32 = u32::MAX;

impl Index {
    /// Builds the table from distinct keys: one hash and one value for each.
    pub(crate) fn build(entries: &[(u64, u32)]) -> Self {
        if entries.is_empty() {
            return Self::default();
        }
        let slots = (entries.len() * 2).next_power_of_two();
        let words = (entries.len() * FILTER_BITS_PER_KEY / 64).next_power_of_two();
        let mut index = Self {
            filter: vec![0; words],
            slots: vec![
                Slot {
                    hash: 0,
                    value: EMPTY
                };
                slots
            ],
        };
        for &(hash, value) in entries {
            let (word, bit) = index.filter_place(hash);
            index.filter[word] |= bit;
            let mut at = hash as usize & (slots - 1);
            while index.slots[at].value != EMPTY {
                at = (at + 1) & (slots - 1);
            }
            index.slots[at] = Slot { hash, value };
        }
        index
    }

    /// The value whose key has this hash and which `same` confirms.
    #[inline]
    pub(crate) fn find(&self, hash: u64, same: impl Fn(u32) -> bool) -> Option<u32> {
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
            if slot.value == EMPTY {
                return None;
            }
            if slot.hash == hash && same(slot.value) {
                return Some(slot.value);
            }
            at = (at + 1) & mask;
        }
    }

    #[inline]
    fn filter_place(&self, hash: u64) -> (usize, u64) {
        // The table uses the low bits of the hash, the filter the high ones.
        let word = (hash >> 24) as usize & (self.filter.len() - 1);
        (word, 1 << (hash >> 58))
    }
}

/// Sixteen bits for a key let about one probe in sixteen through to the table.
const FILTER_BITS_PER_KEY: usize = 16;

/// The depths (or lengths) at which any key of a policy ends, so that others are not probed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Levels(u64);

impl Levels {
    /// The deepest level that is told apart; all beyond it count as one.
    const LAST: usize = 63;

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
