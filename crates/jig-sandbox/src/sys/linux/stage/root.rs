//! [`NewRoot`]: the new root of a tool while its keeper builds it.
//!
//! It is a directory of a file system in memory, which lies on the host's `/proc` until it replaces the
//! host's root. That memory also holds what no tool sees: what masks are made of.

use core::ffi::CStr;

use super::calls::{self, O_CREAT, O_EXCL, O_PATH, O_WRONLY, WORKING_DIRECTORY};
use super::mounts::{self, MountRestrictions};
use super::raw::{O_DIRECTORY, RawErrno};

/// The new root.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NewRoot {
    /// The host's root, in which sources are found. Once the new root is entered, a copy of it.
    host: i32,
    /// The mount that becomes the root.
    new: i32,
    /// An unreadable file, and an unreadable directory.
    masks: [i32; 2],
    /// A `/proc` of this process namespace, in which the keeper may write, or -1.
    pub(crate) proc: i32,
    /// The private file systems in memory, as far as there is room; -1 for none.
    pub(crate) private: [i32; MOST_PRIVATE],
    /// Copies of the layers, on which nothing is mounted; -1 for none, or where they cannot be used.
    layers: [i32; MOST_LAYERS],
    /// A copy of the host's root that is attached nowhere, or -1.
    copy: i32,
    /// Whether it is the root already.
    is_entered: bool,
}

impl NewRoot {
    /// Makes the memory and puts it on the host's `/proc`. With `ahead` it is to be entered before all that
    /// it shows is known.
    ///
    /// That exists wherever users can be mapped, and nothing below it is ever shown. On the host's root it
    /// would stay in place when that is detached: what is detached is what lies on top.
    pub(crate) fn new(ahead: bool) -> Result<Self, RawErrno> {
        let open = |path| calls::open_at(WORKING_DIRECTORY, path, O_PATH | O_DIRECTORY);
        let (host, place) = (open(c"/")?, open(c"/proc")?);
        let copy = match ahead {
            true => mounts::copy(host).unwrap_or(-1),
            false => -1,
        };
        let parameters = [(c"size", ROOM), (c"nr_inodes", INODES), (c"mode", c"755")];
        let memory = mounts::new(c"tmpfs", &parameters, MountRestrictions::default())?;
        mounts::attach(memory, place)?;
        calls::close(place);
        calls::make_directory(memory, c"root", 0o755)?;
        calls::make_directory(memory, c"directory", 0)?;
        let file = calls::open_strictly(memory, c"file", O_WRONLY | O_CREAT | O_EXCL, 0, STRICT)?;
        calls::close(file);
        let open = |name| calls::open_strictly(memory, name, O_PATH, 0, STRICT);
        let masks = [open(c"file")?, open(c"directory")?];
        let root = open(c"root")?;
        let new = mounts::copy(root)?;
        mounts::restrict(new, MountRestrictions::default())?;
        mounts::attach(new, root)?;
        calls::close(root);
        calls::close(memory);
        Ok(Self {
            host,
            new,
            masks,
            proc: -1,
            private: [-1; MOST_PRIVATE],
            layers: [-1; MOST_LAYERS],
            copy,
            is_entered: false,
        })
    }

    /// Opens what a path of the host is.
    pub(crate) fn source(&self, path: &CStr) -> Result<i32, RawErrno> {
        // An absolute path would begin at this process's root, which is the same, whatever lies on it.
        let path = without_slash(path)?;
        calls::open_strictly(self.host, path, O_PATH, 0, RESOLVE_STRICTLY)
    }

    /// Opens what is at a path of the new root.
    pub(crate) fn target(&self, path: &CStr) -> Result<i32, RawErrno> {
        self.open(path, O_PATH, 0)
    }

    pub(crate) fn open(&self, path: &CStr, flags: i32, mode: u32) -> Result<i32, RawErrno> {
        let path = if path.is_empty() { c"." } else { path };
        calls::open_strictly(self.new, path, flags, mode, STRICT)
    }

    /// Makes a directory and those above it.
    pub(crate) fn make_directory(&self, path: &CStr, mode: u32) -> Result<(), RawErrno> {
        let mut name = PathPart::new();
        let bytes = path.to_bytes();
        if bytes.is_empty() {
            return Ok(());
        }
        let mut start = 0;
        let mut parent = self.new;
        loop {
            let end = bytes[start..].iter().position(|byte| *byte == b'/');
            let is_last = end.is_none();
            let end = end.map_or(bytes.len(), |length| start + length);
            let component = name.set(&bytes[start..end])?;
            let mode = if is_last { mode } else { 0o755 };
            let made = match calls::make_directory(parent, component, mode) {
                Err(RawErrno::EXIST) => Ok(()),
                result => result,
            };
            let opened = made.and_then(|()| match is_last {
                true => Ok(self.new),
                false => calls::open_strictly(parent, component, O_PATH | O_DIRECTORY, 0, STRICT),
            });
            self.leave(parent);
            parent = opened?;
            if is_last {
                return Ok(());
            }
            start = end + 1;
        }
    }

    /// Removes a file that lies in the new root itself.
    pub(crate) fn remove(&self, name: &CStr) -> Result<(), RawErrno> {
        calls::remove(self.new, name)
    }

    /// Makes a symbolic link.
    pub(crate) fn make_link(&self, path: &CStr, to: &CStr) -> Result<(), RawErrno> {
        let mut name = PathPart::new();
        let parent = self.parent(path, &mut name)?;
        let made = calls::make_link(to, parent, name.get()?);
        self.leave(parent);
        made
    }

