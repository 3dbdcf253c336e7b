//! [`Place`]: room for a call of which nobody but its maker knows.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio_util::sync::CancellationToken;

use super::TooMany;
use crate::caller::Caller;
use crate::shared::Shared;

/// Room for one call among those of its caller and of the server, until it is dropped.
pub(crate) struct Place {
    shared: Arc<Shared>,
    caller: Arc<Caller>,
    number: u64,
    /// Whether it is left with the last of this.
    leaves: bool,
}

impl Place {
    /// Takes room for a call, which is given up by this token when the turn of its caller ends.
    ///
    /// # Errors
    ///
    /// If too many are in flight.
    pub(crate) fn take(
        shared: &Arc<Shared>,
        caller: &Arc<Caller>,
        given_up: CancellationToken,
    ) -> Result<Self, TooMany> {
        let number = shared.begun.fetch_add(1, Ordering::Relaxed) + 1;
        let mut calls = caller.in_flight.calls();
        calls.enter(shared)?;
        if calls.closed {
            given_up.cancel();
        }
        calls.placed.insert(number, given_up);
        drop(calls);
        Ok(Self {
            shared: Arc::clone(shared),
            caller: Arc::clone(caller),
            number,
            leaves: true,
        })
    }

    /// Leaves the room to the same call, which others know of from now on.
    pub(super) fn pass_on(mut self) {
        self.leaves = false;
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let in_flight = &self.caller.in_flight;
        in_flight.calls().placed.remove(&self.number);
        if self.leaves {
            in_flight.leave(&self.shared);
        }
    }
}
