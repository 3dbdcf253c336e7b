//! What was skipped while a message was read: [`WithWarnings`] and [`Warnings`].

use crate::FieldError;

/// A value that was read, and what had to be skipped on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub struct WithWarnings<T> {
    /// The value.
    pub value: T,
    /// Blocks that were skipped, to be logged.
    pub warnings: Warnings,
}

/// The parts of a message that were skipped because they were malformed.
///
/// Only the first few are kept, so that a message of broken blocks costs no more than a good one;
/// the others are counted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Warnings {
    kept: Vec<FieldError>,
    omitted: usize,
}

impl Warnings {
    /// The first skipped parts, in the order of the message.
    pub fn iter(&self) -> impl Iterator<Item = &FieldError> {
        self.kept.iter()
    }

    /// How many more parts were skipped than [`Warnings::iter`] gives.
    pub fn omitted(&self) -> usize {
        self.omitted
    }

    /// Whether nothing was skipped.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    pub(crate) fn add(&mut self, skipped: FieldError) {
        if self.kept.len() < KEPT {
            self.kept.push(skipped);
        } else {
            self.omitted += 1;
        }
    }
}

/// How many warnings are kept in full.
const KEPT: usize = 16;
