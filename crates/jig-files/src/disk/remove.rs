//! Removing and renaming, by a directory's descriptor and a name in it.

use std::os::fd::{AsFd, BorrowedFd};

use jig_proto::ProjectPath;
use rustix::fs::{AtFlags, FileType};
use rustix::io::Errno;

use super::root::{ObjectIdentity, open_child_dir, open_entries, rename_to_free};
use super::{DiskFiles, handle_of};
use crate::{FilesError, Filter, Place, PlaceKind, RenameOptions};

impl DiskFiles {
    pub(super) fn delete_entry(&self, place: &Place) -> Result<(), FilesError> {
        let path = place.path();
        match place.kind() {
            PlaceKind::Missing => return Err(FilesError::NotFound { path: path.clone() }),
            PlaceKind::Directory => return Err(FilesError::IsDirectory { path: path.clone() }),
            PlaceKind::File | PlaceKind::Link(_) | PlaceKind::Other => {}
        }
        let (parent, name) = self.root.open_parent(path)?;
        expect_same(parent.as_fd(), name, place)?;
        rustix::fs::unlinkat(&parent, name, AtFlags::empty())
            .map_err(|error| FilesError::from_io(path, error))
    }

    pub(super) fn remove_empty(&self, place: &Place) -> Result<(), FilesError> {
        place.expect_directory()?;
        let path = place.path();
        let (parent, name) = self.root.open_parent(path)?;
        expect_same(parent.as_fd(), name, place)?;
        match rustix::fs::unlinkat(&parent, name, AtFlags::REMOVEDIR) {
            // Some systems have this word for it.
            Err(Errno::EXIST) => Err(FilesError::NotEmpty { path: path.clone() }),
            result => result.map_err(|error| FilesError::from_io(path, error)),
        }
    }

    pub(super) fn delete_all(&self, place: &Place, may: &Filter<'_>) -> Result<u64, FilesError> {
        let path = place.path();
        let is_directory = *place.kind() == PlaceKind::Directory;
        if path.is_root() {
            return Err(FilesError::Refused { path: path.clone() });
        }
        if !may(path, is_directory) {
            return Err(FilesError::Refused { path: path.clone() });
        }
        if !is_directory {
            return self.delete_entry(place).map(|()| 1);
        }
        let (parent, name) = self.root.open_parent(path)?;
        expect_same(parent.as_fd(), name, place)?;
        let mut count = 0;
        ask_below(parent.as_fd(), name, path, may, 0)?;
        remove_below(parent.as_fd(), name, path, may, 0, &mut count)?;
        Ok(count)
    }

    pub(super) fn rename_entry(
        &self,
        from: &Place,
        to: &Place,
        options: &RenameOptions,
    ) -> Result<(), FilesError> {
        if !from.exists() {
            return Err(FilesError::NotFound {
                path: from.path().clone(),
            });
        }
        let path = to.path();
        if from.path().is_root() || (path.starts_with(from.path()) && path != from.path()) {
            return Err(FilesError::IntoItself {
                path: from.path().clone(),
            });
        }
        if to.exists() && !options.overwrite {
            return Err(FilesError::AlreadyExists { path: path.clone() });
        }
        // What is moved lies in the directory that it would replace.
        if from.path().starts_with(path) && path != from.path() {
            return Err(FilesError::NotEmpty { path: path.clone() });
        }
        let (old_parent, old_name) = self.root.open_parent(from.path())?;
        expect_same(old_parent.as_fd(), old_name, from)?;
        let (new_parent, new_name) = if options.parents {
            self.root.make_parent(path)?
        } else {
            self.root.open_parent(path)?
        };
        let moved = if to.exists() {
            expect_same(new_parent.as_fd(), new_name, to)?;
            rustix::fs::renameat(&old_parent, old_name, &new_parent, new_name)
        } else {
            rename_to_nothing(old_parent.as_fd(), old_name, new_parent.as_fd(), new_name)
        };
        match moved {
            Ok(()) => Ok(()),
            // It was judged as a new name; now it would replace something.
            Err(Errno::EXIST) if !to.exists() && options.overwrite => {
                Err(FilesError::Changed { path: path.clone() })
            }
            Err(Errno::EXIST | Errno::NOTEMPTY) if to.exists() => {
                Err(FilesError::NotEmpty { path: path.clone() })
            }
            Err(error) => Err(FilesError::from_io(path, error)),
        }
    }
}

