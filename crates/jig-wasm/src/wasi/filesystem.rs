//! `wasi:filesystem`, on the broker: the same rules for each path as every other tool has.

use wasmtime::component::Linker;

use crate::guest::Guest;

/// Adds it to the linker.
pub(crate) fn link(_linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    Ok(())
}

/// An open file or directory of a guest.
#[derive(Debug)]
pub struct Descriptor {}

/// What is still to be told of a directory.
#[derive(Debug)]
pub struct Entries {}
