//! [`CancelToken`]: how a request is given up while it runs.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Shared by whoever runs a request and whoever may give it up.
///
/// Giving up sets a flag and calls the hooks that the running part has put there, such as one that
/// shuts a socket down. A flag alone would not end a read that never returns.
#[derive(Clone, Default)]
pub struct CancelToken(Arc<CancelState>);

#[derive(Default)]
struct CancelState {
    cancelled: AtomicBool,
    next: AtomicU64,
    hooks: Mutex<Vec<(u64, CancelCallback)>>,
}

type CancelCallback = Arc<dyn Fn() + Send + Sync>;

impl CancelToken {
    /// A token that is not cancelled.
    pub fn new() -> Self {
        Self::default()
    }

    /// Gives the request up. Calling it again does nothing.
    ///
    /// The hooks run on the calling thread; they are quick by contract.
    pub fn cancel(&self) {
        let hooks = {
            let mut hooks = self.hooks();
            if self.0.cancelled.swap(true, Ordering::SeqCst) {
                return;
            }
            std::mem::take(&mut *hooks)
        };
        for (_, hook) in hooks {
            hook();
        }
    }

    /// Whether it was given up.
    pub fn is_cancelled(&self) -> bool {
        self.0.cancelled.load(Ordering::SeqCst)
    }

    /// Has `hook` called when the request is given up, at once if it already is, until the guard is
    /// dropped. The hook must not block.
    pub fn on_cancel(&self, hook: impl Fn() + Send + Sync + 'static) -> CancelHook {
        let hook: CancelCallback = Arc::new(hook);
        let id = self.0.next.fetch_add(1, Ordering::Relaxed);
        let already = {
            let mut hooks = self.hooks();
            let already = self.is_cancelled();
            if !already {
                hooks.push((id, Arc::clone(&hook)));
            }
            already
        };
        if already {
            hook();
        }
        CancelHook {
            token: self.clone(),
            id,
        }
    }

    fn hooks(&self) -> MutexGuard<'_, Vec<(u64, CancelCallback)>> {
        // A panic elsewhere cannot leave the list half-changed.
        self.0.hooks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for CancelToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CancelToken({})", self.is_cancelled())
    }
}

/// Keeps a hook of a [`CancelToken`] in place.
#[derive(Debug)]
#[must_use]
pub struct CancelHook {
    token: CancelToken,
    id: u64,
}

impl Drop for CancelHook {
    fn drop(&mut self) {
        self.token.hooks().retain(|(id, _)| *id != self.id);
    }
}

#[cfg(test)]
mod tests;
