//! [`EngineCommon`]: what the engines of all turns have in common.

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock};

#[cfg(feature = "wasm-tools")]
use jig_wasm::WasmRuntime;

use jig_broker::Llm;
use jig_policy::Policy;

use crate::results::declared_output::ResultSchemas;
use crate::servers::CompiledDefinitions;
use crate::tools::effects::Effects;

/// What the engines of all turns have in common, beside the configuration and the files: whatever is made
/// once and holds as long as those do.
#[derive(Debug, Default)]
pub(crate) struct EngineCommon {
    /// How many calls there were: each has an id of its own in the audit log, whatever its turn.
    pub(crate) calls: AtomicU64,
    /// The compiled schemas of results.
    pub(crate) outputs: ResultSchemas,
    /// What servers say about tools that were called.
    pub(crate) definitions: CompiledDefinitions,
    /// What servers can do at most, by their names.
    pub(crate) server_effects: Mutex<HashMap<String, Effects>>,
    /// The model that answers questions for the assistant. All turns share its quota.
    pub(crate) llm: OnceLock<Option<Llm>>,
    /// Whether the files of the workspace are on this machine, once that was wanted.
    pub(crate) files_are_local: OnceLock<bool>,
    /// The policy of a call that does nothing by itself.
    pub(crate) nothing: OnceLock<Arc<Policy>>,
    #[cfg(feature = "wasm-tools")]
    pub(crate) components: OnceLock<WasmRuntime>,
}
