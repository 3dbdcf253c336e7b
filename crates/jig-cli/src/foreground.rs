//! A confined command in the foreground, as `jig run` and `jig proxy` have one: it gets jig's streams or a
//! terminal of its own, signals reach it, limits end it, and jig ends as it did.
//!
//! Start at [`Foreground`]. What the command may reach is decided elsewhere.

mod end_request;
mod output_meter;
mod relay;

use std::io::{self, IsTerminal as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use camino::Utf8PathBuf;
use clap::{Arg, CommandFactory as _};
use jig_broker::{ConfineError, ProgramStartError, RunningProgram};
use jig_engine::CommandError;
use jig_project::{audit_log, locate, servers};
use jig_proto::hint;
use jig_runtime::StartError;
use jig_sandbox::{
    ByteSize, Child, Enforce, Enforcement, Exit, ProcessLimit, ProcessLimits, Profile, SpawnError,
    SpawnRequest, Stdio, Tier,
};
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::{Handle, Signals};

use self::end_request::EndRequest;
use self::output_meter::OutputMeter;
use self::relay::TerminalRelay;
use crate::args::{Args, ColorWhen, HoldArgs};
use crate::limits;
use crate::output::CliOutput;
use crate::terminal::{self, KeptSettings};

/// The place of a command that is about to start.
pub(crate) struct Foreground {
    signals: Signals,
    terminal: Option<CommandTerminal>,
    /// The settings of the user's terminal, if the command gets it.
    kept: Option<KeptSettings>,
    limits: ForegroundLimits,
}

/// The limits that jig holds a command to itself. `None` is no limit.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ForegroundLimits {
    /// How long it runs.
    pub(crate) time: Option<Duration>,
    /// What it prints on standard output and standard error together, in bytes.
    pub(crate) output: Option<u64>,
}

/// How a command came to its end.
pub(crate) struct ForegroundEnd {
    pub(crate) exit: Exit,
    /// Whether its time was over.
    pub(crate) is_late: bool,
    /// Whether it printed more than it may.
    pub(crate) is_flood: bool,
    /// The signal that it ignored until it was killed.
    pub(crate) ignored: Option<i32>,
}

impl ForegroundEnd {
    /// Says that the command was killed, if it had to be.
    pub(crate) fn tell_ignored(&self, out: &mut CliOutput) {
        if let Some(signal) = self.ignored {
            let name = match signal {
                SIGHUP => "SIGHUP",
                _ => "SIGTERM",
            };
            out.note(&format!(
                "jig: the command still ran {} after {name} and was killed",
                limits::time(GRACE)
            ));
        }
    }
}

/// The streams that a command gets.
pub(crate) enum CommandStreams {
    Terminal(Option<OwnedFd>),
    Ours([Stdio; 3]),
}

impl CommandStreams {
    /// Puts them into the request that starts the command.
    pub(crate) fn hand_over(self, request: &mut SpawnRequest) {
        match self {
            Self::Terminal(end) => request.terminal = end,
            Self::Ours([stdin, stdout, stderr]) => {
                (request.stdin, request.stdout, request.stderr) = (stdin, stdout, stderr);
            }
        }
    }
}

/// A terminal for the command.
struct CommandTerminal {
    relay: TerminalRelay,
    /// The command's end, until it is handed over.
    end: Option<OwnedFd>,
}

impl Foreground {
    /// Makes the place ready. From here on no signal is lost, so this comes before the start.
    pub(crate) fn open(pty: ColorWhen, limits: ForegroundLimits) -> anyhow::Result<Self> {
        let signals = Signals::new(FORWARDED).context(NO_SIGNALS)?;
        let has_terminal = match pty {
            ColorWhen::Auto => terminal::is_at_hand(),
            ColorWhen::Always => true,
            ColorWhen::Never => false,
        };
        let mut terminal = None;
        if has_terminal {
            for signal in relay::OF_TERMINAL {
                signals.handle().add_signal(signal).context(NO_SIGNALS)?;
            }
            let (relay, end) = TerminalRelay::open()?;
            terminal = Some(CommandTerminal {
                relay,
                end: Some(end),
            });
        }
        Ok(Self {
            signals,
            kept: match terminal {
                Some(_) => None,
                None => KeptSettings::of_standard_streams(),
            },
            terminal,
            limits,
        })
    }

