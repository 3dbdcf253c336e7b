//! [`DenialWatcher`]: what a user should know about a command while it runs.
//!
//! Many programs that are refused a host try again for minutes before they give up, and a server waits for ever for
//! those who cannot reach it.

use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use camino::Utf8Path;
use jig_broker::{Refusals, unreached_ports};
use jig_proto::{Denial, visible_words};
use jig_runtime::unreached_in_words;
use jig_sandbox::{Child, Interest, Profile, Waker, poll};

use super::allowing_flags::{self, FlagContext};

/// Tells it at once if standard error is a terminal. If not, what is no refusal is told at the end.
pub(super) struct DenialWatcher {
    over: Waker,
    thread: JoinHandle<Option<String>>,
}

/// What is looked at.
pub(super) struct WatchedCommand {
    pub(super) refusals: Option<Refusals>,
    pub(super) child: Arc<Child>,
    pub(super) profile: Arc<Profile>,
    /// Whether flags of `jig run` would allow what is refused.
    pub(super) by_flags: bool,
}

impl DenialWatcher {
    /// Begins. `None` if no thread can be had: then all is told at the end.
    pub(super) fn begin(about: WatchedCommand) -> Option<Self> {
        let over = Waker::new().ok()?;
        let ended = over.clone();
        let thread = thread::Builder::new().name("jig-telling".to_owned());
        let thread = thread.spawn(move || watch(about, &ended)).ok()?;
        Some(Self { over, thread })
    }

    /// Ends it; gives back what could not be told at once.
    pub(super) fn end(self) -> Option<String> {
        self.over.wake();
        // A panic there ended it, which is what is wanted.
        self.thread.join().ok()?
    }
}

fn watch(mut about: WatchedCommand, over: &Waker) -> Option<String> {
    let is_seen = io::stderr().is_terminal();
    let mut untold = None;
    let mut look = Some((Instant::now() + FIRST_LOOK, FIRST_LOOK * 2));
    loop {
        let mut waits = vec![Interest::Woken(over)];
        let refusals = about.refusals.as_ref().filter(|_| is_seen);
        waits.extend(refusals.map(|refusals| Interest::Woken(refusals.waker())));
        let left = look.map(|(at, _)| at.saturating_duration_since(Instant::now()));
        let Ok(ready) = poll(&waits, left) else {
            return untold;
        };
        if is_seen {
            for denial in about.refusals.iter_mut().flat_map(Refusals::take) {
                tell(&refused(&denial, about.by_flags));
            }
        }
        if ready.contains(0) {
            return untold;
        }
        if let Some((at, pause)) = look
            && Instant::now() >= at
        {
            look = (pause <= LAST_LOOK).then_some((Instant::now() + pause, pause * 2));
            let ports = unreached_ports(&about.child, &about.profile);
            if !ports.is_empty() {
                look = None;
                let (told, hint) = unreached_in_words(&ports);
                let told = format!("jig: the command {told}");
                match is_seen {
                    true => [told, hint.to_string()].iter().for_each(|line| tell(line)),
                    false => untold = Some(format!("{told}\n{hint}")),
                }
            }
        }
    }
}

fn refused(denial: &Denial, by_flags: bool) -> String {
    // A host is the same wherever the command was started.
    let place = FlagContext {
        root: Utf8Path::new("/"),
        current: Utf8Path::new("/"),
    };
    let hint = denial.hint.as_deref().filter(|_| by_flags);
    let way_out = match hint.and_then(|hint| allowing_flags::of_hint(hint, place)) {
        Some(flags) => format!("; {}", allowing_flags::offer(&flags)),
        None => String::new(),
    };
    let Denial {
        operation,
        target,
        why,
        ..
    } = denial;
    format!("jig: refused: {operation} on `{target}`: {why}{way_out}")
}

/// One line. The command may have its terminal raw, so that a line has to go back to its start.
fn tell(line: &str) {
    let line = visible_words(line);
    let _ = io::stderr().write_all(format!("\r{line}\r\n").as_bytes());
}

/// When it is first looked whether the command listens, and how long the longest pause is until the last look.
const FIRST_LOOK: Duration = Duration::from_secs(1);
const LAST_LOOK: Duration = Duration::from_secs(60);
