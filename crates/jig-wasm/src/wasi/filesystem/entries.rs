//! What a directory holds, page by page.

use std::borrow::Cow;
use std::sync::Arc;
use std::vec;

use jig_proto::ProjectPath;
use jig_proto::vfs::{Entry, EntryKind, FsListDir, ListReply, Reply, Request};
use wasmtime::component::Resource;

use super::Directory;
use super::code::Failure;
use crate::bindings::wasi::filesystem::types::{DescriptorType, DirectoryEntry, ErrorCode};
use crate::guest::Guest;

/// What is still to be told of a directory.
///
/// What the rules hide is not there. A directory is listed in pages, each by the name that came last: what
/// appears or goes meanwhile is told or not, and nothing is told twice.
#[derive(Debug)]
pub struct Entries {
    directory: Directory,
    page: vec::IntoIter<Entry<'static>>,
    /// Where the next page begins, if there is one.
    cursor: Option<Cow<'static, str>>,
    /// How many entries the page has at most.
    size: u32,
    /// Counts those that are alive.
    _alive: Arc<()>,
}

/// The listings of a guest.
#[derive(Debug, Default)]
pub(super) struct Listings {
    alive: Arc<()>,
    /// What was told last.
    last: Option<Listed>,
}

/// An entry that a guest was told of.
#[derive(Debug)]
struct Listed {
    directory: ProjectPath,
    name: String,
}

impl Listings {
    /// Whether this name of a directory was the last that a guest was told of.
    ///
    /// The library of a guest asks for the hash of each entry that it reads. The hash is that of the path, and
    /// the path was judged when it was listed, so there is nothing left to ask about.
    pub(super) fn has_just_told(&self, directory: &ProjectPath, name: &str) -> bool {
        let last = self.last.as_ref();
        last.is_some_and(|last| last.name == name && last.directory == *directory)
    }
}

impl Guest {
    /// Begins to list a directory.
    pub(super) fn list(&mut self, directory: Directory) -> Result<Entries, Failure> {
        if Arc::strong_count(&self.files.listings.alive) > MAX_LISTINGS {
            return Err(ErrorCode::InsufficientMemory.into());
        }
        let list = self.list_page(&directory, None, FIRST_PAGE)?;
        Ok(Entries {
            directory,
            page: list.entries.into_iter(),
            cursor: list.next_cursor,
            size: FIRST_PAGE,
            _alive: Arc::clone(&self.files.listings.alive),
        })
    }

    /// The next entry of a listing.
    pub(super) fn next_entry(
        &mut self,
        listing: &Resource<Entries>,
    ) -> Result<Option<DirectoryEntry>, Failure> {
        loop {
            let entries = self.table.get_mut(listing)?;
            if let Some(entry) = entries.page.next() {
                let name = entry.path.into_owned();
                self.files.listings.last = Some(Listed {
                    directory: entries.directory.path.clone(),
                    name: name.clone(),
                });
                let type_ = kind(entry.kind);
                return Ok(Some(DirectoryEntry { type_, name }));
            }
            let Some(cursor) = entries.cursor.take() else {
                return Ok(None);
            };
            entries.size = (entries.size * 2).min(LARGEST_PAGE);
            let (directory, size) = (entries.directory.clone(), entries.size);
            let list = self.list_page(&directory, Some(cursor), size)?;
            let entries = self.table.get_mut(listing)?;
            entries.page = list.entries.into_iter();
            entries.cursor = list.next_cursor;
        }
    }

    fn list_page(
        &mut self,
        directory: &Directory,
        cursor: Option<Cow<'static, str>>,
        size: u32,
    ) -> Result<ListReply<'static>, Failure> {
        let request = Request::FsListDir(FsListDir {
            path: directory.wire().into(),
            cursor,
            limit: Some(size),
        });
        match self.perform(directory, |broker| broker.judge(&request))? {
            Reply::List(list) => Ok(list),
            _ => Err(ErrorCode::Io.into()),
        }
    }
}

fn kind(kind: EntryKind) -> DescriptorType {
    match kind {
        EntryKind::File => DescriptorType::RegularFile,
        EntryKind::Dir => DescriptorType::Directory,
        _ => DescriptorType::Unknown,
    }
}

/// How many entries the first page has. Each further one has twice as many: finding the place where a page
/// begins takes as long as reading the directory.
const FIRST_PAGE: u32 = 512;

/// How many entries a page has at most. They are held by us, for each listing.
const LARGEST_PAGE: u32 = 8192;

/// How many directories a guest can be reading at the same time. Each may hold a page of ours.
const MAX_LISTINGS: usize = 128;
