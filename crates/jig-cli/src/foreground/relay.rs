//! A command at a terminal: the command has a terminal of its own, and jig stands between the two.
//!
//! The command never holds the user's terminal, so that it can neither type into it nor change it for good.
//! Every key goes through as it is; ctrl-C is a byte, which becomes a signal in the command's terminal.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, IsTerminal as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Context;
use jig_pty::Pty;
use jig_sandbox::{Child, Exit, Interest, Waker};
use rustix::io::Errno;
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGHUP, SIGTSTP, SIGWINCH};
use signal_hook::iterator::Signals;

use super::ListenerGuard;
use super::end_request::EndRequest;
use super::output_meter::OutputMeter;
use crate::terminal::{self, RawTerminal};

/// A terminal for a command.
pub(super) struct TerminalRelay {
    pty: Pty,
    /// The user's terminal, while it is ours and if there is one.
    raw: Option<RawTerminal>,
}

impl TerminalRelay {
    /// Opens a terminal as large as the user's and with its settings. The second value is for the command.
    pub(super) fn open() -> anyhow::Result<(Self, OwnedFd)> {
        let failed = "cannot open a terminal for the command";
        let (pty, program) = Pty::open(terminal::size().unwrap_or_default()).context(failed)?;
        if let Ok(settings) = tcgetattr(io::stdin()) {
            // The user's own keys for erase, interrupt and so on.
            tcsetattr(&program, OptionalActions::Now, &settings).context(failed)?;
        }
        Ok((Self { pty, raw: None }, program))
    }

    /// Passes everything on until the command has ended. Says also whether its time was over.
    pub(super) fn run(
        mut self,
        child: &Child,
        mut signals: Signals,
        request: &EndRequest,
        meter: &OutputMeter,
    ) -> anyhow::Result<(Exit, bool)> {
        if io::stdin().is_terminal() {
            self.raw = Some(RawTerminal::enter("", "").context("cannot use the terminal")?);
        }
        let failed = "cannot wait for the command";
        let news = RelaySignals::new().context(failed)?;
        let listening = ListenerGuard(signals.handle());
        thread::scope(|scope| {
            scope.spawn(|| {
                for signal in signals.forever() {
                    match signal {
                        SIGWINCH => news.tell(&news.is_resized),
                        SIGTSTP => news.tell(&news.is_stopped),
                        signal => request.hear(signal, child),
                    }
                }
            });
            let result = self.pass(child, &news, request, meter).context(failed);
            drop(listening);
            result
        })
    }

    fn pass(
        &mut self,
        child: &Child,
        news: &RelaySignals,
        request: &EndRequest,
        meter: &OutputMeter,
    ) -> io::Result<(Exit, bool)> {
        let mut input = TypedInput::new();
        let mut is_heard = true;
        let ended = loop {
            let left = request.left();
            if left == Some(Duration::ZERO) {
                break request.end(child)?;
            }
            let stdin = io::stdin();
            let mut waits = vec![
                Interest::Exited(child),
                Interest::Woken(&news.waker),
                Interest::Woken(&request.waker),
            ];
            let printed = waits.len();
            waits.push(Interest::Readable(self.pty.as_fd()));
            let mut typed = None;
            if input.wants_more() {
                typed = Some(waits.len());
                waits.push(Interest::Readable(stdin.as_fd()));
            }
            let mut writable = None;
            if !input.waiting.is_empty() {
                writable = Some(waits.len());
                waits.push(Interest::Writable(self.pty.as_fd()));
            }
            let ready = jig_sandbox::poll(&waits, left)?;
            let is_ready = |place: Option<usize>| place.is_some_and(|place| ready.contains(place));
            if ready.contains(1) {
                self.hear(news)?;
            }
            if ready.contains(2) {
                request.waker.clear();
            }
            if ready.contains(printed)
                && self.print(child, meter, &mut is_heard)? == RelayRead::Ended
            {
                // Nobody has the terminal open any more: only the end is left to wait for.
                break request.wait(child)?;
            }
            if is_ready(typed) {
                input.read();
            }
            if is_ready(writable) {
                input.write(&self.pty);
            }
            if ready.contains(0) {
                break (child.wait()?, false);
            }
        };
        // What it printed last is still there.
        while self.print(child, meter, &mut is_heard)? == RelayRead::Some {}
        Ok(ended)
    }