    /// The command's end of its terminal, for somebody who prints there beside it: what is written to it
    /// reaches the user as what the command prints does. `None` if the command gets jig's own streams.
    pub(crate) fn terminal(&self) -> Option<BorrowedFd<'_>> {
        let terminal = self.terminal.as_ref()?;
        terminal.end.as_ref().map(OwnedFd::as_fd)
    }

    /// The streams of the command, to hand over.
    pub(crate) fn streams(&mut self) -> anyhow::Result<CommandStreams> {
        Ok(match &mut self.terminal {
            Some(terminal) => CommandStreams::Terminal(terminal.end.take()),
            None => {
                let is_kept = self.kept.is_some();
                let given = |stream: BorrowedFd<'_>| given(stream, is_kept);
                let stdin = given(io::stdin().as_fd())?;
                // What is counted has to pass jig.
                let printed = |stream: BorrowedFd<'_>| match self.limits.output {
                    Some(_) => Ok(Stdio::Piped),
                    None => given(stream),
                };
                let (stdout, stderr) = (io::stdout(), io::stderr());
                CommandStreams::Ours([stdin, printed(stdout.as_fd())?, printed(stderr.as_fd())?])
            }
        })
    }

    /// Stays with the command until it has ended.
    pub(crate) fn run(self, program: &RunningProgram) -> anyhow::Result<ForegroundEnd> {
        let time = self.limits.time;
        let deadline = time.and_then(|time| Instant::now().checked_add(time));
        let request = EndRequest::new(deadline).context("cannot wait for the command")?;
        let meter = OutputMeter::new(self.limits.output);
        let (exit, is_late) = match self.terminal {
            Some(terminal) => {
                let child = program.child();
                terminal.relay.run(child, self.signals, &request, &meter)?
            }
            None => watch(program, self.signals, &request, &meter)?,
        };
        drop(self.kept);
        Ok(ForegroundEnd {
            exit,
            is_late,
            is_flood: meter.is_reached(),
            ignored: request.ignored(),
        })
    }
}

/// The words of a command as they are started. `ours` is the command of jig that was given them.
pub(crate) fn words(command: &[String], ours: &str) -> anyhow::Result<Vec<String>> {
    let mut command = command.to_vec();
    if let Some(word) = command.first().filter(|word| word.starts_with('-')) {
        // What looks like an option of ours was not known, and became the first word of the command.
        let hint = match near_option(word, ours) {
            Some(near) => hint!(
                "did you mean `{near}`? `{ours} --help` lists the options; the command comes after `--`"
            ),
            None => hint!("`{ours} --help` lists the options; the command comes after `--`"),
        };
        return Err(
            anyhow!(hint).context(format!("`{word}` is no option of {ours}, and no program"))
        );
    }
    if let Some(program) = command.first_mut()
        && program.contains('/')
    {
        // A path is meant from where jig was called, as all other words of the command are.
        let path = locate::current()?.join(&*program);
        let parts = path.components().filter(|part| part.as_str() != ".");
        *program = parts.collect::<Utf8PathBuf>().into_string();
    }
    Ok(command)
}

/// The option of a command of ours that was probably meant.
fn near_option(word: &str, ours: &str) -> Option<String> {
    let meant = word.strip_prefix("--")?.split('=').next()?;
    let command = Args::command();
    let verb = ours.split(' ').next_back()?;
    let verb = command.find_subcommand(verb)?;
    let all = verb.get_arguments().chain(command.get_arguments());
    let shown = all.filter(|option| !option.is_hide_set());
    let near = servers::closest(meant, shown.filter_map(Arg::get_long))?;
    Some(format!("--{near}"))
}

/// What the options on holding a command set on the tool under whose policy it runs, which this table of the
/// configuration declares.
pub(crate) fn settings(hold: &HoldArgs, table: &str) -> Vec<String> {
    let key = |key: &str| format!("{table}.{key}");
    let mut sets = Vec::new();
    if !hold.preset.is_empty() {
        sets.push(format!("{}={}", key("sandbox.presets"), json!(hold.preset)));
    }
    if hold.best_effort {
        sets.push(format!("{}=\"best-effort\"", key("sandbox.enforce")));
    }
    let texts = [
        ("time", &hold.time),
        ("memory", &hold.memory),
        ("file_size", &hold.file_size),
    ];
    for (limit, text) in texts {
        if let Some(text) = text {
            // A bare number counts seconds or bytes.
            let value = match text.parse::<i64>() {
                Ok(number) => json!(number),
                Err(_) => json!(text),
            };
            sets.push(format!(
                "{}={value}",
                key(&format!("sandbox.limits.{limit}"))
            ));
        }
    }
    let counts = [
        ("processes", hold.processes),
        ("descriptors", hold.descriptors),
    ];
    for (limit, count) in counts {
        if let Some(count) = count {
            sets.push(format!(
                "{}={count}",
                key(&format!("sandbox.limits.{limit}"))
            ));
        }
    }
    sets
}

