//! [`Guest`]: what a store knows of the call that runs in it.

use jig_runtime::{InProcess, Mount};
use wasmtime::component::ResourceTable;

/// The host's side of one running component. Every host function gets it.
pub(crate) struct Guest {
    /// The way to the broker and to the callers. It is asked now and then whether the call is given up.
    pub(crate) door: InProcess,
    /// Everything that the guest holds.
    pub(crate) table: ResourceTable,
    /// The directories that it sees.
    pub(crate) mounts: Vec<Mount>,
}
