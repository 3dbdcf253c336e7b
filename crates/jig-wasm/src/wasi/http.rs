//! `wasi:http`: requests to servers, on the broker.
//!
//! A request is `http.get` or `http.post` of the VFS protocol: the same rules, the same judge of addresses,
//! the same `${NAME}` in headers, redirects followed and judged by the broker. It is sent when it is whole and
//! its answer is there as a whole, so nothing is waited for afterwards. What the broker does not have is not
//! here either: other methods, timeouts of a request's own, trailers and the headers of an answer.

mod budget;
mod exchange;
mod fields;
mod handler;
mod incoming;
mod outgoing;

use wasmtime::component::{HasSelf, Linker, Resource};

pub use fields::Fields;
pub use incoming::{
    FutureResponse, FutureTrailers, IncomingBody, IncomingRequest, IncomingResponse,
    ResponseOutparam,
};
pub use outgoing::{OutgoingBody, OutgoingRequest, OutgoingResponse, RequestOptions};

pub(crate) use budget::GuestHttpBudget;

use crate::bindings::wasi::http::types::{ErrorCode, LinkOptions};
use crate::bindings::wasi::http::{outgoing_handler, types};
use crate::guest::Guest;
use crate::wasi::io::IoError;

/// Adds it to the linker.
pub(crate) fn link(linker: &mut Linker<Guest>) -> wasmtime::Result<()> {
    let options = LinkOptions::default();
    types::add_to_linker::<Guest, HasSelf<Guest>>(linker, &options, |guest| guest)?;
    outgoing_handler::add_to_linker::<Guest, HasSelf<Guest>>(linker, |guest| guest)
}

impl types::Host for Guest {
    /// Bodies are whole before they are read, and fail by nothing that has a code.
    fn http_error_code(
        &mut self,
        _error: Resource<IoError>,
    ) -> wasmtime::Result<Option<ErrorCode>> {
        Ok(None)
    }
}

fn too_much() -> wasmtime::Error {
    wasmtime::format_err!("the guest has more requests and answers than are kept for it")
}

/// The longest URL: what servers take.
const MAX_URL: usize = 8 * 1024;
