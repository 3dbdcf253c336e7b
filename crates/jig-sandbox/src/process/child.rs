//! [`Child`]: a running program and all that it starts.

use std::io::{self, PipeReader, PipeWriter};
use std::time::Duration;

use super::exit::Exit;
use super::gateway::GatewaySockets;
use super::observe::Observer;
use super::request::ProcessLimit;
use super::status::Status;
use super::supervise::NameSupervisor;
use super::usage::TreeUsage;
use crate::sys::{BorrowedDescriptor, Descriptor, ProcessTree};

/// A running program and all that it starts.
///
/// Every method may be called from any thread, also while another one waits. Dropping it kills the whole
/// tree and reaps it; pipes that were taken out stay readable to their end.
///
/// The child raises no `SIGCHLD` in the host and is invisible to a `waitpid(-1)` elsewhere in it, unless it
/// was started by [`Launch::Launcher`](super::Launch::Launcher): then its keeper is an ordinary child of
/// the host. A `waitpid(-1)` that takes it away does no harm.
#[derive(Debug)]
pub struct Child {
    /// The writing end of its standard input, if piped. Dropping it lets the program read the end.
    pub stdin: Option<PipeWriter>,
    /// The reading end of its standard output, if piped.
    pub stdout: Option<PipeReader>,
    /// The reading end of its standard error, if piped.
    pub stderr: Option<PipeReader>,
    /// The listening socket at the profile's door, if it has one.
    pub door: Option<Descriptor>,
    /// The sockets at which its connections arrive, if its profile has a gateway. Dropping them leaves it
    /// without a network.
    pub gateway: Option<GatewaySockets>,
    /// Who watches what it asks the kernel for, if the request wanted that and it can be had.
    pub observer: Option<Observer>,
    /// Why there is no observer although the request wanted one.
    pub unobserved: Option<String>,
    /// Who performs what makes names in it, if its profile guards any and that can be had: see [`Status::guarded_names`].
    pub supervisor: Option<NameSupervisor>,
    /// What is enforced on it.
    pub status: Status,
    process: ProcessTree,
}

impl Child {
    pub(crate) fn new(started: StartedChild) -> Self {
        let StartedChild {
            stdin,
            stdout,
            stderr,
            door,
            gateway,
            observer,
            unobserved,
            supervisor,
            status,
            process,
        } = started;
        Self {
            stdin,
            stdout,
            stderr,
            door,
            gateway,
            observer,
            unobserved,
            supervisor,
            status,
            process,
        }
    }

    /// The process id of the root of its tree, as the host sees it. It is that of the keeper, the
    /// parent of the program.
    pub fn id(&self) -> u32 {
        self.process.id()
    }

    /// Waits until the program has ended.
    ///
    /// With it ends what it left running: afterwards no process of the tree is alive, as far as the
    /// status promises, and the pipes come to their end.
    pub fn wait(&self) -> io::Result<Exit> {
        loop {
            if let Some(exit) = self.process.wait(None)? {
                return Ok(exit);
            }
        }
    }

    /// How it ended; `None` if it still runs.
    pub fn try_wait(&self) -> io::Result<Option<Exit>> {
        self.process.wait(Some(Duration::ZERO))
    }

    /// Waits for at most `limit`; `None` if it still runs then.
    pub fn wait_timeout(&self, limit: Duration) -> io::Result<Option<Exit>> {
        self.process.wait(Some(limit))
    }

    /// Asks every process of the tree to end, by `SIGTERM`. They may take their time, or refuse.
    ///
    /// Without namespaces this reaches the program's process group and orphans, but no process that left
    /// the group and still has its parent: its number could be another's by the time of the signal.
    pub fn terminate(&self) {
        self.process.terminate();
    }

    /// Sends a signal to every process of the tree, as far as [`terminate`](Self::terminate) reaches.
    /// Numbers that are no signal are passed over.
    pub fn signal(&self, signal: i32) {
        self.process.signal(signal);
    }

    /// Kills every process of the tree. It does not wait for their end, which is at most moments away.
    ///
    /// Without namespaces they are hunted down one generation after the other, and this returns when that is
    /// done, after a few seconds at the latest.
    pub fn kill(&self) {
        self.process.kill();
    }

    /// Asks the tree to end, and kills what has not ended after `grace`.
    pub fn end(&self, grace: Duration) -> io::Result<Exit> {
        self.terminate();
        if let Some(exit) = self.wait_timeout(grace)? {
            return Ok(exit);
        }
        self.kill();
        self.wait()
    }

    /// The limits that the tree is known to have come up against, so far as that was noticed. It is
    /// complete when the child has been waited for.
    pub fn reached(&self) -> Vec<ProcessLimit> {
        self.process.reached()
    }

    /// The names of processes that were still running when the program had ended by itself, and that were ended with
    /// it: the first few, where there are namespaces. A process chooses its name. It is complete when the child has
    /// been waited for.
    pub fn left_behind(&self) -> Vec<String> {
        self.process.left_behind()
    }

    /// What the tree uses now, as far as that can be seen; nothing once it has ended. It reads a few small
    /// files for each process, so that hundreds of children can be asked at once.
    pub fn usage(&self) -> TreeUsage {
        self.process.usage()
    }

    /// A descriptor that [`super::poll`] finds readable when the tree has ended.
    pub(crate) fn end_descriptor(&self) -> BorrowedDescriptor<'_> {
        self.process.end_descriptor()
    }
}

/// What a platform returns from a start.
pub(crate) struct StartedChild {
    pub(crate) stdin: Option<PipeWriter>,
    pub(crate) stdout: Option<PipeReader>,
    pub(crate) stderr: Option<PipeReader>,
    pub(crate) door: Option<Descriptor>,
    pub(crate) gateway: Option<GatewaySockets>,
    pub(crate) observer: Option<Observer>,
    pub(crate) unobserved: Option<String>,
    pub(crate) supervisor: Option<NameSupervisor>,
    pub(crate) status: Status,
    pub(crate) process: ProcessTree,
}
