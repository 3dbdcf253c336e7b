//! [`Record`]: what files were like, to be compared with what they are like later.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

/// What files were like.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Record(BTreeMap<PathBuf, Entry>);

#[derive(Debug, PartialEq, Eq)]
enum Entry {
    /// The inode and the time of its last change of any kind: content, mode, owner, attributes, links.
    Frozen(u64, i64, i64, u64),
    /// The inode alone.
    Pinned(u64),
    /// A set-uid or set-gid file, or a device.
    Privileged(u32),
}

impl Record {
    /// Everything at and below `part`, exactly.
    pub(super) fn freeze(&mut self, root: &Path, part: impl AsRef<Path>) -> io::Result<()> {
        let part = part.as_ref();
        let path = root.join(part);
        let Some(meta) = existing(&path)? else {
            return Ok(());
        };
        let entry = Entry::Frozen(meta.ino(), meta.ctime(), meta.ctime_nsec(), meta.size());
        self.0.insert(part.to_owned(), entry);
        if meta.is_dir() {
            for child in fs::read_dir(&path)? {
                self.freeze(root, part.join(child?.file_name()))?;
            }
        }
        Ok(())
    }

    /// Which file or directory it is.
    pub(super) fn pin(&mut self, root: &Path, part: &str) -> io::Result<()> {
        if let Some(meta) = existing(&root.join(part))? {
            self.0.insert(part.into(), Entry::Pinned(meta.ino()));
        }
        Ok(())
    }

    /// Every file below that gives rights to whoever runs or opens it.
    pub(super) fn privileged(&mut self, directory: &Path) -> io::Result<()> {
        for child in fs::read_dir(directory)? {
            let path = child?.path();
            let Some(meta) = existing(&path)? else {
                continue;
            };
            let kind = meta.file_type();
            let is_device = kind.is_char_device() || kind.is_block_device();
            if is_device || (kind.is_file() && meta.mode() & 0o6000 != 0) {
                self.0.insert(path.clone(), Entry::Privileged(meta.mode()));
            }
            if kind.is_dir() {
                self.privileged(&path)?;
            }
        }
        Ok(())
    }

    /// In words, what is different in `now`.
    pub(super) fn differences(&self, now: &Self) -> Vec<String> {
        let changed = self
            .0
            .iter()
            .filter_map(|(path, entry)| match now.0.get(path) {
                None => Some(format!("{} is gone", path.display())),
                Some(found) if found != entry => Some(format!("{} has changed", path.display())),
                Some(_) => None,
            });
        let added = now.0.keys().filter(|path| !self.0.contains_key(*path));
        let added = added.map(|path| format!("{} is new", path.display()));
        changed.chain(added).collect()
    }
}

fn existing(path: &Path) -> io::Result<Option<fs::Metadata>> {
    match fs::symlink_metadata(path) {
        Ok(meta) => Ok(Some(meta)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
