//! How clients reach a server: standard input and output, or HTTP.
//!
//! [`stdio`] serves one client, [`http`] serves many. [`ending`] is what both have in common.

pub(crate) mod ending;
pub(crate) mod http;
pub(crate) mod stdio;
