//! What a client asks of a server, method by method.
//!
//! [`server_handler`] gets every request and hands it on. The modules beside it answer what a client lists, reads and
//! watches: tools, prompts, resources. `tools/call` is in [`calls`](crate::calls).

mod annotations;
pub(crate) mod catalogue;
mod completion;
mod knowledge;
mod notifications;
mod pages;
mod prompts;
pub(crate) mod resources;
pub(crate) mod server_handler;
pub(crate) mod uris;
