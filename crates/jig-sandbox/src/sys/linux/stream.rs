//! [`without_device_commands`]: a terminal that can be read and written, and no more.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};
use std::thread;

use rustix::fs::{Mode, OFlags};

use super::uapi;

/// As [`crate::without_device_commands`].
pub(crate) fn without_device_commands(device: BorrowedFd<'_>) -> io::Result<OwnedFd> {
    if uapi::landlock_abi().unwrap_or(0) < KNOWS_COMMANDS {
        return Err(io::ErrorKind::Unsupported.into());
    }
    let access = rustix::fs::fcntl_getfl(device)? & OFlags::ACCMODE;
    let path = format!("/proc/self/fd/{}", device.as_raw_fd());
    // What the kernel lets be done with a device is decided by who opens it: here a thread that may not do it.
    let open = || -> io::Result<OwnedFd> {
        uapi::give_up_device_commands().map_err(|errno| io::Error::from_raw_os_error(errno.0))?;
        let flags = access | OFlags::NOCTTY | OFlags::CLOEXEC;
        Ok(rustix::fs::open(path, flags, Mode::empty())?)
    };
    thread::scope(|scope| {
        let opened = thread::Builder::new().spawn_scoped(scope, open)?.join();
        opened.unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))
    })
}

/// The version of Landlock's interface from which on it decides about commands to devices.
const KNOWS_COMMANDS: i32 = 5;
