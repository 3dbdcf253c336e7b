//! Systems on which no program has a gateway.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;

use jig_proto::Denial;
use jig_sandbox::{GatewaySockets, Observation};

use crate::broker::Inner;

/// A gateway that does not exist.
#[derive(Debug)]
pub struct Gateway(Infallible);

impl Gateway {
    pub(crate) fn serve(_: &Arc<Inner>, _: GatewaySockets) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// There is nothing to refuse.
    pub fn denials(&self) -> Vec<Denial> {
        match self.0 {}
    }

    /// There is nothing to refuse.
    pub fn take_denials(&self, _: &Observation) -> Vec<Denial> {
        match self.0 {}
    }

    /// There is nothing to close.
    pub fn close_watched(self, _: &Observation) -> Vec<Denial> {
        match self.0 {}
    }

    /// There is nothing to close.
    pub fn close(self) -> Vec<Denial> {
        match self.0 {}
    }
}
