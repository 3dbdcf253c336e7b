//! The manager of the FS Proxy over real sockets, pipes and processes, with a client that knows nothing of our own
//! code: it writes frames by hand.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "fixtures are files and processes, and one that fails is a failed test"
)]

mod ends;
mod hostile;
mod paths;
mod processes;
mod requests;
mod streams;
mod support;
