//! `jp:host/filesystem`.

use wasmtime::component::Linker;

use crate::guest::Guest;

/// Adds it to the linker.
pub(crate) fn link(_linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    Ok(())
}
