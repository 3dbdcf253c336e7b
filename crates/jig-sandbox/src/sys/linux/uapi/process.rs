//! The calls of a process that keeps another one, and of one that is about to run a program.

use std::ffi::{CStr, c_char, c_int, c_long, c_uint, c_ulong, c_void};
use std::{mem, ptr};

use super::{check, close, open};
use crate::machine::Errno;

/// Runs `job` in a child that borrows this process's memory, which stands still until the child has
/// executed a program or ended. Its end raises `SIGCHLD` here.
///
/// This is what `vfork` does, on a stack of its own: the page tables of a large host are not copied
/// a second time, and what the child writes into `argument` can be read afterwards.
///
/// # Safety
///
/// `stack_top` is the end of a block of memory, aligned to 16, that is large enough for `job` and used
/// by nothing else. `argument` is what `job` expects. The calling process has one thread. `job` keeps to
/// async-signal-safe calls and ends in `exec` or [`super::exit`].
pub(crate) unsafe fn run_until_exec(
    stack_top: *mut c_void,
    job: extern "C" fn(*mut c_void) -> c_int,
    argument: *mut c_void,
) -> Result<c_int, Errno> {
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: stack and argument are the caller's promise. The child shares the memory, but this
    // process does not run until it is done with it.
    let pid = unsafe { libc::clone(job, stack_top, flags, argument) };
    check(c_long::from(pid))?;
    Ok(pid)
}

/// Replaces the program. Returns only if that failed.
///
/// # Safety
///
/// `arguments` and `environment` are arrays of pointers to C strings that end in a null pointer.
pub(crate) unsafe fn execute(
    path: &CStr,
    arguments: *const *const c_char,
    environment: *const *const c_char,
) -> Errno {
    // SAFETY: the arrays are the caller's promise.
    let result = unsafe { libc::execve(path.as_ptr(), arguments, environment) };
    check(c_long::from(result)).err().unwrap_or(Errno(0))
}

/// Gives every signal its default action. Ignored ones would stay ignored in a new program.
///
/// Past the C library, which keeps two signals for itself: whoever started the host may ignore those.
pub(crate) fn reset_signals() {
    // The kernel's form of an action is four words at most. Zeros are the default action.
    let default = [0_u64; 4];
    let no_old = ptr::null::<u64>();
    for signal in 1..=SIGNALS {
        // SAFETY: the kernel reads an action from a live local that is at least as large. It refuses
        // SIGKILL and SIGSTOP, which have no other action.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                default.as_ptr(),
                no_old,
                size_of::<u64>(),
            );
        }
    }
}

/// Unblocks every signal.
pub(crate) fn unblock_signals() {
    // SAFETY: sigset_t is plain integers, valid when zero, and filled in by sigemptyset.
    unsafe {
        let mut none: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, ptr::null_mut());
    }
}

/// A descriptor that can be read when a child has ended. `SIGCHLD` must be blocked.
pub(crate) fn child_signals() -> Result<c_int, Errno> {
    // SAFETY: the set is a live local, filled in before it is used.
    let fd = unsafe {
        let mut set: libc::sigset_t = mem::zeroed();
        libc::sigemptyset(&raw mut set);
        libc::sigaddset(&raw mut set, libc::SIGCHLD);
        libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)
    };
    check(c_long::from(fd))?;
    Ok(fd)
}

/// Reads and forgets what is there. Errors are as good as nothing to read.
pub(crate) fn drain(fd: c_int) {
    let mut bytes = [0_u8; 512];
    // SAFETY: pointer and length are those of a live local.
    unsafe {
        libc::read(fd, bytes.as_mut_ptr().cast(), bytes.len());
    }
}

/// The start of a file, as much of it as fits; its length.
pub(crate) fn read_file(path: &CStr, bytes: &mut [u8]) -> Result<usize, Errno> {
    let fd = open(path, libc::O_RDONLY)?;
    // SAFETY: pointer and length are those of a live slice.
    let result = unsafe { libc::read(fd, bytes.as_mut_ptr().cast(), bytes.len()) };
    let result = check(result as c_long);
    close(fd);
    // A length that was read is not negative.
    result.map(|count| count as usize)
}

