//! The system calls of whoever listens, each behind a function that is safe to call.
#![expect(
    unsafe_code,
    reason = "system calls take addresses; each is given that of a live local or slice"
)]

use std::ffi::{c_int, c_long, c_void};
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::io::Errno;

/// A call that waits: `struct seccomp_notif`.
#[derive(Debug, Clone, Copy, Default)]
#[repr(C)]
pub(in crate::sys::linux) struct SeccompNotif {
    /// The cookie by which it is answered.
    pub(super) id: u64,
    /// The thread that makes the call, as this process sees it.
    pub(super) thread: u32,
    flags: u32,
    /// The number of the call.
    pub(super) number: i32,
    architecture: u32,
    instruction: u64,
    pub(super) arguments: [u64; 6],
}

impl SeccompNotif {
    /// Its bytes, with another number of the thread.
    pub(super) fn of_thread(mut self, thread: u32) -> [u8; 80] {
        self.thread = thread;
        let mut bytes = [0; 80];
        let low_high = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
        let words = [
            self.id,
            low_high(self.thread, self.flags),
            low_high(self.number.cast_unsigned(), self.architecture),
            self.instruction,
        ];
        let words = words.into_iter().chain(self.arguments);
        for (bytes, word) in bytes.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }
}

/// `struct seccomp_notif_resp`.
#[repr(C)]
struct SeccompNotifResp {
    id: u64,
    value: i64,
    error: i32,
    flags: u32,
}

const _: () = assert!(size_of::<SeccompNotif>() == 80 && size_of::<SeccompNotifResp>() == 24);

/// Waits for the next call. `ENOENT`: it was given up meanwhile.
pub(super) fn receive(listener: &OwnedFd) -> Result<SeccompNotif, Errno> {
    // The kernel refuses a place that is not empty.
    let mut notice = SeccompNotif::default();
    // SAFETY: the notice is a live local of the size that is part of the command.
    let result = unsafe { libc::ioctl(listener.as_raw_fd(), RECEIVE as _, &raw mut notice) };
    check(result.into()).map(|_| notice)
}

/// Lets a call go on as if nobody had looked. `ENOENT`: it was given up meanwhile.
pub(super) fn let_go(listener: &OwnedFd, id: u64) -> Result<(), Errno> {
    const CONTINUE: u32 = 1;
    answer(listener, id, 0, CONTINUE)
}

/// Has a call fail.
pub(super) fn refuse(listener: &OwnedFd, id: u64) -> Result<(), Errno> {
    answer(listener, id, -libc::EACCES, 0)
}

/// Whether a call still waits.
pub(super) fn is_valid(listener: &OwnedFd, id: u64) -> bool {
    // SAFETY: the id is a live local of the size that is part of the command.
    unsafe { libc::ioctl(listener.as_raw_fd(), IS_VALID as _, &raw const id) == 0 }
}

fn answer(listener: &OwnedFd, id: u64, error: i32, flags: u32) -> Result<(), Errno> {
    let mut answer = SeccompNotifResp {
        id,
        value: 0,
        error,
        flags,
    };
    // SAFETY: the answer is a live local of the size that is part of the command.
    let result = unsafe { libc::ioctl(listener.as_raw_fd(), SEND as _, &raw mut answer) };
    check(result.into()).map(drop)
}

/// Has the kernel pass the processor from the caller to the listener and back, as both wait for each other
/// anyway. Linux 6.6; without it all is the same, and slower.
pub(super) fn wake_synchronously(listener: &OwnedFd) {
    const SYNCHRONOUS: u64 = 1;
    // SAFETY: this command takes a number, and no address.
    let _ = unsafe { libc::ioctl(listener.as_raw_fd(), SET_FLAGS as _, SYNCHRONOUS) };
}

/// Reads memory of another process; how many bytes there were. It ends early where nothing is mapped.
pub(super) fn read_memory(thread: u32, address: u64, bytes: &mut [u8]) -> Result<usize, Errno> {
    let local = libc::iovec {
        iov_base: bytes.as_mut_ptr().cast(),
        iov_len: bytes.len(),
    };
    // An address of the other process, at which nothing of this one is read.
    let there = std::ptr::without_provenance_mut::<c_void>(address as usize);
    let remote = libc::iovec {
        iov_base: there,
        iov_len: bytes.len(),
    };
    // SAFETY: both are live locals; what the first points to is a live slice of that length, into which the
    // kernel writes.
    let result = unsafe {
        libc::process_vm_readv(
            thread.cast_signed(),
            &raw const local,
            1,
            &raw const remote,
            1,
            0,
        )
    };
    check(result as c_long).map(|count| count as usize)
}

fn check(result: c_long) -> Result<c_long, Errno> {
    if result >= 0 {
        return Ok(result);
    }
    let error = std::io::Error::last_os_error();
    Err(Errno::from_io_error(&error).unwrap_or(Errno::INVAL))
}

// `SECCOMP_IOCTL_NOTIF_RECV`, `_SEND`, `_ID_VALID` and `_SET_FLAGS`: direction, size, kind `!` and number.
const RECEIVE: u32 = 0xc050_2100;
const SEND: u32 = 0xc018_2101;
const IS_VALID: u32 = 0x4008_2102;
const SET_FLAGS: u32 = 0x4008_2104;

/// Both architectures have words of 64 bits.
const _: () = assert!(size_of::<usize>() == size_of::<u64>() && size_of::<c_int>() == 4);
