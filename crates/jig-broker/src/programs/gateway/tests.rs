//! The gateway from the side of a program, with real sockets and servers on the loopback interface.
//!
//! There is no sandbox here: the addresses that stand for names are loopback addresses, and the
//! listeners are bound to any port. So that nothing is special about the loopback interface, the
//! rules name the address of each server that is to be reached.

mod attack;
mod http;
mod life;
mod lookups;
mod plain;
mod proxy;
mod smuggling;
mod tls;
mod world;
