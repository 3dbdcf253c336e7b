//! The operating system: one module per platform, each with the same entry points.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(crate) use linux::{Process, Wake, Zygote, poll, probe, set_nonblocking, shim, spawn};

#[cfg(any(target_os = "macos", all(test, unix)))]
mod macos;
#[cfg(target_os = "macos")]
pub(crate) use macos::{Process, Wake, poll, set_nonblocking, spawn};

#[cfg(any(windows, test))]
mod windows;

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
mod unsupported;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) use unsupported::{Process, Wake, poll, set_nonblocking, spawn};

#[cfg(not(target_os = "linux"))]
mod foreign;
#[cfg(not(target_os = "linux"))]
pub(crate) use foreign::{Zygote, probe, shim};

#[cfg(unix)]
pub use std::os::fd::{BorrowedFd as BorrowedDescriptor, OwnedFd as Descriptor};
#[cfg(windows)]
pub use std::os::windows::io::{BorrowedHandle as BorrowedDescriptor, OwnedHandle as Descriptor};
