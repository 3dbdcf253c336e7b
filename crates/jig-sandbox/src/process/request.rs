//! [`SpawnRequest`]: all that a program is started with.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use super::environment::ProgramEnvironment;
use super::error::SpawnError;
use super::pool::Pool;
use crate::profile::Profile;
use crate::sys::Descriptor;

#[cfg(test)]
mod tests;

/// All that a program is started with. What is not named here, it does not get.
#[derive(Debug)]
pub struct SpawnRequest {
    /// The program.
    pub program: Program,
    /// Its arguments, without its name, which is passed as it stands in `program`.
    pub args: Vec<OsString>,
    /// Its whole environment. Nothing is inherited: see [`super::minimal_environment`].
    pub env: ProgramEnvironment,
    /// Its working directory, as an absolute path.
    pub cwd: PathBuf,
    /// What it reads as standard input.
    pub stdin: Stdio,
    /// Where its standard output goes.
    pub stdout: Stdio,
    /// Where its standard error goes.
    pub stderr: Stdio,
    /// The program's end of a pseudo-terminal. It becomes standard input, output and error, whatever those
    /// say, and the controlling terminal of the program's session: keys such as ctrl-C act, shells have job
    /// control, and `/dev/tty` can be opened. Without one there is no terminal at all.
    ///
    /// It must not be the controlling terminal of another session, least of all the user's own.
    pub terminal: Option<Descriptor>,
    /// Further descriptors, each with the number under which the program finds it, from 3 up.
    pub descriptors: Vec<(i32, Descriptor)>,
    /// What each process of the tree may use.
    pub limits: ProcessLimits,
    /// How the tree is held together.
    pub containment: Containment,
    /// What the tree may reach. `None` leaves it as free as the host; it is held together all the same.
    pub profile: Option<Arc<Profile>>,
    /// Whether to watch what the tree asks the kernel for, so that [`Child::observer`](super::Child::observer)
    /// can tell. It allows nothing that is not allowed without it. Where it cannot be had, the program runs
    /// without, and [`Child::unobserved`](super::Child::unobserved) says why.
    ///
    /// It takes time with every call that names a file or an address, some ten microseconds where processors are
    /// free. Where the kernel demands it, programs of the tree that lend their owner's privileges, such as
    /// `sudo`, do not: confined ones do not in any case. And a process that handles signals without having its
    /// calls restarted can find one interrupted (`EINTR`) that never is otherwise, such as `stat`.
    pub observe: bool,
    /// From where it is started.
    pub launch: Launch,
}

impl SpawnRequest {
    /// A request with no arguments, an empty environment, no input, piped output and error, no terminal, the
    /// default limits and the best containment there is.
    pub fn new(program: Program, cwd: impl Into<PathBuf>) -> Self {
        Self {
            program,
            args: Vec::new(),
            env: ProgramEnvironment::new(),
            cwd: cwd.into(),
            stdin: Stdio::Null,
            stdout: Stdio::Piped,
            stderr: Stdio::Piped,
            terminal: None,
            descriptors: Vec::new(),
            limits: ProcessLimits::default(),
            containment: Containment::BestEffort,
            profile: None,
            observe: false,
            launch: Launch::Auto,
        }
    }
}

/// A program: an absolute path, or a name to be found on the `PATH` of the child's environment.
///
/// A path that depends on the working directory is neither: tools write there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program(OsString);

impl Program {
    /// Takes an absolute path or a name without slashes.
    pub fn parse(text: impl Into<OsString>) -> Result<Self, SpawnError> {
        let text = text.into();
        let is_name = !text.is_empty() && Path::new(&text).file_name() == Some(text.as_os_str());
        if is_name || Path::new(&text).is_absolute() {
            Ok(Self(text))
        } else {
            Err(SpawnError::RelativeProgram {
                program: text.to_string_lossy().into_owned(),
            })
        }
    }

    /// As it was given.
    pub fn as_os_str(&self) -> &OsStr {
        &self.0
    }

    /// The files to try, in order: the path, or the name in each directory of the environment's `PATH`.
    /// Entries of `PATH` that are not absolute are passed over: they would mean the working directory.
    pub fn candidates(&self, env: &ProgramEnvironment) -> Vec<PathBuf> {
        if Path::new(&self.0).is_absolute() {
            return vec![PathBuf::from(&self.0)];
        }
        let Some(path) = env.get(OsStr::new("PATH")) else {
            return Vec::new();
        };
        std::env::split_paths(path)
            .filter(|directory| directory.is_absolute())
            .map(|directory| directory.join(&self.0))
            .collect()
    }
}

/// One of the three standard streams.
#[derive(Debug)]
#[non_exhaustive]
pub enum Stdio {
    /// Nothing to read, and what is written vanishes.
    Null,
    /// A pipe, whose other end is in the [`super::Child`].
    Piped,
    /// A descriptor of the host, which is handed over.
    Given(Descriptor),
}

