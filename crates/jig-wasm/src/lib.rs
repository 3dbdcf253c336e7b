//! Tools that are Wasm components, in this process and under the policy of every other tool.
//!
//! [`WasmRuntime`] is a [`Runtime`](jig_runtime::Runtime) on wasmtime, and this is the only crate that knows
//! wasmtime. What a guest imports, WASI and `jp:host`, ends at the call's broker.

mod bindings;
pub mod builtin;
mod cache;
mod compile;
mod components;
mod describe;
mod engine;
mod error;
mod guest;
mod host;
mod inspect;
mod limits;
mod link;
mod outcome;
mod run;
mod runtime;
mod ticker;
mod wasi;

pub use cache::CacheDirs;
pub use components::{Compiling, Loaded};
pub use describe::Description;
pub use engine::EngineError;
pub use error::ComponentError;
pub use inspect::{Import, Inspection, Want};
pub use runtime::{InstanceCost, Prepared, Settings, WasmRuntime};
