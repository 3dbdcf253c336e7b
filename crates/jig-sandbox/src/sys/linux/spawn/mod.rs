//! [`spawn`]: starts a keeper, which starts the tool.
//!
//! Everything that allocates or decides happens here. Between host and keeper there is one socket, the
//! line: the keeper says that the tool runs, or which step failed, and later how it ended; the host
//! passes signals on. The end of the keeper, seen by its process descriptor, is the end of the tree.
//!
//! The keeper does not ask to be killed with its parent, because that parent would be the thread that
//! calls [`spawn`]. It watches a process descriptor of the host instead, and the line.

mod abandoned_keepers;
mod direct;
mod failure;
mod gateway;
mod launcher;
mod maps;
mod packed_order;
mod plan;
mod process;
mod temporary;
mod usage;
mod zygote;

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Mode, OFlags};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::pipe::PipeFlags;
use rustix::process::PidfdFlags;

pub(crate) use self::launcher::shim;
use self::maps::UserMaps;
use self::plan::{ProcessTreeHold, SpawnPlan};
use self::process::KeeperHandle;
pub(crate) use self::process::ProcessTree;
use self::temporary::Temporary;
pub(crate) use self::temporary::is_temporary;
pub(crate) use self::zygote::Zygote;
use super::confine::ToolTerminal;
use super::creation::{self, CreationReports};
use super::observe::{self, Watcher};
use super::order::{ConfinementOutcome, ConfinementSteps};
use super::stage::record::{KeeperMessage, KeeperReport, StartStep, StepFailure};
use super::{confine, procfs, uapi};
use crate::assessment::Tier;
use crate::machine::Errno;
use crate::process::{
    Containment, Enforcement, Launch, NameSupervisor, Observer, Pool, ProcessLimits, SpawnError,
    SpawnRequest, StartedChild, Status, Stdio,
};
use crate::profile::{Profile, Rights};

#[cfg(test)]
mod tests;

/// Starts a program. Returns when it runs.
pub(crate) fn spawn(mut request: SpawnRequest) -> Result<StartedChild, SpawnError> {
    abandoned_keepers::visit();
    let mut plan = SpawnPlan::new(&request)?;
    if let Some(profile) = &request.profile {
        plan.guard(profile);
    }
    let terminal = request.terminal.as_ref().map(ToolTerminal::of);
    let streams = StandardStreams::open(&mut request)?;
    for number in 0..3 {
        plan.pass(streams.tool_end(number), number as i32);
    }
    for (number, source) in &request.descriptors {
        if !plan.pass(source, *number) {
            return Err(SpawnError::Descriptor {
                program: failure::name(&request),
                number: *number,
                source: io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "the number is taken or negative",
                ),
            });
        }
    }
    let started = start(&request, terminal.as_ref(), &mut plan);
    if let Launch::Pool(Pool(zygote)) = &request.launch {
        zygote.refill_if_empty();
    }
    let (running, mut status) = started?;
    if let Some(profile) = &request.profile
        && !profile.guarded_names.is_empty()
    {
        let left_out = || "the profile leaves the supervisor out".to_owned();
        let is_left_out = !profile.layers.supervisor;
        let why_not = is_left_out.then(left_out).or(running.unsupervised);
        status.guarded_names =
            Some(
                why_not.map_or(Enforcement::Enforced, |reason| Enforcement::NotEnforced {
                    reason,
                }),
            );
    }
    let gateway = gateway::of(&plan, running.sockets)
        .map_err(|error| failure::step(&request, "taking on the sockets of its gateway", error))?;
    let in_namespace = matches!(plan.hold, ProcessTreeHold::Namespaces(_));
    Ok(StartedChild {
        stdin: streams.stdin,
        stdout: streams.stdout,
        stderr: streams.stderr,
        door: running.door,
        gateway,
        observer: running.observer,
        unobserved: running.unobserved,
        supervisor: running.supervisor,
        status,
        process: ProcessTree::new(running.keeper, in_namespace, running.temporary),
    })
}

