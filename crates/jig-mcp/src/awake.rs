//! Staying awake between messages that come quickly.
//!
//! A call of a server behind jig wakes jig twice: for the request, and for the answer. A thread that sleeps on
//! another core than whoever wakes it takes longer to wake than such a call takes. So the thread that serves one
//! client looks for the next message a little before it sleeps, where the last ones came soon, and leaves its core
//! to whoever else wants it meanwhile. Where messages come seldom, nothing is spent: a wait that was short earns a few,
//! of which every one that is too long costs one.

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

/// Who has said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// The client: what comes next is most likely the answer of a server.
    Client,
    /// A server: what comes next is most likely another request.
    Server,
}

thread_local! {
    /// Only a thread that serves one client, and nothing else, has one.
    static HERE: RefCell<Option<Awake>> = const { RefCell::new(None) };
}

/// How long a thread stays awake.
#[derive(Debug)]
struct Awake {
    /// Who said something last, and when.
    last: Cell<(Side, Instant)>,
    /// How many waits that are too long it can afford, after each side.
    earned: [Cell<u32>; 2],
    until: Cell<Instant>,
    /// Whoever stays awake, while it has no reason to.
    dozing: RefCell<Option<Waker>>,
}

/// Notes that a message came. A thread that does not serve one client alone takes no notice.
pub(crate) fn stir(side: Side) {
    HERE.with_borrow(|here| {
        if let Some(awake) = here {
            awake.stir(side, Instant::now());
        }
    });
}

/// Keeps this thread awake while messages come quickly. Runs for ever, as a task of the one runtime on this thread.
pub(crate) async fn stay() {
    // With one core, whoever is waited for could not go on.
    if std::thread::available_parallelism().map_or(1, usize::from) < 2 {
        return;
    }
    HERE.set(Some(Awake::new(Instant::now())));
    loop {
        poll_fn(|context| {
            HERE.with_borrow(|here| match here {
                Some(awake) if awake.is_worth_it(Instant::now()) => Poll::Ready(()),
                Some(awake) => {
                    awake.dozing.replace(Some(context.waker().clone()));
                    Poll::Pending
                }
                None => Poll::Pending,
            })
        })
        .await;
        std::thread::yield_now();
        // The runtime looks for messages, and does not sleep.
        tokio::task::yield_now().await;
    }
}

impl Awake {
    fn new(now: Instant) -> Self {
        Self {
            last: Cell::new((Side::Server, now)),
            earned: [Cell::new(0), Cell::new(0)],
            until: Cell::new(now),
            dozing: RefCell::new(None),
        }
    }

    fn stir(&self, side: Side, now: Instant) {
        let (before, then) = self.last.replace((side, now));
        let earned = self.earned(before);
        earned.set(match now.duration_since(then) <= LONGEST {
            true => EARNED,
            false => earned.get().saturating_sub(1),
        });
        if self.earned(side).get() == 0 {
            self.until.set(now);
            return;
        }
        self.until.set(now + LONGEST);
        if let Some(waker) = self.dozing.take() {
            waker.wake();
        }
    }

    fn is_worth_it(&self, now: Instant) -> bool {
        now < self.until.get()
    }

    fn earned(&self, side: Side) -> &Cell<u32> {
        &self.earned[side as usize]
    }
}

/// How long to stay awake for one message: as long as the official client for Python takes from one answer to its next
/// call. To wake takes up to a hundred microseconds, of which what comes later than this gains little.
const LONGEST: Duration = Duration::from_micros(450);

/// How many waits that are too long one that was short is worth.
const EARNED: u32 = 3;

#[cfg(test)]
mod tests;
