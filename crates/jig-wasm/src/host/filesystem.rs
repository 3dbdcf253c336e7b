//! `jp:host/filesystem`: files by whole requests, as mediated tools have them.

use jig_proto::vfs::{
    EntryKind, FsAppend, FsDelete, FsListDir, FsPath, FsRead, FsRename, FsWrite, VfsReply,
    VfsRequest,
};
use wasmtime::component::{HasSelf, Linker};

use super::{explained, other_form};
use crate::bindings::jp::host::filesystem::{self, Entry, Host, Kind, MetadataInfo};
use crate::guest::Guest;

/// What a guest gets: the result, or a text that says what was refused and why.
type HostFilesResult<T> = wasmtime::Result<Result<T, String>>;

/// Adds it to the linker.
pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    filesystem::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)
}

impl Host for Guest {
    fn read(&mut self, path: String) -> HostFilesResult<Vec<u8>> {
        self.hosted(&VfsRequest::FsRead(FsRead::new(path)), content)
    }

    fn read_range(&mut self, path: String, offset: u64, length: u64) -> HostFilesResult<Vec<u8>> {
        let read = FsRead {
            offset: Some(offset),
            length: Some(length),
            ..FsRead::new(path)
        };
        self.hosted(&VfsRequest::FsRead(read), content)
    }

    fn list_dir(&mut self, path: String) -> HostFilesResult<Vec<Entry>> {
        let mut entries = Vec::new();
        let mut list = FsListDir {
            limit: Some(PAGE),
            ..FsListDir::new(path)
        };
        loop {
            let request = VfsRequest::FsListDir(list.clone());
            let page = match self.ask_within(&request)? {
                Ok(VfsReply::List(page)) => page,
                Ok(_) => return Ok(Err(other_form(request.method()))),
                Err(error) => return Ok(Err(explained(error))),
            };
            entries.extend(page.entries.into_iter().map(|entry| Entry {
                name: entry.path.into_owned(),
                kind: kind(entry.kind),
            }));
            if entries.len() > MAX_ENTRIES {
                let path = &list.path;
                let message = format!("`{path}` has more than {MAX_ENTRIES} entries");
                return Ok(Err(message));
            }
            match page.next_cursor {
                Some(next) => list.cursor = Some(next),
                None => return Ok(Ok(entries)),
            }
        }
    }

    fn metadata(&mut self, path: String) -> HostFilesResult<MetadataInfo> {
        let request = VfsRequest::FsMetadata(FsPath::new(path));
        self.hosted(&request, |reply| match reply {
            VfsReply::Metadata(metadata) => Some(MetadataInfo {
                kind: kind(metadata.kind),
                size: metadata.size,
            }),
            _ => None,
        })
    }

    fn exists(&mut self, path: String) -> HostFilesResult<bool> {
        let request = VfsRequest::FsExists(FsPath::new(path));
        self.hosted(&request, |reply| match reply {
            VfsReply::Exists(exists) => Some(exists),
            _ => None,
        })
    }

    fn write(&mut self, path: String, content: Vec<u8>) -> HostFilesResult<()> {
        self.hosted(&VfsRequest::FsWrite(FsWrite::new(path, content)), done)
    }

    fn append(&mut self, path: String, content: Vec<u8>) -> HostFilesResult<()> {
        self.hosted(&VfsRequest::FsAppend(FsAppend::new(path, content)), done)
    }

    fn create_dir(&mut self, path: String) -> HostFilesResult<()> {
        self.hosted(&VfsRequest::FsMkdir(FsPath::new(path)), done)
    }

    fn delete(&mut self, path: String, recursive: bool) -> HostFilesResult<()> {
        let delete = FsDelete {
            recursive,
            ..FsDelete::new(path)
        };
        self.hosted(&VfsRequest::FsDelete(delete), done)
    }

    fn rename(&mut self, source: String, target: String) -> HostFilesResult<()> {
        self.hosted(&VfsRequest::FsRename(FsRename::new(source, target)), done)
    }
}

fn content(reply: VfsReply<'static>) -> Option<Vec<u8>> {
    match reply {
        VfsReply::Read(read) => Some(read.content.into_bytes()),
        _ => None,
    }
}

fn done(reply: VfsReply<'static>) -> Option<()> {
    matches!(reply, VfsReply::Done(_)).then_some(())
}

fn kind(kind: EntryKind) -> Kind {
    match kind {
        EntryKind::File => Kind::File,
        EntryKind::Dir => Kind::Directory,
        _ => Kind::Other,
    }
}

/// How many entries are asked for at once.
const PAGE: u32 = 10_000;

/// The most entries of one list. A guest names a directory, and we hold all of it.
const MAX_ENTRIES: usize = 200_000;
