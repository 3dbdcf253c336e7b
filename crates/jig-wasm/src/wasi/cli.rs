//! `wasi:cli`: the environment that the rules leave, and captured output.
//!
//! Nothing that a guest prints reaches our own streams, on which somebody may speak a protocol.

use bytes::Bytes;
use wasmtime::component::{HasSelf, Linker, Resource};

use crate::bindings::wasi::cli::{
    environment, exit, stderr, stdin, stdout, terminal_input, terminal_output, terminal_stderr,
    terminal_stdin, terminal_stdout,
};
use crate::guest::Guest;
use crate::limits::GuestEndReason;
use crate::wasi::io::{InputStream, OutputStream};

mod captured;

pub(crate) use captured::CapturedGuestOutput;

/// Adds it to the linker.
pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    environment::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)?;
    exit::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)?;
    stdin::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)?;
    stdout::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)?;
    stderr::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)?;
    terminal_input::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)?;
    terminal_output::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)?;
    terminal_stdin::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)?;
    terminal_stdout::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)?;
    terminal_stderr::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)
}

/// No guest has a terminal.
#[derive(Debug)]
pub enum TerminalInput {}

/// No guest has a terminal.
#[derive(Debug)]
pub enum TerminalOutput {}

impl environment::Host for Guest {
    /// Most guests never ask, so it is not made before.
    fn get_environment(&mut self) -> wasmtime::Result<Vec<(String, String)>> {
        Ok(self.door.plan().broker.give_variables())
    }

    /// The name of the tool, as a program has its own.
    fn get_arguments(&mut self) -> wasmtime::Result<Vec<String>> {
        Ok(vec![self.door.plan().input.name.clone()])
    }

    fn initial_cwd(&mut self) -> wasmtime::Result<Option<String>> {
        Ok(self.mounts.first().map(|mount| mount.guest.clone()))
    }
}

impl exit::Host for Guest {
    fn exit(&mut self, status: Result<(), ()>) -> wasmtime::Result<()> {
        Err(GuestEndReason::Exit(u8::from(status.is_err())).into())
    }

    fn exit_with_code(&mut self, code: u8) -> wasmtime::Result<()> {
        Err(GuestEndReason::Exit(code).into())
    }
}

/// The call is the only input: there is nothing to read.
impl stdin::Host for Guest {
    fn get_stdin(&mut self) -> wasmtime::Result<Resource<InputStream>> {
        self.hold(InputStream::new(Bytes::new()))
    }
}

impl stdout::Host for Guest {
    fn get_stdout(&mut self) -> wasmtime::Result<Resource<OutputStream>> {
        let sink = self.output.stdout();
        self.hold(OutputStream::new(sink))
    }
}

impl stderr::Host for Guest {
    fn get_stderr(&mut self) -> wasmtime::Result<Resource<OutputStream>> {
        let sink = self.output.stderr();
        self.hold(OutputStream::new(sink))
    }
}

impl terminal_input::Host for Guest {}

impl terminal_input::HostTerminalInput for Guest {
    fn drop(&mut self, terminal: Resource<TerminalInput>) -> wasmtime::Result<()> {
        match self.table.delete(terminal)? {}
    }
}

impl terminal_output::Host for Guest {}

impl terminal_output::HostTerminalOutput for Guest {
    fn drop(&mut self, terminal: Resource<TerminalOutput>) -> wasmtime::Result<()> {
        match self.table.delete(terminal)? {}
    }
}

impl terminal_stdin::Host for Guest {
    fn get_terminal_stdin(&mut self) -> wasmtime::Result<Option<Resource<TerminalInput>>> {
        Ok(None)
    }
}

impl terminal_stdout::Host for Guest {
    fn get_terminal_stdout(&mut self) -> wasmtime::Result<Option<Resource<TerminalOutput>>> {
        Ok(None)
    }
}

impl terminal_stderr::Host for Guest {
    fn get_terminal_stderr(&mut self) -> wasmtime::Result<Option<Resource<TerminalOutput>>> {
        Ok(None)
    }
}
