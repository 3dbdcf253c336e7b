//! [`FilesLookup`]: path resolution for rules on any backend.

use std::io;
use std::sync::Arc;

use jig_policy::{Entry, Lookup, Resolved, Workspace};
use jig_proto::ProjectPath;

use crate::{FilesError, Kind, ProjectFiles};

/// Any backend as the [`Lookup`] of a [`jig_policy::Workspace`], so that rules are compiled against
/// the same tree that operations meet.
#[derive(Debug, Clone)]
pub struct FilesLookup(pub Arc<dyn ProjectFiles>);

impl Lookup for FilesLookup {
    fn entry(&self, path: &ProjectPath) -> io::Result<Entry> {
        let place = match self.0.locate_entry(path) {
            Ok(place) => place,
            Err(FilesError::Io { source, .. }) => return Err(source),
            Err(error) => return Err(io::Error::other(error)),
        };
        Ok(match place.kind() {
            Kind::Missing => Entry::Missing,
            Kind::Directory => Entry::Directory,
            Kind::File | Kind::Other => Entry::File,
            Kind::Link(target) => Entry::Link(target.clone()),
        })
    }
}

/// The canonical form of a path at which nothing stands, below directories that are known to hold
/// no link.
pub(crate) fn missing(path: &ProjectPath) -> Result<Resolved, FilesError> {
    Workspace::new("/", NothingThere)
        .resolve(path.as_str())
        .map_err(|error| FilesError::from_resolve(path, error))
}

struct NothingThere;

impl Lookup for NothingThere {
    fn entry(&self, _: &ProjectPath) -> io::Result<Entry> {
        Ok(Entry::Missing)
    }
}
