//! [`Outbox`]: answers in the order of their requests.

use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;

use super::super::descriptors;

/// The answers to one child, which leave in the order of its requests, whenever they are ready.
#[derive(Debug, Default)]
pub(super) struct Outbox {
    /// The requests that are not answered yet, oldest first, and those answers that have to wait for
    /// an older one.
    places: VecDeque<Option<Vec<u8>>>,
    /// The number of the oldest place.
    first: u64,
    /// Answers that can be sent.
    bytes: Vec<u8>,
    /// How much of them was sent.
    sent: usize,
}

impl Outbox {
    /// The place of the next request.
    pub(super) fn take_place(&mut self) -> u64 {
        self.places.push_back(None);
        self.first + self.places.len() as u64 - 1
    }

    /// Puts the answer into its place: `write` appends it. A place that is gone is passed over.
    pub(super) fn answer(&mut self, place: u64, write: impl FnOnce(&mut Vec<u8>)) {
        let Some(index) = place
            .checked_sub(self.first)
            .and_then(|index| usize::try_from(index).ok())
        else {
            return;
        };
        if index > 0 {
            if let Some(kept @ None) = self.places.get_mut(index) {
                let mut bytes = Vec::new();
                write(&mut bytes);
                *kept = Some(bytes);
            }
            return;
        }
        if self.places.pop_front().is_none() {
            return;
        }
        write(&mut self.bytes);
        self.first += 1;
        while let Some(Some(bytes)) = self.places.front() {
            self.bytes.extend_from_slice(bytes);
            self.places.pop_front();
            self.first += 1;
        }
    }

    /// Sends what goes without waiting; `true` if that was all that can be sent.
    pub(super) fn flush(&mut self, socket: BorrowedFd<'_>) -> io::Result<bool> {
        while self.sent < self.bytes.len() {
            match descriptors::send_now(socket, &self.bytes[self.sent..])? {
                0 => return Ok(false),
                count => self.sent += count,
            }
        }
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
        self.sent = 0;
        Ok(true)
    }

    /// Whether the child has to read, or wait, before it is read from again.
    pub(super) fn is_full(&self) -> bool {
        self.places.len() >= MAX_PLACES || self.bytes.len() - self.sent >= MAX_UNSENT
    }

    /// Whether everything is answered and sent.
    pub(super) fn is_idle(&self) -> bool {
        self.places.is_empty() && self.bytes.is_empty()
    }

    /// Forgets all of it; answers that come later are passed over.
    pub(super) fn clear(&mut self) {
        self.first += self.places.len() as u64;
        self.places.clear();
        self.bytes = Vec::new();
        self.sent = 0;
    }
}

/// The most requests of one child that are under way. A child that only asks would otherwise fill the
/// memory of this process, and the connection that all share.
const MAX_PLACES: usize = 64;

/// The most bytes that wait for a child to read them before it is read from again.
const MAX_UNSENT: usize = 256 * 1024;

/// The memory that is kept.
const KEPT_BYTES: usize = 64 * 1024;

#[cfg(test)]
mod tests;
