//! Systems on which no programs are started yet: every request is refused, with the reason.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use crate::process::{
    Direction, Exit, ProcessLimit, SpawnError, SpawnRequest, StartedChild, TreeUsage,
};
use crate::sys::BorrowedDescriptor;

/// Refuses.
pub(crate) fn spawn(request: SpawnRequest) -> Result<StartedChild, SpawnError> {
    Err(SpawnError::Unsupported {
        program: request.program.as_os_str().to_string_lossy().into_owned(),
        system: std::env::consts::OS,
    })
}

/// A process that does not exist.
#[derive(Debug)]
pub(crate) struct ProcessTree(Infallible);

impl ProcessTree {
    pub(crate) fn id(&self) -> u32 {
        match self.0 {}
    }

    pub(crate) fn wait(&self, _limit: Option<Duration>) -> io::Result<Option<Exit>> {
        match self.0 {}
    }

    pub(crate) fn terminate(&self) {
        match self.0 {}
    }

    pub(crate) fn signal(&self, _signal: i32) {
        match self.0 {}
    }

    pub(crate) fn kill(&self) {
        match self.0 {}
    }

    pub(crate) fn left_behind(&self) -> Vec<String> {
        match self.0 {}
    }

    pub(crate) fn reached(&self) -> Vec<ProcessLimit> {
        match self.0 {}
    }

    pub(crate) fn usage(&self) -> TreeUsage {
        match self.0 {}
    }

    pub(crate) fn end_descriptor(&self) -> BorrowedDescriptor<'_> {
        match self.0 {}
    }
}

/// Without children there is nothing to wait for.
pub(crate) fn poll(
    _descriptors: &[(BorrowedDescriptor<'_>, Direction)],
    _limit: Option<Duration>,
) -> io::Result<u64> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Refuses.
pub(crate) fn set_nonblocking(_: BorrowedDescriptor<'_>, _: bool) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Nothing is executed here.
pub(crate) fn seal_descriptors() -> io::Result<()> {
    Ok(())
}

/// A waker that does not exist.
#[derive(Debug, Clone)]
pub(crate) struct Wake(Infallible);

impl Wake {
    pub(crate) fn new() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(crate) fn wake(&self) {
        match self.0 {}
    }

    pub(crate) fn clear(&self) -> bool {
        match self.0 {}
    }

    pub(crate) fn descriptor(&self) -> BorrowedDescriptor<'_> {
        match self.0 {}
    }
}
