//! [`Host`]: the machine that is attacked, as far as a test may offer one.
#![expect(
    clippy::disallowed_methods,
    reason = "the host of a test makes its own files and starts its own victim"
)]

mod listeners;
mod objects;
mod victim;

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tempfile::TempDir;

use crate::arena::Arena;
use listeners::Listeners;
use objects::Objects;
use victim::Victim;

/// How every secret begins. A program that has got hold of it has escaped.
pub const MARK: &str = "jig-secret-";

/// The environment variable of the host that names its terminal, if it has one: `/dev/pts/3`.
pub const TERMINAL: &str = "JIG_TEST_TERMINAL";

/// The size in pixels of the host's terminal, which no other has: by it an attack knows whose terminal it has
/// got hold of. Names and numbers would not do, since every file system of terminals has its own.
pub const TERMINAL_PIXELS: [u16; 2] = [0x6a69, 0x6721];

/// What an attack can find on a machine: listeners on every kind of socket, objects of System V and
/// POSIX, files in shared memory, and a victim, a process of the same user that keeps secrets.
///
/// All of it ends when the last reference is dropped.
#[derive(Debug)]
pub struct Host {
    hostile: PathBuf,
    terminal: Option<String>,
    pub(crate) secret: String,
    pub(crate) listeners: Listeners,
    pub(crate) objects: Objects,
    pub(crate) victim: Victim,
    arenas: AtomicU32,
    root: TempDir,
}

impl Host {
    /// Starts everything. `hostile` is the program, as [`Stage::hostile`] has it.
    pub fn start(hostile: &Path) -> io::Result<Arc<Self>> {
        let root = temporary_directory()?;
        let number = root.path().file_name().unwrap_or_default();
        let name = number.to_string_lossy().into_owned();
        let secret = format!("{MARK}{name}");
        let kept = root.path().join("kept");
        fs::write(&kept, &secret)?;
        Ok(Arc::new(Self {
            terminal: std::env::var(TERMINAL).ok(),
            listeners: Listeners::start(root.path(), &name, &secret)?,
            objects: Objects::create(&name, &secret)?,
            victim: Victim::start(hostile, &secret, &kept)?,
            arenas: AtomicU32::new(0),
            hostile: hostile.to_owned(),
            secret,
            root,
        }))
    }

    /// A fresh arena.
    pub fn arena(self: &Arc<Self>) -> io::Result<Arena> {
        let number = self.arenas.fetch_add(1, Ordering::Relaxed);
        let root = self.root.path().join(format!("arena-{number}"));
        Arena::create(Arc::clone(self), root)
    }

    /// The program, in a directory with others that attacks run. A profile must show that directory.
    pub fn hostile(&self) -> &Path {
        &self.hostile
    }

    /// The directory that holds everything on disk.
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The ports of its loopback on which whoever connects is told the secret.
    pub fn ports(&self) -> Vec<u16> {
        let Listeners { tcp, tcp6, .. } = &self.listeners;
        [Some(*tcp), *tcp6].into_iter().flatten().collect()
    }

    /// A set-uid program.
    pub(crate) fn set_uid_program(&self) -> String {
        let program = self.hostile.with_file_name("id");
        program.to_string_lossy().into_owned()
    }

    /// The name of the machine.
    pub(crate) fn name_of_machine(&self) -> String {
        let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
        name.trim().to_owned()
    }

    /// The path of the host's terminal.
    pub(crate) fn terminal(&self) -> String {
        self.terminal.clone().unwrap_or_default()
    }
}

/// `hostile` as Cargo built it, for tests of other crates. Its own tests have `CARGO_BIN_EXE_hostile`.
///
/// Cargo does not build programs of dependencies: build it before, with the same profile, by
/// `cargo build -p jig-testkit --bin hostile`. `None` if it is not there.
pub fn hostile_program() -> Option<PathBuf> {
    let test = std::env::current_exe().ok()?;
    let built = test.ancestors().nth(2)?.join("hostile");
    fs::metadata(&built).is_ok().then_some(built)
}

/// Programs where everybody can run them, in a directory that is removed when dropped.
#[derive(Debug)]
pub struct Stage(TempDir);

impl Stage {
    /// Copies `hostile` from where it was built, which may be closed to other users, and beside it the
    /// program `id` with the set-uid bit: it tells who runs it, and does nothing else.
    pub fn set(hostile: &Path) -> io::Result<Self> {
        let stage = Self(temporary_directory()?);
        let executable = [
            (hostile, "hostile", 0o755),
            (Path::new("/usr/bin/id"), "id", 0o4755),
        ];
        for (program, name, mode) in executable {
            let copy = stage.0.path().join(name);
            fs::copy(program, &copy)?;
            fs::set_permissions(&copy, fs::Permissions::from_mode(mode))?;
        }
        Ok(stage)
    }

    /// The copy of `hostile`.
    pub fn hostile(&self) -> PathBuf {
        self.0.path().join("hostile")
    }
}

/// Beside `/tmp`, because confined programs have a `/tmp` of their own, in which anything is missing.
fn temporary_directory() -> io::Result<TempDir> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("jig-arena-");
    let directory = builder
        .tempdir_in("/var/tmp")
        .or_else(|_| builder.tempdir())?;
    fs::set_permissions(directory.path(), fs::Permissions::from_mode(0o755))?;
    Ok(directory)
}
