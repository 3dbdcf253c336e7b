//! Requests that are not answered yet: in what order they are done, and how many at once.

use std::collections::VecDeque;

use jig_broker::{CancelToken, Inquiry};
use jig_proto::vfs::{Id, Method, VfsRequest};

/// A request that is being done, or about which somebody is asked.
pub(super) struct PendingVfsRequest {
    pub(super) number: u64,
    pub(super) id: Id<'static>,
    pub(super) method: Method,
    pub(super) form: AnswerForm,
    pub(super) what: OpenRequestState,
}

/// What happens to an open request.
pub(super) enum OpenRequestState {
    /// A worker does it.
    Working(CancelToken),
    /// Somebody is asked. `None` for the moment in which the answer is being taken.
    Asking(Option<Inquiry>),
}

/// How the content of an answer travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerForm {
    /// In the line.
    Inline,
    /// As raw bytes behind the line.
    Blob,
}

/// All requests that are not answered yet.
#[derive(Default)]
pub(super) struct OpenRequests {
    open: Vec<PendingVfsRequest>,
    held: VecDeque<(Id<'static>, VfsRequest<'static>)>,
    /// The bytes of content in what is held.
    held_bytes: usize,
    next: u64,
}

impl OpenRequests {
    /// Whether a request has to wait for its turn.
    ///
    /// Reads run beside each other. A change waits until earlier requests on files are done, and
    /// later ones wait for it; which paths they touch is not looked at, because links and moves make
    /// two paths one.
    pub(super) fn must_wait(&self, method: Method, most: usize) -> bool {
        if self.open.len() >= most || !self.held.is_empty() {
            return true;
        }
        touches_files(method)
            && self.open.iter().any(|open| {
                touches_files(open.method) && (changes_files(open.method) || changes_files(method))
            })
    }

    pub(super) fn hold(&mut self, id: Id<'static>, request: VfsRequest<'static>) {
        self.held_bytes += content_bytes(&request);
        self.held.push_back((id, request));
    }

    /// The next held request whose turn has come.
    pub(super) fn release(&mut self, most: usize) -> Option<(Id<'static>, VfsRequest<'static>)> {
        let (id, request) = self.held.pop_front()?;
        // Judged as if nothing were held: it is the first of those.
        let rest = std::mem::take(&mut self.held);
        let wait = self.must_wait(request.method(), most);
        self.held = rest;
        if wait {
            self.held.push_front((id, request));
            return None;
        }
        self.held_bytes = self.held_bytes.saturating_sub(content_bytes(&request));
        Some((id, request))
    }

    pub(super) fn open(
        &mut self,
        id: Id<'static>,
        method: Method,
        form: AnswerForm,
        what: OpenRequestState,
    ) -> u64 {
        self.next += 1;
        let number = self.next;
        self.open.push(PendingVfsRequest {
            number,
            id,
            method,
            form,
            what,
        });
        number
    }

    /// Puts back what [`take_all`](Self::take_all) took.
    pub(super) fn put_back(&mut self, open: PendingVfsRequest) {
        self.open.push(open);
    }

    pub(super) fn close(&mut self, number: u64) -> Option<PendingVfsRequest> {
        let at = self.open.iter().position(|open| open.number == number)?;
        Some(self.open.remove(at))
    }

    /// The oldest request about which somebody is asked.
    pub(super) fn asking(&self) -> Option<(u64, &Inquiry)> {
        self.open.iter().find_map(|open| match &open.what {
            OpenRequestState::Asking(Some(inquiry)) => Some((open.number, inquiry)),
            _ => None,
        })
    }

    pub(super) fn open_mut(&mut self, number: u64) -> Option<&mut PendingVfsRequest> {
        self.open.iter_mut().find(|open| open.number == number)
    }

    /// The request with this id, or without one whichever is open.
    pub(super) fn named(&self, id: Option<&Id<'_>>) -> Option<u64> {
        let open = match id {
            Some(id) => self.open.iter().find(|open| open.id == *id),
            None => self.open.first(),
        };
        open.map(|open| open.number)
    }

    /// Takes a held request back.
    pub(super) fn drop_held(&mut self, id: &Id<'_>) -> Option<Id<'static>> {
        let at = self.held.iter().position(|(held, _)| held == id)?;
        let (id, request) = self.held.remove(at)?;
        self.held_bytes = self.held_bytes.saturating_sub(content_bytes(&request));
        Some(id)
    }

    /// All of it, oldest first; nothing is left.
    pub(super) fn take_all(&mut self) -> (Vec<PendingVfsRequest>, Vec<Id<'static>>) {
        self.held_bytes = 0;
        let held = self.held.drain(..).map(|(id, _)| id).collect();
        (std::mem::take(&mut self.open), held)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.held.is_empty()
    }

    /// Whether so many requests are held that no more are read.
    pub(super) fn is_full(&self) -> bool {
        self.held.len() >= MAX_HELD || self.held_bytes >= MAX_HELD_BYTES
    }
}

fn content_bytes(request: &VfsRequest<'_>) -> usize {
    request.payload().map_or(0, |payload| payload.len())
}

fn touches_files(method: Method) -> bool {
    !matches!(
        method,
        Method::HttpGet
            | Method::HttpPost
            | Method::ProcessRun
            | Method::ProcessStart
            | Method::ProcessRead
            | Method::ProcessWrite
            | Method::ProcessStop
    )
}

fn changes_files(method: Method) -> bool {
    matches!(
        method,
        Method::FsWrite
            | Method::FsAppend
            | Method::FsPatch
            | Method::FsMkdir
            | Method::FsDelete
            | Method::FsRename
    )
}

/// How many requests are read ahead of their turn. Some must be, because a tool may take one back.
const MAX_HELD: usize = 64;

/// How much content they may hold together: two messages of the largest size.
const MAX_HELD_BYTES: usize = 32 * 1024 * 1024;
