//! The broker from outside: real files, real servers on the loopback interface, real programs.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests prepare and inspect workspaces from outside"
)]
#![expect(clippy::unwrap_used, reason = "a fixture that fails is a failed test")]

mod approval;
mod audit;
mod confined;
mod confined_git;
mod confined_repositories;
mod confined_toolchains;
mod denied;
#[cfg(target_os = "linux")]
mod door;
mod files;
#[cfg(target_os = "linux")]
mod gateway;
#[cfg(target_os = "linux")]
mod guarded_names;
mod guards;
mod http;
mod llm;
mod open;
#[cfg(target_os = "linux")]
mod open_attacks;
mod process;
mod repository_shapes;
mod server;
mod sidesteps;
mod staying;
#[cfg(target_os = "linux")]
mod staying_attacks;
mod staying_git;
mod tls;
mod world;
