//! Programs that stay, where there are no terminals and pipes to keep them on: every request is refused.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use jig_proto::vfs::{
    ErrorReply, Method, ProcessRead, ProcessStart, ProcessStop, ProcessWrite, Reply,
};

use crate::broker::Inner;
use crate::cancel::CancelToken;
use crate::requests::judge::Judge;
use crate::requests::work::Record;

/// There are none.
#[derive(Debug, Default)]
pub(crate) struct Processes;

impl Processes {
    pub(crate) fn end(&self, _grace: Duration) {}

    pub(crate) fn clear(&self, _grace: Duration) {}

    pub(crate) fn input_has_come(&self) {}
}

/// There is none.
#[derive(Debug)]
pub(crate) struct StayJob(Infallible);

impl StayJob {
    pub(crate) fn is_quick(&self) -> bool {
        match self.0 {}
    }

    pub(crate) fn is_decided(&self) -> bool {
        match self.0 {}
    }

    pub(crate) fn run(
        self,
        _inner: &Arc<Inner>,
        _cancel: &CancelToken,
        _record: &mut Record,
    ) -> Result<Reply<'static>, ErrorReply> {
        match self.0 {}
    }
}

pub(crate) fn judge_start(
    _judge: &mut Judge<'_>,
    _start: &ProcessStart<'_>,
) -> Result<Option<StayJob>, ErrorReply> {
    Err(ErrorReply::method_not_found(Method::ProcessStart.name()))
}

pub(crate) fn judge_read(_inner: &Inner, read: &ProcessRead) -> Result<StayJob, ErrorReply> {
    Err(ErrorReply::unknown_process(read.process))
}

pub(crate) fn judge_write(_inner: &Inner, write: &ProcessWrite) -> Result<StayJob, ErrorReply> {
    Err(ErrorReply::unknown_process(write.process))
}

pub(crate) fn judge_stop(_inner: &Inner, stop: ProcessStop) -> Result<StayJob, ErrorReply> {
    Err(ErrorReply::unknown_process(stop.process))
}
