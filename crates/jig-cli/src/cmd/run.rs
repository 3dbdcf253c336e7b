//! `jig run`: any command, under the policy of a tool or the default one.

pub(super) mod hosts;
mod layer;
mod relay;
mod remedy;

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::thread;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use camino::{Utf8Path, Utf8PathBuf};
use jig_broker::ConfineError;
use jig_config::SandboxLimits;
use jig_engine::{CallError, Preparation, Prepared};
use jig_proto::Denial;
use jig_runtime::StartError;
use jig_sandbox::{
    Bytes, Child, Enforcement, Exit, Limit, Limits, Observer, SpawnError, SpawnRequest, Stdio, Tier,
};
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};
use signal_hook::iterator::{Handle, Signals};

use self::relay::Relay;
use crate::args::{Global, RunArgs, When};
use crate::cmd::call;
use crate::exit::Done;
use crate::limits;
use crate::output::{BOLD, DIM, Output, field, printable};
use crate::terminal;
use crate::workspace::{self, Project};

pub(crate) fn run(args: &RunArgs, global: &Global, out: &mut Output) -> anyhow::Result<Done> {
    match attempt(args, global, out) {
        Ok(done) => Ok(done),
        // A command may well end with the codes that jig gives its own failures.
        Err(error) if args.dry_run => Err(error),
        Err(error) => Ok(Done::NotRun(code_of(&error), error)),
    }
}

fn attempt(args: &RunArgs, global: &Global, out: &mut Output) -> anyhow::Result<Done> {
    let (project, tool) = project(args, global)?;
    let limits = SandboxLimits {
        // What the command prints does not pass through jig.
        output: None,
        ..project.tool(&tool)?.sandbox.limits
    };
    let engine = call::engine(&project, out)?;
    let mut command = args.command.clone();
    if let Some(word) = command.first().filter(|word| word.starts_with('-')) {
        // What looks like an option of ours was not known, and became the first word of the command.
        let hint = "hint: `jig run --help` lists the options; the command comes after `--`";
        return Err(
            anyhow!(hint).context(format!("`{word}` is no option of jig run, and no program"))
        );
    }
    if let Some(program) = command.first_mut()
        && program.contains('/')
    {
        // A path is meant from where jig was called, as all other words of the command are.
        *program = workspace::current()?.join(&*program).into_string();
    }
    let preparation = Preparation {
        // What would only explain a refusal is not part of what is enforced.
        observe: !args.no_observe && !args.dry_run,
        ..Preparation::default()
    };
    let mut prepared =
        engine
            .prepare(&tool, &command, preparation)
            .map_err(|error| match error {
                CallError::Start { error, .. } => anyhow::Error::from(error),
                CallError::Unconfinable { reason, .. } => not_held(reason),
                error => error.into(),
            })?;
    if args.dry_run {
        shown(args, &prepared, &limits, out)?;
        return Ok(Done::Ok);
    }
    let layers = match args.overlay {
        true => Some(engine.lay(&mut prepared)?),
        false => None,
    };
    layer::warn(layers.as_deref().unwrap_or_default(), out);
    for warning in prepared.confined.warnings.iter().chain(&prepared.warnings) {
        out.note(&format!("jig: {warning}"));
    }
    let has_terminal = match args.pty {
        When::Auto => terminal::is_at_hand(),
        When::Always => true,
        When::Never => false,
    };
    // Listening comes first: a signal that arrives while the command starts must not be lost.
    let signals = Signals::new(FORWARDED).context("cannot listen for signals")?;
    let (relay, end) = match has_terminal {
        true => {
            for signal in relay::OF_TERMINAL {
                let added = signals.handle().add_signal(signal);
                added.context("cannot listen for signals")?;
            }
            let (relay, end) = Relay::open()?;
            (Some(relay), Some(end))
        }
        false => (None, None),
    };
    let (mut child, tree) = start(args, &prepared, end)?;
    let sockets = child.gateway.take();
    let gateway = sockets.map(|sockets| prepared.broker.open_gateway(sockets));
    let gateway = gateway
        .transpose()
        .context("cannot serve the network of the command")?;
    if let Some(reason) = &child.unobserved {
        out.note(&format!("jig: a refusal will not be explained: {reason}"));
    }
    for (part, enforcement) in child.status.parts() {
        // In tier A the gaps are those that the documents list, and the same for every call.
        let matters = args.best_effort || child.status.tier != Tier::A;
        if matters && !matches!(enforcement, Enforcement::Enforced) {
            out.note(&format!("jig: {part}: {enforcement}"));
        }
    }
    let (exit, timed_out) = match relay {
        Some(relay) => relay.run(&child, signals, limits.time)?,
        None => watch(&child, signals, limits.time)?,
    };
    let reached = child.reached();
    let observation = child.observer.take().map(Observer::finish);
    drop(child);
    let observation = observation.unwrap_or_default();
    let gateway = gateway.map(|gateway| gateway.close_watched(&observation));
    let mut denials = gateway.unwrap_or_default();
    let went_well = exit.is_success() && !timed_out && !reached.contains(&Limit::Memory);
    // What a command that went well was refused, it did not need.
    if !went_well {
        let (broker, confined) = (&prepared.broker, &prepared.confined);
        let seen = broker.explain(&observation, confined, &prepared.root);
        // The gateway has written its own.
        broker.audit_denials(&seen);
        denials.extend(seen);
    }
    // What a layer brings is looked at as what the command left is, so it comes before.
    let settled = match layers {
        Some(layers) => layer::settle(layers, args, &prepared, went_well, out)?,
        None => true,
    };
    let intruders = prepared.confined.finish();
    for intruder in &intruders {
        out.note(&format!("jig: {intruder}"));
    }
    let mut ended_by_limit = timed_out;
    if timed_out && let Some(time) = limits.time {
        out.note(&format!(
            "jig: the command ran longer than {} and was ended; allow more with --time {}s",
            limits::time(time),
            (time * 2).as_secs().max(1)
        ));
    }
    for limit in reached {
        ended_by_limit |= matches!(limit, Limit::Memory);
        let height = tree.height(limit).unwrap_or(0);
        let higher = height.saturating_mul(2);
        let flag = match limit {
            Limit::Tasks => format!("--processes {higher}"),
            Limit::Descriptors => format!("--descriptors {higher}"),
            Limit::Memory => format!("--memory {}", size(higher)),
            _ => format!("--file-size {}", size(higher)),
        };
        let told = limit.told(height);
        out.note(&format!("jig: the command {told}; allow more with {flag}"));
    }
    if !went_well {
        explained(args, &denials, out);
    }
    Ok(match ended_by_limit {
        true => Done::Passed(Exit::Exited { code: LIMIT }),
        // Whoever goes on because all went well would go on without what was moved away.
        false if exit.is_success() && !(intruders.is_empty() && settled) => Done::Bad,
        false => Done::Passed(exit),
    })
}

