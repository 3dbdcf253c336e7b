//! [`ReservedHandle`]: from an id to a handle.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Instant;

use jig_proto::{HandleId, StateName};

use super::entry::HandleEntry;
use super::{HandleOptions, KILLED, RegistryState, ends};
use crate::session::Session;

/// An id that is taken, for a tool that is about to be started. Dropping it gives the id back.
#[derive(Debug)]
pub struct ReservedHandle {
    pub(super) shared: Arc<RegistryState>,
    pub(super) id: HandleId,
    pub(super) tool: String,
    pub(super) options: HandleOptions,
    pub(super) is_filled: bool,
}

impl ReservedHandle {
    /// The id.
    pub fn id(&self) -> &HandleId {
        &self.id
    }

    /// Makes the session that was started a handle.
    ///
    /// If the turn has ended meanwhile the session is ended here, and there is no such handle.
    pub fn fill(mut self, session: Session) -> HandleId {
        self.is_filled = true;
        let session = Arc::new(session);
        let (id, tool) = (self.id.clone(), std::mem::take(&mut self.tool));
        let entry = Arc::new(HandleEntry::new(
            id,
            tool,
            self.options,
            Arc::clone(&session),
        ));
        if !self.shared.lock().fill(&entry) {
            session.abort();
            ends(&entry, Instant::now() + KILLED);
            return self.id.clone();
        }
        let shared = Arc::downgrade(&self.shared);
        let watched = Arc::downgrade(&entry);
        session.on_status(move |status| changed(&shared, &watched, status));
        // What happened before somebody listened.
        self.shared.note_process(&entry);
        let status = session.state().state.status();
        if status != StateName::Running {
            changed(
                &Arc::downgrade(&self.shared),
                &Arc::downgrade(&entry),
                status,
            );
        }
        self.id.clone()
    }
}

impl Drop for ReservedHandle {
    fn drop(&mut self) {
        if !self.is_filled {
            self.shared.lock().release(&self.id);
        }
    }
}

/// A tool stands elsewhere. This runs on the thread that owns the tool.
fn changed(shared: &Weak<RegistryState>, entry: &Weak<HandleEntry>, status: StateName) {
    let (Some(shared), Some(entry)) = (shared.upgrade(), entry.upgrade()) else {
        return;
    };
    match status {
        // A tool that is run again with an answer has other processes than before.
        StateName::Running => shared.note_process(&entry),
        StateName::Waiting => entry.has_news.store(true, Ordering::SeqCst),
        StateName::Stopped => {
            entry.has_news.store(true, Ordering::SeqCst);
            shared.note_stopped(&entry);
        }
    }
    if status != StateName::Running {
        shared.news.came();
    }
}
