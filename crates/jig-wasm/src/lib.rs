//! Tools that are Wasm components, in this process and under the policy of every other tool.
//!
//! [`WasmRuntime`] is a [`Runtime`](jig_runtime::Runtime) on wasmtime, and this is the only crate that knows
//! wasmtime. What a guest imports, WASI and `jp:host`, ends at the call's broker.

mod bindings;
mod guest;
mod host;
mod link;
mod wasi;
