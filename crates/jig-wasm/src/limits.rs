//! What a guest may take, and how a call ends that takes more.

use std::time::{Duration, Instant};

use jig_runtime::{Plan, ReachedLimit, RunLimits};
use wasmtime::ResourceLimiter;

use crate::engine;

#[cfg(test)]
mod tests;

/// Why a call was ended from the host's side. A host function returns it as its error, and the guest hears
/// nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum GuestEndReason {
    /// Somebody gave the call up.
    #[error("the call was cancelled")]
    Cancelled,
    /// It took longer than that.
    #[error("it ran longer than {0:?}")]
    Time(Duration),
    /// Its memories together had more bytes than that.
    #[error("it used more than {} MiB of memory, and no component can have more", .0 >> 20)]
    Memory(u64),
    /// A table had more elements than that, or all of them together twice as many.
    #[error("its tables grew beyond {0} elements")]
    Table(usize),
    /// It held more files, streams and other things of the host than that.
    #[error("it held more than {0} things of the host at once")]
    Descriptors(u64),
    /// It ended itself with this code.
    #[error("it exited with code {0}")]
    Exit(u8),
}

impl GuestEndReason {
    /// The limit of the configuration that was reached, if it is one of those: to set it higher may help.
    pub(crate) fn reached(self, limits: &RunLimits) -> Option<ReachedLimit> {
        match self {
            Self::Time(time) => Some(ReachedLimit::Time(time)),
            Self::Memory(bytes) if limits.tree.memory == Some(bytes) => {
                Some(ReachedLimit::Memory(bytes))
            }
            Self::Descriptors(count) if limits.tree.descriptors == Some(count) => {
                Some(ReachedLimit::Descriptors(count))
            }
            _ => None,
        }
    }
}

/// Counts what one guest takes.
#[derive(Debug)]
pub(crate) struct Meter {
    started: Instant,
    /// How long somebody had been asked by then, which no deadline counts twice.
    waited: Duration,
    time: Option<Duration>,
    memory_limit: u64,
    memory: u64,
    elements: usize,
    /// How many things of the host it may hold.
    pub(crate) descriptors: u64,
}

impl Meter {
    /// A meter for a run of a call that began at `started`, when somebody had been asked for as long as `waited`.
    pub(crate) fn new(plan: &Plan, started: Instant, waited: Duration) -> Self {
        let RunLimits { time, tree, .. } = plan.limits;
        let most = engine::MEMORY_BYTES as u64;
        Self {
            started,
            waited,
            time,
            memory_limit: tree.memory.unwrap_or(most).min(most),
            memory: 0,
            elements: 0,
            descriptors: tree.descriptors.unwrap_or(DESCRIPTORS).min(DESCRIPTORS),
        }
    }

    /// How many bytes its memories have together.
    pub(crate) fn memory(&self) -> u64 {
        self.memory
    }

    /// When its time is over, if nobody is asked anything from now on. `waited` is how long somebody was
    /// asked so far, which does not count.
    pub(crate) fn deadline(&self, waited: Duration) -> Option<Instant> {
        let paused = waited.saturating_sub(self.waited);
        self.started.checked_add(self.time?.checked_add(paused)?)
    }

    /// Whether there is time left.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub(crate) fn check_time(&self, waited: Duration) -> Result<(), GuestEndReason> {
        match (self.time, self.deadline(waited)) {
            (Some(time), Some(deadline)) if deadline <= Instant::now() => {
                Err(GuestEndReason::Time(time))
            }
            _ => Ok(()),
        }
    }
}

/// Growth that was allowed and fails after that is not given back. The engine says that something failed, and
/// not what: also of growth that it has never asked about, for which a guest would be given what it has taken
/// before.
impl ResourceLimiter for Meter {
    fn memory_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        let growth = desired.saturating_sub(current) as u64;
        let memory = self.memory.saturating_add(growth);
        if memory > self.memory_limit {
            return Err(GuestEndReason::Memory(self.memory_limit).into());
        }
        self.memory = memory;
        Ok(true)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        // The pool has no room for more in one table, and would let the guest try for ever.
        if desired > engine::TABLE_ELEMENTS {
            return Err(GuestEndReason::Table(engine::TABLE_ELEMENTS).into());
        }
        if maximum.is_some_and(|maximum| desired > maximum) {
            return Ok(false);
        }
        let growth = desired.saturating_sub(current);
        let elements = self.elements.saturating_add(growth);
        if elements > ELEMENTS {
            return Err(GuestEndReason::Table(engine::TABLE_ELEMENTS).into());
        }
        self.elements = elements;
        Ok(true)
    }

    fn instances(&self) -> usize {
        INSTANCES
    }

    fn tables(&self) -> usize {
        INSTANCES
    }

    fn memories(&self) -> usize {
        engine::MEMORIES as usize
    }
}

/// The most things of the host that a guest can hold, whatever its configuration says: each takes memory of
/// ours.
const DESCRIPTORS: u64 = 4096;

/// The most elements of all tables together. Each takes a pointer's worth of our memory.
const ELEMENTS: usize = 2 * engine::TABLE_ELEMENTS;

/// The most core modules, and tables, of a component.
const INSTANCES: usize = 200;

/// The most bytes that a guest can hand over with one call: a list of lists can stand for far more than the
/// memory that it lies in.
pub(crate) const CALL_BYTES: usize = 64 << 20;
