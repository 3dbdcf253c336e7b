//! `wasi:io`: streams, and waiting.
//!
//! Whatever a stream is about, it is done when it is asked for: a stream is always ready, and a blocking call
//! is the same as one that does not block. Only clocks, and a request whose body is still being written, are
//! waited for; whoever waits is woken when the call is given up or its time is over.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use bytes::Bytes;
use wasmtime::component::{HasSelf, Linker, Resource, ResourceTableError};

use crate::bindings::wasi::io::{error, poll, streams};
use crate::guest::Guest;
use crate::limits::GuestEndReason;

mod stream;

#[cfg(test)]
mod tests;

/// Adds it to the linker.
pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    error::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)?;
    poll::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)?;
    streams::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)
}

/// When something is ready. Whatever touches files or servers is done when it is asked for, so only time
/// passes here.
#[derive(Debug, Clone)]
pub enum Pollable {
    /// At once.
    Ready,
    /// At this time.
    At(Instant),
    /// As soon as the guest has done something else first, which sets this.
    Once(Arc<AtomicBool>),
    /// Never.
    Never,
}

impl Pollable {
    fn is_ready(&self, now: Instant) -> bool {
        match self {
            Self::Ready => true,
            Self::At(time) => *time <= now,
            Self::Once(done) => done.load(Ordering::Relaxed),
            Self::Never => false,
        }
    }

    /// When it becomes ready by waiting.
    fn due(&self) -> Option<Instant> {
        match self {
            Self::At(time) => Some(*time),
            Self::Ready | Self::Once(_) | Self::Never => None,
        }
    }
}

/// Why a stream failed, as far as a guest is told.
#[derive(Debug, Clone)]
pub struct IoError {
    /// In words.
    pub(crate) message: String,
    /// As a number of `wasi:filesystem`, for what asks with `filesystem-error-code`.
    pub(crate) code: Option<crate::bindings::wasi::filesystem::types::ErrorCode>,
}

/// Where a guest reads from.
pub(crate) trait GuestSource: Send {
    /// Up to `most` bytes, and at least one; `None` at the end. `most` is never 0.
    fn read(&mut self, most: usize) -> Result<Option<Bytes>, IoError>;
}

/// Where a guest writes to.
pub(crate) trait GuestSink: Send {
    /// Takes all of it.
    fn write(&mut self, bytes: &[u8]) -> Result<(), IoError>;

    /// Has it reach whatever is behind.
    fn flush(&mut self) -> Result<(), IoError> {
        Ok(())
    }
}

/// A stream that a guest reads. Once it has ended or failed it is closed, and its source is let go.
pub struct InputStream(Option<Box<dyn GuestSource>>);

impl InputStream {
    /// A stream of what `source` gives.
    pub(crate) fn new(source: impl GuestSource + 'static) -> Self {
        Self(Some(Box::new(source)))
    }
}

/// A stream that a guest writes. Once it has failed it is closed, and its sink is let go.
pub struct OutputStream {
    sink: Option<Box<dyn GuestSink>>,
    /// How many bytes may be written before somebody has to ask again.
    permit: u64,
}

impl OutputStream {
    /// A stream into `sink`.
    pub(crate) fn new(sink: impl GuestSink + 'static) -> Self {
        Self {
            sink: Some(Box::new(sink)),
            permit: 0,
        }
    }
}

/// Gives what it was made of, piece by piece.
impl GuestSource for Bytes {
    fn read(&mut self, most: usize) -> Result<Option<Bytes>, IoError> {
        let piece = self.split_to(most.min(self.len()));
        Ok((!piece.is_empty()).then_some(piece))
    }
}

impl Guest {
    /// Keeps something for the guest, which gets a handle of it.
    ///
    /// # Errors
    ///
    /// If it holds too much already.
    pub(crate) fn hold<T: Send + 'static>(&mut self, thing: T) -> wasmtime::Result<Resource<T>> {
        self.table.push(thing).map_err(|error| match error {
            ResourceTableError::Full => GuestEndReason::Descriptors(self.meter.descriptors).into(),
            other => other.into(),
        })
    }
}

impl error::Host for Guest {}

impl error::HostError for Guest {
    fn to_debug_string(&mut self, error: Resource<IoError>) -> wasmtime::Result<String> {
        Ok(self.table.get(&error)?.message.clone())
    }

    fn drop(&mut self, error: Resource<IoError>) -> wasmtime::Result<()> {
        self.table.delete(error)?;
        Ok(())
    }
}

impl poll::Host for Guest {
    fn poll(&mut self, pollables: Vec<Resource<Pollable>>) -> wasmtime::Result<Vec<u32>> {
        if pollables.is_empty() {
            wasmtime::bail!("the guest polls nothing at all");
        }
        loop {
            let now = Instant::now();
            let mut ready = Vec::new();
            let mut due: Option<Instant> = None;
            for (index, pollable) in (0_u32..).zip(&pollables) {
                let pollable = self.table.get(pollable)?;
                if pollable.is_ready(now) {
                    ready.push(index);
                } else if let Some(time) = pollable.due() {
                    due = Some(due.map_or(time, |earlier| earlier.min(time)));
                }
            }
            if !ready.is_empty() {
                return Ok(ready);
            }
            self.sleep(due)?;
        }
    }
}

impl poll::HostPollable for Guest {
    fn ready(&mut self, pollable: Resource<Pollable>) -> wasmtime::Result<bool> {
        Ok(self.table.get(&pollable)?.is_ready(Instant::now()))
    }

    fn block(&mut self, pollable: Resource<Pollable>) -> wasmtime::Result<()> {
        loop {
            let pollable = self.table.get(&pollable)?;
            if pollable.is_ready(Instant::now()) {
                return Ok(());
            }
            let due = pollable.due();
            self.sleep(due)?;
        }
    }

    fn drop(&mut self, pollable: Resource<Pollable>) -> wasmtime::Result<()> {
        self.table.delete(pollable)?;
        Ok(())
    }
}
