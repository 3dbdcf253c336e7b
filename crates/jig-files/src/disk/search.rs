//! Search on disk: directories and files are opened by a descriptor and one name, never by a path.

use std::os::fd::{AsFd, OwnedFd};

use grep_regex::RegexMatcher;
use grep_searcher::Searcher;
use jig_proto::ProjectPath;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};

use super::leftovers::is_temporary;
use super::root::{is_of_processes, open_child_dir, open_entries};
use super::{DiskFiles, read_up_to};
use crate::grep::{self, GrepHits, GrepQuery, Matches, NameKind, SearchStart, SearchTree};
use crate::{FilesError, Filter, PlaceKind};

impl DiskFiles {
    pub(super) fn search(
        &self,
        query: &GrepQuery,
        may: &Filter<'_>,
    ) -> Result<Matches, FilesError> {
        grep::search(self, query, may)
    }
}

impl SearchTree for DiskFiles {
    type Dir = OwnedFd;

    fn start(&self, path: &ProjectPath) -> Result<SearchStart, FilesError> {
        let located = self.root.locate(path)?;
        let path = located.resolved.path().clone();
        Ok(match located.kind {
            PlaceKind::Missing => return Err(FilesError::NotFound { path }),
            PlaceKind::Directory => SearchStart::Directory(path),
            PlaceKind::File => SearchStart::File(path),
            PlaceKind::Link(_) | PlaceKind::Other => SearchStart::Nothing,
        })
    }

    fn root(&self) -> Result<OwnedFd, FilesError> {
        let path = ProjectPath::root();
        self.root
            .open_dir(&path)
            .map_err(|error| FilesError::from_io(&path, error))
    }

    fn child(&self, above: &OwnedFd, name: &str) -> Option<OwnedFd> {
        open_child_dir(above.as_fd(), name).ok()
    }

    fn names(&self, directory: &OwnedFd) -> Option<Vec<(String, NameKind)>> {
        let mut names = Vec::new();
        for entry in open_entries(directory.as_fd()).ok()? {
            let Ok(entry) = entry else {
                return None;
            };
            // A name that is not UTF-8 cannot be judged, so it is not searched.
            let Ok(name) = entry.file_name().to_str() else {
                continue;
            };
            if matches!(name, "." | "..") || is_temporary(name.as_bytes()) {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    match rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) {
                        Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                        Err(_) => continue,
                    }
                }
                kind => kind,
            };
            let kind = match kind {
                FileType::RegularFile => NameKind::File,
                FileType::Directory => NameKind::Directory,
                _ => NameKind::Other,
            };
            names.push((name.to_owned(), kind));
        }
        Some(names)
    }

    fn read_small(&self, directory: &OwnedFd, path: &str, limit: u64) -> Option<Vec<u8>> {
        let (above, name) = match path.rsplit_once('/') {
            None => (None, path),
            Some((above, name)) => {
                let mut here = None;
                for component in above.split('/') {
                    let from = here.as_ref().unwrap_or(directory);
                    here = Some(open_child_dir(from.as_fd(), component).ok()?);
                }
                (here, name)
            }
        };
        let file = open_known_file(above.as_ref().unwrap_or(directory), name)?;
        let content = read_up_to(&file, None, 4095, limit + 1).ok()?;
        (content.len() as u64 <= limit).then_some(content)
    }

    fn search(
        &self,
        directory: &OwnedFd,
        name: &str,
        searcher: &mut Searcher,
        matcher: &RegexMatcher,
        hits: &mut GrepHits,
    ) -> Option<()> {
        #[expect(
            clippy::disallowed_types,
            reason = "the searcher takes a file of the operating system"
        )]
        let file = std::fs::File::from(open_known_file(directory, name)?);
        searcher.search_file(matcher, &file, hits).ok()
    }
}

/// Opens a name that the directory said is a regular file. If something else took its place since,
/// a link is not followed, a pipe does not block, and neither is read. Nor is what lies in `/proc`.
fn open_known_file(directory: &OwnedFd, name: &str) -> Option<OwnedFd> {
    let guards = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let flags = OFlags::RDONLY | guards;
    let file = rustix::fs::openat(directory, name, flags, Mode::empty()).ok()?;
    let stat = rustix::fs::fstat(&file).ok()?;
    let is_file = FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile;
    (is_file && !is_of_processes(&file).ok()?).then_some(file)
}