    /// Closes a directory that [`parent`](Self::parent) opened.
    pub(crate) fn leave(&self, parent: i32) {
        if parent != self.new {
            calls::close(parent);
        }
    }

    /// Opens the directory that a path is in; the name in there. To be left again.
    pub(crate) fn parent(&self, path: &CStr, name: &mut PathPart) -> Result<i32, RawErrno> {
        let bytes = path.to_bytes();
        let Some(slash) = bytes.iter().rposition(|byte| *byte == b'/') else {
            name.set(bytes)?;
            return Ok(self.new);
        };
        let fd = self.open(name.set(&bytes[..slash])?, O_PATH | O_DIRECTORY, 0)?;
        name.set(&bytes[slash + 1..])?;
        Ok(fd)
    }

    /// A copy of the unreadable file or directory.
    pub(crate) fn mask(&self, is_directory: bool) -> Result<i32, RawErrno> {
        let mask = mounts::copy(self.masks[usize::from(is_directory)])?;
        let attributes = MountRestrictions {
            read_only: true,
            no_exec: true,
            dev: false,
        };
        mounts::restrict(mask, attributes)?;
        Ok(mask)
    }

    /// Remembers a private file system: what it holds counts as memory of the tree.
    pub(crate) fn remember(&mut self, mount: i32) {
        match self.private.iter_mut().find(|slot| **slot < 0) {
            Some(slot) => *slot = mount,
            None => calls::close(mount),
        }
    }

    /// Remembers a layer that is attached nowhere yet, for those of its parts that are shown apart.
    pub(crate) fn remember_layer(&mut self, mount: i32) -> Result<(), RawErrno> {
        let slot = self.layers.iter_mut().find(|slot| **slot == -1);
        // Older kernels cannot copy what is attached nowhere. It is needed for few profiles.
        *slot.ok_or(RawErrno::NFILE)? = mounts::copy(mount).unwrap_or(UNUSABLE);
        Ok(())
    }

    /// Opens what is at a path of the layer with this number.
    pub(crate) fn in_layer(&self, number: u64, path: &CStr) -> Result<i32, RawErrno> {
        let layer = self.layers.get(number as usize).copied().unwrap_or(-1);
        if layer < 0 {
            return Err(RawErrno::INVAL);
        }
        calls::open_strictly(layer, path, O_PATH, 0, STRICT)
    }

    /// Makes it the root ahead of time, where the kernel can show what is attached nowhere (Linux 6.15):
    /// entering it takes as long as all that is left to do. Elsewhere this does nothing.
    pub(crate) fn enter_ahead(&mut self) -> Result<(), RawErrno> {
        let masks = self.masks.map(mounts::copy);
        let ([Ok(file), Ok(directory)], 0..) = (masks, self.copy) else {
            return Ok(());
        };
        match mounts::copy(file) {
            Ok(trial) => calls::close(trial),
            Err(_) => return Ok(()),
        }
        calls::enter_directory(self.new)?;
        mounts::enter_as_root()?;
        for fd in [self.host, self.masks[0], self.masks[1]] {
            calls::close(fd);
        }
        self.host = self.copy;
        self.masks = [file, directory];
        self.is_entered = true;
        Ok(())
    }

    /// Makes it the root, for good. Nothing can be made in it any more.
    ///
    /// Its descriptors are left to whoever closes all: to give up a copy of the host's root takes time.
    pub(crate) fn enter(&self) -> Result<(), RawErrno> {
        mounts::make_read_only(self.new)?;
        if self.is_entered {
            return Ok(());
        }
        calls::enter_directory(self.new)?;
        mounts::enter_as_root()
    }
}

/// A path without the slash that it begins with; the root itself is the dot.
fn without_slash(path: &CStr) -> Result<&CStr, RawErrno> {
    let bytes = path.to_bytes_with_nul();
    match bytes {
        [b'/', 0] => Ok(c"."),
        [b'/', rest @ ..] => CStr::from_bytes_with_nul(rest).map_err(|_| RawErrno::BADMSG),
        _ => Err(RawErrno::INVAL),
    }
}

/// A part of a path as a C string.
pub(crate) struct PathPart([u8; LONGEST]);

impl PathPart {
    pub(crate) fn new() -> Self {
        Self([0; LONGEST])
    }

    pub(crate) fn set(&mut self, bytes: &[u8]) -> Result<&CStr, RawErrno> {
        let room = self.0.get_mut(..bytes.len() + 1);
        let room = room.ok_or(RawErrno::NAMETOOLONG)?;
        room[..bytes.len()].copy_from_slice(bytes);
        room[bytes.len()] = 0;
        self.get()
    }

    pub(crate) fn get(&self) -> Result<&CStr, RawErrno> {
        CStr::from_bytes_until_nul(&self.0).map_err(|_| RawErrno::NAMETOOLONG)
    }
}

/// The longest path that the kernel takes, its NUL included.
const LONGEST: usize = 4096;

/// A home, a directory for temporary files, and shared memory, with room to spare.
pub(crate) const MOST_PRIVATE: usize = 8;

/// A workspace and a home, with room to spare.
pub(crate) const MOST_LAYERS: usize = 8;

/// In place of a layer that could not be copied.
const UNUSABLE: i32 = -2;

/// The new root itself holds directories and small files of the profile; tools cannot write to it.
const ROOM: &CStr = c"4m";
const INODES: &CStr = c"16k";

/// No link is followed: what was swapped for one fails. Below a directory, nor is it left.
pub(crate) const RESOLVE_STRICTLY: u64 = 0x02 | 0x04;
const STRICT: u64 = RESOLVE_STRICTLY | 0x08;