/// A keeper whose tool runs.
struct RunningKeeper {
    keeper: KeeperHandle,
    /// What the kernel accepted.
    report: KeeperReport,
    /// The listening socket of the tool's door.
    door: Option<OwnedFd>,
    /// The sockets of its gateway, in the order in which they were ordered.
    sockets: Vec<OwnedFd>,
    /// Who watches it, or why nobody does although that was asked for.
    observer: Option<Observer>,
    unobserved: Option<String>,
    /// What tells of its supervisor's refusals, or why it has none although that was asked for.
    supervisor: Option<NameSupervisor>,
    unsupervised: Option<String>,
    /// Where it puts temporary files, if it has no directory of its own for them.
    temporary: Option<Temporary>,
}

/// Starts a keeper: in namespaces if that is wanted and can be had, else without.
fn start(
    request: &SpawnRequest,
    terminal: Option<&ToolTerminal>,
    plan: &mut SpawnPlan,
) -> Result<(RunningKeeper, Status), SpawnError> {
    let layers = request.profile.as_ref().map(|profile| profile.layers);
    let unwanted = request.containment == Containment::WithoutNamespaces
        || layers.is_some_and(|layers| !layers.namespaces);
    let profile = request.profile.as_deref();
    let without_caches = profile.and_then(Profile::without_caches);
    let why_not = if unwanted {
        "no namespaces were asked for".to_owned()
    } else {
        plan.confinement = compile(request, profile, terminal, Tier::A)?;
        plan.hold = ProcessTreeHold::Namespaces(UserMaps::widest());
        let mut launched = launch(request, plan)?;
        if let (Err(refusal), Some(_)) = (&launched, &without_caches)
            && failure::is_about_layers(plan, *refusal)
        {
            plan.confinement = compile(request, without_caches.as_ref(), terminal, Tier::A)?;
            plan.hold = ProcessTreeHold::Namespaces(UserMaps::widest());
            launched = launch(request, plan)?;
        }
        if launched
            .as_ref()
            .is_err_and(|refusal| failure::is_about_namespaces(*refusal))
        {
            // The kernel still counts what is just being torn down, so a refusal may be one of the moment. A
            // second says that it is so here.
            plan.hold = ProcessTreeHold::Namespaces(UserMaps::widest());
            launched = launch(request, plan)?;
        }
        match launched {
            Ok(running) => {
                NAMESPACES_REFUSED.store(false, Ordering::Relaxed);
                let status = match (&request.profile, &plan.confinement) {
                    (Some(_), Some(confinement)) => {
                        confined(request, Tier::A, confinement, &running.report)
                    }
                    _ => in_namespaces(running.report),
                };
                return Ok((running, status));
            }
            Err(refusal) if failure::is_about_namespaces(refusal) => {
                NAMESPACES_REFUSED.store(true, Ordering::Relaxed);
                format!(
                    "new namespaces are refused here: {} failed with {}",
                    refusal.step.name(),
                    Errno(refusal.errno.0)
                )
            }
            Err(refusal) => return Err(failure::error(request, plan, refusal)),
        }
    };
    if request.containment == Containment::Required {
        return Err(SpawnError::Containment {
            program: failure::name(request),
            reason: why_not,
        });
    }
    plan.hold = ProcessTreeHold::Adoption;
    let profile = without_caches.as_ref().or(profile);
    plan.confinement = compile(request, profile, terminal, Tier::B).map_err(|error| {
        if unwanted {
            error
        } else {
            because(error, &why_not)
        }
    })?;
    if starts_in_private(request) {
        // There is none here, and what the host has under that name is not meant.
        plan.directory = c"/".to_owned();
    }
    let temporary = profile.and_then(|profile| Temporary::of(request, profile));
    if let (Some(temporary), Some(profile)) = (&temporary, profile) {
        temporary.give(plan, landlock_abi().min(profile.layers.landlock.into()));
    }
    match launch(request, plan)? {
        Ok(mut running) => {
            running.temporary = temporary;
            let status = match &plan.confinement {
                Some(confinement) => Status {
                    tree: held_by_adoption(why_not),
                    ..confined(request, Tier::B, confinement, &running.report)
                },
                None => by_adoption(why_not),
            };
            Ok((running, status))
        }
        Err(refusal) => Err(failure::error(request, plan, refusal)),
    }
}

