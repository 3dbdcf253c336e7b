//! The tools of a configuration: where the code of those that jig brings along is, what a tool can do at most, and
//! what models are told about them.

#[cfg(feature = "wasm-tools")]
pub(crate) mod component;
pub(crate) mod effects;
pub(crate) mod knowledge;
pub(crate) mod predefined;
mod published_schemas;
