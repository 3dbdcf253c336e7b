//! Loading real files, from the TOML that people write to the tools that come out.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "tests lay out their workspaces with std::fs"
)]

mod documents;
mod extends;
mod files;
mod follow;
mod guarded_programs;
mod hostile;
mod jp;
mod layers;
mod llm;
mod mcp;
mod mistakes;
mod output;
mod run;
mod schema;
mod servers;
mod show;
mod stateful;
mod tools;
mod topics;
mod warnings;
mod widening;
mod workspace;
