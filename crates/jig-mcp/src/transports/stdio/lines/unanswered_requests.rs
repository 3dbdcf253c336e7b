//! [`HeldRequest`]: what jig holds for a request, from when it was read until its answer was.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::sync::Notify;

/// All that jig holds for requests.
#[derive(Default)]
pub(super) struct HeldRequests {
    requests: AtomicUsize,
    bytes: AtomicUsize,
    paid: Notify,
}

impl HeldRequests {
    /// Waits until there is room for another request. One may wait at a time.
    pub(super) async fn are_bearable(&self) {
        loop {
            let paid = self.paid.notified();
            let requests = self.requests.load(Ordering::Acquire);
            if requests < MAX_REQUESTS && self.bytes.load(Ordering::Acquire) < MAX_BYTES {
                return;
            }
            paid.await;
        }
    }

    #[cfg(test)]
    pub(super) fn requests(&self) -> usize {
        self.requests.load(Ordering::Acquire)
    }
}

/// What is held for one request. It is shared by all that hold something: whoever serves the request, whoever
/// waits to write its answer. It ends with the last of them, whatever became of the request.
pub(super) struct HeldRequest {
    debts: Arc<HeldRequests>,
    bytes: usize,
}

impl HeldRequest {
    /// A debt for a request of so many bytes.
    pub(super) fn new(debts: &Arc<HeldRequests>, bytes: usize) -> Arc<Self> {
        debts.requests.fetch_add(1, Ordering::AcqRel);
        debts.bytes.fetch_add(bytes, Ordering::AcqRel);
        let debts = Arc::clone(debts);
        Arc::new(Self { debts, bytes })
    }
}

impl Drop for HeldRequest {
    fn drop(&mut self) {
        self.debts.requests.fetch_sub(1, Ordering::AcqRel);
        self.debts.bytes.fetch_sub(self.bytes, Ordering::AcqRel);
        self.debts.paid.notify_one();
    }
}

/// How many requests may be served or wait for their answers to be read before no more are read. Without a
/// limit a client that sends and never reads would fill the memory. Calls have their own, lower limit; this one
/// is above all that a client does in earnest.
pub(super) const MAX_REQUESTS: usize = 1024;

/// How long those may be together, before the last of them. As many of the longest would be 16 GiB.
pub(super) const MAX_BYTES: usize = 32 * 1024 * 1024;
