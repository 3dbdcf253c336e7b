//! Calls in flight: from a `tools/call` to what its client gets.
//!
//! [`tools_call`] is the one way in, for both eras of the protocol. [`in_flight`] runs the call on a thread,
//! [`asker`] decides who is asked when it has a question, and [`results`] makes of its end what a client reads.

pub(crate) mod asker;
pub(crate) mod in_flight;
pub(crate) mod large_outputs;
pub(crate) mod progress;
pub(crate) mod request_state;
pub(crate) mod results;
pub(crate) mod runtime_thread;
pub(crate) mod tasks;
pub(crate) mod tools_call;
