//! From a call to a plan: its arguments are completed and checked, its rules are compiled, and a
//! [`Plan`](jig_runtime::Plan) says what a runtime is to start.

mod argument_links;
pub(crate) mod arguments;
mod open_methods;
pub(crate) mod plan;
mod rules;