/// Says why a command was not started under this profile.
pub(crate) fn not_started(error: CommandError, profile: &Profile) -> anyhow::Error {
    match error {
        CommandError::Log(error) => {
            let what = "the command was not started, because the log cannot be written";
            anyhow!(audit_log::no_log()).context(format!("{what}: {error}"))
        }
        CommandError::Start(ProgramStartError::Spawn(SpawnError::Confinement {
            reason, ..
        })) => not_held_as(&reason, Some(profile)),
        // The exit code is chosen by what kind of error this is.
        CommandError::Start(ProgramStartError::Spawn(error)) => error.into(),
        error => error.into(),
    }
}

/// Says that the end of a command is not in the log, if it is not.
pub(crate) fn tell_unlogged(unlogged: Option<&io::Error>, out: &mut CliOutput) {
    if let Some(error) = unlogged {
        out.note(&format!(
            "jig: how the command ended is not in the log, which cannot be written: {error}"
        ));
    }
}

/// A command that cannot be confined as it has to be.
pub(crate) fn not_held(reason: &str) -> anyhow::Error {
    not_held_as(reason, None)
}

/// The same, with the way out that this profile leaves.
fn not_held_as(reason: &str, profile: Option<&Profile>) -> anyhow::Error {
    let what = format!("the command was not started: {reason}");
    let hint = match profile {
        // To do without a layer is never made up for: the command would change the files themselves.
        Some(profile) if !profile.overlays.is_empty() => {
            hint!(
                "`jig doctor` says what this machine can enforce; without --overlay the command runs, and changes \
             the files themselves"
            )
        }
        // Nothing is left to do without: the reason says what to change.
        Some(profile) if profile.enforce == Enforce::BestEffort => return anyhow!(what),
        _ => {
            hint!(
                "`jig doctor` says what this machine can enforce; with --best-effort the command runs with that"
            )
        }
    };
    anyhow!(hint).context(what)
}

/// Says what of the confinement of a command this machine does not enforce.
pub(crate) fn tell_gaps(child: &Child, out: &mut CliOutput) {
    for rule in &child.status.unheld {
        out.note(&format!("jig: {rule}"));
    }
    // In tier A the other gaps are those that the documents list, and the same for every call.
    if child.status.tier == Tier::A {
        return;
    }
    let mut in_part = Vec::new();
    for (part, enforcement) in child.status.parts() {
        match enforcement {
            Enforcement::Enforced => {}
            // Everybody else's machine can be reached by that.
            Enforcement::PartlyEnforced { .. } if part != "network" => in_part.push(part),
            told => out.note(&format!("jig: {part}: {told}")),
        }
    }
    if !in_part.is_empty() {
        out.note(&format!(
            "jig: enforced in part on this machine: {} (`jig doctor` says what is missing)",
            in_part.join(", ")
        ));
    }
}

/// The limits that a command which ended like this came up against, of those that it was held to.
pub(crate) fn reached(child: &Child, exit: Exit, tree: &ProcessLimits) -> Vec<ProcessLimit> {
    let mut reached = child.reached();
    // The sandbox sees how the command itself ended, not a program that a shell ran for it.
    let by_a_shell = Exit::Exited {
        code: 128 + SIGXFSZ,
    };
    if exit == by_a_shell && tree.file_size.is_some() && !reached.contains(&ProcessLimit::FileSize)
    {
        reached.push(ProcessLimit::FileSize);
    }
    reached
}

/// The limits that a command came up against.
pub(crate) struct UsedLimits {
    /// Its time, if that ended it.
    pub(crate) time: Option<Duration>,
    /// Its output, in bytes, if that ended it.
    pub(crate) output: Option<u64>,
    /// Others.
    pub(crate) reached: Vec<ProcessLimit>,
    /// How high those were.
    pub(crate) tree: ProcessLimits,
    /// The table of the configuration that sets them.
    pub(crate) table: String,
}

impl UsedLimits {
    /// The flag that sets one that has no flag of its own.
    fn setting(&self, limit: &str, value: &str) -> String {
        format!("--set {}.sandbox.limits.{limit}={value}", self.table)
    }

