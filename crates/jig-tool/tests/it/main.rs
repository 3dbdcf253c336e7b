//! The SDK from outside: a tool and its host, and a client of the FS proxy and its parent.

mod over_pipes;
#[cfg(unix)]
mod proxy;
