//! Systems on which no tool has a door.

use std::convert::Infallible;
use std::io;

use camino::Utf8Path;
use jig_sandbox::Descriptor;

use crate::broker::Broker;
use crate::programs::confine::Intruder;

/// A door that does not exist.
#[derive(Debug)]
pub struct Door(Infallible);

impl Door {
    pub(super) fn open(_: Broker, _: Descriptor, _: &Utf8Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// There is nothing to tell.
    pub fn take_intruders(&self) -> Vec<Intruder> {
        match self.0 {}
    }

    /// There is nothing to close.
    pub fn close(self) -> Vec<Intruder> {
        match self.0 {}
    }
}
