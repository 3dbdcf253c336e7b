//! The stdio runtime: a program that gets its call when it starts and prints its result.
//!
//! Start at [`StdioRuntime`]. One thread, the [`StdioDriver`](driver::StdioDriver), owns the program and reads what
//! it prints; [`outcome`] makes a state of that. A program that asks has ended: the answer starts it again,
//! with all that was answered so far.
//!
//! A run is watched by [`StdioWatch`](printing_run::StdioWatch), which waits for the end; or, if it is stateful or has a
//! terminal, by [`LiveRun`](steered_run::LiveRun), which shows what is printed as it comes and takes input.

mod bounded_output;
mod driver;
mod outcome;
mod printing_run;
mod remarks;
mod result_cleaner;
mod result_output;
mod run;
mod steered_run;
mod stream_text;

use std::thread;

use jig_sandbox::Waker;

pub use self::outcome::NO_OUTPUT;

use crate::session::{BoardSetup, Orders, SessionBoard};
use crate::{Delivery, Plan, Runtime, Session, StartError};

/// Runs programs that print their result.
#[derive(Debug, Clone, Copy, Default)]
pub struct StdioRuntime;

impl Runtime for StdioRuntime {
    fn start(&self, plan: Plan) -> Result<Session, StartError> {
        if plan.terminal.is_some() && plan.delivery == Delivery::Stdin {
            return Err(StartError::CallOnTerminal);
        }
        let record = plan.record()?;
        let run = driver::launch(&plan, &plan.input, false)?;
        let waker = Waker::new()?;
        let (orders, received) = Orders::new(Some(waker.clone()));
        let setup = BoardSetup::of_console(&plan, Some(run.program.child().status.clone()));
        let board = SessionBoard::new(setup.recorded(Some(record)));
        board.set_child(run.program.child());
        let driver = driver::StdioDriver {
            input: plan.input.clone(),
            plan,
            board: board.clone(),
            orders: received,
            waker,
        };
        thread::Builder::new()
            .name("jig-stdio".to_owned())
            .spawn(move || driver.run(run))?;
        Ok(Session::new(board, orders))
    }
}
