//! `wasi:http`: requests to servers, on the broker.

use wasmtime::component::Linker;

use crate::guest::Guest;

/// Adds it to the linker.
pub(crate) fn link(_linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    Ok(())
}

/// A resource of the interface.
#[derive(Debug)]
pub struct Fields {}

/// A resource of the interface.
#[derive(Debug)]
pub struct IncomingRequest {}

/// A resource of the interface.
#[derive(Debug)]
pub struct OutgoingRequest {}

/// A resource of the interface.
#[derive(Debug)]
pub struct RequestOptions {}

/// A resource of the interface.
#[derive(Debug)]
pub struct ResponseOutparam {}

/// A resource of the interface.
#[derive(Debug)]
pub struct IncomingResponse {}

/// A resource of the interface.
#[derive(Debug)]
pub struct IncomingBody {}

/// A resource of the interface.
#[derive(Debug)]
pub struct FutureTrailers {}

/// A resource of the interface.
#[derive(Debug)]
pub struct OutgoingResponse {}

/// A resource of the interface.
#[derive(Debug)]
pub struct OutgoingBody {}

/// A resource of the interface.
#[derive(Debug)]
pub struct FutureResponse {}