/// What cannot be held without namespaces, with the reason why there are none.
fn because(error: SpawnError, why_not: &str) -> SpawnError {
    match error {
        SpawnError::Confinement { program, reason } => SpawnError::Confinement {
            program,
            reason: format!("{reason} ({why_not})"),
        },
        error => error,
    }
}

/// Whether the working directory is one that only namespaces could make: it lies in a private one, and
/// nothing of the host's is to be seen there.
fn starts_in_private(request: &SpawnRequest) -> bool {
    let Some(profile) = &request.profile else {
        return false;
    };
    let mut private = profile.private.iter();
    let mut shown = profile
        .paths
        .iter()
        .filter(|rule| rule.rights != Rights::NONE);
    private.any(|private| request.cwd.starts_with(&private.path))
        && !shown
            .any(|rule| rule.path.starts_with(&request.cwd) || request.cwd.starts_with(&rule.path))
}

/// The confinement that a profile means in a tier; `None` without a profile.
fn compile(
    request: &SpawnRequest,
    profile: Option<&Profile>,
    terminal: Option<&ToolTerminal>,
    tier: Tier,
) -> Result<Option<ConfinementSteps>, SpawnError> {
    let Some(profile) = profile else {
        return Ok(None);
    };
    match confine::compile(profile, &request.limits, terminal, tier, landlock_abi()) {
        Ok(confinement) => Ok(Some(confinement)),
        Err(refused) => Err(SpawnError::Confinement {
            program: failure::name(request),
            reason: refused.to_string(),
        }),
    }
}

/// As [`crate::unchangeable`].
pub(crate) fn unchangeable(profile: &Profile) -> Vec<PathBuf> {
    if profile.layers.namespaces && !NAMESPACES_REFUSED.load(Ordering::Relaxed) {
        return Vec::new();
    }
    let without_caches = profile.without_caches();
    let profile = without_caches.as_ref().unwrap_or(profile);
    let limits = ProcessLimits::default();
    let compiled = confine::compile(profile, &limits, None, Tier::B, landlock_abi());
    compiled.map_or_else(|_| Vec::new(), |confinement| confinement.unchangeable)
}

/// The version of Landlock's interface; 0 for none.
fn landlock_abi() -> u32 {
    static ABI: OnceLock<u32> = OnceLock::new();
    *ABI.get_or_init(|| uapi::landlock_abi().map_or(0, i32::cast_unsigned))
}

/// Whether the last start that wanted namespaces did not get them.
static NAMESPACES_REFUSED: AtomicBool = AtomicBool::new(false);

/// A keeper whose tool runs, or the refusal.
type LaunchResult = Result<RunningKeeper, StepFailure>;

/// Starts a keeper and waits until its tool runs.
fn launch(request: &SpawnRequest, plan: &SpawnPlan) -> Result<LaunchResult, SpawnError> {
    let started = match &request.launch {
        Launch::Pool(Pool(zygote)) => zygote.launch(request, plan)?,
        Launch::Auto if is_small() => direct::start(request, plan)?,
        Launch::Auto | Launch::Launcher => by_launcher(request, plan)?,
        Launch::Direct => direct::start(request, plan)?,
    };
    match started {
        Ok(keeper) => await_tool(request, plan, keeper),
        Err(refusal) => Ok(Err(refusal)),
    }
}

/// By the launcher, or where none can be executed, by a fork.
fn by_launcher(
    request: &SpawnRequest,
    plan: &SpawnPlan,
) -> Result<Result<KeeperHandle, StepFailure>, SpawnError> {
    let Ok(program) = launcher::program() else {
        return direct::start(request, plan);
    };
    match launcher::start(request, plan, program)? {
        Err(refusal) if refusal.step == StartStep::Launch => direct::start(request, plan),
        started => Ok(started),
    }
}

