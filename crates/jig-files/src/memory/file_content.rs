//! [`FileCell`]: the content of one file in memory, for the tree and for whoever has the file open.

use std::sync::{PoisonError, RwLock};
use std::time::SystemTime;

use bytes::{Bytes, BytesMut};
use jig_proto::ProjectPath;

use crate::FilesError;

/// The content of a file. Whoever was given it keeps what it was then: it is copied before it is
/// changed, unless nobody else holds it.
#[derive(Debug)]
pub(crate) struct FileCell(RwLock<CellState>);

#[derive(Debug)]
struct CellState {
    content: Bytes,
    modified: SystemTime,
}

impl FileCell {
    pub(super) fn new(content: Bytes) -> Self {
        Self(RwLock::new(CellState {
            content,
            modified: SystemTime::now(),
        }))
    }

    /// The content.
    pub(super) fn content(&self) -> Bytes {
        self.now().0
    }

    /// The content, and since when it is that.
    pub(crate) fn now(&self) -> (Bytes, SystemTime) {
        let state = self.0.read().unwrap_or_else(PoisonError::into_inner);
        (state.content.clone(), state.modified)
    }

    pub(crate) fn read_at(&self, offset: u64, most: usize) -> Bytes {
        let content = self.content();
        let size = content.len();
        let start = usize::try_from(offset).map_or(size, |offset| offset.min(size));
        content.slice(start..start.saturating_add(most).min(size))
    }

    pub(crate) fn write_at(
        &self,
        path: &ProjectPath,
        offset: u64,
        bytes: &[u8],
    ) -> Result<(), FilesError> {
        self.change(|_| {
            let end = offset.saturating_add(bytes.len() as u64);
            let (start, end) = (bounded(path, offset)?, bounded(path, end)?);
            Ok(move |content: &mut BytesMut| {
                if content.len() < end {
                    content.resize(end, 0);
                }
                content[start..end].copy_from_slice(bytes);
            })
        })
    }

    pub(crate) fn append(&self, path: &ProjectPath, bytes: &[u8]) -> Result<(), FilesError> {
        self.change(|size| {
            bounded(path, (size as u64).saturating_add(bytes.len() as u64))?;
            Ok(|content: &mut BytesMut| content.extend_from_slice(bytes))
        })
    }

    pub(crate) fn set_size(&self, path: &ProjectPath, size: u64) -> Result<(), FilesError> {
        self.change(|_| {
            let size = bounded(path, size)?;
            Ok(move |content: &mut BytesMut| content.resize(size, 0))
        })
    }

    /// Changes the content by what `plan` makes of its size, which is asked before anything is copied.
    fn change<C: FnOnce(&mut BytesMut)>(
        &self,
        plan: impl FnOnce(usize) -> Result<C, FilesError>,
    ) -> Result<(), FilesError> {
        let mut state = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let change = plan(state.content.len())?;
        let mut content = BytesMut::from(std::mem::take(&mut state.content));
        change(&mut content);
        state.content = content.freeze();
        state.modified = SystemTime::now();
        Ok(())
    }
}

/// A place in a file, if a file can be that long.
fn bounded(path: &ProjectPath, place: u64) -> Result<usize, FilesError> {
    match usize::try_from(place) {
        Ok(fits) if place <= MAX_SIZE => Ok(fits),
        _ => Err(FilesError::TooLong {
            path: path.clone(),
            limit: MAX_SIZE,
        }),
    }
}

/// A gap costs as much memory as what is written, and a tool may write anywhere.
const MAX_SIZE: u64 = 256 * 1024 * 1024;
