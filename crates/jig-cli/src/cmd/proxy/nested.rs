//! `jig proxy` inside of a proxy: the command gets a descriptor 3 of its own, and what it asks for is passed on.
//!
//! Everything runs in the sandbox of the outermost proxy already, and its policy decides. So there is nothing
//! to configure here, and nothing to confine: the command gets no more than this process has. If there is no
//! sandbox around this process, the command is not started.
//!
//! There is no wall between the processes of one sandbox. This one keeps its connection to itself, but a program
//! that has one too, such as a shell that started jig, can be looked into by what it starts.

use std::io::{self, ErrorKind, IsTerminal as _};
use std::mem;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Command, ExitStatus};
use std::sync::mpsc;
use std::thread;

use anyhow::{Context as _, anyhow};
use jig_proto::fsproxy::DESCRIPTOR_VARIABLE;
use jig_proto::hint;
use jig_sandbox::Exit;
use jig_tool::proxy::{
    ChildOptions, ChildStream, Client, Error, ProxyConnectError, Relay, RelayChild,
};
use rustix::process::{Pid, Signal, kill_process};
use signal_hook::iterator::SignalsInfo;
use signal_hook::iterator::exfiltrator::WithOrigin;
use signal_hook::low_level::siginfo::{Cause, Origin};

use super::LAST_REQUESTS;
use crate::args::{ColorWhen, ProxyArgs};
use crate::exit::Done;
use crate::foreground::{self, FORWARDED, ListenerGuard};

/// Runs the command, and passes its requests on.
pub(super) fn run(args: &ProxyArgs) -> anyhow::Result<Done> {
    if let Some(option) = unusable(args) {
        return refused(option);
    }
    let words = foreground::words(&args.command, "jig proxy")?;
    let upstream = upstream()?;
    if is_free() {
        // Dropped, it would end the connection for everybody.
        mem::forget(upstream);
        return not_confined();
    }
    close_up()?;
    let relay = Relay::new(upstream.clone()).context("cannot serve the command")?;
    // Listening comes first: a signal that arrives while the command starts must not be lost.
    let signals = SignalsInfo::<WithOrigin>::new(FORWARDED).context("cannot listen for signals")?;
    let mut options = ChildOptions {
        llm: args.llm,
        ..ChildOptions::INHERIT
    };
    if io::stdin().is_terminal() {
        // What is typed is the command's own to read, as it is at the outermost proxy.
        options.stdin = ChildStream::None;
    }
    let mut child = match relay.spawn(command(&words), options) {
        Ok(child) => child,
        Err(error) => return Ok(not_started(&words[0], error)),
    };
    let status = watched(&mut child, signals)?;
    leave(&child, upstream);
    Ok(Done::Passed(exit_of(status)))
}

/// Whether this process is in no sandbox for sure: all of jig's are entered for good. The variable says only that
/// somebody serves a descriptor.
fn is_free() -> bool {
    #[cfg(target_os = "linux")]
    return rustix::thread::no_new_privs().is_ok_and(|is_set| !is_set);
    #[cfg(not(target_os = "linux"))]
    return false;
}

fn not_confined() -> anyhow::Result<Done> {
    let hint = hint!(
        "to have jig confine it, start jig without the variable: env -u {DESCRIPTOR_VARIABLE} jig proxy …; \
         a program that serves processes which need no sandbox starts them itself (`Relay` of the SDK)"
    );
    let what = format!(
        "the command was not started: whoever serves it ({DESCRIPTOR_VARIABLE} is set) has put jig into no \
         sandbox, so it would be in none"
    );
    Err(anyhow!(hint).context(what))
}

/// Makes this process one that others of the same user cannot look into. The command is such a process: it could
/// take our connection, and ask in our name for what it was not given, such as a language model.
fn close_up() -> anyhow::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)
        .context("cannot keep the connection from the command")?;
    Ok(())
}

/// Leaves the connection to whoever handed it to us, as we found it: a shell may start the next command with it.
fn leave(child: &RelayChild, upstream: Client) {
    let (done, all_done) = mpsc::channel();
    let (attached, last) = (child.attached().clone(), upstream.clone());
    thread::spawn(move || {
        // What the command asked for before it ended is still passed on (F-088).
        attached.wait();
        // Answers come in order: after this one there is none left that somebody else could take for his.
        let _ = done.send(last.quota());
    });
    if let Ok(Ok(_) | Err(Error::Proxy(_))) = all_done.recv_timeout(LAST_REQUESTS) {
        // Dropped, it would end the connection for everybody.
        mem::forget(upstream);
    }
}

/// Says that an option has nothing to act on here.
pub(super) fn refused(option: &str) -> anyhow::Result<Done> {
    let hint = hint!("leave it out, or give it to the outermost `jig proxy`");
    let what = format!(
        "{option} is for the outermost proxy: this one runs inside of another ({DESCRIPTOR_VARIABLE} is \
         set), whose rules decide"
    );
    Err(anyhow!(hint).context(what))
}

