//! [`Arena`]: a workspace and what lies beside it, for one attack to ruin.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "an arena is made, inspected and removed by the test itself"
)]

mod record;

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::host::Host;
use record::Record;

/// A workspace with denied, read-only and protected parts, and secrets beside it. Removed when dropped.
///
/// ```text
/// workspace/
///   README.md, src/        free
///   .env                   denied
///   locked/                read-only
///   plain/                 writable, but nothing in it may be run
///   nested/deep/.env       denied, so `nested` and `nested/deep` are pinned
///   jig.toml, .jig/        read-only: the configuration of jig
///   .git/config, .git/hooks/   read-only: they name programs that the user runs
///   service.sock           a socket on which the host listens
///   to-secret, to-outside, to-nowhere    links that lead out
/// beside/
///   update/, delete/       readable, and what is in them may only be changed, or only be deleted
/// outside/
///   secret.txt, given.txt, dir/, empty/, link, program
/// ```
#[derive(Debug)]
pub struct Arena {
    host: Arc<Host>,
    root: PathBuf,
    record: Mutex<Record>,
}

impl Arena {
    pub(crate) fn create(host: Arc<Host>, root: PathBuf) -> io::Result<Self> {
        let secret = host.secret.as_str();
        for directory in DIRECTORIES {
            fs::create_dir_all(root.join(directory))?;
        }
        for (file, text) in FILES {
            fs::write(root.join(file), text.replace("SECRET", secret))?;
        }
        for (link, target) in LINKS {
            let target = target.replace("SECRET", secret);
            symlink(
                target.replace("ROOT", &root.to_string_lossy()),
                root.join(link),
            )?;
        }
        for program in PROGRAMS {
            fs::copy("/bin/true", root.join(program))?;
            fs::set_permissions(root.join(program), fs::Permissions::from_mode(0o755))?;
        }
        if let Some(socket) = host.listeners.paths.first() {
            fs::hard_link(socket, root.join("workspace/service.sock"))?;
        }
        let arena = Self {
            host,
            root,
            record: Mutex::default(),
        };
        let secret = arena.host.secret.as_bytes();
        set_attribute(&arena.root.join("outside/secret.txt"), secret);
        arena.accept()?;
        Ok(arena)
    }

    /// The machine around it.
    pub fn host(&self) -> &Host {
        &self.host
    }

    /// The workspace, or something in it.
    pub fn workspace(&self, name: &str) -> String {
        self.at("workspace", name)
    }

    /// What lies beside the workspace and is granted in part.
    pub fn beside(&self, name: &str) -> String {
        self.at("beside", name)
    }

    /// What lies outside and is not granted, or something in it.
    pub fn outside(&self, name: &str) -> String {
        self.at("outside", name)
    }

    /// The file outside that holds the secret.
    pub fn secret(&self) -> String {
        self.outside("secret.txt")
    }

    /// A file outside, opened for reading: what the host hands over, and nothing more.
    pub fn given(&self) -> io::Result<OwnedFd> {
        fs::File::open(self.outside("given.txt")).map(Into::into)
    }

    /// A path in `/tmp`, which the host and a confined program do not share.
    pub fn shared_name(&self) -> String {
        let name = self.root.to_string_lossy().replace('/', "-");
        format!("/tmp/jig{name}")
    }

    /// Whether the host has a file of that name.
    pub fn has_shared_file(&self) -> bool {
        fs::symlink_metadata(self.shared_name()).is_ok()
    }

    /// The file that a program which is still alive keeps growing.
    pub fn heart(&self) -> String {
        self.workspace("heart")
    }

    /// Whether the heart beats: it is watched for longer than the longest pause between two beats.
    pub fn is_beating(&self) -> bool {
        let length = || fs::metadata(self.heart()).map_or(0, |heart| heart.len());
        let before = length();
        crate::within(Duration::from_millis(300), || length() != before)
    }

    /// Ends whatever keeps the heart beating: it stops when it cannot write any more.
    pub fn stop_heart(&self) {
        let heart = self.heart();
        // If nothing was left behind, there is no heart.
        let _ = fs::remove_file(&heart);
        let _ = fs::create_dir(heart);
    }

    /// What the host finds changed that no confined program may change.
    pub fn damage(&self) -> Vec<String> {
        self.open_up();
        match self.look() {
            Ok(now) => self.remembered().differences(&now),
            Err(error) => vec![format!("the arena cannot be read: {error}")],
        }
    }

    /// Replaces a file as editors do: the old one is gone, and another has its name.
    pub fn replace(&self, path: &str) -> io::Result<()> {
        let new = format!("{path}.new");
        fs::write(&new, format!("KEY={}\n", self.host.secret))?;
        fs::rename(new, path)?;
        self.accept()
    }

