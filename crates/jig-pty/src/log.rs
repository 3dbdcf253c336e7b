//! [`Log`]: the last bytes that a plain process has written.

use std::collections::VecDeque;

use crate::{CutSide, TranscriptPiece};

/// The newest bytes of a stream, up to a capacity.
///
/// A position is the number of bytes that came before it, so that it stays valid when old bytes are
/// given up. What is not UTF-8 is read as U+FFFD; a character is never cut in two, neither by the
/// border of two pieces nor by the capacity. Control characters pass as they came.
#[derive(Debug, Clone)]
pub struct Log {
    bytes: VecDeque<u8>,
    /// The position of the first kept byte.
    start: u64,
    capacity: usize,
    /// Nothing follows any more: the beginning of a character at the end is shown as it is.
    is_finished: bool,
}

impl Log {
    /// An empty log that keeps `capacity` bytes, at least as many as one character can have.
    pub fn new(capacity: usize) -> Self {
        Self {
            bytes: VecDeque::new(),
            start: 0,
            capacity: capacity.max(LONGEST_CHARACTER),
            is_finished: false,
        }
    }

    /// Appends what the process has written.
    pub fn push(&mut self, bytes: &[u8]) {
        let skipped = bytes.len().saturating_sub(self.capacity);
        let kept = &bytes[skipped..];
        let excess = (self.bytes.len() + kept.len()).saturating_sub(self.capacity);
        self.bytes.drain(..excess);
        self.bytes.extend(kept);
        self.start += (excess + skipped) as u64;
        self.is_finished = false;
    }

    /// Says that nothing follows. Until then the beginning of a character at the very end is held
    /// back, because its rest may come.
    pub fn finish(&mut self) {
        self.is_finished = true;
    }

    /// The position after the last byte.
    pub fn seq(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// What came after position `after`, as at most `max` bytes of text.
    pub fn since(&self, after: u64, max: usize, cut: CutSide) -> TranscriptPiece {
        let from = after.clamp(self.start, self.seq());
        // The capacity may have taken the first bytes of a character with it.
        let broken = match from > after || (from == self.start && self.start > 0) {
            true => self.continuation_bytes(from),
            false => 0,
        };
        let from = from + broken;
        let to = self.seq() - self.held_back(from);
        let available = to - from;
        let window = available.min(max as u64);
        let (low, high) = match cut {
            CutSide::Front => (to - window, to),
            CutSide::Back => (from, from + window),
        };
        let bytes = self.copy(low, high);
        let (text, shown_from, shown_to) = match cut {
            CutSide::Front => {
                let (text, skipped) = newest(&bytes, max, low == from);
                (text, low + skipped as u64, to)
            }
            CutSide::Back => {
                let (text, taken) = oldest(&bytes, max, high == to);
                (text, from, from + taken as u64)
            }
        };
        TranscriptPiece {
            text,
            seq: shown_to,
            lost: from.saturating_sub(after),
            left: (shown_from - from) + (to - shown_to),
        }
    }

    /// The newest `max` bytes of text, whatever was seen before. If older bytes are left out, it
    /// begins with a whole line where there is one.
    pub fn last(&self, max: usize) -> TranscriptPiece {
        let mut piece = self.since(self.start, max, CutSide::Front);
        if piece.left > 0
            && let Some(end) = piece.text.find('\n')
            && end + 1 < piece.text.len()
        {
            piece.left += end as u64 + 1;
            piece.text.drain(..=end);
        }
        piece.lost = self.start;
        piece
    }

    fn copy(&self, low: u64, high: u64) -> Vec<u8> {
        let range = (low - self.start) as usize..(high - self.start) as usize;
        self.bytes.range(range).copied().collect()
    }

    /// How many bytes at `from` continue a character whose first byte is gone.
    fn continuation_bytes(&self, from: u64) -> u64 {
        self.bytes
            .range((from - self.start) as usize..)
            .take(LONGEST_CHARACTER - 1)
            .take_while(|byte| is_continuation(**byte))
            .count() as u64
    }

    /// How many bytes at the end, but after `from`, begin a character that has not come whole.
    fn held_back(&self, from: u64) -> u64 {
        if self.is_finished {
            return 0;
        }
        let length = (self.seq() - from).min(LONGEST_CHARACTER as u64 - 1);
        let tail = self.copy(self.seq() - length, self.seq());
        incomplete_tail(&tail) as u64
    }
}

/// How many bytes at the end of `bytes` begin a character that is not whole.
pub(crate) fn incomplete_tail(bytes: &[u8]) -> usize {
    (1..LONGEST_CHARACTER.min(bytes.len() + 1))
        .find(|length| {
            let tail = &bytes[bytes.len() - length..];
            !is_continuation(tail[0])
                && std::str::from_utf8(tail).is_err_and(|error| error.error_len().is_none())
        })
        .unwrap_or(0)
}

fn is_continuation(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// As much text from the beginning of `bytes` as fits into `max`, and how many bytes that is. Unless
/// `is_whole`, the beginning of a character at the end is left for the next time.
fn oldest(bytes: &[u8], max: usize, is_whole: bool) -> (String, usize) {
    let end = match is_whole {
        true => bytes.len(),
        false => bytes.len() - incomplete_tail(bytes),
    };
    let mut text = String::with_capacity(end);
    let mut taken = 0;
    for chunk in bytes[..end].utf8_chunks() {
        let valid = chunk.valid();
        let fitting = valid.floor_char_boundary(max - text.len());
        text.push_str(&valid[..fitting]);
        taken += fitting;
        if fitting < valid.len() {
            break;
        }
        if !chunk.invalid().is_empty() {
            if text.len() + REPLACEMENT.len() > max {
                break;
            }
            text.push_str(REPLACEMENT);
            taken += chunk.invalid().len();
        }
    }
    (text, taken)
}

/// As much text from the end of `bytes` as fits into `max`, and how many bytes before it were
/// skipped. Unless `is_whole`, `bytes` may begin inside a character.
fn newest(bytes: &[u8], max: usize, is_whole: bool) -> (String, usize) {
    let mut skipped = match is_whole {
        true => 0,
        false => bytes
            .iter()
            .take(LONGEST_CHARACTER - 1)
            .take_while(|byte| is_continuation(**byte))
            .count(),
    };
    let text = String::from_utf8_lossy(&bytes[skipped..]);
    if text.len() <= max {
        return (text.into_owned(), skipped);
    }
    // Invalid bytes have become longer. What is too much goes from the front.
    let mut excess = text.len() - max;
    let mut cut = 0;
    for chunk in bytes[skipped..].utf8_chunks() {
        let valid = chunk.valid();
        let dropped = valid.ceil_char_boundary(excess.min(valid.len()));
        cut += dropped;
        skipped += dropped;
        excess = excess.saturating_sub(dropped);
        if excess == 0 {
            break;
        }
        if !chunk.invalid().is_empty() {
            cut += REPLACEMENT.len();
            skipped += chunk.invalid().len();
            excess = excess.saturating_sub(REPLACEMENT.len());
        }
    }
    (text[cut..].to_owned(), skipped)
}

/// What stands for bytes that are not UTF-8.
const REPLACEMENT: &str = "\u{fffd}";

/// How many bytes a character has at most.
const LONGEST_CHARACTER: usize = 4;

#[cfg(test)]
mod tests;
