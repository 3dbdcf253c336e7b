//! [`OpenFile`]: a file that was opened through the broker.
//!
//! Reading it gives what `fs.read` gives: no secret that the call knows. What is in a file is scrubbed as a
//! whole, so a file that is only read is served from a copy without secrets. A file that is written too, or
//! is too large for a copy, keeps its offsets: a secret is masked where it stands.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use bytes::Bytes;
use jig_files::{FileHandle, FilesError, PlaceKind};
use jig_proto::ProjectPath;
use jig_proto::vfs::{ErrorKind, ErrorReply};
use jig_proto::visible_line_to;

use super::error;
use super::grant::{GrantedPlace, Permits};
use super::names::PathStat;
use super::open::OpenRequest;
use super::scrubbed_copies::CopySpace;
use crate::broker::BrokerCore;
use crate::denial::MAX_TARGET;
use crate::scrub::Scrubber;

/// A file that was opened through the broker. What it may be used for was judged when it was opened;
/// nothing is judged or written to the audit log afterwards.
///
/// It is the file and not its name, and stays the same file when it is renamed, replaced or removed.
/// Writes happen in place: they are not atomic as those of `fs.write` are, and a crash can leave a part.
///
/// Where the call knows secrets, reading does not give them: a file that is only read has `[REDACTED]`
/// in their place, as `fs.read` has it, and [`size`](Self::size) says how long that is. One that is also
/// written, or that is larger than [`RequestLimits::file_bytes`](crate::RequestLimits::file_bytes), has as many `*` as
/// the secret has bytes, so that its offsets hold.
#[derive(Debug)]
pub struct OpenFile {
    inner: Arc<BrokerCore>,
    file: FileHandle,
    /// Whether it is read and not written.
    only_read: bool,
    most: Option<u64>,
    _permits: Permits,
    /// The path as it was asked for.
    text: String,
    clean: Mutex<Option<CleanContent>>,
}

/// The content of a file without secrets.
#[derive(Debug)]
struct CleanContent {
    content: Bytes,
    /// The state of the file that it was made from.
    of: FileVersion,
    by: Scrubber,
    _room: CopySpace,
}

type FileVersion = (u64, Option<SystemTime>);

impl OpenFile {
    pub(super) fn new(
        inner: &Arc<BrokerCore>,
        file: FileHandle,
        open: &OpenRequest<'_>,
        at: GrantedPlace,
    ) -> Self {
        let (text, permits) = at.into_permits();
        Self {
            inner: Arc::clone(inner),
            file,
            only_read: open.read && !open.write,
            most: open.most,
            _permits: permits,
            text,
            clean: Mutex::new(None),
        }
    }

    /// The canonical path at which it was opened.
    pub fn path(&self) -> &ProjectPath {
        self.file.path()
    }

    /// Reads up to `most` bytes from `offset`. There may be fewer at any time; at the end of the file
    /// and past it there are none. It must have been opened with `read`.
    pub fn read_at(&self, offset: u64, most: usize) -> Result<Bytes, ErrorReply> {
        let read = match self.inner.secrets.scrubber() {
            None => self.file.read_at(offset, most),
            Some(scrubber) => self.read_clean(&scrubber, offset, most),
        };
        self.told(read)
    }

    /// Writes all of `bytes` at `offset`; a gap before it reads as zeros. It must have been opened with
    /// `write`, as for all that changes it. If it fails, a part may have been written.
    pub fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<(), ErrorReply> {
        if !bytes.is_empty() {
            self.check_size(offset.saturating_add(bytes.len() as u64))?;
        }
        self.told(self.file.write_at(offset, bytes))
    }

    /// Writes all of `bytes` at the end, wherever that is by now. If it fails, a part may have been
    /// written.
    pub fn append(&self, bytes: &[u8]) -> Result<(), ErrorReply> {
        if self.most.is_some() {
            let (size, _) = self.told(self.file.state())?;
            self.check_size(size.saturating_add(bytes.len() as u64))?;
        }
        self.told(self.file.append(bytes))
    }

    /// Cuts the file, or makes it longer with zeros.
    pub fn set_size(&self, size: u64) -> Result<(), ErrorReply> {
        self.check_size(size)?;
        self.told(self.file.set_size(size))
    }

    /// The size in bytes. Also who may only write the file may know it.
    pub fn size(&self) -> Result<u64, ErrorReply> {
        self.state().map(|(size, _)| size)
    }

