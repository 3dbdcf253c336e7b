//! Tools that are Wasm components, in this process and under the policy of every other tool.
//!
//! [`WasmRuntime`] is a [`Runtime`](jig_runtime::Runtime) on wasmtime, and this is the only crate that knows
//! wasmtime. What a guest imports, WASI 0.2 and `jp:host`, ends at the call's broker: no file, server or
//! variable is reached in another way. A component is compiled when it is first called and kept, also for
//! the next process; each call has an instance of its own, of which nothing is left.
//!
//! ```no_run
//! use jig_runtime::{Component, ComponentSource, Plan, Runtime as _, Session};
//! use jig_wasm::{Settings, WasmRuntime};
//!
//! fn start(plan: Plan) -> Result<Session, Box<dyn std::error::Error>> {
//!     let runtime = WasmRuntime::new(Settings::default())?;
//!     let component = Component {
//!         shown: "learn".to_owned(),
//!         source: ComponentSource::Embedded(jig_wasm::builtin::LEARN),
//!         mounts: Vec::new(),
//!     };
//!     Ok(runtime.start(Plan {
//!         component: Some(component),
//!         ..plan
//!     })?)
//! }
//! ```
//!
//! A guest is held to its limits by the engine: memory, tables and stack, and time by an interruption every
//! few milliseconds, at which it is also noticed that a call was given up. What it cannot be held to is the
//! time that compiling it takes: a call that waits for that can be given up, the compiler goes on.

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
mod text;
mod ticker;
mod wasi;

pub use cache::CacheDirs;
pub use components::{CodeSource, LoadingComponent};
pub use describe::ComponentTool;
pub use engine::EngineError;
pub use error::ComponentError;
pub use inspect::{ComponentImport, ComponentNeed, Inspection};
pub use runtime::{ComponentPreparation, InstanceCost, Settings, WasmRuntime};
