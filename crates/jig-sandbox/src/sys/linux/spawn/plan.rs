//! [`SpawnPlan`]: a request in the form in which it can be packed for a keeper.

use std::ffi::{CString, OsStr, c_char};
use std::ops::Range;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;

use rustix::process::Resource;

use super::maps::UserMaps;
use crate::machine::Kernel;
use crate::process::{ArgumentSizes, ProcessLimits, SpawnError, SpawnRequest};
use crate::profile::{GuardVerdict, GuardedName, Profile};
use crate::sys::linux::order::ConfinementSteps;
use crate::sys::linux::procfs;
use crate::sys::linux::stage::folded_path::FoldedPath;
use crate::sys::linux::stage::keeper::RESERVED_IDS;
use crate::sys::linux::stage::order;

/// All that the keeper and the tool need. Their descriptors are numbers: the host owns them.
pub(super) struct SpawnPlan {
    /// The files to execute, the first that works.
    pub(super) candidates: Vec<CString>,
    pub(super) arguments: Vec<CString>,
    pub(super) environment: Vec<CString>,
    pub(super) directory: CString,
    /// Descriptors to pass, each with its number in the tool.
    pub(super) moves: Vec<DescriptorMove>,
    /// The numbers in the tool, in rising order.
    pub(super) targets: Vec<RawFd>,
    /// Whether standard input is a terminal that the tool takes on.
    pub(super) has_terminal: bool,
    pub(super) limits: ProcessLimits,
    /// How the tree is held.
    pub(super) hold: ProcessTreeHold,
    /// What binds it.
    pub(super) confinement: Option<ConfinementSteps>,
    /// Whether the host watches what it asks for.
    pub(super) is_watched: bool,
    /// The names that it may not make. They have it supervised.
    pub(super) guarded_names: Vec<PlannedName>,
}

impl SpawnPlan {
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
            arguments,
            environment,
            directory,
            moves: Vec::new(),
            targets: Vec::new(),
            has_terminal: request.terminal.is_some(),
            limits: request.limits,
            hold: ProcessTreeHold::Adoption,
            confinement: None,
            is_watched: request.observe,
            guarded_names: Vec::new(),
        })
    }

    /// Takes on the names that it may not make.
    pub(super) fn guard(&mut self, profile: &Profile) {
        if profile.layers.supervisor {
            let names = profile.guarded_names.iter();
            self.guarded_names = names.filter_map(PlannedName::of).collect();
        }
    }

    /// Whether what makes names is performed for it.
    pub(super) fn is_supervised(&self) -> bool {
        let in_namespaces = matches!(self.hold, ProcessTreeHold::Namespaces(_));
        // Without the filter there are calls that no supervisor hears of.
        let is_filtered = |steps: &ConfinementSteps| !steps.filter.is_empty();
        let is_filtered = self.confinement.as_ref().is_some_and(is_filtered);
        in_namespaces && is_filtered && !self.guarded_names.is_empty()
    }

    /// Adds a descriptor to pass. False if the number is taken, or is none.
    pub(super) fn pass(&mut self, source: &impl AsRawFd, target: RawFd) -> bool {
        let Err(place) = self.targets.binary_search(&target) else {
            return false;
        };
        self.targets.insert(place, target);
        self.moves.push(DescriptorMove {
            source: source.as_raw_fd(),
            target,
        });
        (0..RawFd::MAX).contains(&target)
    }

    /// How large arguments and environment are.
    pub(super) fn sizes(&self) -> ArgumentSizes {
        // The bytes that the kernel counts: the strings with their NUL, and a pointer to each.
        let size = |strings: &[CString]| {
            let per_string = 1 + size_of::<*const c_char>();
            let lengths = strings.iter().map(|string| string.count_bytes());
            lengths.sum::<usize>() + per_string * strings.len()
        };
        let all = self.arguments.iter().chain(&self.environment);
        ArgumentSizes {
            arguments: size(&self.arguments),
            environment: size(&self.environment),
            longest: all.map(|one| one.count_bytes()).max().unwrap_or(0),
            // 32 pages, the ending NUL among them.
            longest_allowed: 32 * rustix::param::page_size() - 1,
        }
    }

    /// What `setrlimit` takes: resources and values, none above the host's own.
    pub(super) fn resource_limits(&self) -> Vec<(u32, u64)> {
        let ProcessLimits {
            tasks,
            memory,
            descriptors,
            file_size,
            core,
            // The keeper watches them.
            disk: _,
            files: _,
        } = self.limits;
        // Counted by user and user namespace: in one of its own the tree is alone, but for its keeper.
        // Outside of one all processes of the user would count.
        let processes = match self.hold {
            ProcessTreeHold::Namespaces(_) => {
                let supervisor = if self.is_supervised() { SUPERVISORS } else { 0 };
                tasks.map(|tasks| tasks.saturating_add(1 + supervisor))
            }
            ProcessTreeHold::Adoption => None,
        };
        [
            (libc::RLIMIT_NOFILE, Resource::Nofile, descriptors),
            (libc::RLIMIT_FSIZE, Resource::Fsize, file_size),
            (libc::RLIMIT_CORE, Resource::Core, core),
            (libc::RLIMIT_NPROC, Resource::Nproc, processes),
            // What takes memory faster than the keeper looks is stopped here. The room above the limit is
            // for the keeper to notice the others, so that they are told why they were ended.
            (
                libc::RLIMIT_DATA,
                Resource::Data,
                memory.map(|memory| memory.saturating_mul(2)),
            ),
        ]
        .into_iter()
        .filter_map(|(number, resource, limit)| {
            let most = rustix::process::getrlimit(resource).maximum;
            // The C libraries differ in the type, not in the values.
            Some((
                (number as libc::c_int).cast_unsigned(),
                limit?.min(most.unwrap_or(u64::MAX)),
            ))
        })
        .collect()
    }

    /// The highest process id that lets a process namespace have as many tasks as the limit says; 0 if
    /// there is no limit, or the kernel has no such setting for each namespace.
    ///
    /// Before Linux 6.14 there was one setting for the whole machine, which root could change from
    /// anywhere.
    pub(super) fn highest_id(&self) -> u64 {
        static BY_NAMESPACE: OnceLock<bool> = OnceLock::new();
        let by_namespace = *BY_NAMESPACE.get_or_init(|| {
            let release = rustix::system::uname();
            Kernel::parse(&release.release().to_string_lossy())
                .is_some_and(|kernel| (kernel.major, kernel.minor) >= (6, 14))
        });
        match (&self.hold, self.limits.tasks) {
            (ProcessTreeHold::Namespaces(_), Some(tasks)) if by_namespace => {
                tasks.saturating_add(RESERVED_IDS).min(MOST_IDS)
            }
            _ => 0,
        }
    }
}

