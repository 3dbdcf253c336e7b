//! [`Common`]: what the engines of all turns have in common.

#[cfg(feature = "wasm-tools")]
use std::sync::OnceLock;
use std::sync::atomic::AtomicU64;

#[cfg(feature = "wasm-tools")]
use jig_wasm::WasmRuntime;

use crate::output::Outputs;
use crate::rules::Looking;

/// What the engines of all turns have in common, beside the configuration and the files: whatever is made
/// once and holds as long as those do.
#[derive(Debug, Default)]
pub(crate) struct Common {
    /// How many calls there were: each has an id of its own in the audit log, whatever its turn.
    pub(crate) calls: AtomicU64,
    /// The compiled schemas of results.
    pub(crate) outputs: Outputs,
    /// The compiled rules of tools that only look.
    pub(crate) looking: Looking,
    #[cfg(feature = "wasm-tools")]
    pub(crate) components: OnceLock<WasmRuntime>,
}
