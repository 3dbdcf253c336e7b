//! Ctrl-C: the first one cancels the call, the second one kills the tool, the third one waits for nothing.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::Context;
use jig_broker::CancelToken;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// Whether a person is being asked: then nothing is lost by leaving at once.
static ASKING: AtomicBool = AtomicBool::new(false);

/// What signals do to a call.
pub(crate) struct InterruptTokens {
    /// Cancelled by the first SIGINT, SIGTERM or SIGHUP: the tool is asked to end.
    pub(crate) cancel: CancelToken,
    /// Cancelled by the second: the tool is killed.
    pub(crate) kill: CancelToken,
}

/// Listens for signals. The third one ends the program, and with it, at once, every tool that it runs.
pub(crate) fn tokens() -> anyhow::Result<InterruptTokens> {
    let (cancel, kill) = (CancelToken::new(), CancelToken::new());
    let tokens = InterruptTokens {
        cancel: cancel.clone(),
        kill: kill.clone(),
    };
    let mut signals =
        Signals::new([SIGINT, SIGTERM, SIGHUP]).context("cannot listen for Ctrl-C")?;
    thread::Builder::new()
        .name("jig-signals".to_owned())
        .spawn(move || {
            for signal in signals.forever() {
                if kill.is_cancelled() || ASKING.load(Ordering::SeqCst) {
                    // As if we had never listened: whoever started us sees what ended us.
                    let _ = signal_hook::low_level::emulate_default_handler(signal);
                }
                match cancel.is_cancelled() {
                    false => cancel.cancel(),
                    true => kill.cancel(),
                }
            }
        })
        .context("cannot listen for Ctrl-C")?;
    Ok(tokens)
}

/// Notes that a person is asked, until the guard is dropped.
pub(crate) fn asking() -> QuestionGuard {
    ASKING.store(true, Ordering::SeqCst);
    QuestionGuard
}

/// While it lives, a person is asked.
pub(crate) struct QuestionGuard;

impl Drop for QuestionGuard {
    fn drop(&mut self) {
        ASKING.store(false, Ordering::SeqCst);
    }
}
