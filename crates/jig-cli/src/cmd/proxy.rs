//! `jig proxy`: a command, or a client on stdin and stdout, that asks jig for every file (the FS proxy).
//!
//! Three ways lead from here: a command that is confined and gets descriptor 3, a client that somebody else
//! has started ([`stdio`]), and, inside of a proxy, a command whose requests are passed on ([`nested`]).

mod nested;
mod remarks;
mod stdio;

use std::ffi::OsString;
use std::os::fd::BorrowedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use jig_broker::{Confined, ProgramEnd, ProgramEnding, ProgramReach};
use jig_engine::{CallError, CommandLog, Preparation, PreparedCommand};
use jig_project::proxy_service::{ProxyOptions, ProxyService};
use jig_project::{audit_log, open_files};
use jig_proto::fsproxy::{DESCRIPTOR, DESCRIPTOR_VARIABLE};
use jig_proto::hint;
use jig_proto::visible_lines;
use jig_runtime::fsproxy::{ClientEnd, ClientOptions, ParentStream, ParentStreams};
use jig_sandbox::{Exit, Network, PathRule, Rights, RuleSource};

use crate::args::{GlobalArgs, ProxyArgs};
use crate::exit::Done;
use crate::foreground::{self, Foreground, ForegroundLimits, UsedLimits};
use crate::output::CliOutput;

pub(crate) fn run(
    args: &ProxyArgs,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    if let Err(error) = understood(args) {
        return Ok(Done::NotRun(NOT_UNDERSTOOD, error));
    }
    open_files::raise_limit();
    let is_nested = std::env::var_os(DESCRIPTOR_VARIABLE).is_some_and(|value| !value.is_empty());
    let result = match args.stdio {
        true if is_nested => nested::refused("--stdio"),
        true => return stdio::serve(args, global, out),
        false if is_nested => nested::run(args),
        false => command(args, global, out),
    };
    match result {
        Ok(done) => Ok(done),
        Err(error) => Ok(Done::NotRun(foreground::code_of(&error), error)),
    }
}

/// Either a client or a command.
fn understood(args: &ProxyArgs) -> anyhow::Result<()> {
    match (args.stdio, args.command.first()) {
        (false, None) => {
            let hint = hint!(
                "it comes after `--`: jig proxy -- ./agent; with --stdio a client is served \
                        that somebody else has started"
            );
            Err(anyhow!(hint).context("there is no command to run"))
        }
        (true, Some(program)) => {
            let hint = hint!(
                "leave one of them out: without --stdio the command is started, and asks over \
                        descriptor 3"
            );
            let what =
                format!("--stdio serves a client that runs already, and starts no `{program}`");
            Err(anyhow!(hint).context(what))
        }
        _ => Ok(()),
    }
}

/// What the options of the command line stand for.
fn service(args: &ProxyArgs, global: &GlobalArgs) -> anyhow::Result<ProxyService> {
    let options = ProxyOptions {
        root: args.root.clone(),
        selection: global.selection(),
        policy: args.policy.clone(),
        tool: args.tool.clone(),
        input: args.input.clone(),
        output: args.output.clone(),
        code: args.code.clone(),
        lenient: args.lenient,
        llm: args.llm,
    };
    ProxyService::new(&options, |table| foreground::settings(&args.hold, table))
}

