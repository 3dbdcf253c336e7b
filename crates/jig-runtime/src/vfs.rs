//! The VFS runtime: a program that asks for everything over its standard streams.
//!
//! Start at [`VfsRuntime`]. One thread, the [`Driver`](driver::Driver), owns the program: it waits for
//! the pipes, the end of the program, orders and finished work at once, so that neither a full pipe
//! nor a slow request ever holds up the rest.

mod descriptors;
mod driver;
mod open;
mod pipes;

use std::thread;

use jig_proto::vfs::{Capabilities, Init, SessionLimits, host};
use jig_sandbox::{Program, SpawnRequest, Stdio, Waker, minimal_environment, spawn};

use self::descriptors::Descriptors;
use crate::session::{Board, Orders};
use crate::{Plan, Runtime, Session, StartError};

/// Runs programs that speak the VFS tool protocol.
#[derive(Debug, Clone, Copy, Default)]
pub struct VfsRuntime;

impl Runtime for VfsRuntime {
    fn start(&self, mut plan: Plan) -> Result<Session, StartError> {
        let command = plan.command.as_ref().ok_or(StartError::NoCommand)?;
        let program = Program::parse(&command.program)?;
        let mut request = SpawnRequest::new(program, command.view.path());
        request.args = command.args.iter().map(Into::into).collect();
        request.env = minimal_environment(&command.home);
        request.stdin = Stdio::Piped;
        let descriptors = match plan.offer.fd_pass.then(Descriptors::pair) {
            Some(Ok((ours, theirs))) => {
                let number = DESCRIPTORS.to_string().into();
                request.env.insert(Capabilities::FD_VARIABLE.into(), number);
                request.descriptors.push((DESCRIPTORS, theirs));
                Some(ours)
            }
            // The tool reads content instead.
            _ => None,
        };
        plan.offer.fd_pass = descriptors.is_some();
        let child = spawn(request)?;

        let waker = Waker::new()?;
        let (orders, received) = Orders::new(Some(waker.clone()));
        let board = Board::new(Some(child.status.clone()));
        let mut first = Vec::new();
        host::write_init(&mut first, &init(&plan));
        let driver = driver::Driver::new(
            plan,
            child,
            board.clone(),
            received,
            waker,
            first,
            descriptors,
        )?;
        thread::Builder::new()
            .name("jig-vfs".to_owned())
            .spawn(move || driver.run())?;
        Ok(Session::new(board, orders))
    }
}

fn init(plan: &Plan) -> Init {
    let mut limits = SessionLimits::default();
    limits.message_bytes = plan.message_limit as u64;
    limits.silence = plan.timing.silence;
    limits.cancel_grace = plan.timing.cancel_grace;
    Init {
        supported: vec![Init::PROTOCOL_VERSION.to_owned()],
        methods: Some(plan.methods.clone()),
        limits: Some(limits),
        capabilities: plan.offer,
        context: Some(plan.context.clone()),
        ..Init::new(plan.input.clone())
    }
}

/// The number under which a tool finds the socket of descriptors. 3 is taken by tools that get their
/// call there, and shells use the higher ones.
const DESCRIPTORS: i32 = 4;
