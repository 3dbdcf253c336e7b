//! Files as streams.

use std::sync::Arc;

use bytes::Bytes;
use jig_proto::vfs::ErrorReply;

use super::OpenedGuestFile;
use super::error_codes::code_of;
use crate::wasi::io::{GuestSink, GuestSource, IoError};

/// Reads a file from a position on.
pub(super) struct GuestFileReader {
    pub(super) file: Arc<OpenedGuestFile>,
    pub(super) position: u64,
}

impl GuestSource for GuestFileReader {
    fn read(&mut self, most: usize) -> Result<Option<Bytes>, IoError> {
        if most == 0 {
            return Ok(Some(Bytes::new()));
        }
        let bytes = self.file.file().read_at(self.position, most.min(MAX_READ));
        let bytes = bytes.map_err(|error| told(&error))?;
        // Past the largest position there is nothing to be read.
        self.position = self.position.saturating_add(bytes.len() as u64);
        Ok((!bytes.is_empty()).then_some(bytes))
    }
}

/// Writes a file.
pub(super) struct GuestFileWriter {
    pub(super) file: Arc<OpenedGuestFile>,
    pub(super) at: StreamPosition,
    /// Whether each write waits for the disk.
    pub(super) sync: bool,
}

/// Where a stream writes.
#[derive(Debug, Clone, Copy)]
pub(super) enum StreamPosition {
    /// From here on.
    Position(u64),
    /// Always at the end, wherever that is by then.
    End,
}

impl GuestSink for GuestFileWriter {
    fn write(&mut self, bytes: &[u8]) -> Result<(), IoError> {
        let written = match &mut self.at {
            StreamPosition::End => self.file.changing().append(bytes),
            StreamPosition::Position(position) => {
                let written = self.file.changing().write_at(*position, bytes);
                *position = position.saturating_add(bytes.len() as u64);
                written
            }
        };
        written.map_err(|error| told(&error))?;
        match self.sync {
            true => self.file.file().sync().map_err(|error| told(&error)),
            false => Ok(()),
        }
    }
}

fn told(error: &ErrorReply) -> IoError {
    IoError {
        message: error.message.clone(),
        code: Some(code_of(error.kind())),
    }
}

/// The most bytes that are read at once, whatever a guest asks for: they are held by us until it has them.
pub(super) const MAX_READ: usize = 256 * 1024;
