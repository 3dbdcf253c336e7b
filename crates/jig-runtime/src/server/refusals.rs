//! [`ServerRefusals`]: what a server was refused, told while it runs.
//!
//! What it asks the kernel for is taken in *batches*: one ends where somebody sets a mark. To find out what of a
//! batch was refused takes a while, so the attendant does it, or whoever wants to know first.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashSet, VecDeque};
use std::hash::{Hash as _, Hasher as _};
use std::sync::{Mutex, MutexGuard, PoisonError, RwLock};
use std::time::{Duration, Instant};

use jig_broker::{
    Broker, Intruder, JudgedRequest, MAX_DENIALS, MadePaths, ProgramEnding, ProgramNews,
    RunningProgram, Unapproved,
};
use jig_proto::Denial;
use jig_proto::vfs::{FsWrite, VfsRequest};
use jig_sandbox::{Observation, ObservedAccess, ObservedTarget, Rights};

#[cfg(test)]
mod tests;

pub(super) struct ServerRefusals {
    broker: Broker,
    /// `None` when it has ended.
    program: RwLock<Option<RunningProgram>>,
    batches: Mutex<Batches>,
    told: Mutex<RecentRefusals>,
    sweeps: Mutex<SweepSchedule>,
}

/// When it is looked at once, before a call is answered, what the server may have left where nothing may be. It is
/// found soon anyway; but whoever made the call should hear of it.
struct SweepSchedule {
    /// Whether the server has made something since it was last looked.
    is_due: bool,
    last: Instant,
    /// How long it took.
    took: Duration,
}

/// What was seen and is not explained yet.
#[derive(Default)]
struct Batches {
    /// The number of the last one.
    last: u64,
    waiting: VecDeque<Batch>,
    /// What was found where nothing may be, and is not told yet. That waits for no explanation.
    intruders: Vec<Intruder>,
}

struct Batch {
    number: u64,
    news: ProgramNews,
    /// What its broker refused.
    refusals: Vec<Denial>,
}

impl ServerRefusals {
    pub(super) fn new(broker: Broker, program: RunningProgram) -> Self {
        Self {
            broker,
            program: RwLock::new(Some(program)),
            batches: Mutex::default(),
            told: Mutex::default(),
            sweeps: Mutex::new(SweepSchedule {
                is_due: false,
                last: Instant::now(),
                took: Duration::ZERO,
            }),
        }
    }

    /// Ends a batch; gives its number.
    pub(super) fn mark(&self) -> u64 {
        let (number, is_too_much) = {
            let mut batches = self.batches();
            self.end_batch(&mut batches);
            (batches.last, batches.waiting.len() > MOST_WAITING)
        };
        // Whoever is faster than the attendant does its work.
        if is_too_much {
            self.explain();
        }
        number
    }

    /// Whether there is something to explain.
    pub(super) fn has_waiting(&self) -> bool {
        !self.batches().waiting.is_empty()
    }

    /// What was refused in the batches after this one, and what `said` names of what the server was not given.
    pub(super) fn since(&self, batch: u64, said: &str) -> Vec<Denial> {
        self.end_batch(&mut self.batches());
        if self.is_sweep_worthwhile() {
            self.sweep();
        }
        self.tell_found();
        self.explain();
        let told = self.told();
        let later = told.ring.iter().filter(|entry| entry.batch > batch);
        let mut denials: Vec<Denial> = later.map(|entry| entry.denial.clone()).collect();
        drop(told);
        let named = self.named(said, &denials);
        denials.extend(named);
        denials.truncate(MAX_DENIALS);
        denials
    }