    /// Replaces a directory by another one with a file in it.
    pub fn replace_directory(&self, path: &str) -> io::Result<()> {
        fs::rename(path, format!("{path}.old"))?;
        fs::create_dir(path)?;
        fs::write(format!("{path}/file"), "new\n")?;
        self.accept()
    }

    /// Makes directories that an attack has closed accessible again.
    fn open_up(&self) {
        for part in PINNED {
            // One that is gone is found missing when the host looks.
            let _ = fs::set_permissions(self.root.join(part), fs::Permissions::from_mode(0o755));
        }
    }

    /// Takes what is there now as what must not change from now on.
    fn accept(&self) -> io::Result<()> {
        *self.remembered() = self.look()?;
        Ok(())
    }

    fn remembered(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn at(&self, part: &str, name: &str) -> String {
        let path = self.root.join(part);
        let path = if name.is_empty() {
            path
        } else {
            path.join(name)
        };
        path.to_string_lossy().into_owned()
    }

    fn look(&self) -> io::Result<Record> {
        let mut record = Record::default();
        for part in FROZEN {
            record.freeze(&self.root, part)?;
        }
        for part in PINNED {
            record.pin(&self.root, part)?;
        }
        record.privileged(&self.root.join("workspace"))?;
        Ok(record)
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        self.open_up();
        self.stop_heart();
        let _ = fs::remove_file(self.shared_name());
        let _ = fs::remove_dir_all(&self.root);
    }
}

/// The attribute that some attacks read; not every file system has them.
fn set_attribute(path: &Path, value: &[u8]) {
    use std::ffi::CString;
    use std::os::unix::ffi::OsStrExt;
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else {
        return;
    };
    #[expect(unsafe_code, reason = "the standard library sets no attributes")]
    // SAFETY: the path, the name and the value are live, and the length is the value's.
    unsafe {
        let name = c"user.secret".as_ptr();
        libc::setxattr(path.as_ptr(), name, value.as_ptr().cast(), value.len(), 0);
    }
}

const DIRECTORIES: &[&str] = &[
    "workspace/src",
    "workspace/locked/sub",
    "workspace/plain",
    "workspace/nested/deep",
    "workspace/.jig",
    "workspace/.git/hooks",
    "workspace/race",
    "beside/update",
    "beside/delete",
    "outside/dir",
    "outside/empty",
];

const FILES: &[(&str, &str)] = &[
    ("workspace/README.md", "# A workspace\n"),
    ("workspace/src/main.rs", "fn main() {}\n"),
    ("workspace/.env", "KEY=SECRET\n"),
    ("workspace/locked/file", "locked\n"),
    ("workspace/locked/sub/file", "locked\n"),
    ("workspace/plain/script", "#!/bin/sh\nexit 0\n"),
    ("workspace/nested/deep/.env", "KEY=SECRET\n"),
    ("workspace/jig.toml", "# protected\n"),
    ("workspace/.jig/config.toml", "# protected\n"),
    ("workspace/.git/HEAD", "ref: refs/heads/main\n"),
    ("workspace/.git/config", "[core]\n"),
    ("workspace/.git/hooks/pre-commit", "#!/bin/sh\n"),
    ("workspace/race/secret.txt", "harmless\n"),
    ("beside/update/file", "changeable\n"),
    ("beside/delete/file", "deletable\n"),
    ("outside/given.txt", "for reading\n"),
    ("outside/secret.txt", "SECRET\n"),
    ("outside/victim.txt", "SECRET\n"),
    ("outside/dir/file", "SECRET\n"),
];

const LINKS: &[(&str, &str)] = &[
    ("workspace/to-secret", "ROOT/outside/secret.txt"),
    ("workspace/to-outside", "ROOT/outside"),
    ("workspace/to-nowhere", "ROOT/outside/new"),
    ("workspace/to-env", ".env"),
    ("outside/link", "SECRET"),
];

/// Copies of a program that does nothing.
const PROGRAMS: &[&str] = &["workspace/plain/program", "outside/program"];

/// Where nothing at all may change.
const FROZEN: &[&str] = &[
    "outside",
    "workspace/.env",
    "workspace/locked",
    "workspace/nested/deep/.env",
    "workspace/jig.toml",
    "workspace/.jig",
    "workspace/.git/config",
    "workspace/.git/hooks",
];

/// What must stay where it is, though its content may change.
const PINNED: &[&str] = &[
    "workspace",
    "workspace/nested",
    "workspace/nested/deep",
    "workspace/.git",
];
