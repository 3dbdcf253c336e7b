//! The files of the workspace: the `fs.` methods of a [`Host`], except for search.

use std::borrow::Cow;
use std::io::Cursor;

use jig_proto::vfs::{
    DoneReply, Edit, Entry, ErrorKind, FsAppend, FsDelete, FsListDir, FsPatch, FsPath, FsRead,
    FsRename, FsWrite, MetadataReply, Method, Payload, ReadReply, VfsReply, VfsRequest,
};

use super::{Host, HostAnswer, HostError, Opened};

impl Host {
    /// A file's text.
    ///
    /// # Errors
    ///
    /// If it can't be read, or is not UTF-8.
    pub fn read(&mut self, path: impl AsRef<str>) -> Result<String, HostError> {
        let path = path.as_ref();
        match self.read_file(path)?.content {
            Payload::Text(text) => Ok(text.into_owned()),
            Payload::Bytes(bytes) => {
                let message = format!("`{path}` is not UTF-8 text ({} bytes)", bytes.len());
                let error = HostError::new(ErrorKind::InvalidParams, message);
                Err(error.with_hint("it can only be read as bytes"))
            }
        }
    }

    /// A file's bytes.
    ///
    /// # Errors
    ///
    /// If it can't be read.
    pub fn read_bytes(&mut self, path: impl AsRef<str>) -> Result<Vec<u8>, HostError> {
        Ok(self.read_file(path)?.content.into_bytes())
    }

