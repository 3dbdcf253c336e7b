//! System calls without the C library: by number, with six words, and the one that begins on a new stack.

#![expect(unsafe_code, reason = "system calls are made by machine instructions")]

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::{O_DIRECTORY, number};
#[cfg(target_arch = "aarch64")]
use aarch64::{clone_onto, syscall};
#[cfg(target_arch = "x86_64")]
pub(crate) use x86_64::{O_DIRECTORY, number};
#[cfg(target_arch = "x86_64")]
use x86_64::{clone_onto, syscall};

/// An error number of the kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RawErrno(pub(crate) i32);

impl RawErrno {
    pub(crate) const PERM: Self = Self(1);
    pub(crate) const NOENT: Self = Self(2);
    pub(crate) const SRCH: Self = Self(3);
    pub(crate) const INTR: Self = Self(4);
    pub(crate) const NXIO: Self = Self(6);
    pub(crate) const BADF: Self = Self(9);
    pub(crate) const AGAIN: Self = Self(11);
    pub(crate) const ACCES: Self = Self(13);
    pub(crate) const FAULT: Self = Self(14);
    pub(crate) const EXIST: Self = Self(17);
    pub(crate) const XDEV: Self = Self(18);
    pub(crate) const NOTDIR: Self = Self(20);
    pub(crate) const ISDIR: Self = Self(21);
    pub(crate) const INVAL: Self = Self(22);
    pub(crate) const NFILE: Self = Self(23);
    pub(crate) const TXTBSY: Self = Self(26);
    pub(crate) const NAMETOOLONG: Self = Self(36);
    pub(crate) const TOOMANYREFS: Self = Self(109);
    pub(crate) const NOSYS: Self = Self(38);
    pub(crate) const LOOP: Self = Self(40);
    /// What a malformed order is answered with.
    pub(crate) const BADMSG: Self = Self(74);
}

/// A word that a call takes: a number, a descriptor, or an address.
pub(crate) trait SyscallWord {
    fn word(self) -> usize;
}

impl SyscallWord for usize {
    fn word(self) -> usize {
        self
    }
}

/// Negative numbers keep their sign in the wider register, as the kernel expects.
impl SyscallWord for i32 {
    fn word(self) -> usize {
        self as isize as usize
    }
}

impl SyscallWord for u32 {
    fn word(self) -> usize {
        self as usize
    }
}

/// Both architectures have words of 64 bits.
impl SyscallWord for u64 {
    fn word(self) -> usize {
        self as usize
    }
}

impl<T> SyscallWord for *const T {
    fn word(self) -> usize {
        self.expose_provenance()
    }
}

impl<T> SyscallWord for *mut T {
    fn word(self) -> usize {
        self.expose_provenance()
    }
}

/// Makes a system call; the words that it does not take are zero.
///
/// # Safety
///
/// The words are what the call expects: addresses among them are valid for what the kernel reads or
/// writes there. The call does not change the memory that Rust relies on in other ways.
pub(crate) unsafe fn make<const N: usize>(
    number: usize,
    words: [usize; N],
) -> Result<usize, RawErrno> {
    let mut all = [0; 6];
    for (to, from) in all.iter_mut().zip(words) {
        *to = from;
    }
    // SAFETY: the caller's promise.
    let result = unsafe { syscall(number, all) };
    outcome(result)
}

/// `call!(NAME, word, …)`: a system call by the name of its number. `raw` must be in scope.
macro_rules! call {
    ($name:ident $(, $word:expr)* $(,)?) => {
        raw::make(raw::number::$name, [$(raw::SyscallWord::word($word)),*])
    };
}
pub(crate) use call;

/// Begins a process, or a thread in the kernel's sense, that runs `job` on a stack of its own.
///
/// # Safety
///
/// `stack_top` is the end of a block of memory, aligned to 16, that is large enough for `job` and used by
/// nothing else. If `flags` let the new process share the memory, it is with `CLONE_VFORK`, so that the
/// caller stands still meanwhile, or `job` touches only its stack and what is atomic. `argument` is what
/// `job` expects.
pub(crate) unsafe fn clone_running(
    flags: u64,
    stack_top: *mut u8,
    job: extern "C" fn(*mut u8) -> !,
    argument: *mut u8,
) -> Result<i32, RawErrno> {
    // SAFETY: the caller's promise.
    let result = unsafe { clone_onto(flags, stack_top, job, argument) };
    // Process ids are at most 2^22.
    outcome(result).map(|pid| pid as i32)
}

/// The last page of numbers stands for errors.
fn outcome(result: usize) -> Result<usize, RawErrno> {
    let signed = result as isize;
    if (-4095..0).contains(&signed) {
        Err(RawErrno(-signed as i32))
    } else {
        Ok(result)
    }
}
