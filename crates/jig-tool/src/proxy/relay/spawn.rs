//! [`RelayChild`]: a program that a relay has started.

use std::io;
use std::process::{self, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use command_fds::{CommandFdExt, FdMapping};
use jig_proto::fsproxy::{DESCRIPTOR, DESCRIPTOR_VARIABLE};
use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions};

use super::super::{lock, wait_on};
use super::child::ChildConnection;
use super::{AttachedChild, ChildOptions, Relay};

/// A program that was started by [`Relay::spawn`].
///
/// When it exits, what it has open is closed, whether or not anybody waits for it and whoever may have
/// inherited its connection. Dropping this leaves it running.
#[derive(Debug)]
pub struct RelayChild {
    /// Writes to its standard input, if the command asked for a pipe.
    pub stdin: Option<ChildStdin>,
    /// Reads from its standard output, if the command asked for a pipe.
    pub stdout: Option<ChildStdout>,
    /// Reads from its standard error, if the command asked for a pipe.
    pub stderr: Option<ChildStderr>,
    attached: AttachedChild,
    process: Arc<RelayChildProcess>,
    pid: u32,
}

#[derive(Debug)]
struct RelayChildProcess {
    /// It is waited for only here, by the thread that watches it, so its number is not used again as
    /// long as somebody may send it a signal.
    child: Mutex<process::Child>,
    status: Mutex<Option<Result<ExitStatus, io::ErrorKind>>>,
    exited: Condvar,
}

impl RelayChild {
    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.pid
    }

    /// Its connection.
    pub fn attached(&self) -> &AttachedChild {
        &self.attached
    }

    /// Waits until the program has exited. Closes the pipe to its standard input before, so that it
    /// does not wait for more.
    ///
    /// # Errors
    ///
    /// If the operating system does not say how it ended.
    pub fn wait(&mut self) -> io::Result<ExitStatus> {
        drop(self.stdin.take());
        let mut status = lock(&self.process.status);
        loop {
            match *status {
                Some(Ok(status)) => return Ok(status),
                Some(Err(kind)) => return Err(kind.into()),
                None => status = wait_on(&self.process.exited, status),
            }
        }
    }

    /// How the program ended; `None` while it runs.
    ///
    /// # Errors
    ///
    /// If the operating system does not say.
    pub fn try_wait(&self) -> io::Result<Option<ExitStatus>> {
        let status = *lock(&self.process.status);
        Ok(status.transpose()?)
    }

    /// Kills the program, if it still runs.
    ///
    /// # Errors
    ///
    /// If the operating system refuses.
    pub fn kill(&self) -> io::Result<()> {
        lock(&self.process.child).kill()
    }
}

pub(super) fn spawn(
    relay: &Relay,
    mut command: Command,
    options: ChildOptions,
) -> io::Result<RelayChild> {
    let (attached, theirs) = relay.attach(options)?;
    command.env(DESCRIPTOR_VARIABLE, DESCRIPTOR.to_string());
    // The standard library has a descriptor of its own between fork and exec, to tell how the exec
    // went. If that were number 3, it would be overwritten: so 3 is in use here, by whatever it is.
    let is_in_use = rustix::io::fcntl_dupfd_cloexec(&theirs, DESCRIPTOR)?;
    // The descriptor gets its number in the new process only. Here it closes on exec all the time, so
    // that whatever other threads start at this moment does not inherit it.
    let started = command
        .fd_mappings(vec![FdMapping {
            parent_fd: theirs,
            child_fd: DESCRIPTOR,
        }])
        .map_err(io::Error::other)
        .and_then(|command| command.spawn());
    // With it goes our copy of the program's end.
    drop((command, is_in_use));
    match started.and_then(|child| watch(child, &attached)) {
        Ok(child) => Ok(child),
        Err(error) => {
            attached.end();
            Err(error)
        }
    }
}

/// Has a thread wait for the exit.
fn watch(mut child: process::Child, attached: &AttachedChild) -> io::Result<RelayChild> {
    let pid = child.id();
    attached.connection.is_process(pid);
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let process = Arc::new(RelayChildProcess {
        child: Mutex::new(child),
        status: Mutex::new(None),
        exited: Condvar::new(),
    });
    let watched = Arc::clone(&process);
    let connection = Arc::clone(&attached.connection);
    let thread = thread::Builder::new()
        .name(format!("proxy-{}-exit", attached.id()))
        .spawn(move || watched.watch(pid, &connection));
    if let Err(error) = thread {
        // Nobody would notice its end.
        let mut child = lock(&process.child);
        let _ = child.kill();
        let _ = child.wait();
        return Err(error);
    }
    Ok(RelayChild {
        stdin,
        stdout,
        stderr,
        attached: attached.clone(),
        process,
        pid,
    })
}

impl RelayChildProcess {
    fn watch(&self, pid: u32, connection: &ChildConnection) {
        wait_for_exit(pid);
        connection.hang_up();
        let status = lock(&self.child).wait().map_err(|error| error.kind());
        *lock(&self.status) = Some(status);
        self.exited.notify_all();
    }
}

/// Waits for the exit, and leaves the status for the one who owns the process.
fn wait_for_exit(pid: u32) {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
        return;
    };
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(Errno::INTR) = rustix::process::waitid(WaitId::Pid(pid), options) {}
}
