//! Search in memory.

use grep_regex::RegexMatcher;
use grep_searcher::Searcher;
use jig_proto::ProjectPath;

use super::MemoryFiles;
use super::tree::{Body, Branch};
use crate::grep::{Hits, NameKind, Start, Tree};
use crate::{FilesError, Kind, ProjectFiles};

/// The tree as it was when the search began.
pub(super) struct Searched<'f> {
    pub(super) files: &'f MemoryFiles,
    pub(super) branch: Branch,
}

impl Tree for Searched<'_> {
    type Dir = Branch;

    fn start(&self, path: &ProjectPath) -> Result<Start, FilesError> {
        let place = self.files.locate(path)?;
        let path = place.path().clone();
        Ok(match place.kind() {
            Kind::Missing => return Err(FilesError::NotFound { path }),
            Kind::Directory => Start::Directory(path),
            Kind::File => Start::File(path),
            Kind::Link(_) | Kind::Other => Start::Nothing,
        })
    }

    fn root(&self) -> Result<Branch, FilesError> {
        Ok(self.branch.clone())
    }

    fn child(&self, above: &Branch, name: &str) -> Option<Branch> {
        match &above.get(name)?.body {
            Body::Directory(children) => Some(children.clone()),
            _ => None,
        }
    }

    fn names(&self, directory: &Branch) -> Option<Vec<(String, NameKind)>> {
        let named = directory.iter().map(|(name, node)| {
            let kind = match &node.body {
                Body::File { .. } => NameKind::File,
                Body::Directory(_) => NameKind::Directory,
                Body::Link(_) => NameKind::Other,
            };
            (name.clone(), kind)
        });
        Some(named.collect())
    }

    fn read_small(&self, directory: &Branch, path: &str, limit: u64) -> Option<Vec<u8>> {
        match directory.find(&ProjectPath::normalize(path).ok()?)?.body {
            Body::File { cell, .. } => {
                let content = cell.content();
                (content.len() as u64 <= limit).then(|| content.into())
            }
            _ => None,
        }
    }

    fn search(
        &self,
        directory: &Branch,
        name: &str,
        searcher: &mut Searcher,
        matcher: &RegexMatcher,
        hits: &mut Hits,
    ) -> Option<()> {
        match &directory.get(name)?.body {
            Body::File { cell, .. } => {
                let content = cell.content();
                searcher.search_slice(matcher, &content, hits).ok()
            }
            _ => None,
        }
    }
}
