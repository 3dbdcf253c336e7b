//! Sessions, handles and the FS proxy from outside, with real programs.

#[cfg(target_os = "linux")]
mod chain;
#[cfg(target_os = "linux")]
mod descriptors;
#[cfg(unix)]
mod fsproxy;
#[cfg(target_os = "linux")]
mod fsproxy_llm;
#[cfg(target_os = "linux")]
mod fsproxy_text;
#[cfg(target_os = "linux")]
mod leaks;
#[cfg(target_os = "linux")]
mod live;
#[cfg(target_os = "linux")]
mod registry;
#[cfg(target_os = "linux")]
mod registry_processes;
#[cfg(unix)]
mod timing;
