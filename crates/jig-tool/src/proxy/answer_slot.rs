//! [`Slot`]: where an answer is put for whoever asked.

use std::sync::{Condvar, Mutex};

use jig_proto::fsproxy::Answer;

use super::shared_connection::Outcome;
use super::{Error, Reply, lock, wait_on};

/// Where the answer to one request is put.
#[derive(Debug)]
pub(super) struct Slot {
    kind: Kind,
    cell: Mutex<Cell>,
    changed: Condvar,
}

/// What was asked, which says how the answer is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
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
pub(super) enum Wake {
    /// The answer is there.
    Answered,
    /// Nobody else reads any more.
    Read,
}

#[derive(Debug)]
enum Cell {
    /// There is no answer, and nobody sleeps.
    Open,
    Asleep,
    /// Whoever slept is to read.
    Appointed,
    Answered(Result<Reply, Error>),
    /// The answer was taken, or nobody wants it any more.
    Done,
}

impl Slot {
    pub(super) fn new(kind: Kind) -> Self {
        Self {
            kind,
            cell: Mutex::new(Cell::Open),
            changed: Condvar::new(),
        }
    }

    pub(super) fn is_answered(&self) -> bool {
        matches!(*lock(&self.cell), Cell::Answered(_) | Cell::Done)
    }

    /// Says that somebody is about to [`sleep`](Self::sleep).
    pub(super) fn lie_down(&self) {
        let mut cell = lock(&self.cell);
        if matches!(*cell, Cell::Open) {
            *cell = Cell::Asleep;
        }
    }

    /// Waits for the answer, or to be appointed.
    pub(super) fn sleep(&self) -> Wake {
        let mut cell = lock(&self.cell);
        loop {
            match *cell {
                Cell::Asleep => cell = wait_on(&self.changed, cell),
                Cell::Appointed => {
                    *cell = Cell::Open;
                    return Wake::Read;
                }
                _ => return Wake::Answered,
            }
        }
    }

    /// Makes whoever sleeps here the reader; `false` if nobody does.
    pub(super) fn appoint(&self) -> bool {
        let mut cell = lock(&self.cell);
        let is_asleep = matches!(*cell, Cell::Asleep);
        if is_asleep {
            *cell = Cell::Appointed;
            self.changed.notify_one();
        }
        is_asleep
    }

    /// Puts the answer in. If nobody wants it any more and it is a handle, gives that back.
    pub(super) fn answer(&self, outcome: Outcome<'_>) -> Option<u64> {
        let reply = match outcome {
            Ok(Ok(answer)) => self.kind.read(&answer),
            Ok(Err(error)) => Err(error.into()),
            Err(broken) => Err(broken.to_error()),
        };
        let mut cell = lock(&self.cell);
        if matches!(*cell, Cell::Done) {
            return opened(&reply);
        }
        *cell = Cell::Answered(reply);
        self.changed.notify_one();
        None
    }

    /// Takes the answer, which must be there.
    pub(super) fn take(&self) -> Result<Reply, Error> {
        match std::mem::replace(&mut *lock(&self.cell), Cell::Done) {
            Cell::Answered(reply) => reply,
            _ => Err(Error::nonsense("the answer was taken before")),
        }
    }

    /// Says that nobody wants the answer. If it is there and a handle, gives that back.
    pub(super) fn abandon(&self) -> Option<u64> {
        match std::mem::replace(&mut *lock(&self.cell), Cell::Done) {
            Cell::Answered(reply) => opened(&reply),
            _ => None,
        }
    }
}

fn opened(reply: &Result<Reply, Error>) -> Option<u64> {
    match reply {
        Ok(Reply::Handle(handle)) => Some(*handle),
        _ => None,
    }
}

impl Kind {
    fn read(self, answer: &Answer<'_>) -> Result<Reply, Error> {
        let reply = match self {
            Self::Open => answer.handle().map(Reply::Handle),
            Self::Read => {
                let mut bytes = Vec::new();
                let eof = answer.data_into(&mut bytes);
                eof.map(|eof| Reply::Data { bytes, eof })
            }
            Self::Write => answer.written().map(Reply::Written),
            Self::Close => Ok(Reply::Closed),
            Self::List => answer.value().map(Reply::List),
            Self::Quota => answer.value().map(Reply::Quota),
            Self::Llm => answer.value().map(|reply| Reply::Llm(Box::new(reply))),
        };
        reply.map_err(Error::nonsense)
    }
}
