//! The system calls by which a supervisor makes names for a tool, each behind a function that is safe to call.

#![expect(
    unsafe_code,
    reason = "system calls take addresses; each is given that of a live local or slice"
)]

use core::ffi::CStr;

use super::calls::{self, O_PATH, descriptor};
use super::raw::{self, RawErrno, call};

/// A descriptor that is closed when dropped.
#[derive(Debug)]
pub(crate) struct OwnedHandle(pub(crate) i32);

impl Drop for OwnedHandle {
    fn drop(&mut self) {
        calls::close(self.0);
    }
}

/// Opens a path with a mode for what is made. Links are followed, but at the end of a path with `O_EXCL`.
pub(crate) fn open(
    directory: i32,
    path: &CStr,
    flags: i32,
    mode: u32,
) -> Result<OwnedHandle, RawErrno> {
    // The kernel takes the flags of an older call as they are, and ignores those that it does not know.
    let flags = flags | calls::O_CLOEXEC;
    // SAFETY: the path is a live C string.
    unsafe { call!(OPENAT, directory, path.as_ptr(), flags, mode) }
        .map(|fd| OwnedHandle(descriptor(fd)))
}

/// Opens what a path is, without opening it: nothing waits, and no device acts.
pub(crate) fn look_at(
    directory: i32,
    path: &CStr,
    flags: i32,
    resolve: u64,
) -> Result<OwnedHandle, RawErrno> {
    calls::open_strictly(directory, path, O_PATH | flags, 0, resolve).map(OwnedHandle)
}

pub(crate) fn make_node(
    directory: i32,
    name: &CStr,
    mode: u32,
    device: u32,
) -> Result<(), RawErrno> {
    // SAFETY: the name is a live C string.
    unsafe { call!(MKNODAT, directory, name.as_ptr(), mode, device) }.map(drop)
}

/// Makes another name for a file. `flags` are those of `linkat`.
pub(crate) fn make_hard_link(
    from: (i32, &CStr),
    to: (i32, &CStr),
    flags: i32,
) -> Result<(), RawErrno> {
    // SAFETY: both names are live C strings.
    unsafe { call!(LINKAT, from.0, from.1.as_ptr(), to.0, to.1.as_ptr(), flags) }.map(drop)
}

/// `flags` are those of `renameat2`.
pub(crate) fn rename(from: (i32, &CStr), to: (i32, &CStr), flags: u32) -> Result<(), RawErrno> {
    // SAFETY: both names are live C strings.
    unsafe {
        call!(
            RENAMEAT2,
            from.0,
            from.1.as_ptr(),
            to.0,
            to.1.as_ptr(),
            flags
        )
    }
    .map(drop)
}

/// The text of a symbolic link; its length. What does not fit is an error.
pub(crate) fn read_link(directory: i32, path: &CStr, text: &mut [u8]) -> Result<usize, RawErrno> {
    // SAFETY: the path is a live C string; address and length are those of a live slice.
    let length = unsafe {
        call!(
            READLINKAT,
            directory,
            path.as_ptr(),
            text.as_mut_ptr(),
            text.len()
        )
    }?;
    if length < text.len() {
        Ok(length)
    } else {
        Err(RawErrno::NAMETOOLONG)
    }
}

/// Which kind of file something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    Directory,
    Link,
    Fifo,
    /// A device for characters, by its numbers.
    Device(u32, u32),
    Other,
}

pub(crate) fn kind(fd: i32) -> Result<FileKind, RawErrno> {
    const EMPTY_PATH: i32 = 0x1000;
    const TYPE: u32 = 1;
    // `struct statx`: the mode is at byte 28, the numbers of a device at 128 and 132.
    let mut statx = [0_u64; 32];
    // SAFETY: the path is a live C string; the buffer has the 256 bytes that the kernel fills.
    unsafe {
        call!(
            STATX,
            fd,
            c"".as_ptr(),
            EMPTY_PATH,
            TYPE,
            statx.as_mut_ptr()
        )
    }?;
    let mode = (statx[3] >> 32) as u32;
    Ok(match mode & 0o170_000 {
        0o040_000 => FileKind::Directory,
        0o120_000 => FileKind::Link,
        0o010_000 => FileKind::Fifo,
        0o020_000 => FileKind::Device(statx[16] as u32, (statx[16] >> 32) as u32),
        _ => FileKind::Other,
    })
}

/// Whether something lies in a `/proc`.
pub(crate) fn is_of_proc(fd: i32) -> bool {
    const PROC: u64 = 0x9fa0;
    let mut statfs = [0_u64; 15];
    // SAFETY: the buffer has the 120 bytes that the kernel fills.
    let known = unsafe { call!(FSTATFS, fd, statfs.as_mut_ptr()) };
    known.is_err() || statfs[0] == PROC
}

/// The number is that of a thread, not of a process. Linux 6.9.
pub(crate) const THREAD: i32 = calls::O_EXCL;

/// A copy of a descriptor of another process, or of a thread of it.
pub(crate) fn descriptor_of(pid: i32, flags: i32, number: i32) -> Result<OwnedHandle, RawErrno> {
    // SAFETY: the calls take no addresses.
    let pidfd = unsafe { call!(PIDFD_OPEN, pid, flags) }.map(descriptor)?;
    let pidfd = OwnedHandle(pidfd);
    // SAFETY: as above.
    unsafe { call!(PIDFD_GETFD, pidfd.0, number, 0) }.map(|fd| OwnedHandle(descriptor(fd)))
}

/// Gives a socket an address.
pub(crate) fn bind(socket: i32, address: &[u8]) -> Result<(), RawErrno> {
    // SAFETY: address and length are those of a live slice.
    unsafe { call!(BIND, socket, address.as_ptr(), address.len()) }.map(drop)
}

/// Ends this thread, and not its process.
pub(crate) fn exit_thread() -> ! {
    loop {
        // SAFETY: the call takes no addresses, and does not return.
        let _ = unsafe { call!(EXIT, 0) };
    }
}

/// Sends a record if there is room for it.
pub(crate) fn offer(socket: i32, bytes: &[u8]) -> Result<(), RawErrno> {
    const NO_SIGNAL: i32 = 0x4000;
    const DO_NOT_WAIT: i32 = 0x40;
    let nobody = core::ptr::null::<u8>();
    let flags = NO_SIGNAL | DO_NOT_WAIT;
    // SAFETY: address and length are those of a live slice, and there is no address of a receiver.
    unsafe {
        call!(
            SENDTO,
            socket,
            bytes.as_ptr(),
            bytes.len(),
            flags,
            nobody,
            0
        )
    }
    .map(drop)
}

/// Two ends of a socket for records.
pub(crate) fn socket_pair() -> Result<[i32; 2], RawErrno> {
    const UNIX: i32 = 1;
    const SEQPACKET: i32 = 5;
    let mut ends = [-1_i32; 2];
    // SAFETY: the ends are a live array of two.
    unsafe {
        call!(
            SOCKETPAIR,
            UNIX,
            SEQPACKET | calls::O_CLOEXEC,
            0,
            ends.as_mut_ptr()
        )
    }?;
    Ok(ends)
}
