//! How a stream arrives: in pieces that depend on nothing but a seed.

/// A sequence of numbers that looks random (SplitMix64).
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        let end = end as u64;
        (self.next() % end) as usize
    }
}

/// The stream in pieces, most of them short.
pub(crate) fn pieces(mut stream: &[u8], seed: u8) -> Vec<&[u8]> {
    let mut numbers = Numbers(seed.into());
    let mut pieces = Vec::new();
    while !stream.is_empty() {
        let most = if numbers.below(4) == 0 { 4096 } else { 12 };
        let length = (1 + numbers.below(most)).min(stream.len());
        let (piece, rest) = stream.split_at(length);
        pieces.push(piece);
        stream = rest;
    }
    pieces
}
