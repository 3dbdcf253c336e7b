//! The one linker: everything that a guest can import.

use wasmtime::Engine;
use wasmtime::component::Linker;

use crate::bindings::jp::tool::types;
use crate::guest::Guest;
use crate::{host, wasi};

/// A linker with everything. What a guest imports beyond that has no place to come from.
pub(crate) fn linker(engine: &Engine) -> wasmtime::Result<Linker<Guest>> {
    let mut linker = Linker::new(engine);
    wasi::io::link(&mut linker)?;
    wasi::clocks::link(&mut linker)?;
    wasi::random::link(&mut linker)?;
    wasi::cli::link(&mut linker)?;
    wasi::filesystem::link(&mut linker)?;
    wasi::sockets::link(&mut linker)?;
    wasi::http::link(&mut linker)?;
    host::filesystem::link(&mut linker)?;
    host::http::link(&mut linker)?;
    host::process::link(&mut linker)?;
    host::vfs::link(&mut linker)?;
    types::add_to_linker::<Guest, wasmtime::component::HasSelf<Guest>>(&mut linker, |guest| guest)?;
    Ok(linker)
}

impl types::Host for Guest {}