/// The first option that would need a policy or a sandbox of our own.
fn unusable(args: &ProxyArgs) -> Option<&'static str> {
    let hold = &args.hold;
    let options = [
        ("-i", !args.input.is_empty()),
        ("-o", !args.output.is_empty()),
        ("--root", args.root.is_some()),
        ("--policy", args.policy.is_some()),
        ("--tool", args.tool.is_some()),
        ("--lenient", args.lenient),
        ("--code", !args.code.is_empty()),
        ("--preset", !hold.preset.is_empty()),
        ("--time", hold.time.is_some()),
        ("--memory", hold.memory.is_some()),
        ("--processes", hold.processes.is_some()),
        ("--file-size", hold.file_size.is_some()),
        ("--descriptors", hold.descriptors.is_some()),
        ("--pty", hold.pty != ColorWhen::Auto),
        ("--best-effort", hold.best_effort),
    ];
    let given = options.into_iter().find(|(_, is_given)| *is_given);
    given.map(|(option, _)| option)
}

/// The connection to the proxy around us, if there is one that answers.
fn upstream() -> anyhow::Result<Client> {
    let client = Client::inherited().map_err(|error| match error {
        ProxyConnectError::InUse(_) => {
            let hint = hint!(
                "start one command after the other, or from a program that serves all of them \
                        (`Relay` of the SDK)"
            );
            anyhow!(hint).context(error)
        }
        error => silent(error.to_string()),
    })?;
    let (done, answered) = mpsc::channel();
    let asking = client.clone();
    thread::spawn(move || {
        // Every proxy has some answer to this, and it changes nothing.
        let _ = done.send(asking.quota());
    });
    match answered.recv_timeout(LAST_REQUESTS) {
        Ok(Err(Error::Connection(error))) => Err(silent(error.to_string())),
        Ok(_) => Ok(client),
        Err(_) => {
            let waited = LAST_REQUESTS.as_secs();
            Err(silent(format!("it has not answered for {waited} seconds")))
        }
    }
}

/// Nobody answers where a proxy should be.
fn silent(reason: String) -> anyhow::Error {
    let hint = hint!(
        "a program that uses its descriptor 3 itself has to hand on another one (`Relay` of the SDK); \
         outside of a proxy, start jig without the variable: env -u {DESCRIPTOR_VARIABLE} jig proxy …"
    );
    let value = std::env::var_os(DESCRIPTOR_VARIABLE).unwrap_or_default();
    let what = format!(
        "{DESCRIPTOR_VARIABLE} is `{}`, but no proxy answers there",
        value.to_string_lossy()
    );
    anyhow!(hint).context(reason).context(what)
}

/// The command as it was given: its environment, its folder and its streams are ours.
#[expect(
    clippy::disallowed_methods,
    reason = "it belongs to the sandbox that we are in ourselves, and could start it without us"
)]
fn command(words: &[String]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}

fn not_started(program: &str, error: io::Error) -> Done {
    let code = match error.kind() {
        ErrorKind::NotFound => foreground::NOT_FOUND,
        ErrorKind::PermissionDenied => foreground::NOT_EXECUTABLE,
        _ => foreground::FAILED,
    };
    let error = anyhow::Error::from(error).context(format!("cannot start `{program}`"));
    Done::NotRun(code, error)
}

/// Waits for the end, and passes signals on meanwhile.
fn watched(
    child: &mut RelayChild,
    mut signals: SignalsInfo<WithOrigin>,
) -> anyhow::Result<ExitStatus> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let listening = ListenerGuard(signals.handle());
    let ended = thread::scope(|scope| {
        scope.spawn(move || {
            for origin in signals.forever() {
                if let (true, Some(pid)) = (is_for_us(&origin), pid)
                    && let Some(signal) = Signal::from_named_raw(origin.signal)
                {
                    // It may have ended just now.
                    let _ = kill_process(pid, signal);
                }
            }
        });
        let ended = child.wait();
        drop(listening);
        ended
    });
    ended.context("cannot wait for the command")
}

/// Whether somebody sent the signal to this process, so that the command does not know of it. A terminal sends
/// it to all in its foreground, and the first process of the sandbox, which signals to the outermost jig come
/// from, to everybody.
fn is_for_us(origin: &Origin) -> bool {
    let by = origin.process.map(|process| process.pid);
    origin.cause != Cause::Kernel && by != Some(FIRST)
}

fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code), _) => Exit::Exited { code },
        (None, signal) => Exit::Killed {
            signal: signal.unwrap_or_default(),
            core: status.core_dumped(),
        },
    }
}

/// The first process of a sandbox.
const FIRST: i32 = 1;
