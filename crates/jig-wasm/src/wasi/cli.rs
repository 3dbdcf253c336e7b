//! `wasi:cli`: the environment that the rules leave, and captured output.

use wasmtime::component::Linker;

use crate::guest::Guest;

/// Adds it to the linker.
pub(crate) fn link(_linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    Ok(())
}

/// No guest has a terminal.
#[derive(Debug)]
pub enum TerminalInput {}

/// No guest has a terminal.
#[derive(Debug)]
pub enum TerminalOutput {}
