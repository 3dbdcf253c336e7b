//! [`poll`]: waiting for pipes, children and a [`Waker`] at once.

use std::io;
use std::time::Duration;

use super::child::Child;
use crate::sys::{self, BorrowedDescriptor};

#[cfg(test)]
mod tests;

/// Something to wait for.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Interest<'a> {
    /// That reading would not block: bytes, the end, or an error.
    Readable(BorrowedDescriptor<'a>),
    /// That writing would not block: there is room, or nobody reads any more.
    Writable(BorrowedDescriptor<'a>),
    /// That a child and its tree have ended.
    Exited(&'a Child),
    /// That a waker was woken and not yet cleared.
    Woken(&'a Waker),
}

/// Waits until at least one of the interests is met, or the time is over; none is met then.
///
/// At most [`ReadyInterests::MOST`] interests can be waited for at once. Without a limit it waits for ever.
/// Signals that are handled elsewhere in the process do not cut the wait short.
pub fn poll(interests: &[Interest<'_>], limit: Option<Duration>) -> io::Result<ReadyInterests> {
    if interests.len() > ReadyInterests::MOST {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "more interests than can be waited for at once",
        ));
    }
    let descriptors: Vec<_> = interests.iter().map(Interest::descriptor).collect();
    sys::poll(&descriptors, limit).map(ReadyInterests)
}

impl<'a> Interest<'a> {
    /// What to wait on, and for which direction.
    fn descriptor(&self) -> (BorrowedDescriptor<'a>, Direction) {
        match *self {
            Interest::Readable(descriptor) => (descriptor, Direction::Read),
            Interest::Writable(descriptor) => (descriptor, Direction::Write),
            Interest::Exited(child) => (child.end_descriptor(), Direction::Read),
            Interest::Woken(waker) => (waker.descriptor(), Direction::Read),
        }
    }
}

/// What would be done with a descriptor.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Direction {
    Read,
    Write,
}

/// Which interests are met, by their place in the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadyInterests(pub(crate) u64);

impl ReadyInterests {
    /// The most interests of one [`poll`].
    pub const MOST: usize = u64::BITS as usize;

    /// Whether the interest at this place is met.
    pub fn contains(self, place: usize) -> bool {
        place < Self::MOST && self.0 & (1 << place) != 0
    }

    /// Whether no interest is met: the time was over.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// Ends a [`poll`] from another thread. Clones wake the same one.
///
/// A wake-up that comes before the wait is not lost: the waker stays woken until it is cleared.
#[derive(Debug, Clone)]
pub struct Waker(sys::Wake);

impl Waker {
    /// A waker that nobody has woken.
    pub fn new() -> io::Result<Self> {
        sys::Wake::new().map(Self)
    }

    /// Wakes whoever waits for it, now or next.
    pub fn wake(&self) {
        self.0.wake();
    }

    /// Takes the wake-ups so far back; says whether there were any.
    pub fn clear(&self) -> bool {
        self.0.clear()
    }

    fn descriptor(&self) -> BorrowedDescriptor<'_> {
        self.0.descriptor()
    }
}

/// Sets whether reading from and writing to a pipe returns `WouldBlock` instead of waiting.
///
/// Only this end is changed; the program at the other end is not.
pub fn set_nonblocking(descriptor: BorrowedDescriptor<'_>, nonblocking: bool) -> io::Result<()> {
    sys::set_nonblocking(descriptor, nonblocking)
}