/// How a tree of processes is held.
#[derive(Debug)]
pub(super) enum ProcessTreeHold {
    /// The keeper is the first process of a process namespace, which the kernel ends with it.
    Namespaces(UserMaps),
    /// The keeper adopts orphans.
    Adoption,
}

/// One descriptor to pass.
pub(super) struct DescriptorMove {
    pub(super) source: RawFd,
    pub(super) target: RawFd,
}

/// Where the kernel put the arguments and the environment of this process. They do not move.
pub(super) fn traces() -> Option<Range<usize>> {
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

/// A name that may not come into being, as the supervisor compares it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PlannedName {
    pub(super) base: CString,
    pub(super) pattern: CString,
    pub(super) not_below: CString,
    pub(super) flags: u32,
}

impl PlannedName {
    /// `None` for a path with a NUL: it can be no name.
    fn of(name: &GuardedName) -> Option<Self> {
        let string = |path: &Path| CString::new(path.as_os_str().as_bytes()).ok();
        let folded = |path: &Path| {
            let path = FoldedPath::of(path.as_os_str().as_bytes());
            CString::new(path.text()).ok()
        };
        let (pattern, verdict) = match name.verdict {
            // What is free is meant to the letter.
            GuardVerdict::Free => (string(&name.pattern)?, order::NAME_FREE),
            GuardVerdict::Refused => (folded(&name.pattern)?, 0),
            GuardVerdict::RefusedItself => (folded(&name.pattern)?, order::NAME_ITSELF),
            GuardVerdict::BareRepository => (CString::default(), order::NAME_BARE),
        };
        let depth = match name.at_any_depth {
            true => order::NAME_AT_ANY_DEPTH,
            false => 0,
        };
        Some(Self {
            base: string(&name.base)?,
            pattern,
            not_below: folded(name.not_below.as_deref().unwrap_or(Path::new("")))?,
            flags: verdict | depth,
        })
    }
}

/// The threads of a supervisor, as long as none of them waits for the tool.
const SUPERVISORS: u64 = 2;

/// The most process ids that there are.
const MOST_IDS: u64 = 4 << 20;

/// The kernel gives no process more arguments and environment than this.
const MOST_TRACES: usize = 8 << 20;
