//! `wasi:sockets`: none of them reaches anything.

use wasmtime::component::Linker;

use crate::guest::Guest;

/// Adds it to the linker.
pub(crate) fn link(_linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    Ok(())
}

/// The network of a guest.
#[derive(Debug)]
pub struct Network;

/// The addresses of a name.
#[derive(Debug)]
pub struct Addresses {}

/// A TCP socket.
#[derive(Debug)]
pub struct TcpSocket {}

/// A UDP socket.
#[derive(Debug)]
pub struct UdpSocket {}

/// What comes to a UDP socket.
#[derive(Debug)]
pub struct Incoming {}

/// What goes from a UDP socket.
#[derive(Debug)]
pub struct Outgoing {}
