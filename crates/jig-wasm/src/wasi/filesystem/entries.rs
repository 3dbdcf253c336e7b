//! What a directory holds, page by page.

use std::sync::Arc;
use std::vec;

use jig_broker::ListedName;
use jig_proto::vfs::{EntryKind, FsListDir, VfsRequest};
use wasmtime::component::Resource;

use super::GuestDirectory;
use super::error_codes::FilesystemFailure;
use crate::bindings::wasi::filesystem::types::{DescriptorType, DirectoryEntry, ErrorCode};
use crate::guest::Guest;

/// What is still to be told of a directory.
///
/// What the rules hide is not there. A directory with many entries is listed in pages, each after the names
/// that have been told: what appears or goes meanwhile is told or not, and nothing is told twice.
#[derive(Debug)]
pub struct Entries {
    directory: GuestDirectory,
    page: vec::IntoIter<ListedName>,
    /// The last name of the page, if there is another page.
    after: Option<String>,
    /// Counts those that are alive.
    _alive: Arc<()>,
}

impl Guest {
    /// Begins to list a directory.
    pub(super) fn list(&mut self, directory: GuestDirectory) -> Result<Entries, FilesystemFailure> {
        if Arc::strong_count(&self.files.listings) > MAX_LISTINGS {
            return Err(ErrorCode::InsufficientMemory.into());
        }
        let (page, after) = self.list_page(&directory, None)?;
        Ok(Entries {
            directory,
            page,
            after,
            _alive: Arc::clone(&self.files.listings),
        })
    }

    /// The next entry of a listing.
    pub(super) fn next_entry(
        &mut self,
        listing: &Resource<Entries>,
    ) -> Result<Option<DirectoryEntry>, FilesystemFailure> {
        loop {
            let entries = self.table.get_mut(listing)?;
            if let Some(entry) = entries.page.next() {
                let type_ = kind(&entry);
                let name = entry.name;
                // Libraries ask for the hash of each entry, too.
                self.files.listed(&entries.directory.path, &name);
                return Ok(Some(DirectoryEntry { type_, name }));
            }
            let Some(after) = entries.after.take() else {
                return Ok(None);
            };
            let directory = entries.directory.clone();
            let (page, after) = self.list_page(&directory, Some(&after))?;
            let entries = self.table.get_mut(listing)?;
            entries.page = page;
            entries.after = after;
        }
    }

    /// The entries that come after a name, as many as we keep; and after which name there are more.
    fn list_page(
        &mut self,
        directory: &GuestDirectory,
        after: Option<&str>,
    ) -> Result<(vec::IntoIter<ListedName>, Option<String>), FilesystemFailure> {
        let request = VfsRequest::FsListDir(FsListDir {
            path: directory.wire().into(),
            cursor: None,
            limit: None,
        });
        let work = self.permitted(directory, |broker| broker.judge(&request))?;
        let mut entries = work.entries()?;
        if let Some(after) = after {
            entries.retain(|entry| entry.name.as_str() > after);
        }
        let most = page(Arc::strong_count(&self.files.listings));
        if entries.len() <= most {
            return Ok((entries.into_iter(), None));
        }
        // By the names that the guest gets, which are not in order where a secret was taken out: each page
        // begins after the one before, so that there is an end.
        entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        entries.truncate(most);
        entries.shrink_to_fit();
        let last = entries.last().map(|entry| entry.name.clone());
        Ok((entries.into_iter(), last))
    }
}

fn kind(entry: &ListedName) -> DescriptorType {
    match entry.kind {
        _ if entry.link => DescriptorType::SymbolicLink,
        EntryKind::File => DescriptorType::RegularFile,
        EntryKind::Dir => DescriptorType::Directory,
        _ => DescriptorType::Unknown,
    }
}

/// How many entries a page may have when this many directories are being read: the more, the fewer, because
/// names may be long and all pages are ours to keep.
fn page(listings: usize) -> usize {
    (ALL_PAGES / listings.max(1)).clamp(MIN_PAGE, MAX_PAGE)
}

/// How many entries of a directory we keep at most, for each listing, and what we keep at least.
const MAX_PAGE: usize = 8192;
const MIN_PAGE: usize = 256;

/// About how many entries we keep for all listings together.
const ALL_PAGES: usize = 4 * MAX_PAGE;

/// How many directories a guest can be reading at the same time. For each, we may keep a page.
const MAX_LISTINGS: usize = 128;

#[cfg(test)]
mod tests {
    use super::{MAX_LISTINGS, MAX_PAGE, page};

    #[test]
    fn all_pages_together_are_bounded() {
        assert_eq!(page(0), MAX_PAGE);
        assert_eq!(page(1), MAX_PAGE);
        let all: usize = (1..=MAX_LISTINGS).map(page).sum();
        // With the longest names that is some 50 MB.
        assert!(all < 200_000, "{all}");
    }
}
