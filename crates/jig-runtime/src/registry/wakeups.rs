//! [`ChangeCounter`]: whoever waits for several handles at once is woken here.

use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Instant;

/// How often something has happened.
#[derive(Debug, Default)]
pub(super) struct ChangeCounter {
    number: Mutex<u64>,
    changed: Condvar,
}

impl ChangeCounter {
    pub(super) fn number(&self) -> u64 {
        *self.number.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Something has happened.
    pub(super) fn came(&self) {
        let mut number = self.number.lock().unwrap_or_else(PoisonError::into_inner);
        *number += 1;
        self.changed.notify_all();
    }

    /// Waits until something has happened after `seen`; `false` if the deadline came first.
    pub(super) fn wait(&self, seen: u64, deadline: Option<Instant>) -> bool {
        let mut number = self.number.lock().unwrap_or_else(PoisonError::into_inner);
        while *number <= seen {
            number = match deadline {
                None => {
                    let waited = self.changed.wait(number);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return false;
                    }
                    let waited = self.changed.wait_timeout(number, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        true
    }
}