/// Whether a fork of this process costs less than executing the launcher.
fn is_small() -> bool {
    // The size, then what of it is resident, in pages.
    let resident = procfs::read("/proc/self/statm")
        .and_then(|text| text.split(' ').nth(1)?.parse::<usize>().ok());
    resident.is_some_and(|pages| pages.saturating_mul(rustix::param::page_size()) < SMALL)
}

/// Both ends of a line: the host's, and the keeper's.
fn new_line() -> rustix::io::Result<(OwnedFd, OwnedFd)> {
    rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )
}

/// A process descriptor of the host itself.
fn own_descriptor() -> rustix::io::Result<OwnedFd> {
    rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty())
}

/// Listens to a keeper until its tool runs.
fn await_tool(
    request: &SpawnRequest,
    plan: &SpawnPlan,
    keeper: KeeperHandle,
) -> Result<LaunchResult, SpawnError> {
    let broken = |error| failure::step(request, "talking to its keeper", error);
    let mut door = None;
    let mut sockets = Vec::new();
    let mut observer = None;
    let mut unobserved = request.observe.then(observe::no_table);
    let mut supervisor = None;
    let mut unsupervised = match (plan.guarded_names.is_empty(), plan.is_supervised()) {
        (true, _) => None,
        (false, true) => Some(observe::no_table()),
        (false, false) => Some("it takes namespaces and the filter of system calls".to_owned()),
    };
    loop {
        let (record, descriptors) = keeper.next_record().map_err(broken)?;
        match record {
            Some(KeeperMessage::Door) => door = descriptors.into_iter().next(),
            Some(KeeperMessage::Sockets) => sockets.extend(descriptors),
            // From now on the tool waits for answers.
            Some(KeeperMessage::Listener) => {
                let listener = descriptors.into_iter().next();
                let watcher = listener
                    .ok_or_else(|| io::Error::from(io::ErrorKind::UnexpectedEof))
                    .and_then(|listener| {
                        let line = supervisor.as_ref();
                        let line = line
                            .map(|NameSupervisor(reports)| reports.line())
                            .transpose()?;
                        Watcher::start(listener, plan.candidates.clone(), line)
                    })
                    .map_err(|error| failure::step(request, "watching it", error))?;
                (observer, unobserved) = (Some(Observer(watcher)), None);
            }
            Some(KeeperMessage::Unwatched(errno)) => {
                unobserved = Some(observe::why_not(Errno(errno.0)));
            }
            Some(KeeperMessage::Supervised) => {
                let line = descriptors.into_iter().next();
                supervisor = line.map(CreationReports::new).map(NameSupervisor);
                unsupervised = None;
            }
            Some(KeeperMessage::Unsupervised(errno)) => {
                unsupervised = Some(creation::why_not(Errno(errno.0)));
            }
            Some(KeeperMessage::Started(report)) => {
                return Ok(Ok(RunningKeeper {
                    keeper,
                    report,
                    door,
                    sockets,
                    observer,
                    unobserved,
                    supervisor,
                    unsupervised,
                    temporary: None,
                }));
            }
            Some(KeeperMessage::Refused(refusal)) => return Ok(Err(refusal)),
            Some(KeeperMessage::Ended(_)) | None => {
                return Err(broken(io::ErrorKind::UnexpectedEof.into()));
            }
        }
    }
}

fn confined(
    request: &SpawnRequest,
    tier: Tier,
    confinement: &ConfinementSteps,
    report: &KeeperReport,
) -> Status {
    let failed = report.failed();
    let accepted = ConfinementOutcome {
        failed: failed
            .map(|(place, errno)| (place as usize, Errno(errno.0)))
            .collect(),
        more: report.more() as usize,
        tasks_limited: report.tasks_limited,
        // Of everybody but root the kernel counts the processes by user as well.
        tasks_exact: report.tasks_exact || !rustix::process::geteuid().is_root(),
    };
    match &request.profile {
        Some(profile) => confine::status(profile, &request.limits, tier, confinement, &accepted),
        None => in_namespaces(*report),
    }
}

