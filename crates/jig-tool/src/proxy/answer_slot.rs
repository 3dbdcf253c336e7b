//! [`ReplySlot`]: where an answer is put for whoever asked.

use std::sync::{Condvar, Mutex};

use jig_proto::fsproxy::ProxyAnswer;

use super::shared_connection::RequestOutcome;
use super::{Error, ProxyReply, lock, wait_on};

/// Where the answer to one request is put.
#[derive(Debug)]
pub(super) struct ReplySlot {
    kind: ProxyRequestKind,
    cell: Mutex<ReplySlotState>,
    changed: Condvar,
}

/// What was asked, which says how the answer is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProxyRequestKind {
    Open,
    Read,
    Write,
    Close,
    List,
    Quota,
    Llm,
}

/// Why somebody who slept is awake.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ReplySlotWake {
    /// The answer is there.
    Answered,
    /// Nobody else reads any more.
    Read,
}

#[derive(Debug)]
enum ReplySlotState {
    /// There is no answer, and nobody sleeps.
    Open,
    Asleep,
    /// Whoever slept is to read.
    Appointed,
    Answered(Result<ProxyReply, Error>),
    /// The answer was taken, or nobody wants it any more.
    Done,
}

impl ReplySlot {
    pub(super) fn new(kind: ProxyRequestKind) -> Self {
        Self {
            kind,
            cell: Mutex::new(ReplySlotState::Open),
            changed: Condvar::new(),
        }
    }

    pub(super) fn is_answered(&self) -> bool {
        matches!(
            *lock(&self.cell),
            ReplySlotState::Answered(_) | ReplySlotState::Done
        )
    }

    /// Says that somebody is about to [`sleep`](Self::sleep).
    pub(super) fn lie_down(&self) {
        let mut cell = lock(&self.cell);
        if matches!(*cell, ReplySlotState::Open) {
            *cell = ReplySlotState::Asleep;
        }
    }

    /// Waits for the answer, or to be appointed.
    pub(super) fn sleep(&self) -> ReplySlotWake {
        let mut cell = lock(&self.cell);
        loop {
            match *cell {
                ReplySlotState::Asleep => cell = wait_on(&self.changed, cell),
                ReplySlotState::Appointed => {
                    *cell = ReplySlotState::Open;
                    return ReplySlotWake::Read;
                }
                _ => return ReplySlotWake::Answered,
            }
        }
    }

    /// Makes whoever sleeps here the reader; `false` if nobody does.
    pub(super) fn appoint(&self) -> bool {
        let mut cell = lock(&self.cell);
        let is_asleep = matches!(*cell, ReplySlotState::Asleep);
        if is_asleep {
            *cell = ReplySlotState::Appointed;
            self.changed.notify_one();
        }
        is_asleep
    }

    /// Puts the answer in. If nobody wants it any more and it is a handle, gives that back.
    pub(super) fn answer(&self, outcome: RequestOutcome<'_>) -> Option<u64> {
        let reply = match outcome {
            Ok(Ok(answer)) => self.kind.read(&answer),
            Ok(Err(error)) => Err(error.into()),
            Err(broken) => Err(broken.to_error()),
        };
        let mut cell = lock(&self.cell);
        if matches!(*cell, ReplySlotState::Done) {
            return opened(&reply);
        }
        *cell = ReplySlotState::Answered(reply);
        self.changed.notify_one();
        None
    }

    /// Takes the answer, which must be there.
    pub(super) fn take(&self) -> Result<ProxyReply, Error> {
        match std::mem::replace(&mut *lock(&self.cell), ReplySlotState::Done) {
            ReplySlotState::Answered(reply) => reply,
            _ => Err(Error::nonsense("the answer was taken before")),
        }
    }

    /// Says that nobody wants the answer. If it is there and a handle, gives that back.
    pub(super) fn abandon(&self) -> Option<u64> {
        match std::mem::replace(&mut *lock(&self.cell), ReplySlotState::Done) {
            ReplySlotState::Answered(reply) => opened(&reply),
            _ => None,
        }
    }
}

fn opened(reply: &Result<ProxyReply, Error>) -> Option<u64> {
    match reply {
        Ok(ProxyReply::Handle(handle)) => Some(*handle),
        _ => None,
    }
}

impl ProxyRequestKind {
    fn read(self, answer: &ProxyAnswer<'_>) -> Result<ProxyReply, Error> {
        let reply = match self {
            Self::Open => answer.handle().map(ProxyReply::Handle),
            Self::Read => {
                let mut bytes = Vec::new();
                let eof = answer.data_into(&mut bytes);
                eof.map(|eof| ProxyReply::Data { bytes, eof })
            }
            Self::Write => answer.written().map(ProxyReply::Written),
            Self::Close => Ok(ProxyReply::Closed),
            Self::List => answer.value().map(ProxyReply::List),
            Self::Quota => answer.value().map(ProxyReply::Quota),
            Self::Llm => answer.value().map(|reply| ProxyReply::Llm(Box::new(reply))),
        };
        reply.map_err(Error::nonsense)
    }
}