/// Checks that what was located is what has the name now.
fn expect_same(parent: BorrowedFd<'_>, name: &str, place: &Place) -> Result<(), FilesError> {
    let changed = || FilesError::Changed {
        path: place.path().clone(),
    };
    let now = match rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(now) => now,
        Err(Errno::NOENT | Errno::NOTDIR) => return Err(changed()),
        Err(error) => return Err(FilesError::from_io(place.path(), error)),
    };
    if ObjectIdentity::of(&now) == handle_of(place)?.id {
        return Ok(());
    }
    Err(changed())
}

fn rename_to_nothing(
    old_parent: BorrowedFd<'_>,
    old_name: &str,
    new_parent: BorrowedFd<'_>,
    new_name: &str,
) -> Result<(), Errno> {
    match rename_to_free(old_parent, old_name, new_parent, new_name) {
        // A file system that cannot promise it: look first, which a racing writer can defeat.
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            match rustix::fs::statat(new_parent, new_name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => {
                    rustix::fs::renameat(old_parent, old_name, new_parent, new_name)
                }
                Ok(_) => Err(Errno::EXIST),
                Err(error) => Err(error),
            }
        }
        result => result,
    }
}

/// Asks about everything in a directory, without removing anything.
fn ask_below(
    above: BorrowedFd<'_>,
    name: &str,
    path: &ProjectPath,
    may: &Filter<'_>,
    depth: usize,
) -> Result<(), FilesError> {
    for_each_entry(
        above,
        name,
        path,
        depth,
        |directory, name, child, is_dir| {
            if !may(child, is_dir) {
                return Err(FilesError::Refused {
                    path: child.clone(),
                });
            }
            if is_dir {
                ask_below(directory, name, child, may, depth + 1)?;
            }
            Ok(())
        },
    )
}

fn remove_below(
    above: BorrowedFd<'_>,
    name: &str,
    path: &ProjectPath,
    may: &Filter<'_>,
    depth: usize,
    count: &mut u64,
) -> Result<(), FilesError> {
    for_each_entry(
        above,
        name,
        path,
        depth,
        |directory, name, child, is_dir| {
            // What appeared since it was first asked about is not covered by that answer.
            if !may(child, is_dir) {
                return Err(FilesError::Refused {
                    path: child.clone(),
                });
            }
            if is_dir {
                return remove_below(directory, name, child, may, depth + 1, count);
            }
            *count += 1;
            rustix::fs::unlinkat(directory, name, AtFlags::empty())
                .map_err(|error| FilesError::from_io(child, error))
        },
    )?;
    *count += 1;
    rustix::fs::unlinkat(above, name, AtFlags::REMOVEDIR)
        .map_err(|error| FilesError::from_io(path, error))
}

/// Calls `act` for every entry of the directory `name`, which is opened without following a link.
fn for_each_entry(
    above: BorrowedFd<'_>,
    name: &str,
    path: &ProjectPath,
    depth: usize,
    mut act: impl FnMut(BorrowedFd<'_>, &str, &ProjectPath, bool) -> Result<(), FilesError>,
) -> Result<(), FilesError> {
    if depth > MAX_DEPTH {
        return Err(FilesError::TooDeep { path: path.clone() });
    }
    let fail = |error| FilesError::from_io(path, error);
    let directory = open_child_dir(above, name).map_err(fail)?;
    // The names are collected first: the entries of a directory may not be read while it changes.
    let mut names = Vec::new();
    for entry in open_entries(directory.as_fd()).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let Ok(name) = entry.file_name().to_str() else {
            return Err(FilesError::NotUtf8Name { path: path.clone() });
        };
        if name != "." && name != ".." {
            names.push((name.to_owned(), entry.file_type()));
        }
    }
    for (name, kind) in names {
        let Ok(own) = ProjectPath::normalize(&name) else {
            continue;
        };
        let kind = match kind {
            FileType::Unknown => {
                let stat = rustix::fs::statat(&directory, &name, AtFlags::SYMLINK_NOFOLLOW);
                FileType::from_raw_mode(stat.map_err(fail)?.st_mode)
            }
            kind => kind,
        };
        let is_directory = kind == FileType::Directory;
        act(directory.as_fd(), &name, &path.join(&own), is_directory)?;
    }
    Ok(())
}

/// A tool can nest directories without end, and each level holds two descriptors of the host.
const MAX_DEPTH: usize = 200;
