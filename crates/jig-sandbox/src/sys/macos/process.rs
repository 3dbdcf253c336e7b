//! A program in a process group of its own, and the thread that waits for it.

use std::ffi::OsString;
use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::Access;
use rustix::process::{Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, WaitOptions};

use super::seatbelt::{self, seatbelt};
use crate::assessment::Tier;
use crate::process::{
    Containment, Enforcement, Exit, ProcessLimit, ProcessLimits, SpawnError, SpawnRequest, Status,
    Stdio, TreeUsage,
};

#[cfg(test)]
mod tests;

/// Starts a program, under the sandbox if the request has a profile.
#[cfg(target_os = "macos")]
pub(crate) fn spawn(request: SpawnRequest) -> Result<crate::process::StartedChild, SpawnError> {
    let unobserved = request
        .observe
        .then(|| "system calls can be watched on Linux only".to_owned());
    let launched = launch(request, Path::new("/usr/bin/sandbox-exec"))?;
    let [stdin, stdout, stderr] = launched.streams;
    Ok(crate::process::StartedChild {
        stdin: stdin.map(PipeWriter::from),
        stdout: stdout.map(PipeReader::from),
        stderr: stderr.map(PipeReader::from),
        door: None,
        gateway: None,
        observer: None,
        unobserved,
        supervisor: None,
        status: launched.status,
        process: launched.process,
    })
}

/// A program that runs, and the host's ends of its streams.
struct LaunchedProcess {
    streams: [Option<OwnedFd>; 3],
    status: Status,
    process: ProcessTree,
}

fn launch(mut request: SpawnRequest, sandbox: &Path) -> Result<LaunchedProcess, SpawnError> {
    let program = request.program.as_os_str().to_string_lossy().into_owned();
    if request.containment == Containment::Required {
        return Err(SpawnError::Containment {
            program,
            reason: "macOS has no process namespaces".to_owned(),
        });
    }
    let failed = |step| {
        let program = program.clone();
        move |source| SpawnError::Step {
            program,
            step,
            source,
        }
    };
    let (mut command, status) = command(&request, sandbox)?;
    let mut streams = [None, None, None];
    for (number, end) in streams.iter_mut().enumerate() {
        let (theirs, ours) = stream(&mut request, number).map_err(failed("making a pipe"))?;
        *end = ours;
        match number {
            0 => command.stdin(theirs),
            1 => command.stdout(theirs),
            _ => command.stderr(theirs),
        };
    }
    let passed =
        PassedDescriptors::new(&request).map_err(failed("making room for its descriptors"))?;
    passed.prepare(&mut command, request.limits, request.terminal.is_some());
    let child = command
        .spawn()
        .map_err(|source| not_started(&program, &request, source))?;
    let process = ProcessTree::watch(child).map_err(failed("watching it"))?;
    Ok(LaunchedProcess {
        streams,
        status,
        process,
    })
}

/// The command with all but streams and descriptors.
fn command(request: &SpawnRequest, sandbox: &Path) -> Result<(Command, Status), SpawnError> {
    let name = || request.program.as_os_str().to_string_lossy().into_owned();
    let file = find(request).ok_or_else(|| SpawnError::NotFound {
        program: name(),
        searched: request
            .env
            .get(std::ffi::OsStr::new("PATH"))
            .map(|path| path.to_string_lossy().into_owned()),
    })?;
    #[expect(
        clippy::disallowed_methods,
        reason = "starting programs is what this is for"
    )]
    let (mut command, status) = match &request.profile {
        None => (Command::new(file), not_asked_for()),
        Some(profile) => {
            if let Some(overlay) = profile.overlays.first() {
                return Err(SpawnError::Confinement {
                    program: name(),
                    reason: format!(
                        "there are no layers on macOS, so that the tool would change the files of `{}` \
                         themselves; run it without a layer",
                        overlay.path.display()
                    ),
                });
            }
            let mut rules = seatbelt(profile).map_err(|unspeakable| SpawnError::Confinement {
                program: name(),
                reason: unspeakable.to_string(),
            })?;
            if let Some(terminal) = &request.terminal {
                let own = rustix::termios::ttyname(terminal, Vec::new()).ok();
                let own = own.map(|own| PathBuf::from(OsString::from_vec(own.into_bytes())));
                rules.push_str(&seatbelt::terminal(own.as_deref()));
            }
            let mut command = Command::new(sandbox);
            command.arg("-p").arg(rules).arg(file);
            (command, seatbelt::status(profile, &request.limits))
        }
    };
    command
        .args(&request.args)
        .env_clear()
        .envs(&request.env)
        .current_dir(&request.cwd);
    if request.terminal.is_none() {
        command.process_group(0);
    }
    Ok((command, status))
}

/// The first file that can be executed.
fn find(request: &SpawnRequest) -> Option<PathBuf> {
    request
        .program
        .candidates(&request.env)
        .into_iter()
        .find(|file| rustix::fs::access(file, Access::EXEC_OK).is_ok())
}

