//! The engine from outside: real workspaces, and tools of every runtime.

mod backends;
mod calls;
#[cfg(feature = "wasm-tools")]
mod knowledge;
mod questions;
mod served;
#[cfg(target_os = "linux")]
mod server;
mod stateful;
#[cfg(unix)]
mod stdio;
#[cfg(unix)]
mod vfs_confined;
#[cfg(feature = "wasm-tools")]
mod wasm;
