//! [`Telling`]: the hosts that a command is refused, told to the user at once.
//!
//! Many programs try again for minutes before they give up, and only then jig says all that was refused.

use std::io::{self, IsTerminal as _, Write as _};
use std::thread::{self, JoinHandle};

use jig_broker::Refusals;
use jig_proto::Denial;
use jig_sandbox::{Interest, Waker, poll};

use super::remedy;
use crate::output::printable;

/// Tells refusals as long as it lives, on a terminal.
pub(super) struct Telling {
    over: Waker,
    thread: Option<JoinHandle<()>>,
}

impl Telling {
    /// Begins, if standard error is a terminal. `by_flags`: whether flags of `jig run` would allow it.
    pub(super) fn begin(mut refusals: Refusals, by_flags: bool) -> Option<Self> {
        if !io::stderr().is_terminal() {
            return None;
        }
        let over = Waker::new().ok()?;
        let ended = over.clone();
        let thread = thread::Builder::new().name("jig-telling".to_owned());
        let thread = thread.spawn(move || {
            loop {
                let waits = [Interest::Woken(&ended), Interest::Woken(refusals.waker())];
                let Ok(ready) = poll(&waits, None) else {
                    return;
                };
                for denial in refusals.take() {
                    tell(&denial, by_flags);
                }
                if ready.contains(0) {
                    return;
                }
            }
        });
        let thread = Some(thread.ok()?);
        Some(Self { over, thread })
    }
}

impl Drop for Telling {
    fn drop(&mut self) {
        self.over.wake();
        if let Some(thread) = self.thread.take() {
            // A panic there ended it, which is what is wanted.
            let _ = thread.join();
        }
    }
}

/// One line. The command may have its terminal raw, so that a line has to go back to its start.
fn tell(denial: &Denial, by_flags: bool) {
    let flags = match by_flags {
        true => remedy::flags(std::slice::from_ref(denial)).join(" "),
        false => String::new(),
    };
    let way_out = match flags.is_empty() {
        true => String::new(),
        false => format!("; to allow it, run it with: {flags}"),
    };
    let Denial {
        operation,
        target,
        why,
        ..
    } = denial;
    let line = printable(&format!(
        "jig: refused: {operation} on `{target}`: {why}{way_out}"
    ));
    let line = line.replace(['\n', '\t'], " ");
    // Whoever does not see it hears of it at the end.
    let _ = io::stderr().write_all(format!("\r{line}\r\n").as_bytes());
}