/// What a tree may use. `None` leaves the host's limit.
///
/// A limit above the host's own becomes the host's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ProcessLimits {
    /// Processes and threads at once, in the whole tree.
    pub tasks: Option<u64>,
    /// Memory of the whole tree, in bytes. A tree that uses more is ended: within about a tenth of a second,
    /// or within about one if it stood still before, because nobody looks often at what does nothing.
    pub memory: Option<u64>,
    /// The highest descriptor number plus one, in each process.
    pub descriptors: Option<u64>,
    /// The largest file that can be written, in bytes. Writing beyond it ends a process by `SIGXFSZ`.
    pub file_size: Option<u64>,
    /// By how many bytes the file system of the working directory may become fuller, whoever fills it. A tree under
    /// which it does is ended, within about a second.
    pub disk: Option<u64>,
    /// By how many files it may become fuller; as `disk`. File systems that do not count their files know no such limit.
    pub files: Option<u64>,
    /// The largest memory image left behind by a crash, in bytes. It may hold secrets.
    pub core: Option<u64>,
}

/// No memory images, and otherwise the host's limits.
impl Default for ProcessLimits {
    fn default() -> Self {
        Self {
            tasks: None,
            memory: None,
            descriptors: None,
            file_size: None,
            disk: None,
            files: None,
            core: Some(0),
        }
    }
}

impl ProcessLimits {
    /// Room for real work, and an end to what runs away: 4096 processes and threads, 8 GiB of memory,
    /// 4096 descriptors in each process, files of 8 GiB, 256 GiB of disk in 10 million files, no memory images.
    pub const ROOMY: Self = Self {
        tasks: Some(4096),
        memory: Some(8 << 30),
        descriptors: Some(4096),
        file_size: Some(8 << 30),
        disk: Some(256 << 30),
        files: Some(10_000_000),
        core: Some(0),
    };
}

impl ProcessLimits {
    /// How high a limit is.
    pub fn height(&self, limit: ProcessLimit) -> Option<u64> {
        match limit {
            ProcessLimit::Tasks => self.tasks,
            ProcessLimit::Memory => self.memory,
            ProcessLimit::Descriptors => self.descriptors,
            ProcessLimit::FileSize => self.file_size,
            ProcessLimit::Disk => self.disk,
            ProcessLimit::Files => self.files,
        }
    }
}

/// A limit that a tree came up against.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProcessLimit {
    /// [`ProcessLimits::tasks`]: the tree had that many, and could make no more.
    Tasks,
    /// [`ProcessLimits::memory`]: the tree was ended for it.
    Memory,
    /// [`ProcessLimits::descriptors`]: a process had that many open.
    Descriptors,
    /// [`ProcessLimits::file_size`]: the program was ended for it.
    FileSize,
    /// [`ProcessLimits::disk`]: the tree was ended for it.
    Disk,
    /// [`ProcessLimits::files`]: the tree was ended for it.
    Files,
}

impl ProcessLimit {
    /// Whether the whole tree is ended for it.
    pub fn ends_tree(self) -> bool {
        matches!(
            self,
            ProcessLimit::Memory | ProcessLimit::Disk | ProcessLimit::Files
        )
    }

    /// That it was reached at this height, in words that follow the name of a program.
    pub fn told(self, height: u64) -> String {
        match self {
            ProcessLimit::Tasks => {
                format!("could not start more than {height} processes and threads")
            }
            ProcessLimit::Memory => format!(
                "used more than {} of memory and was ended",
                ByteSize(height)
            ),
            ProcessLimit::Descriptors => {
                format!("could not open more than {height} files in one process")
            }
            ProcessLimit::FileSize => {
                format!("could not write a file of more than {}", ByteSize(height))
            }
            ProcessLimit::Disk => format!(
                "was ended because the disk became fuller by more than {} meanwhile",
                ByteSize(height)
            ),
            ProcessLimit::Files => format!(
                "was ended because more than {height} files were added to the disk meanwhile"
            ),
        }
    }
}

/// A number of bytes for people: `64 MiB`, in the largest unit that says it exactly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteSize(pub u64);

impl fmt::Display for ByteSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
        let unit = units
            .into_iter()
            .find(|(size, _)| self.0 >= *size && self.0.is_multiple_of(*size));
        match unit {
            Some((size, name)) => write!(f, "{} {name}", self.0 / size),
            None => write!(f, "{} bytes", self.0),
        }
    }
}

/// From where a program is started. The cost of a fork grows with the memory of the one that forks.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub enum Launch {
    /// [`Launch::Direct`] while the host is small, else [`Launch::Launcher`].
    #[default]
    Auto,
    /// The keeper is a copy of the host.
    Direct,
    /// The keeper is a small program that jig carries inside, started anew for each child. It is an
    /// ordinary child of the host: its end raises `SIGCHLD`.
    Launcher,
    /// The keeper was made ahead of time, or is made, by a helper process that stays.
    Pool(Pool),
}

/// How the tree of processes is held together. Not `non_exhaustive`: a caller must know what each means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Containment {
    /// By namespaces; where they are refused, as under [`Containment::WithoutNamespaces`]. The status
    /// of the child says which.
    BestEffort,
    /// By namespaces, or the program is not started.
    Required,
    /// By a keeper that adopts orphans and walks the tree. It holds for ordinary programs and daemons,
    /// not against one that attacks its keeper.
    WithoutNamespaces,
}
