//! `wasi:io`: streams, and waiting.

use std::time::Instant;

use bytes::Bytes;
use wasmtime::component::Linker;

use crate::guest::Guest;

/// Adds it to the linker.
pub(crate) fn link(_linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    Ok(())
}

/// When something is ready. Whatever touches files or servers is done when it is asked for, so only time
/// passes here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pollable {
    /// At once.
    Ready,
    /// At this time.
    At(Instant),
    /// Never.
    Never,
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
pub(crate) trait Source: Send {
    /// Up to `most` bytes; `None` at the end.
    fn read(&mut self, most: usize) -> Result<Option<Bytes>, IoError>;
}

/// Where a guest writes to.
pub(crate) trait Sink: Send {
    /// Takes all of it.
    fn write(&mut self, bytes: &[u8]) -> Result<(), IoError>;

    /// Has it reach whatever is behind.
    fn flush(&mut self) -> Result<(), IoError> {
        Ok(())
    }
}

/// A stream that a guest reads.
pub struct InputStream(pub(crate) Box<dyn Source>);

/// A stream that a guest writes.
pub struct OutputStream(pub(crate) Box<dyn Sink>);