/// Closes the descriptors from `first` to `last`, both included. Linux 5.9.
pub(crate) fn close_range(first: c_uint, last: c_uint) -> Result<(), Errno> {
    const NO_FLAGS: c_uint = 0;
    // SAFETY: the call takes no pointers. This is a forked child, where no owner of a descriptor runs.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, last, NO_FLAGS) }).map(drop)
}

/// Copies a descriptor to a free number from `floor` up. The copy is closed by `exec`.
pub(crate) fn copy_above(fd: c_int, floor: c_int) -> Result<c_int, Errno> {
    // SAFETY: the call takes no pointers.
    let copy = unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, floor) };
    check(c_long::from(copy))?;
    Ok(copy)
}

/// Copies a descriptor to a number, which is closed first. The copy stays open across `exec`.
pub(crate) fn copy_onto(fd: c_int, target: c_int) -> Result<(), Errno> {
    // SAFETY: the call takes no pointers.
    check(c_long::from(unsafe { libc::dup2(fd, target) })).map(drop)
}

/// Waits, without limit if `milliseconds` is negative, until one of the descriptors can be read or its
/// other end is gone, and says for each whether that is so.
pub(crate) fn wait_readable<const N: usize>(fds: [c_int; N], milliseconds: c_int) -> [bool; N] {
    let mut entries = fds.map(|fd| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    });
    // SAFETY: pointer and length are those of a live array. On failure the results stay zero.
    unsafe {
        libc::poll(entries.as_mut_ptr(), N as libc::nfds_t, milliseconds);
    }
    entries.map(|entry| entry.revents != 0)
}

/// Waits for a short while.
pub(crate) fn pause(milliseconds: c_int) {
    wait_readable([], milliseconds);
}

/// Sends one record over a socket. A partner that is gone raises no signal.
pub(crate) fn send(socket: c_int, bytes: &[u8]) -> Result<(), Errno> {
    // SAFETY: pointer and length are those of a live slice.
    let result = unsafe {
        libc::send(
            socket,
            bytes.as_ptr().cast(),
            bytes.len(),
            libc::MSG_NOSIGNAL,
        )
    };
    check(result as c_long).map(drop)
}

/// The first byte of the next record; `None` if the partner is gone.
pub(crate) fn receive(socket: c_int) -> Option<u8> {
    let mut byte = 0_u8;
    // SAFETY: pointer and length are those of a live local.
    let result = unsafe { libc::recv(socket, (&raw mut byte).cast(), 1, 0) };
    (result == 1).then_some(byte)
}

/// The process id, past anything that the C library might remember.
pub(crate) fn id() -> c_int {
    // SAFETY: `getpid` takes no arguments and cannot fail.
    unsafe { libc::syscall(libc::SYS_getpid) as c_int }
}

/// The process id of the parent; 0 if it is outside of this process namespace.
pub(crate) fn parent() -> c_int {
    // SAFETY: `getppid` takes no arguments and cannot fail.
    unsafe { libc::syscall(libc::SYS_getppid) as c_int }
}

/// The process group of a process.
pub(crate) fn group_of(pid: c_int) -> Result<c_int, Errno> {
    // SAFETY: the call takes no pointers.
    let group = unsafe { libc::getpgid(pid) };
    check(c_long::from(group))?;
    Ok(group)
}

/// Sends a signal as `kill` does: to a process, to a group (negative), to all that may be reached (-1).
pub(crate) fn signal(pid: c_int, signal: c_int) {
    // SAFETY: the call takes no pointers.
    unsafe {
        libc::kill(pid, signal);
    }
}

/// A child that has ended and was not reaped, if there is one. It stays so. `ECHILD`: no child is left.
pub(crate) fn ended_child() -> Result<Option<c_int>, Errno> {
    // SAFETY: siginfo_t is plain data, valid when zero, and a live local.
    let (result, pid) = unsafe {
        let mut info: libc::siginfo_t = mem::zeroed();
        let flags = libc::WEXITED | libc::WNOWAIT | libc::WNOHANG | libc::__WALL;
        let result = libc::waitid(libc::P_ALL, 0, &raw mut info, flags);
        (result, info.si_pid())
    };
    check(c_long::from(result))?;
    Ok((pid != 0).then_some(pid))
}

