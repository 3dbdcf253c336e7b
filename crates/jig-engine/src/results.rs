//! What a call comes to: its reply, held to the size and to the JSON Schema that are allowed.

pub(crate) mod declared_output;
pub(crate) mod reply;
pub(crate) mod size_limit;