fn not_started(program: &str, request: &SpawnRequest, source: io::Error) -> SpawnError {
    let program = program.to_owned();
    if rustix::fs::access(&request.cwd, Access::EXEC_OK).is_err() {
        return SpawnError::WorkingDirectory {
            program,
            directory: request.cwd.to_string_lossy().into_owned(),
            source,
        };
    }
    SpawnError::NotExecutable { program, source }
}

fn not_asked_for() -> Status {
    let not = || Enforcement::NotEnforced {
        reason: "no confinement was asked for".to_owned(),
    };
    Status {
        tier: Tier::None,
        tree: Enforcement::but_for(vec![
            "a process that leaves the process group of the tool outlives it".to_owned(),
        ]),
        processes: not(),
        files: not(),
        network: not(),
        ipc: not(),
        privileges: not(),
        limits: not(),
        unheld: Vec::new(),
        // On Linux only.
        guarded_names: None,
    }
}

/// One of the three streams: the program's end, and the host's if it is piped.
fn stream(
    request: &mut SpawnRequest,
    number: usize,
) -> io::Result<(std::process::Stdio, Option<OwnedFd>)> {
    if let Some(terminal) = &request.terminal {
        return Ok((terminal.try_clone()?.into(), None));
    }
    let wanted = match number {
        0 => &mut request.stdin,
        1 => &mut request.stdout,
        _ => &mut request.stderr,
    };
    match std::mem::replace(wanted, Stdio::Null) {
        Stdio::Null => Ok((std::process::Stdio::null(), None)),
        Stdio::Given(fd) => Ok((fd.into(), None)),
        Stdio::Piped => {
            let (reader, writer) = io::pipe()?;
            let (reader, writer) = (OwnedFd::from(reader), OwnedFd::from(writer));
            Ok(match number {
                0 => (reader.into(), Some(writer)),
                _ => (writer.into(), Some(reader)),
            })
        }
    }
}

/// Descriptors on their way to the program.
struct PassedDescriptors {
    /// Copies above all numbers that the program gets, so that none overwrites another.
    copies: Vec<(OwnedFd, RawFd)>,
    /// Keeps the numbers taken in the host until the program runs: the library would use one of them for
    /// a pipe that reports whether it does.
    _taken: Vec<OwnedFd>,
}

impl PassedDescriptors {
    fn new(request: &SpawnRequest) -> io::Result<Self> {
        let numbers = request.descriptors.iter().map(|(number, _)| *number);
        let above = numbers.max().unwrap_or(2).saturating_add(1);
        let (mut copies, mut taken) = (Vec::new(), Vec::new());
        for (number, fd) in &request.descriptors {
            if *number < 3 || copies.iter().any(|(_, other)| other == number) {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidInput,
                    "the number of a descriptor is taken",
                ));
            }
            copies.push((rustix::io::fcntl_dupfd_cloexec(fd, above)?, *number));
            taken.push(rustix::io::fcntl_dupfd_cloexec(fd, *number)?);
        }
        Ok(Self {
            copies,
            _taken: taken,
        })
    }

    /// Has the program's process put descriptors and limits in place before it becomes the program.
    /// With a terminal, its standard input becomes what controls a new session.
    fn prepare(&self, command: &mut Command, limits: ProcessLimits, has_terminal: bool) {
        let moves: Vec<(RawFd, RawFd)> = self
            .copies
            .iter()
            .map(|(copy, number)| (copy.as_raw_fd(), *number))
            .collect();
        let work = move || {
            if has_terminal {
                rustix::process::setsid()?;
                rustix::process::ioctl_tiocsctty(standard_input())?;
            }
            for (resource, limit) in [
                (Resource::Nofile, limits.descriptors),
                (Resource::Fsize, limits.file_size),
                (Resource::Core, limits.core),
            ] {
                lower(resource, limit)?;
            }
            moves
                .iter()
                .try_for_each(|(copy, number)| place(*copy, *number))
        };
        #[expect(
            unsafe_code,
            reason = "a forked process does a few things before it executes"
        )]
        // SAFETY: the work only makes system calls, and allocates nothing.
        unsafe {
            command.pre_exec(work);
        }
    }
}

/// The standard input of this process, which has one.
fn standard_input() -> BorrowedFd<'static> {
    const STANDARD_INPUT: RawFd = 0;
    #[expect(unsafe_code, reason = "a forked process takes on its terminal")]
    // SAFETY: the library has just put it there, and nothing closes it before the program runs.
    unsafe {
        BorrowedFd::borrow_raw(STANDARD_INPUT)
    }
}

/// Sets a limit, but never above the host's own.
fn lower(resource: Resource, limit: Option<u64>) -> io::Result<()> {
    let Some(limit) = limit else {
        return Ok(());
    };
    let own = rustix::process::getrlimit(resource).maximum;
    let limit = own.map_or(limit, |own| own.min(limit));
    let both = Rlimit {
        current: Some(limit),
        maximum: Some(limit),
    };
    Ok(rustix::process::setrlimit(resource, both)?)
}

