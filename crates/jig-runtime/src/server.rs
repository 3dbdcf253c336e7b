//! [`ServerProcess`]: a program that stays and is spoken to by somebody else, such as an MCP server.
//!
//! It is started as the program of a tool is, with the same sandbox, gateway and door. What a tool is told at
//! the end of its run is told of a server while it runs: what it was refused, what it left where nothing may
//! be, and what it says on standard error. A thread of its own attends to it, which also cleans up after it.
//!
//! Its standard input and output are not read here: [`ServerProcess::take_streams`] hands them over.

mod refusals;
mod standard_error;

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use jig_broker::{Broker, ProgramReach, ProgramStreams, RunRecord, Scrubber};
use jig_proto::Denial;
use jig_sandbox::{Child, Exit, Interest, ProcessLimits, Stdio, Waker, poll, set_nonblocking};

use self::refusals::ServerRefusals;
use self::standard_error::ServerStderr;
use crate::launch::{LaunchedProgram, launch};
use crate::{Plan, ReachedLimit, StartError};

/// What a server is started with.
pub struct ServerPlan {
    /// Its command, its broker and its limits. Of what speaks of a call, nothing counts.
    pub plan: Plan,
    /// The table of the configuration that declares it, by its dotted name: `mcp.servers.git`.
    pub table: String,
    /// Variables that are set in its environment whatever its rules say.
    pub env: Vec<(String, String)>,
}

/// Without the words and variables that it is started with: they may be secrets.
impl fmt::Debug for ServerPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerPlan")
            .field("table", &self.table)
            .finish_non_exhaustive()
    }
}

/// A server that runs.
///
/// Every method may be called from any thread. Dropping it kills the whole tree of processes, and returns when
/// it is gone and cleaned up after, which is a matter of moments, but blocks.
pub struct ServerProcess {
    inner: Arc<ServerProcessState>,
    /// The writing end of its standard input and the reading end of its standard output.
    streams: Mutex<Option<(OwnedFd, OwnedFd)>>,
    attendant: Option<JoinHandle<()>>,
}

/// A moment in the life of a server, from which on something is asked for. The default is its start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServerMark {
    /// What was seen in batches up to this one was seen before.
    batch: u64,
    /// How much it had said by then.
    said: u64,
}

/// What the attendant knows, too.
struct ServerProcessState {
    child: Arc<Child>,
    broker: Broker,
    table: String,
    limits: ProcessLimits,
    warnings: Vec<String>,
    errors: Mutex<ServerStderr>,
    refused: ServerRefusals,
    life: Mutex<ServerLife>,
    over: Condvar,
    waker: Waker,
    /// Its start in the log, until its end is there, too.
    record: Mutex<Option<RunRecord>>,
}

/// What came of it so far.
#[derive(Default)]
struct ServerLife {
    /// How it ended.
    ended: Option<String>,
    /// Whether somebody here has ended it.
    stopped: bool,
    hooks: Vec<Box<dyn FnOnce() + Send>>,
}

impl ServerProcess {
    /// Starts a server. When this returns, its program runs.
    ///
    /// # Errors
    ///
    /// If it cannot be confined as its rules demand, or not be started.
    pub fn start(server: ServerPlan) -> Result<Self, StartError> {
        let ServerPlan { plan, table, env } = server;
        // Neither its words nor its variables: they may be secrets.
        let record = plan.broker.record_run("mcp.start", plan.name.as_str(), "");
        let mut record = record.map_err(StartError::Log)?;
        let launched = launch(
            &plan,
            &plan.input,
            ProgramReach::Workspace,
            plan.observe,
            |request| {
                request.stdin = Stdio::Piped;
                let env = env.into_iter();
                request
                    .env
                    .extend(env.map(|(name, value)| (name.into(), value.into())));
            },
        )?;
        let LaunchedProgram {
            mut program,
            warnings,
            ..
        } = launched;
        let ProgramStreams {
            stdin,
            stdout,
            stderr,
        } = std::mem::take(&mut program.streams);
        let (Some(stdin), Some(stdout)) = (stdin, stdout) else {
            return Err(StartError::Setup(io::Error::other("it has no pipes")));
        };
        set_nonblocking(stdin.as_fd(), true)?;
        set_nonblocking(stdout.as_fd(), true)?;
        if let Some(stderr) = &stderr {
            set_nonblocking(stderr.as_fd(), true)?;
        }
        let broker = plan.broker;
        record.started();
        let inner = Arc::new(ServerProcessState {
            record: Mutex::new(Some(record)),
            child: Arc::clone(program.child()),
            table,
            limits: *program.limits(),
            warnings,
            errors: Mutex::new(ServerStderr::new(stderr, broker.secrets())),
            refused: ServerRefusals::new(broker.clone(), program),
            broker,
            life: Mutex::default(),
            over: Condvar::new(),
            waker: Waker::new()?,
        });
        let attended = Arc::clone(&inner);
        let attendant = thread::Builder::new().name("jig-server".to_owned());
        let attendant = attendant.spawn(move || attended.attend())?;
        Ok(Self {
            inner,
            streams: Mutex::new(Some((stdin.into(), stdout.into()))),
            attendant: Some(attendant),
        })
    }

