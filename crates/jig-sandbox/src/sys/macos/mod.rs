//! macOS: programs under the sandbox that the kernel has, by `/usr/bin/sandbox-exec`.
//!
//! A program and all that it starts are one process group, which ends with the program. There are no
//! namespaces, no keepers and no pools. What is enforced is in [`seatbelt`]; what is missing is in the
//! status of each child. On a machine without a working `sandbox-exec` a program with a profile does not
//! start.
//!
//! All of this but the sandbox itself works on any Unix, so that it is tested where it was written.

mod process;
mod readiness;
mod seatbelt;

#[cfg(target_os = "macos")]
pub(crate) use process::{ProcessTree, spawn};
#[cfg(target_os = "macos")]
pub(crate) use readiness::{Wake, poll, set_nonblocking};

/// Marks all descriptors but the standard streams to be closed by `exec`.
#[cfg(target_os = "macos")]
pub(crate) fn seal_descriptors() -> std::io::Result<()> {
    crate::sys::seal::seal_each("/dev/fd")
}
