//! What a guest can ask for beside WASI: `jp:host`, and the protocol of mediated tools by messages.

pub(crate) mod filesystem;
pub(crate) mod http;
pub(crate) mod process;
pub(crate) mod vfs;
