//! [`WholeOutput`]: the output of a program as long as it may be a result.

use std::time::Instant;

use serde_json::Value;

use super::steered_run::HELD_FOR;

#[cfg(test)]
mod tests;

/// The output of a program as long as it may be one JSON object, which may be its result.
///
/// For a moment it is not shown to those who look: a program that asks prints its question and ends, and
/// the question is told as one.
#[derive(Debug)]
pub(super) struct WholeOutput {
    kept: Vec<u8>,
    /// The largest output that is looked at as a result.
    most: usize,
    /// How much of it was shown.
    shown: usize,
    /// When it began.
    began: Option<Instant>,
    /// Whether it is text of another kind.
    is_other: bool,
    /// Whether its first line was looked at.
    is_checked: bool,
}

impl WholeOutput {
    /// For results of about `max_result` bytes.
    pub(super) fn new(max_result: usize) -> Self {
        Self {
            kept: Vec::new(),
            most: max_result.clamp(MOST_HELD, MOST),
            shown: 0,
            began: None,
            is_other: false,
            is_checked: false,
        }
    }

    /// Takes more of the output. `false` if all of it cannot be a result; this piece was not taken then.
    pub(super) fn push(&mut self, piece: &[u8]) -> bool {
        if self.is_other {
            return false;
        }
        if self.kept.len() + piece.len() > self.most || !self.may_go_on(piece) {
            self.is_other = true;
            return false;
        }
        self.began.get_or_insert_with(Instant::now);
        self.kept.extend_from_slice(piece);
        true
    }

    /// All of the output, if it may be a result.
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        (!self.is_other).then_some(&self.kept)
    }

    /// What was not shown yet. It counts as shown from now on.
    pub(super) fn take_unshown(&mut self) -> &[u8] {
        let from = std::mem::replace(&mut self.shown, self.kept.len());
        &self.kept[from..]
    }

    /// Lets go of output that is no result. What was not shown is gone.
    pub(super) fn forget_other(&mut self) {
        if self.is_other {
            self.kept = Vec::new();
            self.shown = 0;
        }
    }

    /// Whether what comes is not shown for the moment.
    pub(super) fn is_held(&self) -> bool {
        self.shown == 0 && !self.is_other && self.kept.len() <= MOST_HELD
    }

    /// When what is held back is to be shown.
    pub(super) fn due(&self) -> Option<Instant> {
        let is_held = self.is_held() && !self.kept.is_empty();
        self.began.filter(|_| is_held).map(|began| began + HELD_FOR)
    }

    pub(super) fn is_overdue(&self, now: Instant) -> bool {
        self.due().is_some_and(|due| due <= now)
    }

    /// Whether the output may still be one object with this after it.
    fn may_go_on(&mut self, piece: &[u8]) -> bool {
        let first = [&self.kept, piece]
            .into_iter()
            .find_map(|bytes| bytes.trim_ascii_start().first());
        match first {
            None => return true,
            Some(b'{') => {}
            Some(_) => return false,
        }
        // A program that prints an object on each line goes on for ever, and is not kept for ever.
        if self.is_checked {
            return true;
        }
        let Some(end) = self.kept.iter().position(|byte| *byte == b'\n') else {
            return true;
        };
        if piece.trim_ascii().is_empty() {
            return true;
        }
        self.is_checked = true;
        end > MOST_HELD || serde_json::from_slice::<Value>(&self.kept[..end]).is_err()
    }
}

/// The largest output that is looked at as a result, however large results may be. There can be thousands of
/// sessions, and each keeps it for as long as it runs.
const MOST: usize = 1024 * 1024;

/// How much is held back. So much is always looked at: a question is no result, and has its own size.
const MOST_HELD: usize = 64 * 1024;