    /// The pipes to its standard input and from its standard output, once. Neither blocks.
    pub fn take_streams(&self) -> Option<(OwnedFd, OwnedFd)> {
        let streams = self.streams.lock();
        streams.unwrap_or_else(PoisonError::into_inner).take()
    }

    /// How it ended, in words that follow its name, such as `exited with code 1`; `None` while it runs.
    pub fn ended(&self) -> Option<String> {
        self.inner.life().ended.clone()
    }

    /// Calls `hook` when it has ended and was cleaned up after, on a thread of its own; at once if it has.
    pub fn on_end(&self, hook: impl FnOnce() + Send + 'static) {
        let mut life = self.inner.life();
        if life.ended.is_none() {
            life.hooks.push(Box::new(hook));
            return;
        }
        drop(life);
        hook();
    }

    /// The end of what it said on standard error: at most 4 KiB, without control characters and secrets.
    pub fn last_words(&self) -> String {
        let mut errors = self.inner.errors();
        errors.read();
        errors.last_words()
    }

    /// This moment, for [`refused_since`](Self::refused_since). It costs little.
    pub fn mark(&self) -> ServerMark {
        let said = {
            let mut errors = self.inner.errors();
            errors.read();
            errors.total()
        };
        let batch = self.inner.refused.mark();
        if self.inner.refused.has_waiting() {
            self.inner.waker.wake();
        }
        ServerMark { batch, said }
    }

    /// What it was refused since a moment, each once, the most telling first: files and programs, hosts, programs that
    /// its rules do not name, variables that it named on standard error and was not given. If it is not watched, what
    /// it said on standard error is all that is known of files. What it asked for before an answer that it gave is in it when the answer has arrived.
    ///
    /// Several calls can be under way, and nobody knows for which of them it wanted something: each is told.
    /// A server that was refused something may have done without.
    pub fn refused_since(&self, mark: &ServerMark) -> Vec<Denial> {
        let said = {
            let mut errors = self.inner.errors();
            errors.read();
            errors.since(mark.said)
        };
        self.inner.refused.since(mark.batch, &said)
    }

    /// Whether [`told_since`](Self::told_since) is worth asking. This costs little, and waits for nothing.
    pub fn may_have_refused(&self, mark: &ServerMark) -> bool {
        self.inner.refused.may_have_refused(mark.batch)
    }

    /// What it was seen to be refused since a moment, each once. In contrast to
    /// [`refused_since`](Self::refused_since) nothing is guessed, and nothing is looked for.
    pub fn told_since(&self, mark: &ServerMark) -> Vec<Denial> {
        self.inner.refused.told_since(mark.batch)
    }

    /// What it left since a moment where nothing may come into being, and what was moved away therefore. A call
    /// during which that happened has failed, whatever the server says. [`refused_since`](Self::refused_since)
    /// tells it, too. It may look at all of the workspace: [`may_have_intruded`](Self::may_have_intruded) says
    /// whether it would.
    pub fn intruded_since(&self, mark: &ServerMark) -> Vec<Denial> {
        self.inner.refused.intruded_since(mark.batch)
    }

    /// Whether [`intruded_since`](Self::intruded_since) is worth asking. This costs little, and waits for nothing.
    pub fn may_have_intruded(&self, mark: &ServerMark) -> bool {
        self.inner.refused.may_have_intruded(mark.batch)
    }

    /// What a text of the server names and it was not given. Nobody can see it look for a variable of the host, but
    /// what fails for the lack of one says so, in its results, too. The same goes for files and hosts if the server
    /// is not watched. What is `known` is left out.
    pub fn refused_by_its_words(&self, said: &str, known: &[Denial]) -> Vec<Denial> {
        self.inner.refused.named(said, known)
    }

    /// What removes the values that the server was given as secrets; `None` if there are none.
    pub fn scrubber(&self) -> Option<Scrubber> {
        self.inner.broker.secrets().scrubber()
    }

