//! [`FilesLookup`]: path resolution for rules on any backend.

use std::io;
use std::sync::Arc;

use jig_policy::{Lookup, LookupEntry, ResolvedPath, Workspace};
use jig_proto::ProjectPath;

use crate::{FilesError, PlaceKind, ProjectFiles};

/// Any backend as the [`Lookup`] of a [`jig_policy::Workspace`], so that rules are compiled against
/// the same tree that operations meet.
#[derive(Debug, Clone)]
pub struct FilesLookup(pub Arc<dyn ProjectFiles>);

impl Lookup for FilesLookup {
    fn entry(&self, path: &ProjectPath) -> io::Result<LookupEntry> {
        let place = match self.0.locate_entry(path) {
            Ok(place) => place,
            Err(FilesError::Io { source, .. }) => return Err(source),
            Err(error) => return Err(io::Error::other(error)),
        };
        Ok(match place.kind() {
            PlaceKind::Missing => LookupEntry::Missing,
            PlaceKind::Directory => LookupEntry::Directory,
            PlaceKind::File | PlaceKind::Other => LookupEntry::File,
            PlaceKind::Link(target) => LookupEntry::Link(target.clone()),
        })
    }
}

/// The canonical form of a path at which nothing stands, below directories that are known to hold
/// no link.
pub(crate) fn missing(path: &ProjectPath) -> Result<ResolvedPath, FilesError> {
    Workspace::new("/", MissingLookup)
        .resolve(path.as_str())
        .map_err(|error| FilesError::from_resolve(path, error))
}

struct MissingLookup;

impl Lookup for MissingLookup {
    fn entry(&self, _: &ProjectPath) -> io::Result<LookupEntry> {
        Ok(LookupEntry::Missing)
    }
}
