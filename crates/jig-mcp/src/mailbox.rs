//! [`mailbox()`]: what somebody is told now and then, in order.
//!
//! A channel of tokio has room for dozens of messages from its beginning, which is more memory than the rest of a
//! call needs. Nearly all calls are told nothing: here, nothing is what that costs.

use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// A new mailbox: whoever tells something, and whoever hears it.
pub(crate) fn mailbox<T>() -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Shared(Mutex::new(State {
        letters: VecDeque::new(),
        hears: None,
        leaves: None,
        is_sender_gone: false,
        is_receiver_gone: false,
    })));
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

/// Whoever tells something.
pub(crate) struct Sender<T>(Arc<Shared<T>>);

/// Whoever hears it. What was not heard is dropped with it.
pub(crate) struct Receiver<T>(Arc<Shared<T>>);

struct Shared<T>(Mutex<State<T>>);

struct State<T> {
    letters: VecDeque<T>,
    /// Wakes whoever waits for the next letter.
    hears: Option<Waker>,
    /// Wakes whoever waits until nobody hears anything any more.
    leaves: Option<Waker>,
    is_sender_gone: bool,
    is_receiver_gone: bool,
}

impl<T> Shared<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Sender<T> {
    /// Tells something, without waiting.
    ///
    /// # Errors
    ///
    /// Gives it back if nobody will ever hear it.
    pub(crate) fn send(&self, letter: T) -> Result<(), T> {
        let mut state = self.0.state();
        if state.is_receiver_gone {
            return Err(letter);
        }
        state.letters.push_back(letter);
        let hears = state.hears.take();
        drop(state);
        wake(hears);
        Ok(())
    }

    /// Waits until nobody hears anything any more. Of several who wait, the last is told.
    pub(crate) async fn closed(&self) {
        poll_fn(|context| {
            let mut state = self.0.state();
            if state.is_receiver_gone {
                return Poll::Ready(());
            }
            note(&mut state.leaves, context);
            Poll::Pending
        })
        .await;
    }
}

impl<T> Receiver<T> {
    /// The next that was told; `None` if there is nobody any more to tell anything. Given up, nothing is lost.
    pub(crate) async fn recv(&mut self) -> Option<T> {
        poll_fn(|context| self.poll(context)).await
    }

    /// The next that was told, if there is one already.
    pub(crate) fn try_recv(&mut self) -> Option<T> {
        self.0.state().letters.pop_front()
    }

    fn poll(&mut self, context: &Context<'_>) -> Poll<Option<T>> {
        let mut state = self.0.state();
        match state.letters.pop_front() {
            Some(letter) => Poll::Ready(Some(letter)),
            None if state.is_sender_gone => Poll::Ready(None),
            None => {
                note(&mut state.hears, context);
                Poll::Pending
            }
        }
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_sender_gone = true;
        let hears = state.hears.take();
        drop(state);
        wake(hears);
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.is_receiver_gone = true;
        let unheard = std::mem::take(&mut state.letters);
        let leaves = state.leaves.take();
        state.hears = None;
        drop(state);
        wake(leaves);
        // Whatever it does when it goes, the lock is not held.
        drop(unheard);
    }
}

fn note(place: &mut Option<Waker>, context: &Context<'_>) {
    match place {
        Some(known) => known.clone_from(context.waker()),
        None => *place = Some(context.waker().clone()),
    }
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