/// Gives a copy its number. It stays open when the program is executed.
fn place(copy: RawFd, number: RawFd) -> io::Result<()> {
    #[expect(unsafe_code, reason = "numbers of descriptors are handed over a fork")]
    // SAFETY: the copy is open in the host, which waits; whatever has the number in this process is
    // replaced, and is not closed by the descriptor here, which is forgotten.
    unsafe {
        let mut target = std::mem::ManuallyDrop::new(OwnedFd::from_raw_fd(number));
        rustix::io::dup2(BorrowedFd::borrow_raw(copy), &mut target)?;
    }
    Ok(())
}

/// A program that was started, with its process group.
#[derive(Debug)]
pub(crate) struct ProcessTree {
    group: Pid,
    shared: Arc<SharedExit>,
    /// Comes to its end when the program has.
    end: OwnedFd,
}

#[derive(Debug)]
struct SharedExit {
    /// How it ended. The program is reaped under this lock, so that its number, and that of its group,
    /// is nobody else's while there is nothing in here.
    exit: Mutex<Option<Exit>>,
    ended: Condvar,
}

impl ProcessTree {
    /// Starts a thread that waits for the program.
    fn watch(mut child: Child) -> io::Result<Self> {
        let group = Pid::from_child(&child);
        let shared = Arc::new(SharedExit {
            exit: Mutex::new(None),
            ended: Condvar::new(),
        });
        let (end, open) = io::pipe().inspect_err(|_| abandon(&mut child, group))?;
        let theirs = Arc::clone(&shared);
        let wait = move || {
            // It is not reaped yet: first goes what it left behind.
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
            while rustix::process::waitid(WaitId::Pid(group), options).is_err_and(is_interruption) {
            }
            let mut exit = theirs.exit.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
            *exit = Some(child.wait().map_or(LOST, how));
            theirs.ended.notify_all();
            drop(open);
        };
        let thread = std::thread::Builder::new().name("jig-wait".to_owned());
        if let Err(error) = thread.spawn(wait) {
            // Nobody has waited for it: its number is still its own.
            let _ = rustix::process::kill_process_group(group, Signal::KILL);
            let _ = rustix::process::waitpid(Some(group), WaitOptions::empty());
            return Err(error);
        }
        Ok(Self {
            group,
            shared,
            end: end.into(),
        })
    }

    pub(crate) fn id(&self) -> u32 {
        self.group.as_raw_pid().cast_unsigned()
    }

    pub(crate) fn wait(&self, limit: Option<Duration>) -> io::Result<Option<Exit>> {
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        let lock = self.shared.exit.lock();
        let mut exit = lock.unwrap_or_else(PoisonError::into_inner);
        while exit.is_none() {
            let left = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            exit = match left {
                Some(Duration::ZERO) => break,
                Some(left) => {
                    let waited = self.shared.ended.wait_timeout(exit, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => {
                    let waited = self.shared.ended.wait(exit);
                    waited.unwrap_or_else(PoisonError::into_inner)
                }
            };
        }
        Ok(*exit)
    }

    pub(crate) fn terminate(&self) {
        self.send(Signal::TERM);
    }

    pub(crate) fn signal(&self, signal: i32) {
        if let Some(signal) = Signal::from_named_raw(signal) {
            self.send(signal);
        }
    }

    pub(crate) fn kill(&self) {
        self.send(Signal::KILL);
    }

    fn send(&self, signal: Signal) {
        let lock = self.shared.exit.lock();
        if lock.unwrap_or_else(PoisonError::into_inner).is_none() {
            let _ = rustix::process::kill_process_group(self.group, signal);
        }
    }

    /// Nobody looks for them here yet.
    pub(crate) fn left_behind(&self) -> Vec<String> {
        Vec::new()
    }

    /// Nobody watches limits here.
    pub(crate) fn reached(&self) -> Vec<ProcessLimit> {
        Vec::new()
    }

    /// Nobody counts here yet.
    pub(crate) fn usage(&self) -> TreeUsage {
        TreeUsage::default()
    }

    pub(crate) fn end_descriptor(&self) -> BorrowedFd<'_> {
        self.end.as_fd()
    }
}

impl Drop for ProcessTree {
    fn drop(&mut self) {
        self.kill();
        let _ = self.wait(None);
    }
}

/// Ends a program that cannot be watched.
fn abandon(child: &mut Child, group: Pid) {
    let _ = rustix::process::kill_process_group(group, Signal::KILL);
    let _ = child.wait();
}

fn is_interruption(errno: rustix::io::Errno) -> bool {
    errno == rustix::io::Errno::INTR
}

fn how(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Exited { code },
        (None, signal) => Exit::Killed {
            signal: signal.unwrap_or(0),
            core: status.core_dumped(),
        },
    }
}

/// For a child that somebody else has waited for.
const LOST: Exit = Exit::Exited { code: -1 };