/// Runs a command that reaches nothing but jig, and serves it.
fn command(args: &ProxyArgs, global: &GlobalArgs, out: &mut CliOutput) -> anyhow::Result<Done> {
    let words = foreground::words(&args.command, "jig proxy")?;
    let service = service(args, global)?;
    let prepared = confined(&service, &words)?;
    for warning in prepared.confined.warnings.iter().chain(&prepared.warnings) {
        out.note(&format!("jig: {warning}"));
    }
    let registration = remarks::publish(&service, &args.command, out);

    let time = service.limits.time;
    // What it prints passes jig as writes to its handles.
    let limits = ForegroundLimits { time, output: None };
    let mut foreground = Foreground::open(args.hold.pty, limits)?;
    let options = ClientOptions {
        llm: args.llm,
        streams: streams(&foreground)?,
        label: args.command[0].clone(),
        ..ClientOptions::default()
    };
    let (client, theirs) = service
        .manager
        .connect(options)
        .context("cannot make descriptor 3 of the command")?;
    let streams = foreground.streams()?;
    let folder = service.folder(&prepared);
    let profile = Arc::clone(&prepared.confined.profile);
    let words = words.get(1..).unwrap_or_default();
    let running = prepared.start(
        CommandLog::run("jig proxy", &args.command),
        words,
        |request| {
            // What it may not reach by itself, it is not meant to: there is no refusal to explain.
            request.observe = false;
            let number = DESCRIPTOR.to_string().into();
            request.env.insert(DESCRIPTOR_VARIABLE.into(), number);
            request.descriptors.push((DESCRIPTOR, theirs));
            if let Some(folder) = folder {
                request.cwd = folder.into();
            }
            streams.hand_over(request);
        },
    );
    let running = running.map_err(|error| foreground::not_started(error, &profile))?;
    let child = running.program().child();
    client.set_pid(child.id());
    foreground::tell_gaps(child, out);
    let ended = foreground.run(running.program())?;
    let (exit, timed_out) = (ended.exit, ended.is_late);
    let tree = *running.program().limits();
    // With it ends all that it started, so that nobody holds the other end any more.
    let end = running.finish(
        audit_log::outcome(exit),
        exit,
        ProgramEnding::Unexplained,
        |_| (),
    );
    foreground::tell_unlogged(end.unlogged.as_ref(), out);
    let ProgramEnd {
        intruders, reached, ..
    } = end.program;

    // What it asked for before it ended is still done (F-088).
    let end = client.wait_timeout(LAST_REQUESTS);
    client.end();
    if args.tells_virtual {
        remarks::tell_virtual(&service, out);
    }
    service.manager.end();
    remarks::close_log(&service, out);
    drop(registration);
    if let Some(ClientEnd::Broken(reason)) = end {
        let reason = visible_lines(&reason);
        out.note(&format!(
            "jig: the command did not keep to the protocol of descriptor 3: {reason}"
        ));
    }
    // The first mistake: a program that knows nothing of the protocol finds no file. One that did not run at
    // all says so by its code.
    let has_failed = matches!(
        exit,
        Exit::Exited {
            code: 1..FIRST_OF_NOT_RUN
        }
    );
    if has_failed && !timed_out && client.requests() == 0 {
        out.note(
            "jig: the command asked for nothing over descriptor 3, and has no files of its own; \
             `jig run` is for programs that know nothing of jig",
        );
    }
    for intruder in &intruders {
        out.note(&format!("jig: {intruder}"));
    }
    ended.tell_ignored(out);
    let used = UsedLimits {
        time: time.filter(|_| timed_out),
        output: None,
        reached,
        tree,
        table: service.table(),
    };
    Ok(match used.tell(out) {
        true => Done::Passed(foreground::BY_LIMIT),
        false if exit.is_success() && !intruders.is_empty() => Done::Bad,
        false => Done::Passed(exit),
    })
}

/// Confines the command to its own program and what was named as a part of it.
fn confined(service: &ProxyService, words: &[String]) -> anyhow::Result<PreparedCommand> {
    let preparation = Preparation {
        reach: match service.code_is_inside {
            // The rules of the tool that the command is confined as are then those on its code.
            true => ProgramReach::Workspace,
            false => ProgramReach::OwnProgramOnly,
        },
        ..Preparation::default()
    };
    let prepared = service.engine.prepare(&service.tool, words, preparation);
    let mut prepared = prepared.map_err(|error| match error {
        CallError::Start { error, .. } => anyhow::Error::from(error),
        CallError::Unconfinable { reason, .. } => foreground::not_held(&reason),
        error => error.into(),
    })?;
    // Whatever hosts the tool's rules name: the way out is descriptor 3.
    Arc::make_mut(&mut prepared.confined.profile).network = Network::None;
    if let Ok(jig) = std::env::current_exe() {
        show_jig(jig, &mut prepared.confined);
    }
    Ok(prepared)
}

/// Lets the command run jig, by which it serves processes of its own, wherever that is installed.
fn show_jig(jig: PathBuf, confined: &mut Confined) {
    let name = OsString::from("PATH");
    let path = confined.env.get(&name).cloned().unwrap_or_default();
    let places = std::env::split_paths(&path);
    let own = jig.parent().map(PathBuf::from);
    // Last, so that what stands beside it hides no program of the system.
    if let Ok(path) = std::env::join_paths(places.chain(own)) {
        confined.env.insert(name, path);
    }
    Arc::make_mut(&mut confined.profile).paths.push(PathRule {
        path: jig,
        rights: Rights::READ.with(Rights::EXECUTE),
        source: RuleSource::System,
    });
}

/// What the handles 0 to 2 of the command are.
fn streams(foreground: &Foreground) -> anyhow::Result<ParentStreams> {
    let failed = "cannot share the standard streams with the command";
    let Some(terminal) = foreground.terminal() else {
        return ParentStreams::inherited().context(failed);
    };
    // The user's own terminal is raw meanwhile: what is written has to pass the command's, as what the
    // command itself prints does. And the command itself reads what is typed.
    let copy = |terminal: BorrowedFd<'_>| terminal.try_clone_to_owned().map(ParentStream::new);
    Ok(ParentStreams {
        stdin: None,
        stdout: Some(copy(terminal).context(failed)?),
        stderr: Some(copy(terminal).context(failed)?),
    })
}

/// From here on an exit code says that a command did not run: jig's own, and those of shells.
const FIRST_OF_NOT_RUN: i32 = foreground::FAILED as i32;

/// The exit code of a command line that was not understood.
const NOT_UNDERSTOOD: u8 = 2;

/// How long the requests of a command that has ended may take. They are in our hands already: only a slow
/// disk could need more, and only somebody outside of the sandbox could still hold the other end.
const LAST_REQUESTS: Duration = Duration::from_secs(10);
