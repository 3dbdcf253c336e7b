//! [`EndRequest`]: when a command has to end, because its time is over or because a signal says so.

use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jig_sandbox::{Child, Exit, Interest, Waker};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::GRACE;

/// When a command has to end. Signals reach it on one thread, another one waits.
pub(super) struct EndRequest {
    /// When its time is over.
    deadline: Option<Instant>,
    /// Wakes whoever waits, when the moment of the end has changed.
    pub(super) waker: Waker,
    asked: Mutex<AskedEnd>,
}

/// What signals have asked for.
#[derive(Default)]
struct AskedEnd {
    /// The first signal that ends, and when the command is killed if it still runs.
    by: Option<(i32, Instant)>,
    /// Whether it was killed because it ignored that signal.
    is_ignored: bool,
}

impl EndRequest {
    /// The time of the command is over at `deadline`.
    pub(super) fn new(deadline: Option<Instant>) -> io::Result<Self> {
        Ok(Self {
            deadline,
            waker: Waker::new()?,
            asked: Mutex::default(),
        })
    }

    /// Passes a signal on. After SIGTERM and SIGHUP the command has a while to end; whatever else of this kind comes
    /// then ends it at once.
    ///
    /// SIGINT and SIGQUIT alone are the command's own affair: interactive programs do other things than to end.
    pub(super) fn hear(&self, signal: i32, child: &Child) {
        let mut asked = self.lock();
        if asked.by.is_some() && [SIGTERM, SIGHUP, SIGINT, SIGQUIT].contains(&signal) {
            child.kill();
            return;
        }
        if [SIGTERM, SIGHUP].contains(&signal) {
            asked.by = Some((signal, Instant::now() + GRACE));
            self.waker.wake();
        }
        drop(asked);
        child.signal(signal);
    }

    /// How long the command may still run; `None` is for ever, and zero says that [`end`](Self::end) is to end it.
    pub(super) fn left(&self) -> Option<Duration> {
        let grace = self.lock().by.map(|(_, until)| until);
        let end = match (self.deadline, grace) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        end.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// Waits for the end of the command, and ends it when it has to. Says also whether its time was over.
    pub(super) fn wait(&self, child: &Child) -> io::Result<(Exit, bool)> {
        loop {
            let left = self.left();
            if left == Some(Duration::ZERO) {
                return self.end(child);
            }
            let waits = [Interest::Exited(child), Interest::Woken(&self.waker)];
            let ready = jig_sandbox::poll(&waits, left)?;
            if ready.contains(0) {
                return Ok((child.wait()?, false));
            }
            self.waker.clear();
        }
    }

    /// Ends a command that may not run any longer. Says also whether its time was over.
    pub(super) fn end(&self, child: &Child) -> io::Result<(Exit, bool)> {
        let mut asked = self.lock();
        if asked.by.is_none() {
            drop(asked);
            return Ok((child.end(GRACE)?, true));
        }
        asked.is_ignored = true;
        drop(asked);
        child.kill();
        Ok((child.wait()?, false))
    }

    /// The signal that the command ignored until it was killed.
    pub(super) fn ignored(&self) -> Option<i32> {
        let asked = self.lock();
        asked
            .by
            .filter(|_| asked.is_ignored)
            .map(|(signal, _)| signal)
    }

    fn lock(&self) -> MutexGuard<'_, AskedEnd> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
