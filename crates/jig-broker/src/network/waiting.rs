//! [`waiting`]: waiting for a call of the system that cannot be interrupted.

use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use crate::cancel::CancelToken;

/// Why nobody waits any longer.
#[derive(Debug)]
pub(crate) enum ExchangeStop {
    /// The request was given up.
    Cancelled,
    /// The time is over.
    TimedOut,
    /// There is no thread to do it.
    Failed,
}

/// Runs `task` on a thread of its own and waits for it no longer than until the deadline or until
/// the request is given up. Looking a name up or connecting cannot be interrupted; the thread then
/// ends by itself, within the time that the system gives such a call.
pub(crate) fn waiting<T: Send + 'static>(
    deadline: Instant,
    cancel: &CancelToken,
    task: impl FnOnce() -> T + Send + 'static,
) -> Result<T, ExchangeStop> {
    let (sender, receiver) = mpsc::channel();
    let giving_up = sender.clone();
    let _hook = cancel.on_cancel(move || {
        let _ = giving_up.send(None);
    });
    let thread = thread::Builder::new().name("jig-http".to_owned());
    let spawned = thread.spawn(move || {
        let _ = sender.send(Some(task()));
    });
    if spawned.is_err() {
        return Err(ExchangeStop::Failed);
    }
    match receiver.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
        Ok(Some(value)) => Ok(value),
        Ok(None) => Err(ExchangeStop::Cancelled),
        // The hook keeps the channel open, so a task that ends without an answer comes to this, too.
        Err(_) => Err(ExchangeStop::TimedOut),
    }
}
