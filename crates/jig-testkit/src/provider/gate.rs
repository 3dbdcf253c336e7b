//! [`Gate`]: holds answers back until a test says so.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Holds answers back until it is opened. Clones are the same gate.
#[derive(Debug, Clone, Default)]
pub struct Gate(Arc<(Mutex<bool>, Condvar)>);

impl Gate {
    /// A closed gate.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens it, for good.
    pub fn open(&self) {
        let (open, opened) = &*self.0;
        *open.lock().unwrap_or_else(PoisonError::into_inner) = true;
        opened.notify_all();
    }

    /// Waits until it is open, or until `over`.
    pub(super) fn wait(&self, over: &AtomicBool) {
        let (open, opened) = &*self.0;
        let mut is_open = open.lock().unwrap_or_else(PoisonError::into_inner);
        while !*is_open && !over.load(Ordering::SeqCst) {
            let waited = opened.wait_timeout(is_open, A_LOOK);
            is_open = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// How often a closed gate looks whether its server is over.
const A_LOOK: Duration = Duration::from_millis(20);