/// Says what the command was refused, and what would allow it.
fn explained(args: &RunArgs, denials: &[Denial], out: &mut Output) {
    let flags = match args.policy {
        // What allows it belongs into the configuration of that tool.
        Some(_) => Vec::new(),
        None => remedy::flags(denials),
    };
    for denial in denials {
        let mut denial = denial.clone();
        if args.policy.is_none() {
            denial.advice = denial.advice.map(|advice| remedy::advice(&advice));
        }
        if denial.hint.as_deref().and_then(remedy::of_hint).is_some() && !flags.is_empty() {
            denial.hint = None;
        }
        out.note(&format!("jig: refused: {}", printable(&denial.to_string())));
    }
    if !flags.is_empty() {
        out.note(&format!(
            "hint: to allow it, run it with: {}",
            flags.join(" ")
        ));
    }
}

/// The configuration with one more tool, which is this command, unless there is one whose policy applies.
fn project(args: &RunArgs, global: &Global) -> anyhow::Result<(Project, String)> {
    let given = args.root.as_deref().or(global.workspace.as_deref());
    let root = workspace::root(given)?;
    let name = args.policy.as_deref().unwrap_or(NAME);
    let key = |key: &str| format!("tools.{}.{key}", json!(name));
    let mut sets = Vec::new();
    if args.policy.is_none() {
        let (inside, outside) = rules(args, &root)?;
        sets.push(format!("{}=\"local\"", key("source")));
        sets.push(format!("{}=\"true\"", key("command")));
        if !inside.is_empty() {
            sets.push(format!("{}=[{}]", key("access.fs"), inside.join(",")));
        }
        if !outside.is_empty() {
            sets.push(format!("{}=[{}]", key("sandbox.system"), outside.join(",")));
        }
        if !args.net.is_empty() {
            let rules = args.net.iter().map(|host| hosts::rule(host));
            let rules = rules.collect::<anyhow::Result<Vec<String>>>()?;
            sets.push(format!("{}=[{}]", key("access.net"), rules.join(",")));
        }
        if !args.env.is_empty() {
            let rules = args
                .env
                .iter()
                .map(|name| format!("{{name={},read=true}}", json!(name)));
            let rules: Vec<String> = rules.collect();
            sets.push(format!("{}=[{}]", key("access.env"), rules.join(",")));
        }
    }
    if !args.preset.is_empty() {
        sets.push(format!("{}={}", key("sandbox.presets"), json!(args.preset)));
    }
    if args.best_effort {
        sets.push(format!("{}=\"best-effort\"", key("sandbox.enforce")));
    }
    let texts = [
        ("time", &args.time),
        ("memory", &args.memory),
        ("file_size", &args.file_size),
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
        ("processes", args.processes),
        ("descriptors", args.descriptors),
    ];
    for (limit, count) in counts {
        if let Some(count) = count {
            sets.push(format!(
                "{}={count}",
                key(&format!("sandbox.limits.{limit}"))
            ));
        }
    }
    if let Some(tool) = &args.policy {
        // An unknown name must not become a new tool by what is set on it.
        Project::load_at(root.clone(), global, &[])?.tool(tool)?;
    }
    Ok((Project::load_at(root, global, &sets)?, name.to_owned()))
}