    /// A file's content, text or not, with its version where the host names it.
    ///
    /// # Errors
    ///
    /// If it can't be read.
    pub fn read_file(&mut self, path: impl AsRef<str>) -> Result<ReadReply<'static>, HostError> {
        let request = self.read_request(path.as_ref());
        read_reply(self.request(&request)?)
    }

    /// At most `length` bytes of a file, from `offset` on; fewer at its end, none past it. A
    /// character may be cut at either end, and then the part is not text.
    ///
    /// A host that can't send parts sends the whole, and it is cut here.
    ///
    /// # Errors
    ///
    /// If it can't be read.
    pub fn read_range(
        &mut self,
        path: impl AsRef<str>,
        offset: u64,
        length: u64,
    ) -> Result<ReadReply<'static>, HostError> {
        let mut request = self.read_request(path.as_ref());
        if !self.capabilities().ranges {
            let whole = read_reply(self.request(&request)?)?;
            return Ok(part_of(whole, offset, length));
        }
        if let VfsRequest::FsRead(read) = &mut request {
            read.offset = Some(offset);
            read.length = Some(length);
        }
        read_reply(self.request(&request)?)
    }

    /// Reads many files, with several requests open at once where both sides can, and hands on each
    /// with its index among `paths`, in whatever order they arrive.
    ///
    /// # Errors
    ///
    /// If the call is cancelled or the host is gone. A file that can't be read is no error here.
    pub fn read_each<P: AsRef<str>>(
        &mut self,
        paths: &[P],
        mut visit: impl FnMut(usize, Result<ReadReply<'static>, HostError>),
    ) -> Result<(), HostError> {
        let requests: Vec<VfsRequest<'_>> = paths
            .iter()
            .map(|path| self.read_request(path.as_ref()))
            .collect();
        self.request_each(&mut requests.into_iter(), |index, answer| {
            visit(index, answer.and_then(|answer| read_reply(answer.reply)));
        })
    }

    /// Opens a file for reading. Where both sides can, the host passes the open file itself, and
    /// then reading it needs no host; else the content comes as [`Opened::Bytes`].
    ///
    /// It is the file of that moment: a file that the host replaces later is another one.
    ///
    /// # Errors
    ///
    /// If it can't be read.
    pub fn open(&mut self, path: impl AsRef<str>) -> Result<Opened, HostError> {
        let request = self.open_request(path.as_ref());
        opened(self.request_file(&request)?)
    }

    /// Opens many files, as [`Host::read_each`] reads them. A file that is kept stays open.
    ///
    /// # Errors
    ///
    /// If the call is cancelled or the host is gone. A file that can't be read is no error here.
    pub fn open_each<P: AsRef<str>>(
        &mut self,
        paths: &[P],
        mut visit: impl FnMut(usize, Result<Opened, HostError>),
    ) -> Result<(), HostError> {
        let requests: Vec<VfsRequest<'_>> = paths
            .iter()
            .map(|path| self.open_request(path.as_ref()))
            .collect();
        self.request_each(&mut requests.into_iter(), |index, answer| {
            visit(index, answer.and_then(opened));
        })
    }

    /// Replaces a file's content with text, making the file and the directories above it if needed.
    ///
    /// # Errors
    ///
    /// If it can't be written.
    pub fn write(&mut self, path: impl AsRef<str>, text: &str) -> Result<(), HostError> {
        self.write_with(FsWrite::new(path.as_ref(), text)).map(drop)
    }

    /// The same with bytes that need not be text.
    ///
    /// # Errors
    ///
    /// If it can't be written.
    pub fn write_bytes(&mut self, path: impl AsRef<str>, bytes: &[u8]) -> Result<(), HostError> {
        self.write_with(FsWrite::new(path.as_ref(), bytes))
            .map(drop)
    }

    /// The same with all that can be said about it, such as that there must not be a file yet.
    ///
    /// # Errors
    ///
    /// If it can't be written.
    pub fn write_with(&mut self, mut write: FsWrite<'_>) -> Result<DoneReply<'static>, HostError> {
        self.fold(&mut write.path);
        self.forget_version(&mut write.if_match);
        self.done(&VfsRequest::FsWrite(write))
    }

    /// Adds to the end of a file, making it if needed.
    ///
    /// # Errors
    ///
    /// If it can't be written.
    pub fn append<'c>(
        &mut self,
        path: impl AsRef<str>,
        content: impl Into<Payload<'c>>,
    ) -> Result<(), HostError> {
        let content: Payload<'c> = content.into();
        let append = FsAppend::new(self.wire_path(path.as_ref()), content);
        self.done(&VfsRequest::FsAppend(append)).map(drop)
    }

    /// Replaces exact pieces of a file's text, all of them or none.
    ///
    /// # Errors
    ///
    /// If one of them is not there, or not just once, or the file can't be changed.
    pub fn patch(&mut self, path: impl AsRef<str>, edits: Vec<Edit<'_>>) -> Result<(), HostError> {
        self.patch_with(FsPatch::new(path.as_ref(), edits))
            .map(drop)
    }

    /// The same with all that can be said about it.
    ///
    /// # Errors
    ///
    /// As [`Host::patch`].
    pub fn patch_with(&mut self, mut patch: FsPatch<'_>) -> Result<DoneReply<'static>, HostError> {
        self.fold(&mut patch.path);
        self.forget_version(&mut patch.if_match);
        self.done(&VfsRequest::FsPatch(patch))
    }

    /// Whether there is something at a path.
    ///
    /// # Errors
    ///
    /// If the tool may not know.
    pub fn exists(&mut self, path: impl AsRef<str>) -> Result<bool, HostError> {
        let path = FsPath::new(self.wire_path(path.as_ref()));
        match self.request(&VfsRequest::FsExists(path))? {
            VfsReply::Exists(exists) => Ok(exists),
            _ => Err(HostError::other_form(Method::FsExists)),
        }
    }

    /// The entries of a directory that the tool may see, all of them, not those below.
    ///
    /// # Errors
    ///
    /// If it can't be listed.
    pub fn list_dir(&mut self, path: impl AsRef<str>) -> Result<Vec<Entry<'static>>, HostError> {
        let path = self.wire_path(path.as_ref()).into_owned();
        let mut entries = Vec::new();
        let mut cursor: Option<Cow<'static, str>> = None;
        // All entries in one message would not always fit.
        let limit = self.capabilities().pages.then(|| self.page_entries());
        loop {
            let request = VfsRequest::FsListDir(FsListDir {
                cursor: cursor.clone(),
                limit,
                ..FsListDir::new(path.as_str())
            });
            let VfsReply::List(mut page) = self.request(&request)? else {
                return Err(HostError::other_form(Method::FsListDir));
            };
            entries.append(&mut page.entries);
            if page.next_cursor.is_none() {
                return Ok(entries);
            }
            if page.next_cursor == cursor {
                let message = format!("the host sends the same page of `{path}` again and again");
                return Err(HostError::new(ErrorKind::Internal, message));
            }
            cursor = page.next_cursor;
        }
    }

    /// How many entries of a directory surely fit into one message.
    fn page_entries(&self) -> u32 {
        let entries = self.limits().message_bytes / ENTRY_BYTES;
        u32::try_from(entries)
            .unwrap_or(u32::MAX)
            .clamp(1, MAX_PAGE_ENTRIES)
    }

    /// What is at a path.
    ///
    /// # Errors
    ///
    /// If there is nothing, or the tool may not know.
    pub fn metadata(&mut self, path: impl AsRef<str>) -> Result<MetadataReply<'static>, HostError> {
        let path = FsPath::new(self.wire_path(path.as_ref()));
        match self.request(&VfsRequest::FsMetadata(path))? {
            VfsReply::Metadata(metadata) => Ok(metadata),
            _ => Err(HostError::other_form(Method::FsMetadata)),
        }
    }

    /// Makes a directory, and those above it that are missing.
    ///
    /// # Errors
    ///
    /// If it can't be made.
    pub fn mkdir(&mut self, path: impl AsRef<str>) -> Result<(), HostError> {
        let path = FsPath::new(self.wire_path(path.as_ref()));
        self.done(&VfsRequest::FsMkdir(path)).map(drop)
    }

    /// Deletes a file or a link.
    ///
    /// # Errors
    ///
    /// If it can't be deleted; a directory can't, see [`Host::delete_with`].
    pub fn delete(&mut self, path: impl AsRef<str>) -> Result<(), HostError> {
        self.delete_with(FsDelete::new(path.as_ref())).map(drop)
    }

    /// The same with all that can be said about it, such as that a directory goes with all that is
    /// below.
    ///
    /// # Errors
    ///
    /// If it can't be deleted.
    pub fn delete_with(
        &mut self,
        mut delete: FsDelete<'_>,
    ) -> Result<DoneReply<'static>, HostError> {
        self.fold(&mut delete.path);
        self.forget_version(&mut delete.if_match);
        self.done(&VfsRequest::FsDelete(delete))
    }

    /// Moves a file or a directory; a file at the new path is replaced.
    ///
    /// # Errors
    ///
    /// If it can't be moved.
    pub fn rename(&mut self, from: impl AsRef<str>, to: impl AsRef<str>) -> Result<(), HostError> {
        self.rename_with(FsRename::new(from.as_ref(), to.as_ref()))
            .map(drop)
    }

    /// The same with all that can be said about it.
    ///
    /// # Errors
    ///
    /// If it can't be moved.
    pub fn rename_with(
        &mut self,
        mut rename: FsRename<'_>,
    ) -> Result<DoneReply<'static>, HostError> {
        self.fold(&mut rename.from);
        self.fold(&mut rename.to);
        self.done(&VfsRequest::FsRename(rename))
    }

    fn read_request<'p>(&self, path: &'p str) -> VfsRequest<'p> {
        VfsRequest::FsRead(FsRead {
            blob: self.capabilities().blobs,
            ..FsRead::new(self.wire_path(path))
        })
    }

    fn open_request<'p>(&self, path: &'p str) -> VfsRequest<'p> {
        VfsRequest::FsRead(FsRead {
            fd: self.capabilities().fd_pass,
            blob: self.capabilities().blobs,
            ..FsRead::new(self.wire_path(path))
        })
    }

    fn done(&mut self, request: &VfsRequest<'_>) -> Result<DoneReply<'static>, HostError> {
        match self.request(request)? {
            VfsReply::Done(done) => Ok(done),
            _ => Err(HostError::other_form(request.method())),
        }
    }

    fn fold(&self, path: &mut Cow<'_, str>) {
        if let Cow::Owned(folded) = self.wire_path(path) {
            *path = Cow::Owned(folded);
        }
    }

    /// A host that knows no versions would refuse a request that names one.
    fn forget_version(&self, if_match: &mut Option<Cow<'_, str>>) {
        if !self.capabilities().etag {
            *if_match = None;
        }
    }
}

