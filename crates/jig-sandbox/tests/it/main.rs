//! The sandbox from outside: what a confined program can do, and what is seen of it.

#[cfg(target_os = "linux")]
mod confine;
#[cfg(target_os = "linux")]
mod filtered;
#[cfg(target_os = "linux")]
mod observe;
#[cfg(target_os = "linux")]
mod plain_user;
#[cfg(target_os = "linux")]
mod shim;
#[cfg(target_os = "linux")]
mod supervise;