    /// Says them, each with the way to allow more. Tells whether one of them ended the command.
    pub(crate) fn tell(&self, out: &mut CliOutput) -> bool {
        if let Some(time) = self.time {
            out.note(&format!(
                "jig: the command ran longer than {} and was ended; allow more with --time {}s",
                limits::time(time),
                (time * 2).as_secs().max(1)
            ));
        }
        if let Some(output) = self.output {
            out.note(&format!(
                "jig: the command printed more than {} and was ended; allow more with {}",
                ByteSize(output),
                self.setting("output", &size(output.saturating_mul(2)))
            ));
        }
        let mut ended = self.time.is_some() || self.output.is_some();
        for limit in &self.reached {
            ended |= limit.ends_tree();
            let height = self.tree.height(*limit).unwrap_or(0);
            let higher = height.saturating_mul(2);
            let flag = match limit {
                ProcessLimit::Tasks => format!("--processes {higher}"),
                ProcessLimit::Descriptors => format!("--descriptors {higher}"),
                ProcessLimit::Memory => format!("--memory {}", size(higher)),
                ProcessLimit::Disk => self.setting("disk", &size(higher)),
                ProcessLimit::Files => self.setting("files", &higher.to_string()),
                _ => format!("--file-size {}", size(higher)),
            };
            let told = limit.told(height);
            out.note(&format!("jig: the command {told}; allow more with {flag}"));
        }
        ended
    }
}

/// What shells and `env` end with when a command did not run.
pub(crate) fn code_of(error: &anyhow::Error) -> u8 {
    if let Some(SpawnError::NotExecutable { .. } | SpawnError::ExecFormat { .. }) =
        error.downcast_ref()
    {
        return NOT_EXECUTABLE;
    }
    let not_found = matches!(error.downcast_ref(), Some(SpawnError::NotFound { .. }))
        || matches!(
            error.downcast_ref(),
            Some(StartError::Confine(ConfineError::ProgramNotFound { .. }))
        );
    if not_found { NOT_FOUND } else { FAILED }
}

/// A stream of ours as the command's own. A directory is none: whoever holds one can look around from there. Of a
/// terminal whose settings nobody brings back the command can only read and write.
#[expect(
    clippy::disallowed_types,
    reason = "a stream that is open already is asked what it is"
)]
fn given(stream: BorrowedFd<'_>, is_kept: bool) -> anyhow::Result<Stdio> {
    if !is_kept
        && stream.is_terminal()
        && let Ok(plain) = jig_sandbox::without_device_commands(stream)
    {
        return Ok(Stdio::Given(plain));
    }
    let copy = stream
        .try_clone_to_owned()
        .context("cannot hand over a standard stream")?;
    let file = std::fs::File::from(copy);
    if file.metadata().is_ok_and(|about| about.is_dir()) {
        bail!("a standard stream is a directory, which is not handed over");
    }
    Ok(Stdio::Given(file.into()))
}

/// Waits for the end, and passes on signals and what is counted meanwhile. Says also whether its time was over.
fn watch(
    program: &RunningProgram,
    mut signals: Signals,
    request: &EndRequest,
    meter: &OutputMeter,
) -> anyhow::Result<(Exit, bool)> {
    let child: &Child = program.child();
    let printed = &program.streams;
    thread::scope(|scope| {
        let listening = ListenerGuard(signals.handle());
        scope.spawn(move || {
            for signal in signals.forever() {
                request.hear(signal, child);
            }
        });
        if let Some(stdout) = &printed.stdout {
            scope.spawn(move || meter.pass_on(stdout, io::stdout().as_fd(), child));
        }
        if let Some(stderr) = &printed.stderr {
            scope.spawn(move || meter.pass_on(stderr, io::stderr().as_fd(), child));
        }
        let ended = request.wait(child).context("cannot wait for the command");
        drop(listening);
        ended
    })
}

/// Ends a listening thread when it goes out of scope, however that happens.
pub(crate) struct ListenerGuard(pub(crate) Handle);

impl Drop for ListenerGuard {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// A size as a flag takes it.
fn size(bytes: u64) -> String {
    match ByteSize(bytes).to_string().split_once(' ') {
        Some((count, unit)) if unit != "bytes" => format!("{count}{unit}"),
        _ => bytes.to_string(),
    }
}

/// How a command ended that a limit ended, as `timeout` has it.
pub(crate) const BY_LIMIT: Exit = Exit::Exited { code: 124 };

/// The signal for a program that writes a file of more than its limit.
const SIGXFSZ: i32 = 25;

/// The exit codes of jig's own, as `env` has them.
pub(crate) const FAILED: u8 = 125;
pub(crate) const NOT_EXECUTABLE: u8 = 126;
pub(crate) const NOT_FOUND: u8 = 127;

/// From asking a command to end because its time is over to killing it.
const GRACE: Duration = Duration::from_secs(5);

/// The signals that reach the command.
pub(crate) const FORWARDED: [i32; 6] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2];

const NO_SIGNALS: &str = "cannot listen for signals";
