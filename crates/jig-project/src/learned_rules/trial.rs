//! [`SuggestTrial`]: runs of a command that are watched to their end.

use std::collections::VecDeque;
use std::io::{self, Read};
use std::os::fd::AsFd as _;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use camino::Utf8PathBuf;
use jig_broker::{CancelToken, ProgramStartError};
use jig_engine::{CommandError, CommandLog, ObservedRun, Rehearsal};
use jig_proto::hint;
use jig_sandbox::{Child, Exit, Profile, SpawnError, Stdio};

use crate::audit_log::outcome;
use crate::stderr_remark::{remark, time};

/// How a command is run.
pub struct SuggestTrial {
    /// Cancelled to end it.
    pub cancel: CancelToken,
    /// Its arguments.
    pub args: Vec<String>,
    /// Where it starts, if it can see that.
    pub cwd: Utf8PathBuf,
    /// The longest that it may run.
    pub time: Option<Duration>,
    /// Says why a command was not started under this profile.
    pub explain: fn(CommandError, &Profile) -> anyhow::Error,
}

/// How a run ended, and what came of it.
#[derive(Debug)]
pub struct TrialEnd {
    /// Its end.
    pub exit: Exit,
    /// What was seen.
    pub run: ObservedRun,
    /// The end of what it printed, where that was not shown.
    pub tail: String,
    /// Whether somebody pressed ctrl-C.
    pub interrupted: bool,
}

/// A run, or why the sandbox could not hold its rules.
pub type TrialOutcome = Result<TrialEnd, anyhow::Error>;

impl SuggestTrial {
    /// Runs it with its output where our remarks go.
    pub fn watched(&self, rehearsal: Rehearsal) -> anyhow::Result<TrialOutcome> {
        let ours = || io::stderr().as_fd().try_clone_to_owned().map(Stdio::Given);
        let failed = "cannot hand over a standard stream";
        let (stdout, stderr) = (ours().context(failed)?, ours().context(failed)?);
        self.run(rehearsal, stdout, stderr)
    }

    /// Runs it silently, and keeps the end of what it printed.
    pub fn confined(&self, rehearsal: Rehearsal) -> anyhow::Result<TrialOutcome> {
        let (reader, writer) = io::pipe().context("cannot make a pipe")?;
        let other = writer.try_clone().context("cannot make a pipe")?;
        let (stdout, stderr) = (Stdio::Given(writer.into()), Stdio::Given(other.into()));
        thread::scope(|scope| {
            let tail = scope.spawn(move || tail(reader));
            let mut held = self.run(rehearsal, stdout, stderr)?;
            let tail = tail.join().unwrap_or_default();
            if let Ok(ended) = &mut held {
                ended.tail = tail;
            }
            Ok(held)
        })
    }

    fn run(
        &self,
        rehearsal: Rehearsal,
        stdout: Stdio,
        stderr: Stdio,
    ) -> anyhow::Result<TrialOutcome> {
        let prepared = &rehearsal.prepared;
        let root = prepared.root.clone();
        let profile = Arc::clone(&prepared.confined.profile);
        let program = prepared.confined.program.as_os_str().to_string_lossy();
        let words: Vec<String> = std::iter::once(program.into_owned())
            .chain(self.args.iter().cloned())
            .collect();
        let started = rehearsal.start(
            CommandLog::run("jig suggest", &words),
            &self.args,
            |request| {
                if request.cwd == root {
                    request.cwd = self.cwd.clone().into_std_path_buf();
                }
                request.stdout = stdout;
                request.stderr = stderr;
            },
        );
        let running = match started {
            Ok(running) => running,
            Err(CommandError::Start(ProgramStartError::Spawn(SpawnError::Confinement {
                reason,
                ..
            }))) => return Ok(Err(not_held(&reason))),
            Err(error) => return Err((self.explain)(error, &profile)),
        };
        if let Some(why) = running.program().unobserved() {
            let hint = hint!("write the rules by hand; `jig run` says what a command is refused");
            return Err(anyhow!(hint).context(format!("the command cannot be watched: {why}")));
        }
        let (exit, interrupted) = self.wait(running.program().child())?;
        Ok(Ok(TrialEnd {
            exit,
            run: running.end(outcome(exit), exit)?,
            tail: String::new(),
            interrupted,
        }))
    }

    /// Waits for the end. Says also whether somebody wanted it.
    fn wait(&self, child: &Child) -> anyhow::Result<(Exit, bool)> {
        let began = Instant::now();
        loop {
            if let Some(exit) = child.wait_timeout(TICK).context(LOST)? {
                return Ok((exit, false));
            }
            let interrupted = self.cancel.is_cancelled();
            let over = self.time.filter(|time| began.elapsed() > *time);
            if let Some(limit) = over.filter(|_| !interrupted) {
                remark(&format!(
                    "jig: the command ran longer than {} and was ended; `sandbox.limits.time` allows more",
                    time(limit)
                ));
            }
            if interrupted || over.is_some() {
                return Ok((child.end(GRACE).context(LOST)?, interrupted));
            }
        }
    }
}

fn not_held(reason: &str) -> anyhow::Error {
    let hint = hint!(
        "`jig doctor` says what this machine can enforce; write the rules by hand, and `jig run` \
                says what a command is refused"
    );
    anyhow!(hint).context(format!("nothing was run: {reason}"))
}

/// The end of what comes.
fn tail(mut reader: impl Read) -> String {
    let mut kept = VecDeque::new();
    let mut chunk = [0; 4096];
    loop {
        match reader.read(&mut chunk) {
            Ok(0) => break,
            Ok(count) => kept.extend(&chunk[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
        let over = kept.len().saturating_sub(MOST_TAIL);
        kept.drain(..over);
    }
    String::from_utf8_lossy(kept.make_contiguous()).into_owned()
}

const LOST: &str = "cannot wait for the command";

/// How soon ctrl-C is noticed.
const TICK: Duration = Duration::from_millis(50);

/// From asking a command to end to killing it.
const GRACE: Duration = Duration::from_secs(5);

/// How much of what a silent run printed is kept.
const MOST_TAIL: usize = 8 * 1024;