/// Reaps a child and returns its status as the kernel codes it. Waits until it has ended.
pub(crate) fn reap(pid: c_int) -> Result<c_int, Errno> {
    let mut status: c_int = 0;
    loop {
        // SAFETY: the pointer is to a live local.
        let result = unsafe { libc::waitpid(pid, &raw mut status, libc::__WALL) };
        match check(c_long::from(result)) {
            Ok(_) => return Ok(status),
            Err(Errno(libc::EINTR)) => {}
            Err(errno) => return Err(errno),
        }
    }
}

/// Begins a session of its own: no controlling terminal, and a new process group.
pub(crate) fn leave_session() -> Result<(), Errno> {
    // SAFETY: `setsid` takes no arguments.
    check(c_long::from(unsafe { libc::setsid() })).map(drop)
}

/// Makes orphaned descendants children of this process.
pub(crate) fn adopt_orphans() -> Result<(), Errno> {
    // SAFETY: prctl with these arguments takes no pointers.
    check(c_long::from(unsafe {
        libc::prctl(libc::PR_SET_CHILD_SUBREAPER, ON, OFF, OFF, OFF)
    }))
    .map(drop)
}

/// Asks for death by `SIGKILL` when the thread that made this process ends.
pub(crate) fn die_with_parent() -> Result<(), Errno> {
    // SAFETY: prctl with these arguments takes no pointers.
    check(c_long::from(unsafe {
        libc::prctl(
            libc::PR_SET_PDEATHSIG,
            libc::SIGKILL as c_ulong,
            OFF,
            OFF,
            OFF,
        )
    }))
    .map(drop)
}

/// Whether others of the same user may look into this process's memory and environment.
pub(crate) fn set_inspectable(inspectable: bool) -> Result<(), Errno> {
    // SAFETY: prctl with these arguments takes no pointers.
    check(c_long::from(unsafe {
        libc::prctl(
            libc::PR_SET_DUMPABLE,
            c_ulong::from(inspectable),
            OFF,
            OFF,
            OFF,
        )
    }))
    .map(drop)
}

/// Sets the name that `ps` shows for a process without a command line.
pub(crate) fn set_name(name: &CStr) {
    // SAFETY: the name is a live C string, of which the kernel copies at most 16 bytes.
    unsafe {
        libc::prctl(libc::PR_SET_NAME, name.as_ptr(), OFF, OFF, OFF);
    }
}

/// Overwrites memory: with the start of `text`, then with zeros.
///
/// # Safety
///
/// The range is mapped and writable, and nothing in this process relies on what it holds.
pub(crate) unsafe fn overwrite(start: usize, end: usize, text: &[u8]) {
    let length = end.saturating_sub(start);
    let start = ptr::with_exposed_provenance_mut::<u8>(start);
    // SAFETY: the caller's promise; no more of the text is copied than fits.
    unsafe {
        ptr::write_bytes(start, 0, length);
        ptr::copy_nonoverlapping(text.as_ptr(), start, text.len().min(length));
    }
}

/// Changes the working directory.
pub(crate) fn change_directory(path: &CStr) -> Result<(), Errno> {
    // SAFETY: the path is a live C string.
    check(c_long::from(unsafe { libc::chdir(path.as_ptr()) })).map(drop)
}

/// Sets a limit, the soft and the hard one alike.
pub(crate) fn set_limit(resource: c_int, value: u64) -> Result<(), Errno> {
    let value = value as libc::rlim_t;
    let limit = libc::rlimit {
        rlim_cur: value,
        rlim_max: value,
    };
    // The C libraries differ in the type of the resource, not in its values.
    // SAFETY: the limit is a live local.
    check(c_long::from(unsafe {
        libc::setrlimit(resource as _, &raw const limit)
    }))
    .map(drop)
}

/// The number of signals; a set of them is 8 bytes.
const SIGNALS: c_long = 64;

/// Arguments of `prctl`, in the width in which the kernel reads them.
const ON: c_ulong = 1;
const OFF: c_ulong = 0;
