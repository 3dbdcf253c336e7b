//! Listing a directory.

use std::os::fd::BorrowedFd;

use jig_proto::ProjectPath;
use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;

use super::root::open_entries;
use super::{DiskFiles, handle_of};
use crate::{DirEntry, DirEntryKind, FilesError, Listing, Place, PlaceKind};

impl DiskFiles {
    pub(super) fn list(&self, place: &Place) -> Result<Listing, FilesError> {
        place.expect_directory()?;
        let path = place.path();
        let fail = |error: Errno| FilesError::from_io(path, error);
        let Some(directory) = handle_of(place)?.directory(&self.root) else {
            return Err(FilesError::NotADirectory { path: path.clone() });
        };
        let mut listing = Listing::default();
        for entry in open_entries(directory).map_err(fail)? {
            let entry = entry.map_err(fail)?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..")
                || self.leftovers.conceals(directory, name.to_bytes())
            {
                continue;
            }
            let Ok(name) = name.to_str() else {
                listing.unnamed += 1;
                continue;
            };
            match self.describe(path, directory, name, entry.file_type()) {
                Ok(entry) => listing.entries.push(entry),
                // It went away while the directory was read.
                Err(Errno::NOENT) => {}
                Err(error) => return Err(fail(error)),
            }
        }
        listing.entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(listing)
    }

    fn describe(
        &self,
        path: &ProjectPath,
        directory: BorrowedFd<'_>,
        name: &str,
        kind: FileType,
    ) -> Result<DirEntry, Errno> {
        let kind = match kind {
            // Some file systems do not tell with the name.
            FileType::Unknown => {
                let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW)?;
                FileType::from_raw_mode(stat.st_mode)
            }
            kind => kind,
        };
        let mut leads_to = None;
        let kind = match kind {
            FileType::RegularFile => DirEntryKind::File,
            FileType::Directory => DirEntryKind::Directory,
            FileType::Symlink => {
                let own = ProjectPath::normalize(name).map_err(|_| Errno::NOENT)?;
                match self.root.locate(&path.join(&own)) {
                    Ok(located) if located.held.is_some() => {
                        leads_to = Some(located.resolved.path().clone());
                        match located.kind {
                            PlaceKind::File => DirEntryKind::File,
                            PlaceKind::Directory => DirEntryKind::Directory,
                            _ => DirEntryKind::Other,
                        }
                    }
                    _ => DirEntryKind::BrokenLink,
                }
            }
            _ => DirEntryKind::Other,
        };
        Ok(DirEntry {
            name: name.to_owned(),
            kind,
            leads_to,
        })
    }
}
