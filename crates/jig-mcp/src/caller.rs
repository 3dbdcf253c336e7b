//! [`Caller`]: one authenticated party, and its turn. [`Callers`] knows who they are, and ends the turn of one
//! that was idle for too long.

pub(crate) mod audit_lines;

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use jig_broker::CancelToken;
use jig_engine::{Engine, Turn};
use jig_runtime::HandleNumbers;

use crate::caller::audit_lines::AuditTail;
use crate::calls::in_flight::InFlights;
use crate::calls::large_outputs::OutputStore;
use crate::calls::tasks::Tasks;
use crate::questions::Questions;
use crate::shared::SharedServer;

/// One authenticated party, and what lives as long as its turn.
pub(crate) struct Caller {
    /// What it is called on the board, and in what people read.
    pub(crate) name: String,
    /// What tells it from others that had this name in another server: a hash of its token.
    pub(crate) key: [u8; 32],
    pub(crate) turn: Turn,
    /// The calls that run for it, or wait for an answer.
    pub(crate) in_flight: InFlights,
    pub(crate) tasks: Tasks,
    /// Results that were too large to be sent.
    pub(crate) outputs: OutputStore,
    /// The last lines of its audit log.
    pub(crate) tail: Arc<AuditTail>,
    engine: Mutex<Option<(u64, Arc<Engine>)>>,
    attendance: Mutex<Attendance>,
}

/// Whether a caller is there.
struct Attendance {
    /// How many of its requests are being served now.
    visits: usize,
    /// When the last of them ended.
    left: Instant,
}

impl Caller {
    /// A caller whose turn begins.
    pub(crate) fn new(name: &str, key: [u8; 32], turn: Turn) -> Self {
        Self {
            name: name.to_owned(),
            key,
            turn,
            in_flight: InFlights::default(),
            tasks: Tasks::default(),
            outputs: OutputStore::default(),
            tail: Arc::default(),
            engine: Mutex::new(None),
            attendance: Mutex::new(Attendance {
                visits: 0,
                left: Instant::now(),
            }),
        }
    }

    /// The engine for the configuration in force, joined to this turn.
    pub(crate) fn engine(&self, shared: &SharedServer) -> Arc<Engine> {
        let served = shared.current();
        let mut engine = self.engine.lock().unwrap_or_else(PoisonError::into_inner);
        match &*engine {
            Some((generation, engine)) if *generation == served.generation => Arc::clone(engine),
            _ => {
                let mut next = served.engine.for_turn(&self.turn);
                next.audit = self.tail.before(Arc::clone(&served.engine.audit));
                let next = Arc::new(next);
                *engine = Some((served.generation, Arc::clone(&next)));
                next
            }
        }
    }

    /// Whether nothing was asked of us for `limit`, and nothing is being done. Tools that were spawned and go
    /// on by themselves do not count: it is them that an abandoned turn must not leave running.
    fn is_idle(&self, limit: Duration) -> bool {
        let attendance = self.attendance();
        attendance.visits == 0 && attendance.left.elapsed() >= limit && self.in_flight.len() == 0
    }

    fn attendance(&self) -> MutexGuard<'_, Attendance> {
        self.attendance
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// While it lives, its caller is there: the turn does not end.
pub(crate) struct CallerPresence(Arc<Caller>);

impl CallerPresence {
    /// The caller itself, for whoever passes it on.
    pub(crate) fn caller(&self) -> &Arc<Caller> {
        &self.0
    }
}

impl Deref for CallerPresence {
    type Target = Caller;

    fn deref(&self) -> &Caller {
        &self.0
    }
}

impl Drop for CallerPresence {
    fn drop(&mut self) {
        let mut attendance = self.0.attendance();
        attendance.visits -= 1;
        attendance.left = Instant::now();
    }
}

/// The callers of a server whose turns have not ended.
#[derive(Default)]
pub(crate) struct Callers {
    all: Mutex<HashMap<String, Arc<Caller>>>,
    /// Counts the handles of all turns: no two have the same id (S-061).
    numbers: HandleNumbers,
}

impl Callers {
    /// Nobody yet.
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Begins a request of the caller with this name, and its turn if it has none.
    pub(crate) fn enter(
        &self,
        name: &str,
        key: [u8; 32],
        turn: impl FnOnce() -> Turn,
    ) -> CallerPresence {
        let mut all = self.all();
        let caller = match all.get(name) {
            Some(caller) => Arc::clone(caller),
            None => {
                let turn = turn();
                turn.handles.count_with(&self.numbers);
                let caller = Arc::new(Caller::new(name, key, turn));
                all.insert(name.to_owned(), Arc::clone(&caller));
                caller
            }
        };
        // Under the lock of all, so that nobody ends the turn in between.
        caller.attendance().visits += 1;
        CallerPresence(caller)
    }

    /// Whether the turn of a caller goes on.
    pub(crate) fn has(&self, caller: &Arc<Caller>) -> bool {
        let all = self.all();
        all.get(&caller.name)
            .is_some_and(|one| Arc::ptr_eq(one, caller))
    }

    /// Takes out the callers that were idle for `limit`, and forgets what they asked. Nobody enters their turns
    /// any more; they are still to be [ended](end).
    pub(crate) fn leave_idle(&self, limit: Duration, questions: &Questions) -> Vec<Arc<Caller>> {
        self.leave(questions, |caller| caller.is_idle(limit))
    }

    /// Takes out all callers, in the same way.
    pub(crate) fn leave_all(&self, questions: &Questions) -> Vec<Arc<Caller>> {
        self.leave(questions, |_| true)
    }

    fn leave(&self, questions: &Questions, leaves: impl Fn(&Caller) -> bool) -> Vec<Arc<Caller>> {
        let mut all = self.all();
        let left = all.extract_if(|_, caller| leaves(caller));
        let left: Vec<_> = left.map(|(_, caller)| caller).collect();
        // Before anybody of the same name can begin another turn, and ask.
        for caller in &left {
            questions.forget(&caller.name);
        }
        left
    }

    fn all(&self) -> MutexGuard<'_, HashMap<String, Arc<Caller>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the turns of callers that were taken out: their calls are given up, their tools are asked to end and
/// killed if they do not in time. Returns when all that is over, or when `at_once` says that nobody waits for
/// it: then what still runs ends with this process.
pub(crate) fn end(shared: &SharedServer, callers: &[Arc<Caller>], at_once: &CancelToken) {
    if callers.is_empty() {
        return;
    }
    let timing = &shared.current().engine.timing;
    for caller in callers {
        caller.in_flight.cancel_all();
    }
    thread::scope(|scope| {
        for caller in callers {
            // A caller whose tools take long must not make those of another run longer.
            scope.spawn(|| {
                let grace = match at_once.is_cancelled() {
                    true => Duration::ZERO,
                    false => timing.cancel_grace,
                };
                caller.turn.handles.end(grace);
            });
        }
    });
    // The ladder of a tool that does not want to end: asked, told, killed.
    let deadline = Instant::now() + timing.cancel_grace + timing.kill_grace + KILLED;
    let are_over = || callers.iter().all(|caller| caller.in_flight.len() == 0);
    while !are_over() && Instant::now() < deadline && !at_once.is_cancelled() {
        thread::sleep(LOOK_AGAIN);
    }
}

/// How long a killed tool may take until it is gone.
const KILLED: Duration = Duration::from_secs(3);

/// How often the end of calls is looked for, once, at the end of a turn.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

#[cfg(test)]
mod tests;