    /// Whether [`told_since`](Self::told_since) might find something. It waits for nobody: while somebody else finds
    /// something out, it might.
    pub(super) fn may_have_refused(&self, batch: u64) -> bool {
        let Ok(mut batches) = self.batches.try_lock() else {
            return true;
        };
        self.end_batch(&mut batches);
        let mut waiting = batches.waiting.iter();
        let waits = waiting.any(|one| one.number > batch);
        drop(batches);
        let has_told = |told: MutexGuard<'_, RecentRefusals>| {
            told.ring.back().is_some_and(|last| last.batch > batch)
        };
        waits || self.told.try_lock().map_or(true, has_told)
    }

    /// What was seen to be refused in the batches after this one.
    pub(super) fn told_since(&self, batch: u64) -> Vec<Denial> {
        self.end_batch(&mut self.batches());
        self.explain();
        let told = self.told();
        let later = told.ring.iter().filter(|entry| entry.batch > batch);
        later.map(|entry| entry.denial.clone()).collect()
    }

    /// Whether [`intruded_since`](Self::intruded_since) might find something. It looks at nothing but what was seen
    /// already, and waits for nobody: while somebody else finds something out, it might.
    pub(super) fn may_have_intruded(&self, batch: u64) -> bool {
        let Ok(mut batches) = self.batches.try_lock() else {
            return true;
        };
        self.end_batch(&mut batches);
        let has_found = !batches.intruders.is_empty();
        drop(batches);
        if has_found || self.is_sweep_worthwhile() {
            return true;
        }
        match self.told.try_lock() {
            Ok(told) => told.intruders_since(batch).next().is_some(),
            Err(_) => true,
        }
    }

    /// What the server left where nothing may be, since a batch. It looks only if the server has made something.
    pub(super) fn intruded_since(&self, batch: u64) -> Vec<Denial> {
        self.end_batch(&mut self.batches());
        if self.is_sweep_worthwhile() {
            self.sweep();
        }
        self.tell_found();
        self.told().intruders_since(batch).cloned().collect()
    }

    /// Variables that `said` names and the server was not given; of a server that nobody watches, also files,
    /// programs and hosts. What is `known` is left out.
    pub(super) fn named(&self, said: &str, known: &[Denial]) -> Vec<Denial> {
        let mut denials = self.broker.explain_variables(said);
        if let Some(program) = self.program().as_ref() {
            denials.extend(program.guess(said, known));
        }
        self.told().audit(&self.broker, &denials);
        denials
    }

    /// Does what there is to do from time to time; says when to come again.
    pub(super) fn attend(&self) -> Option<Duration> {
        let is_running = self.program().is_some();
        self.end_batch(&mut self.batches());
        self.tell_found();
        if self.has_waiting() {
            self.explain();
        }
        is_running.then_some(TICK)
    }

    /// Whether the server has made something, and looking does not take so long that its calls would suffer.
    fn is_sweep_worthwhile(&self) -> bool {
        let sweeps = self.sweeps();
        sweeps.is_due && sweeps.last.elapsed() >= sweeps.took * 10
    }

    fn sweep(&self) {
        let start = Instant::now();
        self.sweeps().is_due = false;
        let program = self.program();
        let found = program.as_ref().map(RunningProgram::sweep);
        let found = found.unwrap_or_default();
        drop(program);
        {
            let mut sweeps = self.sweeps();
            sweeps.last = Instant::now();
            sweeps.took = start.elapsed();
        }
        self.tell_intruders(&found);
    }

    /// Tells what was found while nobody asked.
    fn tell_found(&self) {
        let found = std::mem::take(&mut self.batches().intruders);
        if !found.is_empty() {
            self.tell_intruders(&found);
        }
    }

    fn tell_intruders(&self, intruders: &[Intruder]) {
        let number = {
            let mut batches = self.batches();
            batches.last += 1;
            batches.last
        };
        let intruders = intruders.iter().map(|one| self.intruder(one)).collect();
        self.told().add_all(number, intruders, true);
    }

    /// Takes the rest, when the server has ended, and cleans up after it.
    pub(super) fn finish(&self) {
        self.end_batch(&mut self.batches());
        self.tell_found();
        self.explain();
        let program = self.program.write();
        let program = program.unwrap_or_else(PoisonError::into_inner).take();
        let Some(program) = program else {
            return;
        };
        let left = program.finish(ProgramEnding::Failed { said: "" });
        let last = self.batches().last;
        self.told().add(last, left.denials);
        self.tell_intruders(&left.intruders);
        self.broker.flush_audit();
    }

    /// Puts what is new into a batch of its own.
    fn end_batch(&self, batches: &mut Batches) {
        let program = self.program();
        let news = program.as_ref().map(RunningProgram::news);
        let mut news = news.unwrap_or_default();
        drop(program);
        batches.intruders.append(&mut news.intruders);
        let refusals = self.broker.take_refusals();
        batches.last += 1;
        if has_made(&news.observation) {
            self.sweeps().is_due = true;
        }
        let is_empty = news.is_empty() && refusals.is_empty();
        if !is_empty {
            batches.waiting.push_back(Batch {
                number: batches.last,
                news,
                refusals,
            });
        }
    }

    /// Explains what waits, in order. Who comes while another explains waits for that.
    fn explain(&self) {
        let mut told = self.told();
        loop {
            let Some(batch) = self.batches().waiting.pop_front() else {
                return;
            };
            let program = self.program();
            let seen = program
                .as_ref()
                .map(|program| program.explain(&batch.news.observation, &mut told.made));
            drop(program);
            let seen = seen.unwrap_or_default();
            told.audit(&self.broker, &seen);
            told.add(batch.number, batch.news.denials);
            // What was made all the same is told as that, and so is asking which rule would allow it.
            let rest = batch.refusals.into_iter().chain(seen);
            let rest = rest.filter(|one| !told.has_intruder(one)).collect();
            told.add(batch.number, rest);
        }
    }

    /// What was put where nothing may be, as a denial with the rule that would allow it. Asking for that also
    /// leaves a line in the audit log.
    fn intruder(&self, intruder: &Intruder) -> Denial {
        let path = intruder.path.to_string_lossy();
        let request = VfsRequest::FsWrite(FsWrite::new(&*path, ""));
        let refused = match self.broker.judge(&request) {
            JudgedRequest::Refused(error) => Some(error),
            JudgedRequest::Uncovered(inquiry) => Some(inquiry.deny(Unapproved::Unavailable)),
            JudgedRequest::Ready(_) => None,
        };
        Denial {
            hint: refused.and_then(|error| error.data.hint),
            ..Denial::new("create", path.clone(), intruder.to_string())
        }
        .bounded()
    }

    fn program(&self) -> std::sync::RwLockReadGuard<'_, Option<RunningProgram>> {
        self.program.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn batches(&self) -> MutexGuard<'_, Batches> {
        self.batches.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sweeps(&self) -> MutexGuard<'_, SweepSchedule> {
        self.sweeps.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn told(&self) -> MutexGuard<'_, RecentRefusals> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Whether something may have been made, wherever that was: what is seen of a call that goes on to make something
