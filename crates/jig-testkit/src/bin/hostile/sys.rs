//! Raw system calls, by number, because that is how an attack makes them.

use std::ffi::{CStr, CString, c_int, c_long};
use std::io;
use std::marker::PhantomData;
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr;
use std::time::Duration;

/// One argument of a system call: a number, or the address of something that is borrowed meanwhile.
#[derive(Clone, Copy)]
pub(crate) struct Word<'a>(c_long, PhantomData<&'a mut ()>);

macro_rules! from_numbers {
    ($($number:ty),*) => {$(
        impl From<$number> for Word<'_> {
            fn from(number: $number) -> Self {
                Self(number as c_long, PhantomData)
            }
        }
    )*};
}

from_numbers!(i32, u32, i64, u64, usize);

/// Its number.
impl<'a> From<&'a OwnedFd> for Word<'a> {
    fn from(descriptor: &'a OwnedFd) -> Self {
        descriptor.as_raw_fd().into()
    }
}

impl<'a> From<&'a CStr> for Word<'a> {
    fn from(text: &'a CStr) -> Self {
        Self(text.as_ptr() as c_long, PhantomData)
    }
}

impl<'a> From<&'a CString> for Word<'a> {
    fn from(text: &'a CString) -> Self {
        text.as_c_str().into()
    }
}

impl<'a, T> From<&'a [T]> for Word<'a> {
    fn from(slice: &'a [T]) -> Self {
        Self(slice.as_ptr() as c_long, PhantomData)
    }
}

impl<'a, T> From<&'a mut [T]> for Word<'a> {
    fn from(slice: &'a mut [T]) -> Self {
        Self(slice.as_mut_ptr() as c_long, PhantomData)
    }
}

/// The address of a value that the kernel reads.
pub(crate) fn at<T>(value: &T) -> Word<'_> {
    Word(ptr::from_ref(value) as c_long, PhantomData)
}

/// The address of a value that the kernel fills in.
pub(crate) fn into<T>(value: &mut T) -> Word<'_> {
    Word(ptr::from_mut(value) as c_long, PhantomData)
}

/// Makes a system call: `call!(SYS_unlinkat, AT_FDCWD, &path, 0)`.
macro_rules! call {
    ($number:expr $(, $word:expr)* $(,)?) => {
        $crate::sys::raw($number, &[$($crate::sys::Word::from($word)),*])
    };
}
pub(crate) use call;

/// Makes a system call with up to six arguments.
pub(crate) fn raw(number: c_long, words: &[Word<'_>]) -> io::Result<c_long> {
    let word = |at: usize| words.get(at).map_or(0, |word| word.0);
    // SAFETY: addresses come from borrows that outlive the call, of values as large as the kernel takes
    // them for; the callers see to that. What the kernel does to this process otherwise is its own risk:
    // it exists to try.
    let result =
        unsafe { libc::syscall(number, word(0), word(1), word(2), word(3), word(4), word(5)) };
    if result == -1 {
        return Err(io::Error::last_os_error());
    }
    Ok(result)
}

/// As [`raw`], for those that return a new descriptor.
pub(crate) fn open(number: c_long, words: &[Word<'_>]) -> io::Result<OwnedFd> {
    let descriptor = raw(number, words)?;
    // SAFETY: the kernel has just made it for this process, and nobody else knows it.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor as c_int) })
}

/// Opens a file relative to the working directory.
pub(crate) fn open_file(path: &CStr, flags: c_int) -> io::Result<OwnedFd> {
    const MODE: u32 = 0o644;
    let words = [
        libc::AT_FDCWD.into(),
        path.into(),
        flags.into(),
        MODE.into(),
    ];
    open(libc::SYS_openat, &words)
}

/// Whether the error is this one.
pub(crate) fn is(error: &io::Error, number: c_int) -> bool {
    error.raw_os_error() == Some(number)
}

/// Runs `body` in a child process; its exit code, or what killed it as a negative number.
///
/// Called only while this process has a single thread, so that the child may do anything.
pub(crate) fn in_child(body: impl FnOnce() -> i32) -> io::Result<i32> {
    let child = fork(body)?;
    wait(child)
}

/// Starts `body` in a child process; its number.
pub(crate) fn fork(body: impl FnOnce() -> i32) -> io::Result<c_int> {
    // SAFETY: this process has a single thread, so its copy is as good as the original.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            let code = body();
            // SAFETY: `_exit` has no preconditions.
            unsafe { libc::_exit(code) }
        }
        child => Ok(child),
    }
}

/// Waits for a child; its exit code, or what killed it as a negative number.
pub(crate) fn wait(child: c_int) -> io::Result<i32> {
    let mut status = 0;
    loop {
        // SAFETY: the pointer is to a live local.
        let result = unsafe { libc::waitpid(child, &raw mut status, 0) };
        if result != -1 {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    if libc::WIFEXITED(status) {
        Ok(libc::WEXITSTATUS(status))
    } else {
        Ok(-libc::WTERMSIG(status))
    }
}

/// A value of plain integers, all zero, for the kernel to fill in.
pub(crate) fn zeroed<T: Plain>() -> T {
    // SAFETY: types that are plain are valid when all their bytes are zero.
    unsafe { mem::zeroed() }
}

/// A structure of the kernel that consists of integers only.
///
/// # Safety
///
/// All bytes zero must be a valid value.
pub(crate) unsafe trait Plain {}

macro_rules! plain {
    ($($name:ty),* $(,)?) => {$(
        // SAFETY: the kernel's structures are integers and addresses as integers.
        unsafe impl Plain for $name {}
    )*};
}

plain!(
    libc::stat,
    libc::rlimit64,
    libc::cpu_set_t,
    libc::sched_param,
    libc::sigevent,
    libc::siginfo_t,
    libc::timex,
    libc::winsize,
    libc::shmid_ds,
);

/// Sleeps, also when signals come.
pub(crate) fn pause_for(milliseconds: u64) {
    std::thread::sleep(Duration::from_millis(milliseconds));
}
