//! [`GuestHttpBudget`]: what a guest has us keep for its requests.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much one guest has us keep. Clones count together.
///
/// A guest can make thousands of requests and let go of none; each has headers, and bodies of megabytes.
#[derive(Debug, Clone, Default)]
pub(crate) struct GuestHttpBudget(Arc<AtomicU64>);

impl GuestHttpBudget {
    /// Room for so many bytes, until it is dropped; `None` if there is not so much left.
    pub(super) fn take(&self, bytes: usize) -> Option<BudgetShare> {
        let mut held = BudgetShare {
            bytes: 0,
            budget: self.clone(),
        };
        held.grow(bytes).then_some(held)
    }
}

/// Some bytes of a [`GuestHttpBudget`].
#[derive(Debug)]
pub(super) struct BudgetShare {
    bytes: u64,
    budget: GuestHttpBudget,
}

impl BudgetShare {
    /// Takes room for more, and says whether there was.
    pub(super) fn grow(&mut self, bytes: usize) -> bool {
        let bytes = bytes as u64;
        let add = |held: u64| held.checked_add(bytes).filter(|held| *held <= MOST);
        let all = &self.budget.0;
        let has_room = all
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, add)
            .is_ok();
        if has_room {
            self.bytes += bytes;
        }
        has_room
    }

    /// The budget that it is of.
    pub(super) fn budget(&self) -> &GuestHttpBudget {
        &self.budget
    }
}

impl Drop for BudgetShare {
    fn drop(&mut self) {
        self.budget.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// The most that is kept for one guest: several of the largest answers.
pub(super) const MOST: u64 = 64 << 20;

#[cfg(test)]
mod tests {
    use super::{GuestHttpBudget, MOST};

    #[test]
    fn all_that_is_held_counts_until_it_is_let_go() {
        let budget = GuestHttpBudget::default();
        let half = usize::try_from(MOST / 2).unwrap();
        let first = budget.take(half).unwrap();
        let mut second = budget.take(half).unwrap();
        assert!(budget.take(0).is_some());
        assert!(budget.take(1).is_none());
        assert!(!second.grow(1));
        assert!(!second.grow(usize::MAX));
        drop(first);
        assert!(second.grow(half));
        assert!(budget.take(1).is_none());
        drop(second);
        assert!(budget.take(2 * half).is_some());
    }
}
