//! Workspaces from outside: every backend, and the system below them.

#[cfg(target_os = "linux")]
mod attack;
#[cfg(unix)]
mod conformance;
#[cfg(unix)]
mod crash;
#[cfg(unix)]
mod grep;
#[cfg(target_os = "linux")]
mod layer;
#[cfg(unix)]
mod limits;
#[cfg(unix)]
mod views;
