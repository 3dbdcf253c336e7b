//! Systems on which no program has a gateway.

use std::convert::Infallible;
use std::io;

use jig_proto::Denial;
use jig_sandbox::GatewaySockets;

use crate::broker::Broker;

impl Broker {
    /// There is no gateway on this system.
    ///
    /// # Errors
    ///
    /// Always.
    pub fn open_gateway(&self, _: GatewaySockets) -> io::Result<Gateway> {
        Err(io::ErrorKind::Unsupported.into())
    }
}

/// A gateway that does not exist.
#[derive(Debug)]
pub struct Gateway(Infallible);

impl Gateway {
    /// There is nothing to refuse.
    pub fn denials(&self) -> Vec<Denial> {
        match self.0 {}
    }

    /// There is nothing to close.
    pub fn close(self) -> Vec<Denial> {
        match self.0 {}
    }
}
