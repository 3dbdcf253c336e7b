//! [`NullFiles`]: no files at all.

use bytes::Bytes;
use camino::Utf8Path;
use jig_policy::ResolvedPath;
use jig_proto::ProjectPath;

use crate::files::sealed;
use crate::grep::{GrepQuery, Matches};
use crate::located_path::PlaceHandle;
use crate::{
    FileHandle, FilesError, FilesView, Filter, Listing, OpenOptions, Place, PlaceKind,
    ProjectFiles, RenameOptions, WriteOptions, lookup,
};

/// Stands where there is no workspace: nothing is there, nothing can be read, nothing is written.
#[derive(Debug, Clone, Copy, Default)]
pub struct NullFiles;

impl NullFiles {
    fn read_only<T>(place: &Place) -> Result<T, FilesError> {
        Err(FilesError::ReadOnly {
            path: place.path().clone(),
        })
    }
}

impl sealed::SealedFiles for NullFiles {}

impl ProjectFiles for NullFiles {
    fn locate(&self, path: &ProjectPath) -> Result<Place, FilesError> {
        if path.is_root() {
            let resolved = ResolvedPath::from_handle(path.clone());
            return Ok(Place::new(
                0,
                resolved,
                PlaceKind::Directory,
                PlaceHandle::Nothing,
            ));
        }
        let resolved = lookup::missing(path)?;
        Ok(Place::new(
            0,
            resolved,
            PlaceKind::Missing,
            PlaceHandle::Nothing,
        ))
    }

    fn locate_entry(&self, path: &ProjectPath) -> Result<Place, FilesError> {
        self.locate(path)
    }

    fn read(&self, place: &Place, _: u64) -> Result<Bytes, FilesError> {
        place.expect_file().map(|()| Bytes::new())
    }

    fn read_range(&self, place: &Place, _: u64, _: u64) -> Result<Bytes, FilesError> {
        place.expect_file().map(|()| Bytes::new())
    }

    #[expect(
        clippy::disallowed_types,
        reason = "a descriptor that is passed on is a file of the operating system"
    )]
    fn open(&self, place: &Place) -> Result<Option<std::fs::File>, FilesError> {
        place.expect_file().map(|()| None)
    }

    fn open_file(&self, place: &Place, options: &OpenOptions) -> Result<FileHandle, FilesError> {
        if options.create && !place.exists() {
            return Self::read_only(place);
        }
        place.expect_file()?;
        Self::read_only(place)
    }

    fn write(&self, place: &Place, _: &[u8], _: &WriteOptions) -> Result<bool, FilesError> {
        Self::read_only(place)
    }

    fn append(&self, place: &Place, _: &[u8], _: &WriteOptions) -> Result<bool, FilesError> {
        Self::read_only(place)
    }

    fn list_dir(&self, _: &Place) -> Result<Listing, FilesError> {
        Ok(Listing::default())
    }

    fn make_dir(&self, place: &Place, _: bool) -> Result<(), FilesError> {
        Self::read_only(place)
    }

    fn delete(&self, place: &Place) -> Result<(), FilesError> {
        Self::read_only(place)
    }

    fn remove_dir(&self, place: &Place) -> Result<(), FilesError> {
        Self::read_only(place)
    }

    fn delete_tree(&self, place: &Place, _: &Filter<'_>) -> Result<u64, FilesError> {
        Self::read_only(place)
    }

    fn rename(&self, from: &Place, _: &Place, _: &RenameOptions) -> Result<(), FilesError> {
        Self::read_only(from)
    }

    fn grep(&self, _: &GrepQuery, _: &Filter<'_>) -> Result<Matches, FilesError> {
        Ok(Matches::default())
    }

    fn materialize(&self) -> Result<FilesView, FilesError> {
        Err(FilesError::NoDirectory)
    }

    fn display_root(&self) -> &Utf8Path {
        Utf8Path::new("(no workspace)")
    }
}
