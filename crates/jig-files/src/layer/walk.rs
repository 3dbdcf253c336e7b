//! [`LayerWalk`]: reading a layer and what it lies on side by side.
//!
//! What counts is how the two trees differ, not what overlayfs wrote down: a directory that was copied up
//! and not changed is no change, and one that was replaced by another differs in what is in it.
//!
//! Only two marks of overlayfs are believed: the device that stands for something removed, and the
//! attribute of a directory that shows nothing from below. A tool can make neither: the kernel refuses the
//! first, and keeps the second under another name when a tool sets it.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use jig_proto::ProjectPath;
use rustix::fs::Stat;
use rustix::io::Errno;

use super::change::{Change, ChangeKind, FileTime, PathKind, UnfitEntry};
use super::entries;

/// A walk through a layer.
pub(super) struct LayerWalk {
    /// When the layer was made.
    made: FileTime,
    changes: Vec<Change>,
    /// How many more names are looked at.
    left: usize,
}

impl LayerWalk {
    /// All changes, sorted by path.
    pub(super) fn changes(
        upper: BorrowedFd<'_>,
        lower: BorrowedFd<'_>,
        made: FileTime,
    ) -> io::Result<Vec<Change>> {
        let mut walk = Self {
            made,
            changes: Vec::new(),
            left: MOST_NAMES,
        };
        let root = ProjectPath::root();
        let top = rustix::fs::fstat(upper)?;
        walk.compare_directories(upper, lower, &top, &root)?;
        walk.within(upper, Some(lower), &root)?;
        let mut changes = walk.changes;
        changes.sort_unstable_by(|one, other| one.path.cmp(&other.path));
        Ok(changes)
    }

    /// What is in a directory of the layer, and what is in the one below it that it is merged with.
    fn within(
        &mut self,
        upper: BorrowedFd<'_>,
        lower: Option<BorrowedFd<'_>>,
        path: &ProjectPath,
    ) -> io::Result<()> {
        let mut names: BTreeSet<CString> = self.names(upper)?.into_iter().collect();
        if let Some(lower) = lower
            && entries::is_opaque(upper)?
        {
            names.extend(self.names(lower)?);
        }
        for name in names {
            let above = entries::look(upper, &name)?;
            let below = match lower {
                Some(lower) => entries::look(lower, &name)?,
                None => None,
            };
            let above = above.filter(|stat| !entries::is_whiteout(stat));
            if above.is_none() && below.is_none() {
                continue;
            }
            let pair = LayerNamePair {
                path: match self.path(path, &name, above.as_ref().or(below.as_ref())) {
                    Some(path) => path,
                    None => continue,
                },
                name: &name,
                upper,
                lower,
            };
            self.pair(&pair, above.as_ref(), below.as_ref())?;
        }
        Ok(())
    }

    fn pair(
        &mut self,
        pair: &LayerNamePair<'_>,
        above: Option<&Stat>,
        below: Option<&Stat>,
    ) -> io::Result<()> {
        match (above, below) {
            (None, None) => Ok(()),
            (None, Some(below)) => self.deleted(pair, below),
            (Some(above), below) => match (entries::what(above), below.map(entries::what)) {
                (PathKind::Directory, Some(PathKind::Directory)) => {
                    let upper = entries::own_directory(pair.upper, pair.name)?;
                    match pair.lower_directory() {
                        Ok(lower) => {
                            let (upper, lower) = (upper.as_fd(), lower.as_fd());
                            self.compare_directories(upper, lower, above, &pair.path)?;
                            self.within(upper, Some(lower), &pair.path)
                        }
                        // The tool has opened it, and the host cannot look into its own.
                        Err(Errno::ACCESS | Errno::PERM) => {
                            self.reopened(pair, above, below);
                            self.within(upper.as_fd(), None, &pair.path)
                        }
                        Err(error) => Err(error.into()),
                    }
                }
                (PathKind::Directory, _) => {
                    self.new_thing(pair, above, below);
                    let upper = entries::own_directory(pair.upper, pair.name)?;
                    self.within(upper.as_fd(), None, &pair.path)
                }
                (PathKind::File, Some(PathKind::File)) => self.compare_files(pair, above, below),
                (PathKind::Symlink, Some(PathKind::Symlink)) => {
                    self.compare_links(pair, above, below)
                }
                (_, was) => {
                    if was == Some(PathKind::Directory) {
                        let lower = pair.lower_directory()?;
                        self.deleted_within(lower.as_fd(), &pair.path)?;
                    }
                    self.new_thing(pair, above, below);
                    Ok(())
                }
            },
        }
    }

