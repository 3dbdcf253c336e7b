//! [`RuntimeThread`]: the thread that reads what clients say, lent to a call until that has to wait.

use jig_runtime::LentThread;
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;

/// A thread of the runtime that serves clients.
#[derive(Debug)]
pub(crate) struct RuntimeThread;

impl LentThread for RuntimeThread {
    fn run(&self, tool: Box<dyn FnOnce() + Send>) {
        drop(tokio::spawn(async move { tool() }));
    }

    fn wait(&self, wait: &mut dyn FnMut()) {
        block_in_place(wait);
    }
}

/// Whether a task here can have another thread do what else there is to do.
pub(crate) fn can_be_lent() -> bool {
    Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread)
}