    /// What signals told.
    fn hear(&mut self, news: &RelaySignals) -> io::Result<()> {
        news.waker.clear();
        if news.is_stopped.swap(false, Ordering::SeqCst) {
            // As any program does: it stops, and the shell has its terminal as it was.
            if let Some(raw) = &mut self.raw {
                raw.suspend();
            }
            signal_hook::low_level::emulate_default_handler(SIGTSTP)?;
            if let Some(raw) = &mut self.raw {
                raw.resume()?;
            }
            news.is_resized.store(true, Ordering::SeqCst);
        }
        if news.is_resized.swap(false, Ordering::SeqCst)
            && let Some(size) = terminal::size()
        {
            self.pty.resize(size)?;
        }
        Ok(())
    }

    /// Prints some of what the command has printed.
    fn print(
        &self,
        child: &Child,
        meter: &OutputMeter,
        is_heard: &mut bool,
    ) -> io::Result<RelayRead> {
        let mut buffer = [0; 16 << 10];
        let count = match self.pty.read(&mut buffer) {
            Ok(0) => return Ok(RelayRead::Ended),
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(RelayRead::Some),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(RelayRead::Nothing),
            Err(error) => return Err(error),
        };
        let count = meter.admit(count, child);
        if *is_heard && write_all(io::stdout().as_fd(), &buffer[..count]).is_err() {
            // Nobody sees it any more: as if its terminal had been closed.
            *is_heard = false;
            child.signal(SIGHUP);
        }
        Ok(RelayRead::Some)
    }
}

#[derive(PartialEq, Eq)]
enum RelayRead {
    /// There may be more.
    Some,
    /// There is nothing now.
    Nothing,
    /// Nothing will come.
    Ended,
}

/// What signals tell the thread that relays.
struct RelaySignals {
    waker: Waker,
    is_resized: AtomicBool,
    is_stopped: AtomicBool,
}

impl RelaySignals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            waker: Waker::new()?,
            is_resized: AtomicBool::new(false),
            is_stopped: AtomicBool::new(false),
        })
    }

    fn tell(&self, what: &AtomicBool) {
        what.store(true, Ordering::SeqCst);
        self.waker.wake();
    }
}

/// What was typed, and has not reached the command yet.
struct TypedInput {
    waiting: VecDeque<u8>,
    is_open: bool,
    /// Whether the last byte ended a line.
    at_line_start: bool,
}

impl TypedInput {
    fn new() -> Self {
        Self {
            waiting: VecDeque::new(),
            is_open: true,
            at_line_start: true,
        }
    }

    fn wants_more(&self) -> bool {
        self.is_open && self.waiting.len() < MOST_WAITING
    }

    fn read(&mut self) {
        let mut buffer = [0; 4 << 10];
        match rustix::io::read(io::stdin(), &mut buffer) {
            Err(Errno::INTR | Errno::AGAIN) => {}
            Ok(0) | Err(_) => {
                self.is_open = false;
                // In the middle of a line the key only ends the line.
                let keys = if self.at_line_start { 1 } else { 2 };
                self.waiting.extend(std::iter::repeat_n(END_OF_INPUT, keys));
            }
            Ok(count) => {
                self.waiting.extend(&buffer[..count]);
                self.at_line_start = buffer[count - 1] == b'\n' || buffer[count - 1] == b'\r';
            }
        }
    }

    fn write(&mut self, pty: &Pty) {
        let (front, _) = self.waiting.as_slices();
        match pty.write(front) {
            Ok(count) => drop(self.waiting.drain(..count)),
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            // The command has closed its terminal: nobody reads this any more.
            Err(_) => {
                self.waiting.clear();
                self.is_open = false;
            }
        }
    }
}

/// Writes to a standard stream, also where somebody has made that non-blocking.
pub(super) fn write_all(stream: BorrowedFd<'_>, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match rustix::io::write(stream, bytes) {
            Ok(count) => bytes = &bytes[count..],
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => {
                jig_sandbox::poll(&[Interest::Writable(stream)], None)?;
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Signals that concern the terminal, besides those that reach the command in any case.
pub(super) const OF_TERMINAL: [i32; 2] = [SIGWINCH, SIGTSTP];

/// Ctrl-D.
const END_OF_INPUT: u8 = 4;

/// Of what was typed or pasted, in bytes: a command that does not read must not fill our memory.
const MOST_WAITING: usize = 64 << 10;