/// The rules for paths inside the workspace, and the list of those outside, as TOML.
fn rules(args: &RunArgs, root: &Utf8Path) -> anyhow::Result<(Vec<String>, Vec<String>)> {
    let current = workspace::current()?;
    let read = args.read.iter().map(|path| (path, false));
    let write = args.write.iter().map(|path| (path, true));
    let (mut inside, mut outside) = (Vec::new(), Vec::new());
    for (path, write) in read.chain(write) {
        let shown = path;
        let path = current.join(path);
        let path = workspace::resolved(&path)
            .with_context(|| format!("there is no `{shown}` to give access to"))?;
        match path.strip_prefix(root) {
            Ok(inner) => {
                let inner = match inner.as_str() {
                    "" => ".",
                    inner => inner,
                };
                let rights = match write {
                    true => "read=true,write=true,execute=true",
                    false => "read=true,execute=true",
                };
                inside.push(format!("{{path={},{rights}}}", json!(inner)));
            }
            Err(_) => outside.push(format!(
                "{{path={},write={write},execute=true}}",
                json!(path)
            )),
        }
    }
    Ok((inside, outside))
}

/// Starts the command. With it, what its processes may use together.
fn start(
    args: &RunArgs,
    prepared: &Prepared,
    terminal: Option<OwnedFd>,
) -> anyhow::Result<(Child, Limits)> {
    let mut request = SpawnRequest::new(prepared.confined.program.clone(), "/");
    prepared.confined.apply(&mut request);
    request.args = args.command.iter().skip(1).map(Into::into).collect();
    // Where jig was called, if the command can see that.
    if let Ok(current) = workspace::current()
        && current.starts_with(&prepared.root)
        && request.cwd == prepared.root
    {
        request.cwd = current.into_std_path_buf();
    }
    match terminal {
        Some(end) => request.terminal = Some(end),
        None => {
            request.stdin = given(io::stdin().as_fd())?;
            request.stdout = given(io::stdout().as_fd())?;
            request.stderr = given(io::stderr().as_fd())?;
        }
    }
    let limits = request.limits;
    let child = jig_sandbox::spawn(request).map_err(|error| match error {
        SpawnError::Confinement { reason, .. } => not_held(reason),
        error => error.into(),
    })?;
    Ok((child, limits))
}

fn not_held(reason: String) -> anyhow::Error {
    let hint = "hint: `jig doctor` says what this machine can enforce; with --best-effort the command \
                runs with that";
    anyhow!(hint).context(format!("the command was not started: {reason}"))
}

/// A stream of ours as the command's own. A directory is none: whoever holds one can look around from there.
#[expect(
    clippy::disallowed_types,
    reason = "a stream that is open already is asked what it is"
)]
fn given(stream: std::os::fd::BorrowedFd<'_>) -> anyhow::Result<Stdio> {
    let copy = stream
        .try_clone_to_owned()
        .context("cannot hand over a standard stream")?;
    let file = std::fs::File::from(copy);
    if file.metadata().is_ok_and(|about| about.is_dir()) {
        bail!("a standard stream is a directory, which is not handed over");
    }
    Ok(Stdio::Given(file.into()))
}

