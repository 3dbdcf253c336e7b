//! A program that ended with a question: it is asked, and the program is run again with the answer (S-036).

use std::error::Error;
use std::sync::mpsc::Receiver;

use jig_proto::{Question, ToolError};

use crate::in_process::not_answered;
use crate::session::{ApplyOrder, InputPurpose, SessionBoard, SessionOrder};
use crate::{ApplyError, StartError};

/// Blocks until the question that is shown has been answered. No program runs meanwhile.
///
/// # Errors
///
/// If nobody answers it, or the call is given up.
pub(crate) fn answer(
    orders: &Receiver<SessionOrder>,
    board: &SessionBoard,
    question: &Question,
) -> Result<ApplyOrder, ToolError> {
    loop {
        match orders.recv() {
            Ok(SessionOrder::Apply(applied)) => match applied.given {
                InputPurpose::Answer(number) if board.asks(number) => return Ok(applied),
                // An answer to an earlier question, or input of a run that is over.
                _ => applied.reply(Err(ApplyError::Changed)),
            },
            Ok(SessionOrder::Decline(number, why)) if board.asks(number) => {
                return Err(not_answered(&question.text, why));
            }
            Ok(SessionOrder::Decline(..)) => {}
            Ok(SessionOrder::Cancel) => return Err(ToolError::new(CANCELLED)),
            Ok(SessionOrder::Abort) | Err(_) => return Err(ToolError::new(ABORTED)),
        }
    }
}

/// That a program which has ended with a question cannot be run again.
pub(crate) fn not_started(name: &str, error: &StartError) -> ToolError {
    let mut told = ToolError::new(format!("`{name}` could not be started again: {error}"));
    let mut cause = error.source();
    while let Some(error) = cause {
        told.trace.push(error.to_string());
        cause = error.source();
    }
    told
}

/// That a program asked more than it may.
pub(crate) fn asked_too_often(name: &str) -> ToolError {
    ToolError::new(format!(
        "`{name}` asked {MAX_RUNS} questions in one call and was given up"
    ))
}

/// The words for a call that was cancelled.
pub(crate) const CANCELLED: &str = "the call was cancelled";

/// The words for a call that was ended at once.
pub(crate) const ABORTED: &str = "the call was aborted";

/// How often a program is run for one call. One that asks the same again and again, and whose answers
/// come from a program too, would otherwise run for ever.
pub(crate) const MAX_RUNS: usize = 100;
