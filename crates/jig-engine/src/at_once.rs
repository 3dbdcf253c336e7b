//! [`Engine::try_at_once`]: calls that are done on the thread of whoever makes them.
//!
//! A server has few threads, and handing a call to another one and its result back costs as much as reading a small
//! file does. So a call that takes hardly longer is tried at once, and whatever would have to wait for a person is
//! left to be gone on with elsewhere.

use jig_config::{ResultMode, Tool};
use jig_proto::{Invocation, Status};

use crate::asker::{Asker, Nobody};
use crate::call::{Call, CallError};
use crate::engine::{Engine, Run};
use crate::reply::Reply;

/// What came of trying a call at once.
#[derive(Debug)]
pub enum AtOnce {
    /// It is done.
    Done(Result<Reply, CallError>),
    /// It has begun and waits for a person: to be gone on with by [`Engine::go_on`], where waiting is no harm.
    Waits(Waits),
    /// Nothing was begun: the call is one for [`Engine::call`].
    Not(Call),
}

/// A call that has begun and waits. Dropping it gives it up.
#[derive(Debug)]
pub struct Waits {
    tool: String,
    run: Run,
}

impl Engine {
    /// Does a call on this thread if it [is quick](Self::is_quick). Nobody is asked, and nobody waited for.
    pub fn try_at_once(&self, mut call: Call) -> AtOnce {
        let is_meant = |tool: &&Tool| {
            self.is_quick(tool)
                && tool.actions.is_one_shot()
                && tool.result == ResultMode::Unattended
        };
        let Some(tool) = self.tool(&call.tool).ok().filter(is_meant) else {
            return AtOnce::Not(call);
        };
        let arguments = std::mem::take(&mut call.arguments);
        call.arguments = match Invocation::parse(arguments, tool.actions) {
            Ok(Invocation::OneShot { args }) => args,
            Ok(Invocation::Command(_)) => {
                let error = CallError::NotStateful(tool.name.to_string());
                return AtOnce::Done(Err(error));
            }
            Err(error) => return AtOnce::Done(Err(CallError::command(tool, error))),
        };
        // A quick tool runs unattended: there is nobody to ask.
        let run = match self.begin_run(tool, call, &mut Nobody) {
            Ok(run) => run,
            Err(error) => return AtOnce::Done(Err(error)),
        };
        let session = &run.session;
        if session.status() != Status::Stopped || !session.warnings().is_empty() {
            let tool = tool.name.to_string();
            return AtOnce::Waits(Waits { tool, run });
        }
        AtOnce::Done(self.end_run(tool, run, &mut Nobody).map(Reply::Content))
    }

    /// Goes on with a call that waits. Questions go to `asker`.
    ///
    /// # Errors
    ///
    /// As for [`call`](Self::call).
    pub fn go_on(&self, waits: Waits, asker: &mut dyn Asker) -> Result<Reply, CallError> {
        let tool = self.tool(&waits.tool)?;
        self.end_run(tool, waits.run, asker).map(Reply::Content)
    }
}

#[cfg(test)]
mod tests;
