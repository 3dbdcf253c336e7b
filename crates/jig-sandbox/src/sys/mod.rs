//! The operating system: one module per platform, each with the same entry points.

#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod linux;
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
pub(crate) use linux::{
    CreationReports, ProcessTree, Wake, Watcher, Zygote, is_temporary, poll, probe,
    seal_descriptors, set_nonblocking, shim, spawn, unchangeable, without_device_commands,
};

#[cfg(any(
    all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ),
    target_os = "macos"
))]
mod seal;

#[cfg(any(target_os = "macos", all(test, unix)))]
mod macos;
#[cfg(target_os = "macos")]
pub(crate) use macos::{ProcessTree, Wake, poll, seal_descriptors, set_nonblocking, spawn};

#[cfg(any(windows, test))]
mod windows;

#[cfg(not(any(
    all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ),
    target_os = "macos"
)))]
mod unsupported;
#[cfg(not(any(
    all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ),
    target_os = "macos"
)))]
pub(crate) use unsupported::{ProcessTree, Wake, poll, seal_descriptors, set_nonblocking, spawn};

#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
mod foreign;
#[cfg(not(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
pub(crate) use foreign::{
    CreationReports, Watcher, Zygote, is_temporary, probe, shim, unchangeable,
    without_device_commands,
};

#[cfg(unix)]
pub use std::os::fd::{BorrowedFd as BorrowedDescriptor, OwnedFd as Descriptor};
#[cfg(windows)]
pub use std::os::windows::io::{BorrowedHandle as BorrowedDescriptor, OwnedHandle as Descriptor};