    /// Something that is not compared with what was there.
    fn new_thing(&mut self, pair: &LayerNamePair<'_>, above: &Stat, below: Option<&Stat>) {
        let kind = match below {
            Some(_) => ChangeKind::Retyped,
            None => ChangeKind::Created,
        };
        let what = entries::what(above);
        let mut change = Change::new(pair.path.clone(), kind, what);
        change.content = what != PathKind::Directory;
        if what == PathKind::Other {
            change.unfit = Some(UnfitEntry::Special);
        }
        self.push(change, Some(above), below);
    }

    fn reopened(&mut self, pair: &LayerNamePair<'_>, above: &Stat, below: Option<&Stat>) {
        let mut change = Change::new(pair.path.clone(), ChangeKind::Modified, PathKind::Directory);
        change.mode = below.and_then(|below| changed_mode(above, below));
        if change.mode.is_some() {
            self.push(change, Some(above), below);
        }
    }

    fn compare_directories(
        &mut self,
        upper: BorrowedFd<'_>,
        lower: BorrowedFd<'_>,
        above: &Stat,
        path: &ProjectPath,
    ) -> io::Result<()> {
        let below = rustix::fs::fstat(lower)?;
        let mut change = Change::new(path.clone(), ChangeKind::Modified, PathKind::Directory);
        change.mode = changed_mode(above, &below);
        change.attributes = entries::attributes(upper)? != readable(entries::attributes(lower))?;
        if change.mode.is_some() || change.attributes {
            self.push(change, Some(above), Some(&below));
        }
        Ok(())
    }

    fn compare_files(
        &mut self,
        pair: &LayerNamePair<'_>,
        above: &Stat,
        below: Option<&Stat>,
    ) -> io::Result<()> {
        let (Some(lower), Some(below)) = (pair.lower, below) else {
            return Ok(());
        };
        let mut change = Change::new(pair.path.clone(), ChangeKind::Modified, PathKind::File);
        change.mode = changed_mode(above, below);
        change.time = entries::modified(above) != entries::modified(below);
        let upper = entries::own_file(pair.upper, pair.name)?;
        match entries::file(lower, pair.name) {
            Ok(lower) => {
                change.attributes =
                    entries::attributes(upper.as_fd())? != entries::attributes(lower.as_fd())?;
                change.content =
                    above.st_size != below.st_size || !is_same(upper.as_fd(), lower.as_fd())?;
            }
            // What cannot be read cannot be the same for all that is known.
            Err(Errno::ACCESS | Errno::PERM) => change.content = true,
            Err(error) => return Err(error.into()),
        }
        if change.content || change.attributes || change.mode.is_some() || change.time {
            self.push(change, Some(above), Some(below));
        }
        Ok(())
    }

    fn compare_links(
        &mut self,
        pair: &LayerNamePair<'_>,
        above: &Stat,
        below: Option<&Stat>,
    ) -> io::Result<()> {
        let Some(lower) = pair.lower else {
            return Ok(());
        };
        if entries::link_target(pair.upper, pair.name)? != entries::link_target(lower, pair.name)? {
            let mut change =
                Change::new(pair.path.clone(), ChangeKind::Modified, PathKind::Symlink);
            change.content = true;
            self.push(change, Some(above), below);
        }
        Ok(())
    }

