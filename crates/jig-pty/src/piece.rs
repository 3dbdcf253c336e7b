//! [`TranscriptPiece`]: a part of what a program has printed.

/// A part of what a program has printed, and where to go on.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TranscriptPiece {
    /// The text.
    pub text: String,
    /// Where this piece ends: pass it as `after` to get what comes next.
    pub seq: u64,
    /// How much before `text` is gone for ever: bytes of a [`Log`](crate::Log), lines of a
    /// [`Screen`](crate::Screen). It counts from `after` on; what was before it is not missed.
    pub lost: u64,
    /// How many bytes were there and are not in `text`, because it would have been longer than
    /// asked. They came before `text` with [`CutSide::Front`] and come after it with [`CutSide::Back`].
    pub left: u64,
}

/// Which end is given up when there is more than fits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CutSide {
    /// The oldest is left out: the newest matters most.
    #[default]
    Front,
    /// The newest is left out and comes with the next piece: for reading everything in pages.
    Back,
}
