//! [`Processes`]: the programs that one broker has started and that stay.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use jig_proto::vfs::{ErrorKind, ErrorReply};

use super::process::StayingProgram;
use super::thread::Pump;

/// The programs of one broker. None of them outlives [`end`](Self::end).
#[derive(Debug, Default)]
pub(crate) struct Processes {
    table: Mutex<ProgramTable>,
    /// A start has come to its end.
    settled: Condvar,
    /// How often there was input for the tool.
    come: AtomicU64,
    /// As many of them as reads were cut short for.
    taken: AtomicU64,
}

#[derive(Debug, Default)]
struct ProgramTable {
    last: u64,
    /// How many are being started.
    starting: usize,
    is_closed: bool,
    /// Those that run, and some that have ended, until somebody has seen how.
    all: BTreeMap<u64, Arc<StayingProgram>>,
}

impl Processes {
    /// The program of this number.
    pub(super) fn find(&self, number: u64) -> Result<Arc<StayingProgram>, ErrorReply> {
        let table = self.lock();
        let found = table.all.get(&number).cloned();
        found.ok_or_else(|| ErrorReply::unknown_process(number))
    }

    /// A place for one more program, unless there are `most` already.
    pub(super) fn reserve(&self, most: usize) -> Result<ReservedProgram<'_>, ErrorReply> {
        let mut table = self.lock();
        if table.is_closed {
            return Err(ErrorReply::cancelled());
        }
        let ended = table.all.values().filter(|process| process.has_ended());
        let ended: Vec<u64> = ended.map(|process| process.number()).collect();
        if table.all.len() - ended.len() + table.starting >= most {
            let message =
                format!("{most} programs run already, and no more are allowed at the same time");
            return Err(ErrorReply::new(ErrorKind::TooLarge, message)
                .with_hint(jig_proto::hint!("end one of them by `process.stop`"))
                .with_retryable(true));
        }
        // Nobody has stopped these. As many are kept as may run.
        let too_many = (ended.len() + 1).saturating_sub(most);
        for number in &ended[..too_many] {
            table.all.remove(number);
        }
        table.last += 1;
        table.starting += 1;
        Ok(ReservedProgram {
            processes: self,
            number: table.last,
        })
    }

    /// Takes a program that has ended out of the table.
    pub(super) fn forget(&self, process: &StayingProgram) {
        self.lock().all.remove(&process.number());
    }

    /// Ends all programs, waits until they are gone, and starts none any more. Those that have not ended
    /// after `grace` are killed.
    pub(crate) fn end(&self, grace: Duration) {
        self.lock().is_closed = true;
        self.clear(grace);
    }

    /// Ends all programs and waits until they are gone; more can be started then.
    pub(crate) fn clear(&self, grace: Duration) {
        let mut table = self.lock();
        let all: Vec<Arc<StayingProgram>> = table.all.values().cloned().collect();
        for process in &all {
            process.ask_to_end(grace);
        }
        // What is being started finds the table closed, and is killed by whoever starts it. A table that stays open
        // is cleared when nobody starts anything.
        while table.starting > 0 {
            let waited = self.settled.wait(table);
            table = waited.unwrap_or_else(PoisonError::into_inner);
        }
        drop(table);
        for process in all {
            process.join();
        }
    }

    /// Has the reads that wait return, or else the next one that would.
    pub(crate) fn input_has_come(&self) {
        self.come.fetch_add(1, Ordering::SeqCst);
        let all: Vec<Arc<StayingProgram>> = self.lock().all.values().cloned().collect();
        for process in all {
            process.wake_readers();
        }
    }

    /// Input for the tool, as a read sees it that begins now.
    pub(super) fn inputs(&self) -> InputReads<'_> {
        InputReads {
            processes: self,
            taken: self.taken.load(Ordering::SeqCst),
        }
    }

    fn lock(&self) -> MutexGuard<'_, ProgramTable> {
        // A panic elsewhere cannot leave the table half-changed.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place for a program that is being started.
#[derive(Debug)]
pub(super) struct ReservedProgram<'a> {
    processes: &'a Processes,
    number: u64,
}

impl ReservedProgram<'_> {
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// Puts the program there and starts its thread, unless the table has been closed meanwhile: then it is
    /// killed before this returns.
    pub(super) fn fill(self, process: &Arc<StayingProgram>, pump: Pump) -> Result<u64, ErrorReply> {
        let mut table = self.processes.lock();
        if table.is_closed {
            drop(table);
            drop(pump);
            return Err(ErrorReply::cancelled());
        }
        let started = thread::Builder::new()
            .name("jig-process".to_owned())
            .spawn(move || pump.run());
        let thread =
            started.map_err(|_| ErrorReply::internal("there are no threads left on the host"))?;
        process.set_thread(thread);
        table.all.insert(self.number, Arc::clone(process));
        drop(table);
        Ok(self.number)
    }
}

impl Drop for ReservedProgram<'_> {
    fn drop(&mut self) {
        self.processes.lock().starting -= 1;
        self.processes.settled.notify_all();
    }
}

/// Input for the tool, as one read sees it.
///
/// It is not lost between two reads: a tool that has just looked for input and found none may already be on
/// its way into the next read when some comes.
#[derive(Debug)]
pub(super) struct InputReads<'a> {
    processes: &'a Processes,
    taken: u64,
}

impl InputReads<'_> {
    /// Whether there is some that no earlier read was cut short for.
    pub(super) fn have_come(&self) -> bool {
        self.processes.come.load(Ordering::SeqCst) != self.taken
    }

    /// The read is over: whoever gets its answer looks for input.
    pub(super) fn take(self) {
        let come = self.processes.come.load(Ordering::SeqCst);
        self.processes.taken.fetch_max(come, Ordering::SeqCst);
    }
}
