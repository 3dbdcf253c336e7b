//! [`Resolver`]: who turns names into addresses.

use std::fmt;
use std::io;
use std::net::{IpAddr, ToSocketAddrs};

/// Turns the name of a host into addresses.
///
/// What it answers is judged before it is used, and used as it was judged: it is asked once for each
/// request, and cannot change its mind between judging and connecting.
pub trait Resolver: fmt::Debug + Send + Sync {
    /// The addresses of a name. May block; the caller stops waiting when its time is over.
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>>;
}

/// Asks the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let addresses = (name, 0).to_socket_addrs()?;
        Ok(addresses.map(|address| address.ip()).collect())
    }
}
