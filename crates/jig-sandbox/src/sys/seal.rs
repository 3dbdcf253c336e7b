//! Descriptors that are closed when a program is executed, one after the other.

use std::io;
use std::os::fd::{BorrowedFd, RawFd};

use rustix::fs::{Mode, OFlags};
use rustix::io::FdFlags;

#[cfg(test)]
mod tests;

/// Marks all but the standard streams. `list` is the directory that names them.
pub(crate) fn seal_each(list: &str) -> io::Result<()> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let directory = rustix::fs::open(list, flags, Mode::empty())?;
    for entry in rustix::fs::Dir::new(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_str().ok();
        let Some(number @ 3..) = name.and_then(|name| name.parse::<RawFd>().ok()) else {
            continue;
        };
        #[expect(unsafe_code, reason = "descriptors are known by their numbers alone")]
        // SAFETY: it is not closed here. If somebody else has closed it by now, the call fails, or marks
        // another one, as this is to do with all.
        let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
        match rustix::io::fcntl_setfd(descriptor, FdFlags::CLOEXEC) {
            Ok(()) | Err(rustix::io::Errno::BADF) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}
