//! [`RunningProgram`]: a program under a policy, from its start to its end.
//!
//! Every program that a policy holds is started by [`Broker::start`]: a tool's own, one that a tool has run, a
//! command of a person, an MCP server. The running program owns all that belongs to it: its child, its network, its
//! door, its observer, its private files, and the journal of names that may not come into being. While it runs it
//! tells what is [new](RunningProgram::news); [`RunningProgram::finish`] ends, explains, sweeps and reports.

use std::any::Any;
use std::fmt;
use std::io::{self, PipeReader, PipeWriter};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use camino::{Utf8Path, Utf8PathBuf};
use jig_proto::Denial;
use jig_sandbox::{
    Child, Descriptor, Enforce, Enforcement, NameSupervisor, Network, Observation, Observer,
    PROXY_PORT, ProcessLimit, ProcessLimits, Profile, SpawnError, SpawnRequest, Status, Tier,
    spawn,
};

use crate::broker::{Broker, BrokerCore};
use crate::programs::confine::{Confined, Intruder, LiveSweep};
use crate::programs::door::Door;
use crate::programs::explain::{self, MadePaths, ProgramWords};
use crate::programs::gateway::{Gateway, Refusals};

/// A program that is about to start.
pub struct ProgramStart {
    /// Its arguments, streams, descriptors, variables and directory can be changed until it starts.
    pub request: SpawnRequest,
    /// Exists as long as the program runs, such as a file that only it reads. Default: nothing.
    pub kept: Option<Box<dyn Any + Send + Sync>>,
    confined: Option<Confined>,
    root: Utf8PathBuf,
}

/// The host's ends of the standard streams that are pipes.
#[derive(Debug, Default)]
pub struct ProgramStreams {
    /// Writes to its standard input.
    pub stdin: Option<PipeWriter>,
    /// Reads its standard output.
    pub stdout: Option<PipeReader>,
    /// Reads its standard error.
    pub stderr: Option<PipeReader>,
}

/// A program under a policy, which runs.
///
/// Dropping it before [`finish`](Self::finish) kills the program, unless somebody else holds its
/// [child](Self::child), and looks at what it left behind without a report.
pub struct RunningProgram {
    /// Its pipes, for whoever serves them.
    pub streams: ProgramStreams,
    // In the order in which they end when nobody finishes the program.
    child: Arc<Child>,
    observer: Option<Observer>,
    supervisor: Option<NameSupervisor>,
    gateway: Option<Gateway>,
    door: Option<Door>,
    sweeps: Vec<LiveSweep>,
    confined: Option<Confined>,
    root: Utf8PathBuf,
    /// The words that it was started with, for what is told of its refusals.
    command: String,
    limits: ProcessLimits,
    unobserved: Option<String>,
    kept: Option<Box<dyn Any + Send + Sync>>,
    /// The denials that were told, and are in the log, while it ran.
    told: Vec<Denial>,
    inner: Arc<BrokerCore>,
}

/// The news of a program that still runs.
#[derive(Debug, Default)]
pub struct ProgramNews {
    /// Its requests to the kernel, if somebody watches.
    pub observation: Observation,
    /// The refusals of its gateway, and the names that it was refused to make. They are in the log.
    pub denials: Vec<Denial>,
    /// The files that it, or programs which it had run at its door, left where nothing may come into being.
    pub intruders: Vec<Intruder>,
}

/// How a program came to its end, which decides what has to be explained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramEnding<'a> {
    /// It succeeded, or somebody gave it up: it did not need what it was refused.
    Unexplained,
    /// It failed. Every refusal is explained and logged; if nobody watched it, its last words are judged.
    Failed {
        /// Its last words, on whichever stream.
        said: &'a str,
    },
    /// It was run to learn what it needs: its requests are reported and only the refusals of its gateway explained.
    Learned,
}

