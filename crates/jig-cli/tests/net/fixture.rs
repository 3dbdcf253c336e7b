//! What the tests stand on: servers on the loopback, the names that lead to them, and a workspace whose
//! user runs `jig`.

pub(crate) mod authority;
pub(crate) mod http;
pub(crate) mod index;
pub(crate) mod lines;
pub(crate) mod names;
pub(crate) mod repository;
pub(crate) mod site;
