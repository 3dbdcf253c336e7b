//! The user's own terminal: its size, and a state that it comes back from.

use std::io::{self, IsTerminal as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use jig_pty::Size;
use rustix::fs::FileType;
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcgetpgrp, tcgetwinsize, tcsetattr};

/// While it lives, keys reach jig one by one and as they are, and nothing is echoed. When it goes, also by
/// a panic, the terminal is as it was before.
pub(crate) struct RawTerminal {
    before: Termios,
    /// What is printed when it goes.
    farewell: &'static str,
    is_raw: bool,
}

impl RawTerminal {
    /// Begins, if standard input is a terminal. `greeting` is printed, and `farewell` at the end.
    pub(crate) fn enter(greeting: &str, farewell: &'static str) -> io::Result<Self> {
        let mut raw = Self {
            before: tcgetattr(io::stdin())?,
            farewell,
            is_raw: false,
        };
        raw.resume()?;
        print(greeting)?;
        Ok(raw)
    }

    /// Gives the terminal back for a while.
    pub(crate) fn suspend(&mut self) {
        if self.is_raw {
            self.is_raw = false;
            // What was typed stays typed: it is for whoever reads next.
            let _ = tcsetattr(io::stdin(), OptionalActions::Drain, &self.before);
        }
    }

    /// Takes it again.
    pub(crate) fn resume(&mut self) -> io::Result<()> {
        let mut raw = self.before.clone();
        raw.make_raw();
        tcsetattr(io::stdin(), OptionalActions::Drain, &raw)?;
        self.is_raw = true;
        Ok(())
    }
}

impl Drop for RawTerminal {
    fn drop(&mut self) {
        let _ = print(self.farewell);
        self.suspend();
    }
}

/// The settings of the user's terminal, which come back when it goes.
pub(crate) struct KeptSettings {
    terminal: OwnedFd,
    before: Termios,
}

impl KeptSettings {
    /// Keeps those of the terminal among the standard streams; `None` if there is none, or if other programs use it at
    /// the same time: one that reads what we print, or the shell that has put us into the background. What those set
    /// is not ours to take back.
    pub(crate) fn of_standard_streams() -> Option<Self> {
        let (stdin, stdout, stderr) = (io::stdin(), io::stdout(), io::stderr());
        let streams = [stdin.as_fd(), stdout.as_fd(), stderr.as_fd()];
        let terminal = streams.into_iter().find(|stream| stream.is_terminal())?;
        let is_shared = streams[1..].iter().any(|stream| is_pipe(*stream));
        if is_shared || !is_in_foreground(terminal) {
            return None;
        }
        Some(Self {
            before: tcgetattr(terminal).ok()?,
            terminal: terminal.try_clone_to_owned().ok()?,
        })
    }
}

impl Drop for KeptSettings {
    fn drop(&mut self) {
        let _ = tcsetattr(&self.terminal, OptionalActions::Now, &self.before);
    }
}

fn is_pipe(stream: BorrowedFd<'_>) -> bool {
    rustix::fs::fstat(stream)
        .is_ok_and(|about| FileType::from_raw_mode(about.st_mode) == FileType::Fifo)
}

/// Prints exactly this on standard output. Nothing is printed in parts, so that a frame does not flicker.
pub(crate) fn print(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Whether all three standard streams are a terminal that jig may use: in the background it may not.
pub(crate) fn is_at_hand() -> bool {
    let is_terminal =
        io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal();
    is_terminal && is_in_foreground(io::stdin().as_fd())
}

fn is_in_foreground(terminal: BorrowedFd<'_>) -> bool {
    // A terminal that is not the controlling one has no foreground to ask for.
    tcgetpgrp(terminal).map_or(true, |group| group == rustix::process::getpgrp())
}

/// The size of the terminal on standard output or input, if there is one.
pub(crate) fn size() -> Option<Size> {
    let size = tcgetwinsize(io::stdout()).or_else(|_| tcgetwinsize(io::stdin()));
    let size = size
        .ok()
        .filter(|size| size.ws_row > 0 && size.ws_col > 0)?;
    Some(Size::new(size.ws_row, size.ws_col))
}