/// The report on a program that has ended.
#[derive(Debug, Default)]
pub struct ProgramEnd {
    /// Its refusals, as far as its ending asks for them.
    pub denials: Vec<Denial>,
    /// The files that it left where nothing may come into being.
    pub intruders: Vec<Intruder>,
    /// The limits that it reached.
    pub reached: Vec<ProcessLimit>,
    /// The names of processes that were still running when the program had ended by itself.
    pub left_behind: Vec<String>,
    /// The files that it wrote into its home, which is private and gone with it, as far as that was seen; those whose
    /// path holds a name with a dot in front are left out: programs keep what they can make again there.
    pub lost: Vec<PathBuf>,
    /// Its requests to the kernel, as far as nobody took them before.
    pub observation: Observation,
    /// That the workspace has more directories than the kernel watches, as a sentence without a period: what came into
    /// being where nothing may can have stayed for longer than a moment.
    pub unwatched: Option<String>,
}

/// Why a program was not started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramStartError {
    /// The sandbox did not start it.
    #[error(transparent)]
    Spawn(#[from] SpawnError),
    /// Its connections cannot be served.
    #[error("the network of the program cannot be served")]
    Network(#[source] io::Error),
    /// What it makes cannot be looked at.
    #[error("the files that the program makes cannot be watched")]
    Sweep(#[source] io::Error),
    /// The programs that it runs by name cannot be served.
    #[error("the door of the program cannot be served")]
    Door(#[source] io::Error),
}

impl ProgramStart {
    /// A program in its sandbox. `root` is where the files of the workspace are for programs.
    pub fn confined(confined: Confined, root: &Utf8Path) -> Self {
        Self {
            request: confined.request(),
            kept: None,
            confined: Some(confined),
            root: root.to_owned(),
        }
    }

    /// A program that nothing confines, for tests and for those who confine in other ways.
    pub fn unconfined(request: SpawnRequest, root: &Utf8Path) -> Self {
        Self {
            request,
            kept: None,
            confined: None,
            root: root.to_owned(),
        }
    }

    /// Its sandbox, if it has one.
    pub fn sandbox(&self) -> Option<&Confined> {
        self.confined.as_ref()
    }
}

impl fmt::Debug for ProgramStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither words nor variables: they may be secrets.
        f.debug_struct("ProgramStart")
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

impl Broker {
    /// Starts a program under this call's policy.
    ///
    /// # Errors
    ///
    /// If the sandbox cannot hold it to its rules, or if it cannot be started or served.
    pub fn start(&self, start: ProgramStart) -> Result<RunningProgram, ProgramStartError> {
        RunningProgram::start(&self.inner, start, |listener, root| {
            Door::open(self.clone(), listener, root)
        })
    }
}

impl BrokerCore {
    /// Starts a program that a tool has run. It has no door: it was asked for at one.
    pub(crate) fn start(
        self: &Arc<Self>,
        start: ProgramStart,
    ) -> Result<RunningProgram, ProgramStartError> {
        RunningProgram::start(self, start, |_, _| Err(io::ErrorKind::Unsupported.into()))
    }
}

impl RunningProgram {
    /// The one place where a program under a policy starts, and where its network, its door and its observer are
    /// made.
    #[expect(
        clippy::disallowed_methods,
        reason = "every other start of a program under a policy comes here"
    )]
    fn start(
        inner: &Arc<BrokerCore>,
        start: ProgramStart,
        open_door: impl FnOnce(Descriptor, &Utf8Path) -> io::Result<Door>,
    ) -> Result<Self, ProgramStartError> {
        let ProgramStart {
            request,
            kept,
            confined,
            root,
        } = start;
        let limits = request.limits;
        let command = command_of(&request);
        let program = Path::new(request.program.as_os_str()).file_name();
        let program = program.map(|name| name.to_string_lossy().into_owned());
        let mut child = spawn(request)?;
        tracing::info!(
            tool = inner.tool,
            program,
            pid = child.id(),
            is_confined = confined.is_some(),
            "program started"
        );
        let door = child.door.take();
        let door = door.map(|listener| open_door(listener, &root));
        let door = door.transpose().map_err(ProgramStartError::Door)?;
        let gateway = child.gateway.take();
        let gateway = gateway.map(|sockets| Gateway::serve(inner, sockets));
        let gateway = gateway.transpose().map_err(ProgramStartError::Network)?;
        let sweeps = confined.as_ref().map(Confined::look_while_it_runs);
        let sweeps = sweeps.transpose().map_err(ProgramStartError::Sweep)?;
        Ok(Self {
            streams: ProgramStreams {
                stdin: child.stdin.take(),
                stdout: child.stdout.take(),
                stderr: child.stderr.take(),
            },
            observer: child.observer.take(),
            supervisor: child.supervisor.take(),
            unobserved: child.unobserved.take(),
            child: Arc::new(child),
            gateway,
            door,
            sweeps: sweeps.unwrap_or_default(),
            confined,
            root,
            command,
            limits,
            kept,
            told: Vec::new(),
            inner: Arc::clone(inner),
        })
    }

    /// The tree of its processes.
    pub fn child(&self) -> &Arc<Child> {
        &self.child
    }

    /// The limits that it runs under.
    pub fn limits(&self) -> &ProcessLimits {
        &self.limits
    }

    /// What its sandbox gives it; `None` if nothing confines it.
    pub fn profile(&self) -> Option<&Arc<Profile>> {
        self.confined.as_ref().map(|confined| &confined.profile)
    }

    /// Whether somebody watches what it asks the kernel for.
    pub fn is_observed(&self) -> bool {
        self.observer.is_some()
    }

    /// Why nobody watches it although that was wanted.
    pub fn unobserved(&self) -> Option<&str> {
        self.unobserved.as_deref()
    }

    /// Each rule that is not enforced although somebody tolerates that, such as `confinement of files: …`. Where
    /// everything has to be enforced the program would not have started.
    pub fn gaps(&self) -> Vec<String> {
        match &self.confined {
            Some(confined) if confined.profile.enforce == Enforce::BestEffort => {
                gaps(&self.child.status)
            }
            _ => Vec::new(),
        }
    }

    /// The warnings of its confinement, a sentence each without a period.
    pub fn warnings(&self) -> Vec<String> {
        let gaps = self.gaps().into_iter();
        let mut warnings: Vec<String> = gaps.map(|gap| format!("confinement of {gap}")).collect();
        warnings.extend(self.confined.iter().flat_map(|one| one.warnings.clone()));
        if let Some(reason) = &self.unobserved {
            warnings.push(format!(
                "what it is refused is only guessed from its own words: {reason}"
            ));
        }
        warnings
    }

    /// Everything that was seen and refused since this was last asked. Addresses are explained already; for the rest
    /// there is [`explain`](Self::explain).
    pub fn news(&self) -> ProgramNews {
        let observation = self.observer.as_ref().map(Observer::take);
        let observation = observation.unwrap_or_default();
        let gateway = self.gateway.as_ref();
        let door = self.door.as_ref();
        let mut intruders = door.map_or_else(Vec::new, Door::take_intruders);
        intruders.extend(self.confined.iter().flat_map(Confined::take_found));
        let mut denials =
            gateway.map_or_else(Vec::new, |gateway| gateway.take_denials(&observation));
        denials.extend(self.inner.refused_names(
            self.supervisor.as_ref(),
            self.confined.as_ref(),
            &self.root,
        ));
        ProgramNews {
            denials,
            observation,
            intruders,
        }
    }

    /// The refusals of its gateway as they happen; `None` if it has no network. One reader can have them.
    pub fn refusals(&self) -> Option<Refusals> {
        self.gateway.as_ref().map(Gateway::refusals)
    }

    /// The ports on which it listens in a network of its own, where nobody outside can reach it.
    pub fn unreached_ports(&self) -> Vec<u16> {
        let profile = self.profile();
        profile.map_or_else(Vec::new, |profile| unreached_ports(&self.child, profile))
    }

    /// What the sandbox refused of what was seen; `made` are the files that it has made in the parts before.
    pub fn explain(&self, observation: &Observation, made: &mut MadePaths) -> Vec<Denial> {
        let confined = self.confined.as_ref();
        confined.map_or_else(Vec::new, |confined| {
            let inner = &self.inner;
            inner.explained(observation, confined, &self.root, made)
        })
    }

    /// What the words of a program that nobody watches name and it is not given, but what is `known`. Each denial is
    /// marked as guessed.
    pub fn guess(&self, said: &str, known: &[Denial]) -> Vec<Denial> {
        match &self.confined {
            Some(confined) if !self.is_observed() => {
                let words = self.words(said);
                self.inner.guessed(words, confined, &self.root, known)
            }
            _ => Vec::new(),
        }
    }

    /// What a program that goes on has just been refused, judging by its words: each once. It is in the log then.
    pub fn guess_meanwhile(&mut self, said: &str) -> Vec<Denial> {
        let Some(confined) = &self.confined else {
            return Vec::new();
        };
        let words = self.words(said);
        let mut guessed = self.inner.guessed(words, confined, &self.root, &[]);
        guessed.retain(|one| !self.told.contains(one));
        guessed.truncate(MOST_TOLD.saturating_sub(self.told.len()));
        guessed.iter().for_each(|one| self.inner.audit_denial(one));
        self.told.extend_from_slice(&guessed);
        guessed
    }

    fn words<'a>(&'a self, said: &'a str) -> ProgramWords<'a> {
        ProgramWords {
            said,
            command: &self.command,
        }
    }

    /// Looks at once, and everywhere, for files that a program which stays has left where nothing may come into being,
    /// and moves them away. What was moved away before, and not told, is told as well.
    pub fn sweep(&self) -> Vec<Intruder> {
        let confined = self.confined.as_ref();
        confined.map(Confined::look_meanwhile).unwrap_or_default()
    }

    /// Ends the program with all that it started, explains its refusals, moves away what it left where nothing may
    /// come into being, and reports.
    pub fn finish(self, ending: ProgramEnding<'_>) -> ProgramEnd {
        self.finish_after(ending, |_| ())
    }

    /// As [`finish`](Self::finish). `before_sweep` is called when all is explained and before the files are looked
    /// at: what it applies to the workspace is swept with the rest.
    pub fn finish_after(
        self,
        ending: ProgramEnding<'_>,
        before_sweep: impl FnOnce(&mut ProgramEnd),
    ) -> ProgramEnd {
        // The whole tree is gone before anybody looks at what is left behind.
        self.child.kill();
        let exit = self.child.wait();
        let mut end = ProgramEnd {
            reached: self.child.reached(),
            left_behind: self.child.left_behind(),
            ..ProgramEnd::default()
        };
        let Self {
            observer,
            supervisor,
            gateway,
            door,
            sweeps,
            confined,
            root,
            command,
            kept,
            told,
            inner,
            ..
        } = self;
        let is_unwatched = sweeps.iter().any(LiveSweep::is_unwatched);
        end.unwatched = is_unwatched.then(|| UNWATCHED.to_owned());
        drop(sweeps);
        drop(kept);
        let is_observed = observer.is_some();
        end.observation = observer.map(Observer::finish).unwrap_or_default();
        if let Some(confined) = &confined {
            end.lost = explain::lost_files(&end.observation, &confined.home, &confined.profile);
        }
        let of_network = gateway.map(|gateway| gateway.close_watched(&end.observation));
        end.denials = of_network.unwrap_or_default();
        let names = inner.refused_names(supervisor.as_ref(), confined.as_ref(), &root);
        end.denials.extend(names);
        match (ending, &confined) {
            (ProgramEnding::Unexplained, _) => end.denials.clear(),
            (ProgramEnding::Learned, _) | (ProgramEnding::Failed { .. }, None) => {}
            (ProgramEnding::Failed { said }, Some(confined)) => {
                let command = &command;
                let words = ProgramWords { said, command };
                inner.name_ports(&mut end.denials, words);
                let (seen, made) = (&end.observation, &mut MadePaths::default());
                let explained = match is_observed {
                    true => inner.explained(seen, confined, &root, made),
                    false => inner.guessed(words, confined, &root, &end.denials),
                };
                // The gateway and the supervisor have logged their own.
                let known = std::mem::take(&mut end.denials);
                let is_told = |one: &Denial| known.iter().any(|other| other.is_same(one));
                let is_new = |one: &&Denial| !told.contains(one) && !is_told(one);
                let new = explained.iter().filter(is_new);
                new.for_each(|one| inner.audit_denial(one));
                let explained = explained.into_iter().filter(|one| !is_told(one)).collect();
                end.denials = [known, explained].concat();
            }
        }
        // The programs at its door are as much over as it is itself.
        end.intruders = door.map(Door::close).unwrap_or_default();
        tracing::info!(
            tool = inner.tool,
            ?exit,
            refused = end.denials.len(),
            "program ended"
        );
        before_sweep(&mut end);
        let left = confined.map(Confined::finish);
        end.intruders.extend(left.unwrap_or_default());
        end
    }
}

impl fmt::Debug for RunningProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningProgram")
            .field("pid", &self.child.id())
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

impl ProgramNews {
    /// Whether nothing is new.
    pub fn is_empty(&self) -> bool {
        let observation = &self.observation;
        observation.seen.is_empty()
            && observation.lost == 0
            && observation.unread == 0
            && self.denials.is_empty()
            && self.intruders.is_empty()
    }
}

impl ProgramEnd {
    /// The denials of the limits that the program reached; `limits` are those that it ran under.
    pub(crate) fn limits(&self, inner: &BrokerCore, limits: &ProcessLimits) -> Vec<Denial> {
        let reached = self.reached.iter();
        reached
            .map(|limit| explain::of_tree(&inner.table, *limit, limits.height(*limit).unwrap_or(0)))
            .collect()
    }
}

/// Each part of a confinement that the operating system does not enforce, with how far it does.
fn gaps(status: &Status) -> Vec<String> {
    let parts = status.parts().into_iter();
    let parts = parts.filter(|(_, part)| **part != Enforcement::Enforced);
    parts
        .map(|(name, part)| format!("{name}: {part}"))
        .collect()
}

/// The ports on which a confined program listens in a network of its own, where nobody outside can reach it. Those of
/// its gateway are not its own.
pub fn unreached_ports(child: &Child, profile: &Profile) -> Vec<u16> {
    let gateways: Vec<u16> = match &profile.network {
        Network::None => Vec::new(),
        Network::Gateway(gateway) => [&gateway.ports[..], &gateway.explained].concat(),
        // It has that of the host, or none that is known here.
        _ => return Vec::new(),
    };
    if child.status.tier != Tier::A {
        return Vec::new();
    }
    let mut ports = explain::listening_ports(child.id());
    ports.retain(|port| !gateways.contains(port) && ![PROXY_PORT, LOOKUPS].contains(port));
    ports
}

/// The words of a command, as far as they are kept.
fn command_of(request: &SpawnRequest) -> String {
    let words: Vec<_> = request
        .args
        .iter()
        .map(|arg| arg.to_string_lossy())
        .collect();
    let mut words = words.join(" ");
    words.truncate(words.floor_char_boundary(MOST_WORDS));
    words
}

/// How much of a command is kept.
const MOST_WORDS: usize = 16 << 10;

/// How many denials are told of a program while it runs. Each tells its caller a little about the machine.
const MOST_TOLD: usize = 20;

/// What is told of a program that could not be watched.
const UNWATCHED: &str = "the workspace has more directories than the kernel watches for one program \
    (`fs.inotify.max_user_watches`): what it may not make was looked for from time to time, and at its end";

/// Where the gateway answers lookups.
const LOOKUPS: u16 = 53;
