//! [`HostLink`]: the way to the host, shared by a [`Host`](super::Host) and the programs that it started.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

use jig_proto::vfs::ErrorKind;

use super::{HostError, RequestError, Transport};

/// The way to the host. There is one at a time that uses it.
#[derive(Clone)]
pub(super) struct HostLink(Arc<Mutex<HostLinkState>>);

struct HostLinkState {
    transport: Box<dyn Transport>,
    /// Noticed by us; the transport may know before.
    is_cancelled: bool,
    /// Whether requests are sent although the call was cancelled.
    asks_anyway: bool,
}

impl HostLink {
    pub(super) fn new(transport: impl Transport + 'static) -> Self {
        Self(Arc::new(Mutex::new(HostLinkState {
            transport: Box::new(transport),
            is_cancelled: false,
            asks_anyway: false,
        })))
    }

    /// Asks the host something, unless the call was cancelled.
    pub(super) fn ask<T>(
        &self,
        ask: impl FnOnce(&mut dyn Transport) -> Result<T, RequestError>,
    ) -> Result<T, HostError> {
        let mut ends = self.ends()?;
        if ends.is_cancelled() && !ends.asks_anyway {
            return Err(HostError::cancelled());
        }
        ends.notice(ask)
    }

    /// Tells the host something, also when the call was cancelled.
    pub(super) fn tell(
        &self,
        tell: impl FnOnce(&mut dyn Transport) -> Result<(), RequestError>,
    ) -> Result<(), HostError> {
        self.ends()?.notice(tell)
    }

    pub(super) fn is_cancelled(&self) -> bool {
        self.ends().is_ok_and(|ends| ends.is_cancelled())
    }

    /// Sets whether requests are sent although the call was cancelled, and says how it was.
    pub(super) fn set_asks_anyway(&self, anyway: bool) -> bool {
        match self.ends() {
            Ok(mut ends) => std::mem::replace(&mut ends.asks_anyway, anyway),
            Err(_) => false,
        }
    }

    /// Whoever is handed an answer while more are on their way can reach a program, and so this, a
    /// second time. To wait would be to wait for oneself.
    fn ends(&self) -> Result<MutexGuard<'_, HostLinkState>, HostError> {
        match self.0.try_lock() {
            Ok(ends) => Ok(ends),
            // What panicked was the tool's own code: between two messages nothing is half done.
            Err(TryLockError::Poisoned(ends)) => Ok(PoisonError::into_inner(ends)),
            Err(TryLockError::WouldBlock) => {
                let message = "the host can't be asked while it answers many requests";
                Err(HostError::new(ErrorKind::Internal, message))
            }
        }
    }
}

impl HostLinkState {
    fn is_cancelled(&self) -> bool {
        self.is_cancelled || self.transport.is_cancelled()
    }

    fn notice<T>(
        &mut self,
        work: impl FnOnce(&mut dyn Transport) -> Result<T, RequestError>,
    ) -> Result<T, HostError> {
        work(self.transport.as_mut()).map_err(|error| {
            self.is_cancelled |= matches!(error, RequestError::Cancelled);
            error.into()
        })
    }
}
