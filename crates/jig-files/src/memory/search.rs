//! Search in memory.

use grep_regex::RegexMatcher;
use grep_searcher::Searcher;
use jig_proto::ProjectPath;

use super::MemoryFiles;
use super::tree::{Branch, MemoryNodeContent};
use crate::grep::{GrepHits, NameKind, SearchStart, SearchTree};
use crate::{FilesError, PlaceKind, ProjectFiles};

/// The tree as it was when the search began.
pub(super) struct TreeSnapshot<'f> {
    pub(super) files: &'f MemoryFiles,
    pub(super) branch: Branch,
}

impl SearchTree for TreeSnapshot<'_> {
    type Dir = Branch;

    fn start(&self, path: &ProjectPath) -> Result<SearchStart, FilesError> {
        let place = self.files.locate(path)?;
        let path = place.path().clone();
        Ok(match place.kind() {
            PlaceKind::Missing => return Err(FilesError::NotFound { path }),
            PlaceKind::Directory => SearchStart::Directory(path),
            PlaceKind::File => SearchStart::File(path),
            PlaceKind::Link(_) | PlaceKind::Other => SearchStart::Nothing,
        })
    }

    fn root(&self) -> Result<Branch, FilesError> {
        Ok(self.branch.clone())
    }

    fn child(&self, above: &Branch, name: &str) -> Option<Branch> {
        match &above.get(name)?.body {
            MemoryNodeContent::Directory(children) => Some(children.clone()),
            _ => None,
        }
    }

    fn names(&self, directory: &Branch) -> Option<Vec<(String, NameKind)>> {
        let named = directory.iter().map(|(name, node)| {
            let kind = match &node.body {
                MemoryNodeContent::File { .. } => NameKind::File,
                MemoryNodeContent::Directory(_) => NameKind::Directory,
                MemoryNodeContent::Link(_) => NameKind::Other,
            };
            (name.clone(), kind)
        });
        Some(named.collect())
    }

    fn read_small(&self, directory: &Branch, path: &str, limit: u64) -> Option<Vec<u8>> {
        match directory.find(&ProjectPath::normalize(path).ok()?)?.body {
            MemoryNodeContent::File { cell, .. } => {
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
        hits: &mut GrepHits,
    ) -> Option<()> {
        match &directory.get(name)?.body {
            MemoryNodeContent::File { cell, .. } => {
                let content = cell.content();
                searcher.search_slice(matcher, &content, hits).ok()
            }
            _ => None,
        }
    }
}
