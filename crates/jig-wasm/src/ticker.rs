//! [`Ticker`]: the clock that interrupts guests, so that a call can be given up in the middle of a loop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, Thread};
use std::time::Duration;

use wasmtime::{Engine, EngineWeak};

#[cfg(test)]
mod tests;

/// Moves an engine's epoch on while any guest runs, and sleeps otherwise.
#[derive(Debug)]
pub(crate) struct Ticker {
    shared: Arc<TickerState>,
    thread: Thread,
}

#[derive(Debug, Default)]
struct TickerState {
    /// How many guests run.
    running: AtomicUsize,
    /// Whether the thread sleeps until it is woken. Waking one that is awake would be a system call for
    /// nothing, with each call of a tool.
    asleep: AtomicBool,
    /// Whether the thread is to end.
    over: AtomicBool,
}

impl Ticker {
    /// A ticker for an engine. It ends with the engine, or when it is dropped.
    ///
    /// # Errors
    ///
    /// If there is no thread to be had.
    pub(crate) fn new(engine: &Engine) -> std::io::Result<Self> {
        let shared = Arc::new(TickerState::default());
        let theirs = Arc::clone(&shared);
        let engine = engine.weak();
        let handle = thread::Builder::new()
            .name("jig-wasm-clock".to_owned())
            .spawn(move || run(&theirs, &engine))?;
        Ok(Self {
            shared,
            thread: handle.thread().clone(),
        })
    }

    /// Has the clock tick until what is returned is dropped.
    pub(crate) fn tick(&self) -> TickGuard<'_> {
        self.shared.running.fetch_add(1, Ordering::SeqCst);
        // The thread says that it sleeps and looks at the count after that. So it sees this guest, or is
        // seen asleep here.
        if self.shared.asleep.load(Ordering::SeqCst) {
            self.thread.unpark();
        }
        TickGuard(&self.shared)
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        self.thread.unpark();
    }
}

/// The clock ticks as long as this is there.
#[derive(Debug)]
pub(crate) struct TickGuard<'t>(&'t TickerState);

impl Drop for TickGuard<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

fn run(shared: &TickerState, engine: &EngineWeak) {
    let mut idle = 0;
    while !shared.over.load(Ordering::SeqCst) {
        if shared.running.load(Ordering::SeqCst) > 0 {
            idle = 0;
            match engine.upgrade() {
                Some(engine) => engine.increment_epoch(),
                None => return,
            }
        } else {
            idle += 1;
        }
        if idle < IDLE_TICKS {
            thread::park_timeout(TICK);
            continue;
        }
        shared.asleep.store(true, Ordering::SeqCst);
        while shared.running.load(Ordering::SeqCst) == 0 && !shared.over.load(Ordering::SeqCst) {
            thread::park();
        }
        shared.asleep.store(false, Ordering::SeqCst);
        idle = 0;
    }
}

/// How often a guest is interrupted: how late a cancelled call ends, at most.
pub(crate) const TICK: Duration = Duration::from_millis(10);

/// How long the clock goes on after the last guest, because the next often comes soon.
const IDLE_TICKS: u32 = 20;
