//! The operating system: one module per platform, each with the same entry points.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
pub(crate) use linux::{Process, Wake, poll, probe, set_nonblocking, spawn};

#[cfg(not(target_os = "linux"))]
mod unsupported;
#[cfg(not(target_os = "linux"))]
pub(crate) use unsupported::{Process, Wake, poll, probe, set_nonblocking, spawn};

#[cfg(unix)]
pub use std::os::fd::{BorrowedFd as BorrowedDescriptor, OwnedFd as Descriptor};
#[cfg(windows)]
pub use std::os::windows::io::{BorrowedHandle as BorrowedDescriptor, OwnedHandle as Descriptor};
