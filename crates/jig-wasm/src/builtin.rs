//! The components that are part of jig.
//!
//! They are kept as binaries, so that building jig needs no other target than its own; a check of the build
//! tells when one is not what its sources make.

/// The tool `learn`: shows the subjects of a topic of the knowledge base.
pub const LEARN: &[u8] = include_bytes!("../guests/learn.wasm");

/// The component of this name.
pub fn get(name: &str) -> Option<&'static [u8]> {
    match name {
        "learn" => Some(LEARN),
        _ => None,
    }
}
