//! [`Plan`]: a request in the form in which a forked process can use it, without allocating.

use std::ffi::{CString, OsStr, c_char, c_int};
use std::ops::Range;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::process::Resource;

use super::maps::Maps;
use super::record::{Refusal, Step};
use crate::machine::Errno;
use crate::process::{ArgumentSizes, Limits, SpawnError, SpawnRequest};
use crate::sys::linux::procfs;

/// All that the keeper and the tool need. Their descriptors are numbers: the host owns them.
pub(super) struct Plan {
    /// The files to execute, the first that works.
    pub(super) candidates: Vec<CString>,
    pub(super) arguments: Strings,
    pub(super) environment: Strings,
    pub(super) directory: CString,
    /// Descriptors to pass, each with its number in the tool.
    pub(super) moves: Vec<Move>,
    /// The numbers in the tool, in rising order.
    pub(super) targets: Vec<RawFd>,
    /// What `setrlimit` takes.
    pub(super) limits: Vec<(c_int, u64)>,
    /// How the tree is held.
    pub(super) hold: Hold,
    /// The keeper's own number, which it fills in.
    pub(super) keeper: c_int,
    /// The keeper's end of the line to its host.
    pub(super) line: RawFd,
    /// The host's process descriptor.
    pub(super) host: RawFd,
    /// Where this process's own arguments and environment lie in memory.
    pub(super) traces: Option<Range<usize>>,
    /// The stack of the tool until it executes its program. Words of 16 bytes, for their alignment.
    pub(super) stack: Vec<u128>,
    /// Why the tool did not execute its program.
    pub(super) failure: Failure,
}

impl Plan {
    /// Translates all but the descriptors, which do not exist yet.
    pub(super) fn new(request: &SpawnRequest) -> Result<Self, SpawnError> {
        let program = request.program.as_os_str();
        let name = || program.to_string_lossy().into_owned();
        let string = |text: &OsStr, what: &dyn Fn() -> String| {
            CString::new(text.as_bytes()).map_err(|_| SpawnError::Nul {
                program: name(),
                what: what(),
            })
        };
        let directory = string(request.cwd.as_os_str(), &|| {
            "the working directory".to_owned()
        })?;
        if !request.cwd.is_absolute() {
            return Err(SpawnError::WorkingDirectory {
                program: name(),
                directory: request.cwd.to_string_lossy().into_owned(),
                source: std::io::Error::new(
                    std::io::ErrorKind::InvalidInput,
                    "it is not an absolute path",
                ),
            });
        }
        let mut arguments = vec![string(program, &|| "the name".to_owned())?];
        for (place, argument) in request.args.iter().enumerate() {
            arguments.push(string(argument, &|| format!("argument {}", place + 1))?);
        }
        let mut environment = Vec::with_capacity(request.env.len());
        for (variable, value) in &request.env {
            if variable.is_empty() || variable.as_bytes().contains(&b'=') {
                return Err(SpawnError::VariableName {
                    program: name(),
                    name: variable.to_string_lossy().into_owned(),
                });
            }
            let mut pair = variable.clone();
            pair.push("=");
            pair.push(value);
            environment.push(string(&pair, &|| {
                format!("variable {}", variable.to_string_lossy())
            })?);
        }
        let mut candidates = Vec::new();
        for path in request.program.candidates(&request.env) {
            candidates.push(string(path.as_os_str(), &|| "a directory of PATH".into())?);
        }
        Ok(Self {
            candidates,
            arguments: Strings::new(arguments),
            environment: Strings::new(environment),
            directory,
            moves: Vec::new(),
            targets: Vec::new(),
            limits: limits(request.limits),
            hold: Hold::Adoption,
            keeper: 0,
            line: -1,
            host: -1,
            traces: traces(),
            stack: vec![0; STACK / size_of::<u128>()],
            failure: Failure::default(),
        })
    }

    /// Adds a descriptor to pass. False if the number is taken, or is none.
    pub(super) fn pass(&mut self, source: &impl AsRawFd, target: RawFd) -> bool {
        let Err(place) = self.targets.binary_search(&target) else {
            return false;
        };
        self.targets.insert(place, target);
        self.moves.push(Move {
            source: source.as_raw_fd(),
            copy: AtomicI32::new(-1),
            target,
        });
        (0..RawFd::MAX).contains(&target)
    }

    /// The number above all numbers in the tool.
    pub(super) fn floor(&self) -> RawFd {
        self.targets.last().map_or(0, |highest| highest + 1)
    }

    /// What a keeper has open until its tool runs, in rising order.
    pub(super) fn kept(&self) -> Vec<RawFd> {
        let sources = self.moves.iter().map(|one| one.source);
        let mut kept: Vec<RawFd> = sources.chain([self.line, self.host]).collect();
        kept.sort_unstable();
        kept.dedup();
        kept
    }

