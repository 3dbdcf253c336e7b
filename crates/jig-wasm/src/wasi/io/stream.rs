//! The streams themselves.

use wasmtime::component::Resource;

use crate::bindings::wasi::io::streams::{self, StreamError};
use crate::guest::Guest;
use crate::wasi::io::{InputStream, IoError, OutputStream, Pollable};

/// Why a stream has nothing to give or takes nothing.
#[derive(Debug)]
pub(super) enum StreamClosed {
    /// It was closed before.
    Before,
    /// It is closed by this.
    By(IoError),
}

type StreamResult<T> = Result<T, StreamClosed>;

impl InputStream {
    /// Up to `most` bytes, and not more than [`MOST`]; nothing if nothing is asked for.
    pub(super) fn read(&mut self, most: u64) -> StreamResult<bytes::Bytes> {
        let source = self.0.as_mut().ok_or(StreamClosed::Before)?;
        let most = usize::try_from(most).unwrap_or(MOST).min(MOST);
        if most == 0 {
            return Ok(bytes::Bytes::new());
        }
        match source.read(most) {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => {
                self.0 = None;
                Err(StreamClosed::Before)
            }
            Err(error) => {
                self.0 = None;
                Err(StreamClosed::By(error))
            }
        }
    }
}

impl OutputStream {
    /// How many bytes may be written next.
    pub(super) fn permit(&mut self) -> StreamResult<u64> {
        if self.sink.is_none() {
            return Err(StreamClosed::Before);
        }
        self.permit = MOST as u64;
        Ok(self.permit)
    }

    /// Uses the permit for this many bytes.
    ///
    /// # Errors
    ///
    /// If there is none for so many: a guest that writes without asking is ended.
    pub(super) fn spend(&mut self, bytes: u64) -> wasmtime::Result<()> {
        let Some(left) = self.permit.checked_sub(bytes) else {
            let permit = self.permit;
            wasmtime::bail!("the guest writes {bytes} bytes with a permit for {permit}");
        };
        self.permit = left;
        Ok(())
    }

    pub(super) fn write(&mut self, bytes: &[u8]) -> StreamResult<()> {
        let sink = self.sink.as_mut().ok_or(StreamClosed::Before)?;
        let written = match bytes {
            [] => Ok(()),
            bytes => sink.write(bytes),
        };
        self.closed_by(written)
    }

    pub(super) fn write_zeroes(&mut self, count: u64) -> StreamResult<()> {
        static ZEROES: [u8; BLOCK] = [0; BLOCK];
        let mut left = count;
        while left > 0 {
            let piece = left.min(BLOCK as u64);
            // No more than a block, which fits.
            self.write(&ZEROES[..piece as usize])?;
            left -= piece;
        }
        match self.sink {
            Some(_) => Ok(()),
            None => Err(StreamClosed::Before),
        }
    }

    pub(super) fn flush(&mut self) -> StreamResult<()> {
        let sink = self.sink.as_mut().ok_or(StreamClosed::Before)?;
        let flushed = sink.flush();
        self.closed_by(flushed)
    }

    fn closed_by(&mut self, result: Result<(), IoError>) -> StreamResult<()> {
        result.map_err(|error| {
            self.sink = None;
            StreamClosed::By(error)
        })
    }
}

impl Guest {
    /// What became of a stream, as the guest is told.
    fn streamed<T>(&mut self, result: StreamResult<T>) -> wasmtime::Result<Result<T, StreamError>> {
        Ok(match result {
            Ok(value) => Ok(value),
            Err(StreamClosed::Before) => Err(StreamError::Closed),
            Err(StreamClosed::By(error)) => {
                Err(StreamError::LastOperationFailed(self.hold(error)?))
            }
        })
    }
}

impl streams::Host for Guest {}

impl streams::HostInputStream for Guest {
    fn read(
        &mut self,
        stream: Resource<InputStream>,
        most: u64,
    ) -> wasmtime::Result<Result<Vec<u8>, StreamError>> {
        let read = self.table.get_mut(&stream)?.read(most);
        self.streamed(read.map(Vec::from))
    }

    fn blocking_read(
        &mut self,
        stream: Resource<InputStream>,
        most: u64,
    ) -> wasmtime::Result<Result<Vec<u8>, StreamError>> {
        self.read(stream, most)
    }

    fn skip(
        &mut self,
        stream: Resource<InputStream>,
        most: u64,
    ) -> wasmtime::Result<Result<u64, StreamError>> {
        let read = self.table.get_mut(&stream)?.read(most);
        self.streamed(read.map(|bytes| bytes.len() as u64))
    }

