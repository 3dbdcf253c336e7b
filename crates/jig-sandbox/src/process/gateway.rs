//! [`GatewaySockets`]: where the connections of a program arrive.

use crate::sys::Descriptor;

/// The sockets of a [gateway](crate::GatewayProfile). They live in the network of the program, and are served by
/// the host: a connection that is accepted there has as its own address the one that the program connected
/// to.
#[derive(Debug)]
pub struct GatewaySockets {
    /// UDP sockets that lookups of names arrive at.
    pub lookups: Vec<Descriptor>,
    /// Listening TCP sockets, each with its port: those of the profile, that of lookups over TCP, and that of
    /// the proxy.
    pub listeners: Vec<(u16, Descriptor)>,
}
