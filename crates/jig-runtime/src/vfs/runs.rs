//! Run after run of one tool: a question in its result is asked, and the tool is run again with the answer (V-027).

use std::sync::Arc;
use std::sync::mpsc::Receiver;

use jig_proto::{Content, Question, ToolError};
use jig_sandbox::Waker;

use super::driver::VfsDriver;
use crate::Plan;
use crate::rerun;
use crate::session::{SessionBoard, SessionOrder};

/// What is left of a run that ended with a question, which is shown on the board.
pub(super) struct UnansweredRun {
    pub(super) plan: Plan,
    pub(super) board: Arc<SessionBoard>,
    pub(super) orders: Receiver<SessionOrder>,
    pub(super) waker: Waker,
    pub(super) question: Question,
}

/// Drives a tool until it has stopped.
pub(super) fn drive(mut driver: VfsDriver) {
    for run in 1.. {
        let Some(ended) = driver.run() else {
            return;
        };
        let board = Arc::clone(&ended.board);
        let next = match run < rerun::MAX_RUNS {
            true => ended.run_again(),
            false => Err(rerun::asked_too_often(&ended.plan.name)),
        };
        driver = match next {
            Ok(driver) => driver,
            Err(error) => return board.stopped(Err(error)),
        };
    }
}

impl UnansweredRun {
    /// Waits for the answer, and starts the tool with all answers so far.
    fn run_again(self) -> Result<VfsDriver, ToolError> {
        let Self {
            mut plan,
            board,
            orders,
            waker,
            question,
        } = self;
        let answer = rerun::answer(&orders, &board, &question)?;
        let input = answer.input.clone();
        plan.input.answers.insert(question.id, input);
        let name = plan.name.clone();
        let failed = |error| rerun::not_started(&name, &error);
        let (run, descriptors) = super::start_program(&mut plan).map_err(failed)?;
        let driver = super::driver(plan, run, Arc::clone(&board), orders, waker, descriptors);
        let driver = driver.map_err(|error| failed(error.into()))?;
        board.running(Content::EMPTY);
        answer.reply(Ok(()));
        Ok(driver)
    }
}