/// can be another path than the one that is used.
fn has_made(observation: &Observation) -> bool {
    let makes = |seen: &ObservedAccess| {
        matches!(seen.target, ObservedTarget::Path(_)) && seen.wanted.has(Rights::CREATE)
    };
    observation.lost > 0 || observation.unread > 0 || observation.seen.iter().any(makes)
}

/// What was refused lately, each thing once with the batch in which it last was.
#[derive(Default)]
struct RecentRefusals {
    ring: VecDeque<ServerDenial>,
    /// What the log has already, by its hash.
    logged: HashSet<u64>,
    made: MadePaths,
}

struct ServerDenial {
    batch: u64,
    denial: Denial,
    /// Whether it is about something that was there for a while, instead of being refused.
    is_intruder: bool,
}

impl RecentRefusals {
    fn add(&mut self, batch: u64, denials: Vec<Denial>) {
        self.add_all(batch, denials, false);
    }

    fn add_all(&mut self, batch: u64, denials: Vec<Denial>, is_intruder: bool) {
        for mut denial in denials {
            let same = |known: &ServerDenial| known.denial.is_same(&denial);
            if let Some(at) = self.ring.iter().position(same)
                && let Some(known) = self.ring.remove(at)
                && known.batch == batch
            {
                denial.count = denial.count.saturating_add(known.denial.count);
            }
            self.ring.push_back(ServerDenial {
                batch,
                denial,
                is_intruder,
            });
            if self.ring.len() > MOST_TOLD {
                self.ring.pop_front();
            }
        }
    }

    /// What was there after a batch.
    fn intruders_since(&self, batch: u64) -> impl Iterator<Item = &Denial> {
        let is_meant = move |told: &&ServerDenial| told.batch > batch && told.is_intruder;
        self.ring.iter().filter(is_meant).map(|told| &told.denial)
    }

    fn has_intruder(&self, denial: &Denial) -> bool {
        let wanted = (&denial.operation, &denial.target);
        let mut ring = self.ring.iter();
        ring.any(|one| one.is_intruder && (&one.denial.operation, &one.denial.target) == wanted)
    }

    /// Writes those to the log that it does not have. A server that stays is refused the same things for days.
    fn audit(&mut self, broker: &Broker, denials: &[Denial]) {
        for denial in denials {
            if self.logged.len() >= MOST_LOGGED {
                self.logged.clear();
            }
            if self.logged.insert(hash(denial)) {
                broker.audit_denials(std::slice::from_ref(denial));
            }
        }
    }
}

fn hash(denial: &Denial) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&denial.operation, &denial.target, &denial.why).hash(&mut hasher);
    hasher.finish()
}

/// How often what was seen is looked at while nobody asks: what is kept of it is bounded, and a server can ask
/// for things by itself.
const TICK: Duration = Duration::from_secs(5);

/// How many batches may wait for the attendant.
const MOST_WAITING: usize = 64;

/// How many denials are kept. A server can be refused any number of things.
const MOST_TOLD: usize = 200;

/// How many are known to be in the log.
const MOST_LOGGED: usize = 2000;
