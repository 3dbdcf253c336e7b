//! [`LazyRuntime`]: the runtime on which servers are looked after.

use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::runtime::{Builder, Handle, Runtime};

/// A runtime that was given, or one of our own, made when it is first needed: most commands need none.
#[derive(Default)]
pub(super) struct LazyRuntime(Mutex<Option<PlaceRuntime>>);

enum PlaceRuntime {
    Given(Handle),
    Own(Runtime),
}

impl LazyRuntime {
    /// Uses this runtime, if there is none yet.
    pub(super) fn give(&self, runtime: Handle) {
        self.at().get_or_insert(PlaceRuntime::Given(runtime));
    }

    /// The runtime.
    pub(super) fn handle(&self) -> Result<Handle, String> {
        let mut at = self.at();
        if let Some(at) = &*at {
            return Ok(at.handle());
        }
        // One thread: it reads what servers say, and their calls are tasks.
        let own = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("jig-servers")
            .enable_all()
            .build()
            .map_err(|error| format!("cannot look after MCP servers: {error}"))?;
        let handle = own.handle().clone();
        *at = Some(PlaceRuntime::Own(own));
        Ok(handle)
    }

    /// The runtime, if there is one by now.
    pub(super) fn there_is(&self) -> Option<Handle> {
        self.at().as_ref().map(PlaceRuntime::handle)
    }

    fn at(&self) -> MutexGuard<'_, Option<PlaceRuntime>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PlaceRuntime {
    fn handle(&self) -> Handle {
        match self {
            Self::Given(handle) => handle.clone(),
            Self::Own(runtime) => runtime.handle().clone(),
        }
    }
}

impl Drop for LazyRuntime {
    fn drop(&mut self) {
        if let Some(PlaceRuntime::Own(runtime)) = self.at().take() {
            // Waiting for its tasks would block whoever drops the last reference, perhaps one of those tasks.
            runtime.shutdown_background();
        }
    }
}
