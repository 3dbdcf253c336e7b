//! [`Pool`]: keepers that are made ahead of time.

use std::io;

use crate::sys;

/// A helper process that makes keepers ahead of time, each for one child.
///
/// It is for hosts that start many programs: a start costs little more than that of the program itself,
/// however large the host is. Clones share it; it ends with the last of them and with the host.
#[derive(Debug, Clone)]
pub struct Pool(pub(crate) sys::Zygote);

impl Pool {
    /// Starts the helper, which keeps `ready` keepers waiting for the kind of profile that was asked for
    /// last. Starting it takes about as long as starting a program.
    pub fn new(ready: usize) -> io::Result<Self> {
        sys::Zygote::start(ready).map(Self)
    }
}