fn read_reply(reply: VfsReply<'static>) -> Result<ReadReply<'static>, HostError> {
    match reply {
        VfsReply::Read(read) => Ok(read),
        _ => Err(HostError::other_form(Method::FsRead)),
    }
}

fn opened(answer: HostAnswer) -> Result<Opened, HostError> {
    match (answer.reply, answer.file) {
        (VfsReply::Descriptor(_), Some(file)) => Ok(Opened::File(file)),
        (reply, _) => {
            let content = read_reply(reply)?.content.into_bytes();
            Ok(Opened::Bytes(Cursor::new(content)))
        }
    }
}

fn part_of(whole: ReadReply<'static>, offset: u64, length: u64) -> ReadReply<'static> {
    let mut bytes = whole.content.into_bytes();
    let place = |at: u64| usize::try_from(at).map_or(bytes.len(), |at| at.min(bytes.len()));
    let (start, end) = (place(offset), place(offset.saturating_add(length)));
    bytes.truncate(end);
    bytes.drain(..start);
    ReadReply {
        content: Payload::of_bytes(bytes),
        ..whole
    }
}

/// The room for one entry of a directory in a message. Most names are far shorter than the 255 bytes that they may
/// have.
const ENTRY_BYTES: u64 = 512;

/// The most entries of one page.
const MAX_PAGE_ENTRIES: u32 = 10_000;