    /// What is open: its size and when it was last changed, at this moment.
    pub fn look(&self) -> Result<PathStat, ErrorReply> {
        let (size, modified) = self.state()?;
        Ok(PathStat {
            path: self.path().clone(),
            kind: PlaceKind::File,
            size,
            modified,
        })
    }

    /// When the content was last changed, where that is known.
    pub fn modified(&self) -> Option<SystemTime> {
        self.file.state().ok()?.1
    }

    /// Waits until what was written has reached the disk.
    pub fn sync(&self) -> Result<(), ErrorReply> {
        self.told(self.file.sync())
    }

    /// Whether both are one file.
    pub fn is_same(&self, other: &Self) -> bool {
        self.file.is_same(&other.file)
    }

    /// The size as it is read, and the time of the last change.
    fn state(&self) -> Result<FileVersion, ErrorReply> {
        let (size, modified) = self.told(self.file.state())?;
        let clean = match self.inner.secrets.scrubber() {
            Some(scrubber) if self.only_read => self.told(self.clean(&scrubber))?,
            _ => None,
        };
        let size = clean.map_or(size, |content| content.len() as u64);
        Ok((size, modified))
    }

    fn read_clean(
        &self,
        scrubber: &Scrubber,
        offset: u64,
        most: usize,
    ) -> Result<Bytes, FilesError> {
        let most = most.min(FileHandle::MAX_READ);
        if self.only_read
            && let Some(content) = self.clean(scrubber)?
        {
            let size = content.len();
            let start = usize::try_from(offset).map_or(size, |offset| offset.min(size));
            return Ok(content.slice(start..start.saturating_add(most).min(size)));
        }
        let margin = scrubber.margin().min(MAX_MARGIN);
        let before = usize::try_from(offset).map_or(margin, |offset| offset.min(margin));
        let window = self.read_all(offset - before as u64, before + most + margin)?;
        let inside = before.min(window.len())..(before + most).min(window.len());
        Ok(scrubber.masked(&window, inside).into())
    }

    /// The whole content without secrets; `None` if it is too large for that.
    fn clean(&self, scrubber: &Scrubber) -> Result<Option<Bytes>, FilesError> {
        let limit = self.inner.limits.file_bytes;
        let of = self.file.state()?;
        if of.0 > limit {
            return Ok(None);
        }
        let mut kept = self.clean.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(clean) = &*kept
            && clean.of == of
            && clean.by.is_same(scrubber)
        {
            return Ok(Some(clean.content.clone()));
        }
        // The size may be a lie, or out of date.
        let most = usize::try_from(limit).unwrap_or(usize::MAX);
        let content = self.read_all(0, most.saturating_add(1))?;
        if content.len() > most {
            return Ok(None);
        }
        let content = Bytes::from(scrubber.bytes(content).into_owned());
        // The old one goes first: its room is free then.
        *kept = None;
        *kept = self
            .inner
            .copies
            .room(content.len() as u64)
            .map(|room| CleanContent {
                content: content.clone(),
                of,
                by: scrubber.clone(),
                _room: room,
            });
        Ok(Some(content))
    }

    /// Reads until there are `most` bytes or the file ends.
    fn read_all(&self, offset: u64, most: usize) -> Result<Vec<u8>, FilesError> {
        let mut content = Vec::new();
        while content.len() < most {
            let at = offset.saturating_add(content.len() as u64);
            let piece = self.file.read_at(at, most - content.len())?;
            if piece.is_empty() {
                break;
            }
            content.extend_from_slice(&piece);
        }
        Ok(content)
    }

    fn told<T>(&self, result: Result<T, FilesError>) -> Result<T, ErrorReply> {
        result.map_err(|error| self.inner.scrub_error(error::reply(&error, &self.text)))
    }

    /// Checks that writing may make the file this large.
    fn check_size(&self, size: u64) -> Result<(), ErrorReply> {
        match self.most {
            Some(most) if size > most => {
                let what = format!(
                    "`{}` would have {size} bytes, the limit is {most}",
                    visible_line_to(&self.text, MAX_TARGET)
                );
                let reply = ErrorReply::new(ErrorKind::TooLarge, what).with_path(&*self.text);
                Err(self.inner.scrub_error(reply))
            }
            _ => Ok(()),
        }
    }
}

/// How far a secret is looked for around what is read. No variable of an environment is as long, but
/// where there is too much to look for, everything is a secret of any length.
const MAX_MARGIN: usize = 4 * 1024 * 1024;

#[cfg(test)]
mod tests;
