//! The VFS runtime: a program that asks for everything over its standard streams.
//!
//! Start at [`VfsRuntime`]. One thread, the [`VfsDriver`], owns the program: it waits for
//! the pipes, the end of the program, orders and finished work at once, so that neither a full pipe
//! nor a slow request ever holds up the rest.

mod descriptors;
mod driver;
mod open_requests;
mod runs;

use std::io;
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::thread;

use jig_broker::ProgramReach;
use jig_proto::vfs::{Capabilities, Init, SessionLimits, host};
use jig_sandbox::{Stdio, Waker};

use self::descriptors::DescriptorSender;
use self::driver::VfsDriver;
use crate::launch::{LaunchedProgram, launch};
use crate::session::{BoardSetup, Orders, SessionBoard, SessionOrder};
use crate::{Plan, Runtime, Session, StartError};

/// Runs programs that speak the VFS tool protocol.
#[derive(Debug, Clone, Copy, Default)]
pub struct VfsRuntime;

impl Runtime for VfsRuntime {
    fn start(&self, mut plan: Plan) -> Result<Session, StartError> {
        let record = plan.record()?;
        let (run, descriptors) = start_program(&mut plan)?;
        let waker = Waker::new()?;
        let (orders, received) = Orders::new(Some(waker.clone()));
        let setup = BoardSetup::of(&plan, Some(run.program.child().status.clone()));
        let board = SessionBoard::new(setup.recorded(Some(record)));
        board.set_broker(plan.broker.clone());
        let driver = driver(plan, run, board.clone(), received, waker, descriptors)?;
        thread::Builder::new()
            .name("jig-vfs".to_owned())
            .spawn(move || runs::drive(driver))?;
        Ok(Session::new(board, orders))
    }
}

/// Starts the program of a plan, with the way of open files to it.
fn start_program(
    plan: &mut Plan,
) -> Result<(LaunchedProgram, Option<DescriptorSender>), StartError> {
    let passed = match plan.offer.fd_pass.then(DescriptorSender::pair) {
        Some(Ok(pair)) => Some(pair),
        // The tool reads content instead.
        _ => None,
    };
    plan.offer.fd_pass = passed.is_some();
    let (descriptors, theirs) = passed.unzip();
    let run = launch(
        plan,
        &plan.input,
        ProgramReach::OwnProgramOnly,
        false,
        |request| {
            request.stdin = Stdio::Piped;
            if let Some(theirs) = theirs {
                let number = DESCRIPTORS.to_string().into();
                request.env.insert(Capabilities::FD_VARIABLE.into(), number);
                request.descriptors.push((DESCRIPTORS, theirs));
            }
        },
    )?;
    Ok((run, descriptors))
}

/// What drives a program that was started.
fn driver(
    plan: Plan,
    run: LaunchedProgram,
    board: Arc<SessionBoard>,
    orders: Receiver<SessionOrder>,
    waker: Waker,
    descriptors: Option<DescriptorSender>,
) -> io::Result<VfsDriver> {
    board.warn(run.warnings.iter().cloned());
    let mut first = Vec::new();
    host::write_init(&mut first, &init(&plan));
    VfsDriver::new(plan, run, board, orders, waker, first, descriptors)
}

fn init(plan: &Plan) -> Init {
    let mut limits = SessionLimits::default();
    limits.message_bytes = plan.message_limit as u64;
    limits.file_bytes = plan.broker.limits().file_bytes;
    limits.silence = plan.timing.silence;
    limits.response = plan.timing.response;
    limits.cancel_grace = plan.timing.cancel_grace;
    Init {
        supported: Init::SUPPORTED_VERSIONS.map(str::to_owned).to_vec(),
        methods: Some(plan.methods.clone()),
        limits: Some(limits),
        capabilities: plan.offer,
        context: Some(plan.context.clone()),
        stateful: plan.stateful,
        ..Init::new(plan.input.clone())
    }
}

/// The number under which a tool finds the socket of descriptors. 3 is taken by tools that get their
/// call there, and shells use the higher ones.
const DESCRIPTORS: i32 = 4;