    /// How large arguments and environment are.
    pub(super) fn sizes(&self) -> ArgumentSizes {
        let longest = |strings: &Strings| strings.longest().unwrap_or(0);
        ArgumentSizes {
            arguments: self.arguments.size(),
            environment: self.environment.size(),
            longest: longest(&self.arguments).max(longest(&self.environment)),
            // 32 pages, the ending NUL among them.
            longest_allowed: 32 * rustix::param::page_size() - 1,
        }
    }
}

/// How a tree of processes is held.
#[derive(Debug)]
pub(super) enum Hold {
    /// The keeper is the first process of a process namespace, which the kernel ends with it.
    Namespaces(Maps),
    /// The keeper adopts orphans.
    Adoption,
}

/// One descriptor to pass.
pub(super) struct Move {
    pub(super) source: RawFd,
    /// Where it is parked, so that no target overwrites a source. Written by the tool.
    pub(super) copy: AtomicI32,
    pub(super) target: RawFd,
}

/// Why the tool did not execute its program. The tool writes it, in memory that the keeper shares.
#[derive(Default)]
pub(super) struct Failure {
    step: AtomicI32,
    errno: AtomicI32,
    which: AtomicI32,
}

impl Failure {
    pub(super) fn set(&self, refusal: Refusal) {
        self.errno.store(refusal.errno.0, Ordering::Relaxed);
        self.which.store(refusal.which as i32, Ordering::Relaxed);
        self.step.store(refusal.step as i32, Ordering::Relaxed);
    }

    pub(super) fn get(&self) -> Option<Refusal> {
        Some(Refusal {
            step: Step::from_number(self.step.load(Ordering::Relaxed))?,
            errno: Errno(self.errno.load(Ordering::Relaxed)),
            which: self.which.load(Ordering::Relaxed) as usize,
        })
    }
}

/// C strings and the array of pointers to them that `execve` takes.
pub(super) struct Strings {
    strings: Vec<CString>,
    /// Points into `strings`, whose contents do not move, and ends in a null pointer.
    pointers: Vec<*const c_char>,
}

impl Strings {
    fn new(strings: Vec<CString>) -> Self {
        let pointers = strings
            .iter()
            .map(|string| string.as_ptr())
            .chain([ptr::null()])
            .collect();
        Self { strings, pointers }
    }

    pub(super) fn pointers(&self) -> *const *const c_char {
        self.pointers.as_ptr()
    }

    /// The bytes that the kernel counts: the strings with their NUL, and a pointer to each.
    fn size(&self) -> usize {
        let per_string = 1 + size_of::<*const c_char>();
        let lengths = self.strings.iter().map(|string| string.count_bytes());
        lengths.sum::<usize>() + per_string * self.strings.len()
    }

    fn longest(&self) -> Option<usize> {
        self.strings.iter().map(|string| string.count_bytes()).max()
    }
}

/// The limits to set, none above the host's own.
fn limits(limits: Limits) -> Vec<(c_int, u64)> {
    [
        (
            libc::RLIMIT_NOFILE as c_int,
            Resource::Nofile,
            limits.descriptors,
        ),
        (
            libc::RLIMIT_FSIZE as c_int,
            Resource::Fsize,
            limits.file_size,
        ),
        (libc::RLIMIT_CORE as c_int, Resource::Core, limits.core),
    ]
    .into_iter()
    .filter_map(|(number, resource, limit)| {
        let most = rustix::process::getrlimit(resource).maximum;
        Some((number, limit?.min(most.unwrap_or(u64::MAX))))
    })
    .collect()
}

/// Where the kernel put the arguments and the environment of this process. They do not move.
fn traces() -> Option<Range<usize>> {
    static TRACES: OnceLock<Option<Range<usize>>> = OnceLock::new();
    TRACES
        .get_or_init(|| parse_traces(&procfs::read("/proc/self/stat")?))
        .clone()
}

/// From the start of the arguments to the end of the environment, the 48th and the 51st field.
///
/// The second field is the program's name, which may contain blanks and parentheses.
pub(super) fn parse_traces(stat: &str) -> Option<Range<usize>> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(48 - 3);
    let start: usize = fields.next()?.parse().ok()?;
    let end: usize = fields.nth(2)?.parse().ok()?;
    // Zeros stand for what the kernel does not tell. A range that is no few pages is none of ours.
    (start != 0 && start < end && end - start <= MOST_TRACES).then_some(start..end)
}

/// What a path looks like in an error.
pub(super) fn shown(path: &CString) -> String {
    Path::new(OsStr::from_bytes(path.to_bytes()))
        .display()
        .to_string()
}

/// The stack of the tool: a few frames of calls that have no large locals, also without optimisation.
const STACK: usize = 64 << 10;

/// The kernel gives no process more arguments and environment than this.
const MOST_TRACES: usize = 8 << 20;