    fn deleted(&mut self, pair: &LayerNamePair<'_>, below: &Stat) -> io::Result<()> {
        let what = entries::what(below);
        if what == PathKind::Directory {
            match pair.lower_directory() {
                Ok(lower) => self.deleted_within(lower.as_fd(), &pair.path)?,
                // Whoever removes it will see whether it is empty.
                Err(Errno::ACCESS | Errno::PERM) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let mut change = Change::new(pair.path.clone(), ChangeKind::Deleted, what);
        change.content = what != PathKind::Directory;
        self.push(change, None, Some(below));
        Ok(())
    }

    /// Everything below a directory of the host is deleted.
    fn deleted_within(&mut self, lower: BorrowedFd<'_>, path: &ProjectPath) -> io::Result<()> {
        for name in self.names(lower)? {
            let Some(below) = entries::look(lower, &name)? else {
                continue;
            };
            let Some(path) = self.path(path, &name, Some(&below)) else {
                continue;
            };
            let pair = LayerNamePair {
                path,
                name: &name,
                upper: lower,
                lower: Some(lower),
            };
            self.deleted(&pair, &below)?;
        }
        Ok(())
    }

    /// Notes a change, with what can be told of every one.
    fn push(&mut self, mut change: Change, above: Option<&Stat>, below: Option<&Stat>) {
        change.was = below.map(entries::what);
        change.size = above.or(below).map_or(0, |stat| match entries::what(stat) {
            PathKind::File => entries::size(stat),
            _ => 0,
        });
        change.seen = below.map(entries::seen);
        // A directory changes with everything in it, which is compared by itself.
        change.conflict = below.is_some_and(|below| {
            entries::what(below) != PathKind::Directory && entries::changed(below) > self.made
        });
        self.changes.push(change);
    }

    /// The path of a name in a directory. `None`, with a change that says so, if it has none that can be
    /// judged.
    fn path(
        &mut self,
        above: &ProjectPath,
        name: &CStr,
        stat: Option<&Stat>,
    ) -> Option<ProjectPath> {
        let own = |text: &str| ProjectPath::normalize(text).ok();
        let unfit = match name.to_str() {
            Err(_) => UnfitEntry::NotUtf8,
            Ok(_) if above.depth() >= MOST_DEPTH => UnfitEntry::TooDeep,
            Ok(text) => return own(text).map(|own| above.join(&own)),
        };
        if let (Some(shown), Some(stat)) = (own(&name.to_string_lossy()), stat) {
            let path = above.join(&shown);
            let mut change = Change::new(path, ChangeKind::Created, entries::what(stat));
            change.unfit = Some(unfit);
            self.changes.push(change);
        }
        None
    }

    fn names(&mut self, directory: BorrowedFd<'_>) -> io::Result<Vec<CString>> {
        let names = entries::names(directory, self.left).map_err(|error| match error {
            Errno::TOOBIG => io::Error::new(
                io::ErrorKind::QuotaExceeded,
                format!("the layer changes more than {MOST_NAMES} files"),
            ),
            error => error.into(),
        })?;
        self.left -= names.len();
        Ok(names)
    }
}

/// A name in a directory of the layer and in the one below it.
struct LayerNamePair<'a> {
    path: ProjectPath,
    name: &'a CStr,
    upper: BorrowedFd<'a>,
    lower: Option<BorrowedFd<'a>>,
}

impl LayerNamePair<'_> {
    fn lower_directory(&self) -> Result<OwnedFd, Errno> {
        let lower = self.lower.ok_or(Errno::NOENT)?;
        entries::directory(lower, self.name)
    }
}

fn changed_mode(above: &Stat, below: &Stat) -> Option<(u32, u32)> {
    let (before, after) = (entries::mode(below), entries::mode(above));
    (before != after).then_some((before, after))
}

/// What may not be read has no attributes to compare with.
fn readable(
    attributes: Result<entries::ExtendedAttributes, Errno>,
) -> Result<entries::ExtendedAttributes, Errno> {
    match attributes {
        Err(Errno::ACCESS | Errno::PERM) => Ok(entries::ExtendedAttributes::new()),
        result => result,
    }
}

/// Whether two files of the same size hold the same.
fn is_same(one: BorrowedFd<'_>, other: BorrowedFd<'_>) -> Result<bool, Errno> {
    let (mut left, mut right) = (vec![0; PIECE], vec![0; PIECE]);
    loop {
        let count = fill(one, &mut left)?;
        if count != fill(other, &mut right)? || left[..count] != right[..count] {
            return Ok(false);
        }
        if count < PIECE {
            return Ok(true);
        }
    }
}

/// Reads until the buffer is full or the file ends.
fn fill(file: BorrowedFd<'_>, buffer: &mut [u8]) -> Result<usize, Errno> {
    let mut count = 0;
    while count < buffer.len() {
        match rustix::io::read(file, &mut buffer[count..]) {
            Ok(0) => break,
            Ok(read) => count += read,
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

/// A tool can make files without end, and each is remembered.
const MOST_NAMES: usize = 1_000_000;

/// A tool can nest directories without end, and each level holds descriptors of the host.
const MOST_DEPTH: usize = 128;

const PIECE: usize = 128 << 10;
