//! [`without_device_commands`]: a stream of the host's for a program that is not trusted with it.

use std::io;

use crate::sys::{self, BorrowedDescriptor, Descriptor};

/// The same device, such as a terminal, opened anew: whoever gets it reads and writes it, and can do nothing else, such
/// as changing the terminal's settings or its size. To a program it is no terminal.
///
/// # Errors
///
/// If this system cannot hold that, or the device cannot be opened.
pub fn without_device_commands(device: BorrowedDescriptor<'_>) -> io::Result<Descriptor> {
    sys::without_device_commands(device)
}
