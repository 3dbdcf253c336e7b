//! Sessions of real programs that are looked at and steered while they run: on pipes, on terminals, and
//! tools of the VFS protocol.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "fixtures are files and processes, and one that fails is a failed test"
)]

mod ending;
mod pipes;
mod support;
mod terminal;
mod vfs;