fn in_namespaces(report: KeeperReport) -> Status {
    let processes = match report.proc {
        None => Enforcement::Enforced,
        Some(errno) => Enforcement::PartlyEnforced {
            gaps: vec![format!(
                "/proc shows the processes of the host, because mounting a new one failed with {}",
                Errno(errno.0)
            )],
        },
    };
    unconfined(Enforcement::Enforced, processes)
}

fn by_adoption(why_not: String) -> Status {
    let tree = held_by_adoption(why_not.clone());
    unconfined(tree, Enforcement::NotEnforced { reason: why_not })
}

fn held_by_adoption(why_not: String) -> Enforcement {
    Enforcement::PartlyEnforced {
        gaps: vec![
            why_not,
            "a tool that stops or kills its keeper, or that starts processes faster than they are \
             found, can leave some behind"
                .to_owned(),
            "processes that run as another user are not ended".to_owned(),
        ],
    }
}

fn unconfined(tree: Enforcement, processes: Enforcement) -> Status {
    let not_asked_for = || Enforcement::NotEnforced {
        reason: "no confinement was asked for".to_owned(),
    };
    Status {
        tier: Tier::None,
        tree,
        processes,
        files: not_asked_for(),
        network: not_asked_for(),
        ipc: not_asked_for(),
        privileges: not_asked_for(),
        limits: not_asked_for(),
        unheld: Vec::new(),
        guarded_names: None,
    }
}

/// The standard streams: the tool's ends, and the host's ends of those that are piped.
struct StandardStreams {
    /// By number. A terminal is all three.
    tool_ends: Vec<OwnedFd>,
    stdin: Option<PipeWriter>,
    stdout: Option<PipeReader>,
    stderr: Option<PipeReader>,
}

impl StandardStreams {
    /// Takes given descriptors out of the request.
    fn open(request: &mut SpawnRequest) -> Result<Self, SpawnError> {
        if let Some(terminal) = request.terminal.take() {
            return Ok(Self {
                tool_ends: vec![terminal],
                stdin: None,
                stdout: None,
                stderr: None,
            });
        }
        let mut open = |stream: fn(&mut SpawnRequest) -> &mut Stdio, tool_reads: bool| {
            match std::mem::replace(stream(request), Stdio::Null) {
                Stdio::Given(fd) => Ok((fd, None)),
                Stdio::Null => null()
                    .map(|fd| (fd, None))
                    .map_err(|errno| failure::step(request, "opening `/dev/null`", errno)),
                Stdio::Piped => rustix::pipe::pipe_with(PipeFlags::CLOEXEC)
                    .map(|(reader, writer)| {
                        if tool_reads {
                            (reader, Some(writer))
                        } else {
                            (writer, Some(reader))
                        }
                    })
                    .map_err(|errno| failure::step(request, "making a pipe", errno)),
            }
        };
        let (input, stdin) = open(|request| &mut request.stdin, true)?;
        let (output, stdout) = open(|request| &mut request.stdout, false)?;
        let (error, stderr) = open(|request| &mut request.stderr, false)?;
        Ok(Self {
            tool_ends: vec![input, output, error],
            stdin: stdin.map(PipeWriter::from),
            stdout: stdout.map(PipeReader::from),
            stderr: stderr.map(PipeReader::from),
        })
    }

    fn tool_end(&self, number: usize) -> &OwnedFd {
        self.tool_ends.get(number).unwrap_or(&self.tool_ends[0])
    }
}

fn null() -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOCTTY;
    rustix::fs::open("/dev/null", flags, Mode::empty())
}

/// The resident memory from which on executing the launcher is cheaper than a fork.
const SMALL: usize = 32 << 20;