    fn blocking_skip(
        &mut self,
        stream: Resource<InputStream>,
        most: u64,
    ) -> wasmtime::Result<Result<u64, StreamError>> {
        self.skip(stream, most)
    }

    fn subscribe(
        &mut self,
        _stream: Resource<InputStream>,
    ) -> wasmtime::Result<Resource<Pollable>> {
        self.hold(Pollable::Ready)
    }

    fn drop(&mut self, stream: Resource<InputStream>) -> wasmtime::Result<()> {
        self.table.delete(stream)?;
        Ok(())
    }
}

impl streams::HostOutputStream for Guest {
    fn check_write(
        &mut self,
        stream: Resource<OutputStream>,
    ) -> wasmtime::Result<Result<u64, StreamError>> {
        let permit = self.table.get_mut(&stream)?.permit();
        self.streamed(permit)
    }

    fn write(
        &mut self,
        stream: Resource<OutputStream>,
        bytes: Vec<u8>,
    ) -> wasmtime::Result<Result<(), StreamError>> {
        let stream = self.table.get_mut(&stream)?;
        stream.spend(bytes.len() as u64)?;
        let written = stream.write(&bytes);
        self.streamed(written)
    }

    fn blocking_write_and_flush(
        &mut self,
        stream: Resource<OutputStream>,
        bytes: Vec<u8>,
    ) -> wasmtime::Result<Result<(), StreamError>> {
        check_block(bytes.len() as u64)?;
        let stream = self.table.get_mut(&stream)?;
        let written = stream.write(&bytes).and_then(|()| stream.flush());
        self.streamed(written)
    }

    fn flush(
        &mut self,
        stream: Resource<OutputStream>,
    ) -> wasmtime::Result<Result<(), StreamError>> {
        let flushed = self.table.get_mut(&stream)?.flush();
        self.streamed(flushed)
    }

    fn blocking_flush(
        &mut self,
        stream: Resource<OutputStream>,
    ) -> wasmtime::Result<Result<(), StreamError>> {
        self.flush(stream)
    }

    fn subscribe(
        &mut self,
        _stream: Resource<OutputStream>,
    ) -> wasmtime::Result<Resource<Pollable>> {
        self.hold(Pollable::Ready)
    }

    fn write_zeroes(
        &mut self,
        stream: Resource<OutputStream>,
        count: u64,
    ) -> wasmtime::Result<Result<(), StreamError>> {
        let stream = self.table.get_mut(&stream)?;
        stream.spend(count)?;
        let written = stream.write_zeroes(count);
        self.streamed(written)
    }

    fn blocking_write_zeroes_and_flush(
        &mut self,
        stream: Resource<OutputStream>,
        count: u64,
    ) -> wasmtime::Result<Result<(), StreamError>> {
        check_block(count)?;
        let stream = self.table.get_mut(&stream)?;
        let written = stream.write_zeroes(count).and_then(|()| stream.flush());
        self.streamed(written)
    }

    fn splice(
        &mut self,
        stream: Resource<OutputStream>,
        source: Resource<InputStream>,
        most: u64,
    ) -> wasmtime::Result<Result<u64, StreamError>> {
        let permit = self.table.get_mut(&stream)?.permit();
        let read = match permit {
            Ok(permit) => self.table.get_mut(&source)?.read(most.min(permit)),
            Err(closed) => Err(closed),
        };
        let spliced = match read {
            Ok(bytes) => {
                let stream = self.table.get_mut(&stream)?;
                stream.spend(bytes.len() as u64)?;
                stream.write(&bytes).map(|()| bytes.len() as u64)
            }
            Err(closed) => Err(closed),
        };
        self.streamed(spliced)
    }

    fn blocking_splice(
        &mut self,
        stream: Resource<OutputStream>,
        source: Resource<InputStream>,
        most: u64,
    ) -> wasmtime::Result<Result<u64, StreamError>> {
        self.splice(stream, source, most)
    }

    fn drop(&mut self, stream: Resource<OutputStream>) -> wasmtime::Result<()> {
        self.table.delete(stream)?;
        Ok(())
    }
}

/// What is written and flushed at once has a size that the interface sets.
fn check_block(bytes: u64) -> wasmtime::Result<()> {
    if bytes > BLOCK as u64 {
        wasmtime::bail!("the guest writes and flushes {bytes} bytes at once; {BLOCK} are the most");
    }
    Ok(())
}

/// The most bytes of one read, and of the permit for a write. A guest names any number, and must not have us
/// set aside that much.
pub(super) const MOST: usize = 1 << 20;

/// The most bytes that are written and flushed with one call.
const BLOCK: usize = 4096;