/// Waits for the end, and passes signals on meanwhile. Says also whether its time was over.
fn watch(
    child: &Child,
    mut signals: Signals,
    time: Option<Duration>,
) -> anyhow::Result<(Exit, bool)> {
    thread::scope(|scope| {
        let listening = Listening(signals.handle());
        scope.spawn(move || {
            for signal in signals.forever() {
                child.signal(signal);
            }
        });
        let failed = "cannot wait for the command";
        let exit = match time {
            Some(time) => child.wait_timeout(time).context(failed)?,
            None => Some(child.wait().context(failed)?),
        };
        let result = match exit {
            Some(exit) => (exit, false),
            None => (child.end(GRACE).context(failed)?, true),
        };
        drop(listening);
        Ok(result)
    })
}

/// Ends the listening thread when it goes out of scope, however that happens.
struct Listening(Handle);

impl Drop for Listening {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// What would be enforced.
fn shown(
    args: &RunArgs,
    prepared: &Prepared,
    limits: &SandboxLimits,
    out: &mut Output,
) -> anyhow::Result<()> {
    let confined = &prepared.confined;
    let profile = &confined.profile;
    let names: Vec<String> = confined
        .env
        .keys()
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    if out.is_json() {
        return out.json(&json!({
            "command": args.command,
            "program": confined.program.as_os_str().to_string_lossy(),
            "cwd": confined.cwd,
            "profile": &**profile,
            "env": names,
            "limits": limits::json(limits),
            "warnings": confined.warnings,
        }));
    }
    let mut text = format!("{BOLD}{}{BOLD:#}\n", args.command.join(" "));
    text.push_str(&field(
        "program",
        confined.program.as_os_str().to_string_lossy(),
    ));
    text.push_str(&field("starts in", confined.cwd.display()));
    text.push_str(&field("network", network(prepared)));
    text.push_str(&field("env", names.join(" ")));
    text.push_str(&field("limits", limits::listed(limits)));
    if args.overlay {
        text.push_str(&field("changes", "go to a layer"));
    }
    text.push_str(&format!(
        "\n{DIM}files; the deepest path that matches decides{DIM:#}\n"
    ));
    let mut rows: Vec<(Utf8PathBuf, String)> = Vec::new();
    for rule in &profile.paths {
        let path = Utf8PathBuf::from(rule.path.to_string_lossy().into_owned());
        rows.push((path, rule.rights.to_string()));
    }
    for private in &profile.private {
        let path = Utf8PathBuf::from(private.path.to_string_lossy().into_owned());
        rows.push((path, format!("private, {}", Bytes(private.size))));
    }
    rows.sort();
    let width = rows
        .iter()
        .map(|(path, _)| path.as_str().chars().count())
        .max()
        .unwrap_or(0);
    for (path, rights) in rows {
        text.push_str(&format!("  {path:width$}  {rights}\n"));
    }
    if !profile.pins.is_empty() {
        let pins = profile.pins.iter().map(|path| path.display().to_string());
        let pins: Vec<String> = pins.collect();
        text.push_str(&field("pinned", pins.join(" ")));
    }
    for warning in &confined.warnings {
        text.push_str(&field("note", warning));
    }
    out.text(&text)
}

/// A size as a flag takes it.
fn size(bytes: u64) -> String {
    match Bytes(bytes).to_string().split_once(' ') {
        Some((count, unit)) if unit != "bytes" => format!("{count}{unit}"),
        _ => bytes.to_string(),
    }
}

/// What of the network its rules open. There may be a gateway without rules, which only explains refusals.
fn network(prepared: &Prepared) -> String {
    let ports: Vec<String> = prepared.policy.ports().iter().map(u16::to_string).collect();
    match ports.is_empty() {
        true => "none".to_owned(),
        false => format!("the hosts of its rules, on ports {}", ports.join(", ")),
    }
}

/// What shells and `env` end with when a command did not run.
fn code_of(error: &anyhow::Error) -> u8 {
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

/// What the command is called among the tools.
const NAME: &str = "jig-run";

/// The exit codes of jig's own, as `timeout` and `env` have them.
const LIMIT: i32 = 124;
const FAILED: u8 = 125;
const NOT_EXECUTABLE: u8 = 126;
const NOT_FOUND: u8 = 127;

/// From asking a command to end because its time is over to killing it.
const GRACE: Duration = Duration::from_secs(5);

/// The signals that reach the command.
const FORWARDED: [i32; 6] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2];
