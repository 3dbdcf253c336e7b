//! [`Shelf`]: a folder of jig's own that is filled by a program, and is there whole or not at all.
//!
//! A folder is filled once, under a name that it keeps, because what is in it may name it. Only then is it
//! *current*. It is never filled a second time: whatever used it may have left something in it, which whoever fills
//! must not find. To have it anew is to [set it aside](Shelf::set_aside) and to fill another.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "these folders are jig's own, below its state, and hold no file of a workspace"
)]

use std::fs::{self, DirBuilder, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[cfg(test)]
mod tests;

/// Where the folder of one owner is kept.
#[derive(Debug, Clone)]
pub struct Shelf {
    home: PathBuf,
}

/// A folder that is being filled. It is removed when it is dropped.
#[derive(Debug)]
pub struct ShelfFilling {
    shelf: Shelf,
    name: String,
    is_kept: bool,
    /// Locked for as long as somebody fills it, who may be killed.
    _mark: File,
}

impl Shelf {
    /// The shelf of an owner below `state`, a directory of the user's own. Other words are another owner. Nothing is
    /// made yet.
    pub fn of<'w>(state: &Path, kind: &str, owner: impl IntoIterator<Item = &'w str>) -> Self {
        let mut hasher = blake3::Hasher::new();
        for word in owner {
            // With its length before it, no word can pass for two.
            hasher.update(&(word.len() as u64).to_le_bytes());
            hasher.update(word.as_bytes());
        }
        let name: String = hasher.finalize().to_hex().chars().take(DIGITS).collect();
        Self {
            home: state.join(kind).join(name),
        }
    }

    /// Where its folders are.
    pub(crate) fn home(&self) -> &Path {
        &self.home
    }

    /// Removes what killed processes have left of a kind whose shelves are all removed after their use.
    pub fn sweep(state: &Path, kind: &str) {
        clear(&state.join(kind), &[]);
    }

    /// The folder, if one was filled and is still there.
    pub fn current(&self) -> Option<PathBuf> {
        self.named(CURRENT)
    }

    /// The folder that one of the two files names.
    fn named(&self, file: &str) -> Option<PathBuf> {
        let name = fs::read_to_string(self.home.join(file)).ok()?;
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
        if name.is_empty() || !name.chars().all(is_name) {
            return None;
        }
        let path = self.home.join(name);
        path.is_dir().then_some(path)
    }

    /// Makes an empty folder to be filled, open to nobody but the user. What others have left there long ago is
    /// removed.
    ///
    /// # Errors
    ///
    /// If the operating system does not let it be made.
    pub fn fill(&self) -> io::Result<ShelfFilling> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        private(&self.home, true)?;
        self.clear();
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.unwrap_or_default().as_nanos();
        let name = format!("{now:x}-{}-{count}", std::process::id());
        // Before there is a folder: one without a lock is taken for that of somebody who was killed.
        let mark = File::create(self.home.join(mark_of(&name)))?;
        if mark.lock().is_err() {
            // Where there are no locks, only its age tells.
            let _ = fs::remove_file(self.home.join(mark_of(&name)));
        }
        let filling = ShelfFilling {
            shelf: self.clone(),
            name,
            is_kept: false,
            _mark: mark,
        };
        private(&filling.path(), false)?;
        Ok(filling)
    }

    /// Has no folder from now on. One that is in use stays until much later.
    ///
    /// # Errors
    ///
    /// If the operating system does not let go of it.
    pub fn set_aside(&self) -> io::Result<()> {
        match fs::rename(self.home.join(CURRENT), self.home.join(ASIDE)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Takes the folder back that was set aside, unless another was filled by now.
    pub fn take_back(&self) {
        if self.current().is_none() {
            // Without it, it is filled anew.
            let _ = fs::rename(self.home.join(ASIDE), self.home.join(CURRENT));
        }
    }

    /// Takes the folder back that was set aside, also if another was filled by now. Returns whether another was.
    pub fn put_back(&self) -> bool {
        let is_filled = self.current().is_some();
        let is_aside = self.named(ASIDE).is_some();
        // If it fails, what is there stays.
        is_aside && fs::rename(self.home.join(ASIDE), self.home.join(CURRENT)).is_ok() && is_filled
    }

    /// Removes the folder, and all that were set aside.
    pub fn remove(&self) {
        let _ = fs::remove_dir_all(&self.home);
    }

    /// Removes the folders that are neither current nor set aside just now, if nobody uses them: those that were
    /// never filled, because somebody was killed, and old ones. Others may be in use, or be filled by another jig.
    fn clear(&self) {
        let kept = [self.current(), self.named(ASIDE)];
        let entries = fs::read_dir(&self.home);
        for entry in entries.into_iter().flatten().flatten() {
            let mark = entry.path();
            let is_mark = mark.extension().is_some_and(|end| end == FILLING);
            if is_mark && let Some(_lock) = abandoned(&mark) {
                let folder = mark.with_extension("");
                if !kept.iter().flatten().any(|kept| *kept == folder) {
                    let _ = fs::remove_dir_all(folder);
                }
                let _ = fs::remove_file(mark);
            }
        }
        clear(&self.home, &kept);
    }
}

/// The lock of a mark that nobody holds any more.
fn abandoned(mark: &Path) -> Option<File> {
    let file = File::open(mark).ok()?;
    file.try_lock().ok()?;
    Some(file)
}

/// The file that is locked while a folder is filled.
fn mark_of(name: &str) -> String {
    format!("{name}.{FILLING}")
}

/// Removes the old folders in a folder, but for some.
fn clear(home: &Path, kept: &[Option<PathBuf>]) {
    let Ok(entries) = fs::read_dir(home) else {
        return;
    };
    for entry in entries.flatten() {
        let path = Some(entry.path());
        let made = entry.metadata().and_then(|metadata| metadata.modified());
        let age = made.ok().and_then(|made| made.elapsed().ok());
        let is_old = age.is_some_and(|age| age > YOUNG);
        if let Some(path) = path.as_ref().filter(|_| is_old && !kept.contains(&path)) {
            // A program may have made what is in it hard to remove. It is in nobody's way.
            let _ = fs::remove_dir_all(path);
        }
    }
}

impl ShelfFilling {
    /// Where it is. It keeps this path.
    pub fn path(&self) -> PathBuf {
        self.shelf.home.join(&self.name)
    }

    /// It has been filled: it is the current folder from now on. What others have left there is removed.
    ///
    /// # Errors
    ///
    /// If that cannot be written down. Then it is removed.
    pub fn keep(mut self) -> io::Result<PathBuf> {
        let place = self.shelf.home.join(CURRENT);
        let new = self.shelf.home.join(format!("{CURRENT}-{}", self.name));
        fs::write(&new, &self.name)?;
        fs::rename(&new, &place)?;
        self.is_kept = true;
        self.shelf.clear();
        Ok(self.path())
    }
}

impl Drop for ShelfFilling {
    fn drop(&mut self) {
        if !self.is_kept {
            let _ = fs::remove_dir_all(self.path());
        }
        let _ = fs::remove_file(self.shelf.home.join(mark_of(&self.name)));
    }
}

/// Makes a directory for the user alone.
pub(crate) fn private(path: &Path, with_parents: bool) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(with_parents);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// The file that names the current folder.
const CURRENT: &str = "current";

/// The file that names the folder that was current before.
const ASIDE: &str = "aside";

/// How the names of files end that are locked while a folder is filled.
const FILLING: &str = "filling";

/// How much of a hash tells owners apart.
const DIGITS: usize = 32;

/// Whoever fills a folder, or works in one that was replaced, is done by then.
const YOUNG: Duration = Duration::from_secs(24 * 60 * 60);