    /// The text without the values that the server was given as secrets.
    pub fn scrub<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(scrubber) = self.scrubber() else {
            return Cow::Borrowed(text);
        };
        match scrubber.bytes(text.as_bytes()) {
            Cow::Borrowed(_) => Cow::Borrowed(text),
            Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
        }
    }

    /// What a person should know about its confinement, a sentence each without a period.
    pub fn warnings(&self) -> &[String] {
        &self.inner.warnings
    }

    /// The process id of the root of its tree.
    pub fn pid(&self) -> u32 {
        self.inner.child.id()
    }

    /// Ends it in order: its standard input is closed if that is still here, and it has `grace` to end by
    /// itself; then it is asked to, and has as long again; then it is killed. Returns when it is gone and
    /// cleaned up after.
    pub fn stop(&self, grace: Duration) {
        drop(self.take_streams());
        self.inner.life().stopped = true;
        if self.inner.is_over_in(grace) {
            return;
        }
        self.inner.child.terminate();
        if !self.inner.is_over_in(grace) {
            self.inner.child.kill();
            self.inner.is_over_in(KILLED);
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.inner.life().stopped = true;
        self.inner.child.kill();
        self.inner.waker.wake();
        // A hook that runs on that thread may be who drops this.
        if let Some(attendant) = self.attendant.take()
            && attendant.thread().id() != thread::current().id()
        {
            // A panic there ended it, which is what is wanted.
            let _ = attendant.join();
        }
    }
}

impl fmt::Debug for ServerProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerProcess")
            .field("table", &self.inner.table)
            .field("pid", &self.pid())
            .field("ended", &self.ended())
            .finish_non_exhaustive()
    }
}

impl ServerProcessState {
    /// Attends to the server until it has ended, and cleans up.
    fn attend(&self) {
        let exit = self.until_exit();
        // All that it started is gone before anybody hears of its end.
        self.child.kill();
        let exit = exit.and_then(|_| self.child.wait());
        self.errors().finish();
        self.refused.finish();
        let mut life = self.life();
        let how = self.end_in_words(exit, life.stopped);
        let record = self.record.lock();
        let record = record.unwrap_or_else(PoisonError::into_inner).take();
        if let Some(record) = record {
            let outcome = if life.stopped { "ok" } else { "error" };
            // Who calls it next is told if the log cannot be written.
            let _ = record.end(outcome, &how);
        }
        life.ended = Some(how);
        let hooks = std::mem::take(&mut life.hooks);
        drop(life);
        self.over.notify_all();
        for hook in hooks {
            hook();
        }
    }

    fn until_exit(&self) -> io::Result<Exit> {
        loop {
            let pause = self.errors().read();
            let tick = self.refused.attend();
            let stderr = self.errors().pipe();
            let mut interests = vec![Interest::Exited(&self.child), Interest::Woken(&self.waker)];
            // What floods us is left where it is for a while: its own pipe holds it up.
            if let (Some(stderr), None) = (&stderr, pause) {
                interests.push(Interest::Readable(stderr.as_fd()));
            }
            let limit = [pause, tick].into_iter().flatten().min();
            let ready = poll(&interests, limit)?;
            self.waker.clear();
            if ready.contains(0)
                && let Some(exit) = self.child.try_wait()?
            {
                return Ok(exit);
            }
        }
    }

    /// How it ended, to follow its name.
    fn end_in_words(&self, exit: io::Result<Exit>, stopped: bool) -> String {
        let exit = match exit {
            Ok(exit) => exit,
            Err(error) => return format!("cannot be watched any more: {error}"),
        };
        let reached = ReachedLimit::by(&self.child, &self.limits);
        if let Some(reached) = ReachedLimit::deadly(&reached, exit) {
            return format!(
                "{reached} (`{}.{}` sets the limit)",
                self.table,
                reached.key()
            );
        }
        match stopped {
            true => "was stopped".to_owned(),
            false => exit.to_string(),
        }
    }

    fn is_over_in(&self, limit: Duration) -> bool {
        let life = self.life();
        let waited = self
            .over
            .wait_timeout_while(life, limit, |life| life.ended.is_none());
        let (life, _) = waited.unwrap_or_else(PoisonError::into_inner);
        life.ended.is_some()
    }

    fn errors(&self) -> MutexGuard<'_, ServerStderr> {
        self.errors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn life(&self) -> MutexGuard<'_, ServerLife> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was killed is gone in moments. A kernel that does not let go of a process is not waited for.
const KILLED: Duration = Duration::from_secs(10);
