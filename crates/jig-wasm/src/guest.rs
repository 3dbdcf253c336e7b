//! [`Guest`]: what a store knows of the call that runs in it.

use std::time::{Duration, Instant};

use jig_broker::{Broker, JudgedRequest};
use jig_proto::vfs::{ErrorKind, ErrorReply, VfsReply, VfsRequest};
use jig_runtime::{InProcess, Mount};
use jig_tool::vfs::RequestError;
use wasmtime::component::ResourceTable;

use crate::host::vfs::GuestProtocol;
use crate::limits::{GuestEndReason, Meter};
use crate::wasi::cli::CapturedGuestOutput;
use crate::wasi::filesystem::OpenFiles;
use crate::wasi::http::GuestHttpBudget;

/// The host's side of one running component. Every host function gets it.
pub(crate) struct Guest {
    /// The way to the broker and to the callers. It is asked now and then whether the call is given up.
    pub(crate) door: InProcess,
    /// Everything that the guest holds.
    pub(crate) table: ResourceTable,
    /// The directories that it sees.
    pub(crate) mounts: Vec<Mount>,
    /// What of that are files and listings of directories.
    pub(crate) files: OpenFiles,
    /// What it prints.
    pub(crate) output: CapturedGuestOutput,
    /// How much is kept for its requests.
    pub(crate) http: GuestHttpBudget,
    /// Where the talk by messages stands.
    pub(crate) vfs: GuestProtocol,
    /// What it takes.
    pub(crate) meter: Meter,
}

/// When a call began. It may run a guest several times, and all of that is its time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallStart {
    at: Instant,
    /// How long somebody had been asked by then.
    waited: Duration,
}

impl CallStart {
    /// Now.
    pub(crate) fn now(door: &InProcess) -> Self {
        Self {
            at: Instant::now(),
            waited: door.waited(),
        }
    }
}

impl Guest {
    /// What a guest starts with, in a call that began then.
    pub(crate) fn new(door: InProcess, began: CallStart) -> Self {
        let plan = door.plan();
        let meter = Meter::new(plan, began.at, began.waited);
        let mounts = plan.component.as_ref().map(|one| one.mounts.clone());
        let mut table = ResourceTable::new();
        table.set_max_capacity(usize::try_from(meter.descriptors).unwrap_or(usize::MAX));
        Self {
            table,
            mounts: mounts.unwrap_or_default(),
            files: OpenFiles::default(),
            output: CapturedGuestOutput::new(
                plan.limits.output,
                plan.tracer.clone(),
                plan.broker.secrets().clone(),
            ),
            http: GuestHttpBudget::default(),
            vfs: GuestProtocol::default(),
            meter,
            door,
        }
    }

    /// Does a request of the VFS protocol, and asks about it until it is decided. What was refused or has
    /// failed is inside of the `Ok`.
    ///
    /// # Errors
    ///
    /// If the call is over.
    pub(crate) fn ask(
        &mut self,
        request: &VfsRequest<'_>,
    ) -> wasmtime::Result<Result<VfsReply<'static>, ErrorReply>> {
        self.ask_by(|broker| broker.judge(request))
    }

    /// The same for what is judged in another way.
    ///
    /// # Errors
    ///
    /// If the call is over.
    pub(crate) fn ask_by(
        &mut self,
        judge: impl FnOnce(&Broker) -> JudgedRequest,
    ) -> wasmtime::Result<Result<VfsReply<'static>, ErrorReply>> {
        self.check()?;
        let answer = match self.door.permitted(judge) {
            // A server that never answers must not hold the guest for longer than it has.
            Ok(work) => {
                let left = self.deadline();
                let left = left.map(|at| at.saturating_duration_since(Instant::now()));
                self.door.perform(work, left)
            }
            Err(error) => Err(error),
        };
        self.door.plan().broker.flush_audit();
        match answer {
            Ok(reply) => Ok(Ok(reply)),
            Err(RequestError::Refused(error)) => {
                if error.kind() == ErrorKind::Cancelled {
                    self.check()?;
                }
                Ok(Err(error))
            }
            Err(RequestError::Cancelled) => Err(GuestEndReason::Cancelled.into()),
            Err(error) => Err(wasmtime::Error::new(error)),
        }
    }

    /// When the guest has to be done.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.meter.deadline(self.door.waited())
    }

    /// Whether it may go on. A host function that does something for long, or in a loop, asks now and then.
    ///
    /// # Errors
    ///
    /// If the call is given up, or its time is over.
    pub(crate) fn check(&mut self) -> Result<(), GuestEndReason> {
        if self.door.give_up() {
            return Err(GuestEndReason::Cancelled);
        }
        self.meter.check_time(self.door.waited())
    }

    /// Waits until this time, or for ever.
    ///
    /// # Errors
    ///
    /// If the call is given up before, or its time is over.
    pub(crate) fn sleep(&mut self, until: Option<Instant>) -> Result<(), GuestEndReason> {
        let deadline = self.deadline();
        let until = match (until, deadline) {
            (Some(until), Some(deadline)) => Some(until.min(deadline)),
            (until, deadline) => until.or(deadline),
        };
        if self.door.sleep(until) {
            return Err(GuestEndReason::Cancelled);
        }
        self.meter.check_time(self.door.waited())
    }
}
