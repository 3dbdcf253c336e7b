//! `jig proxy --stdio`: a client that somebody else has started, on standard input and output.

use std::io::{self, IsTerminal as _};
use std::os::fd::AsFd as _;
use std::sync::atomic::{AtomicI32, Ordering};
use std::thread;

use anyhow::{Context as _, anyhow};
use jig_runtime::fsproxy::{ClientEnd, ClientOptions};
use jig_sandbox::Exit;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::{remarks, service};
use crate::args::{GlobalArgs, ProxyArgs};
use crate::exit::Done;
use crate::foreground::ListenerGuard;
use crate::output::CliOutput;

/// Serves the client until it has closed its side. Standard output is its own: whatever jig has to say goes to
/// standard error.
pub(super) fn serve(
    args: &ProxyArgs,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    let service = service(args, global)?;
    if io::stdin().is_terminal() {
        out.note(
            "jig: serving whoever types here; `OPEN README.md r true` opens a file, ctrl-D ends",
        );
    }
    let failed = "cannot use standard input and output";
    let signals = Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot listen for signals")?;
    let input = io::stdin().as_fd().try_clone_to_owned().context(failed)?;
    let output = io::stdout().as_fd().try_clone_to_owned().context(failed)?;
    let registration = remarks::publish(&service, &args.command, out);
    let options = ClientOptions {
        llm: args.llm,
        label: "--stdio".to_owned(),
        ..ClientOptions::default()
    };
    let client = service.manager.serve(input, output, options);
    let client = client.context(failed)?;

    let ended_by = AtomicI32::new(0);
    let listening = ListenerGuard(signals.handle());
    let end = thread::scope(|scope| {
        let (mut signals, client, ended_by) = (signals, &client, &ended_by);
        scope.spawn(move || {
            for signal in signals.forever() {
                ended_by.store(signal, Ordering::SeqCst);
                client.end();
            }
        });
        let end = client.wait();
        drop(listening);
        end
    });
    service.manager.end();
    remarks::close_log(&service, out);
    drop(registration);
    match (end, ended_by.into_inner()) {
        // The same end as without us listening, but that everything is closed.
        (_, signal) if signal != 0 => Ok(Done::Passed(Exit::Killed {
            signal,
            core: false,
        })),
        (ClientEnd::Broken(reason), _) => {
            Err(anyhow!(reason).context("the client did not keep to the protocol"))
        }
        // Its side is closed: a normal end (F-080).
        _ => Ok(Done::Ok),
    }
}
