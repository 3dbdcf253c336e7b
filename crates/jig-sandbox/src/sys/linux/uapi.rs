//! The system calls for which there is no safe wrapper, each behind one that is.
//!
//! Everything here but [`wait`] and [`BlockedSignals`] is meant for a forked child: nothing
//! allocates, takes a lock or unwinds. The calls around running a program are those of
//! [`super::stage`].
#![expect(
    unsafe_code,
    reason = "fork, namespaces, mounts, Landlock and seccomp are reached by raw system calls"
)]

use std::ffi::{CStr, c_int, c_long};
use std::mem;
use std::os::fd::{AsRawFd, FromRawFd as _, OwnedFd};
use std::ptr;

use crate::machine::Errno;

/// Which side of a [`fork`] this is.
pub(super) enum Fork {
    /// The caller, with the process id of the child.
    Parent(c_int),
    /// The new process.
    Child,
}

/// Copies the process, as `fork` does, with two differences that keep it unnoticed.
///
/// The child has no exit signal, so that its end neither raises `SIGCHLD` nor wakes a `waitpid(-1)`
/// elsewhere in the process, and so that an ignored `SIGCHLD` does not take its status away. And the
/// handlers that libraries registered with `pthread_atfork` do not run.
///
/// # Safety
///
/// Until it exits, the child may only make async-signal-safe calls: another thread may have held any
/// lock, that of the allocator included, at the moment of the copy. It must not return to code that
/// does more, and so must end in [`exit`]. Nor may it rely on what the C library caches per thread.
pub(super) unsafe fn fork() -> Result<Fork, Errno> {
    // SAFETY: the caller's promise.
    unsafe { fork_into(0) }
}

/// As [`fork`], with the child in new namespaces of the kinds in `namespaces`.
///
/// # Safety
///
/// That of [`fork`]. `namespaces` holds no flags of other meaning, such as those that share memory.
pub(super) unsafe fn fork_into(namespaces: u64) -> Result<Fork, Errno> {
    const NONE: c_long = 0;
    // The flags are far below the sign.
    let flags = namespaces as c_long;
    // SAFETY: without a stack and without flags that share, clone copies the address space. The flags
    // are the first argument on all architectures but s390, where they would be taken for a stack; the
    // other arguments are zero in any order. What the child may do is the caller's promise.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, NONE, NONE, NONE, NONE) };
    match check(pid)? {
        0 => Ok(Fork::Child),
        // Process ids are at most 2^22.
        pid => Ok(Fork::Parent(pid as c_int)),
    }
}

/// Ends the process at once: no destructors, no exit handlers, no flushing of the parent's buffers.
pub(super) fn exit() -> ! {
    // SAFETY: `_exit` has no preconditions.
    unsafe { libc::_exit(0) }
}

/// Ends the process when dropped, so that a panic cannot unwind into the copied frames of the parent.
pub(super) struct ExitOnDrop;

impl Drop for ExitOnDrop {
    fn drop(&mut self) {
        exit();
    }
}

/// All signals of the calling thread blocked, until dropped.
///
/// A child forked meanwhile keeps them blocked: a signal to the process group must not run the
/// host's handlers a second time in a copy that shares its pipes.
pub(super) struct BlockedSignals(libc::sigset_t);

impl BlockedSignals {
    pub(super) fn all() -> Self {
        // SAFETY: sigset_t is plain integers, valid when zero, and filled in by the calls below,
        // whose pointers are to live locals.
        unsafe {
            let mut every: libc::sigset_t = mem::zeroed();
            let mut before: libc::sigset_t = mem::zeroed();
            libc::sigfillset(&raw mut every);
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const every, &raw mut before);
            Self(before)
        }
    }
}

impl Drop for BlockedSignals {
    fn drop(&mut self) {
        // SAFETY: the set was filled in by pthread_sigmask; the old one is not asked for.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.0, ptr::null_mut());
        }
    }
}

/// How a child ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ForkedChildEnd {
    Exited,
    Killed(c_int),
}

/// Reaps a child made by [`fork`]; `None` if it still runs and `block` is false.
pub(super) fn wait(pid: c_int, block: bool) -> Result<Option<ForkedChildEnd>, Errno> {
    let flags = libc::__WALL | if block { 0 } else { libc::WNOHANG };
    loop {
        let mut status: c_int = 0;
        // SAFETY: the pointer is to a live local.
        let result = unsafe { libc::waitpid(pid, &raw mut status, flags) };
        match check(c_long::from(result)) {
            Ok(0) => return Ok(None),
            Ok(_) if libc::WIFSIGNALED(status) => {
                return Ok(Some(ForkedChildEnd::Killed(libc::WTERMSIG(status))));
            }
            Ok(_) => return Ok(Some(ForkedChildEnd::Exited)),
            Err(Errno(libc::EINTR)) => {}
            Err(errno) => return Err(errno),
        }
    }
}

/// Whether a child, given by its process descriptor, still runs. One that has ended is reaped.
pub(super) fn still_runs(child: &OwnedFd) -> bool {
    let flags = libc::WEXITED | libc::WNOHANG | libc::__WALL;
    // SAFETY: siginfo_t is plain data, valid when zero, and a live local; the descriptor is open.
    let (result, pid) = unsafe {
        let mut info: libc::siginfo_t = mem::zeroed();
        let id = child.as_raw_fd().cast_unsigned();
        let result = libc::waitid(libc::P_PIDFD, id, &raw mut info, flags);
        (result, info.si_pid())
    };
    result == 0 && pid == 0
}

/// Kills a child made by [`fork`] that has not been reaped, so that its id cannot be another's.
pub(super) fn kill(pid: c_int) {
    // SAFETY: `kill` takes no pointers.
    unsafe {
        libc::kill(pid, libc::SIGKILL);
    }
}

/// Ties the life of this child to that of the forking thread, and lets it leave no core file.
pub(super) fn settle_child() {
    let no_core = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: prctl with these arguments takes no pointers; the limit is a live local.
    unsafe {
        libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0);
        libc::setrlimit(libc::RLIMIT_CORE, &raw const no_core);
    }
}

/// Writes to a descriptor once, without retry.
pub(super) fn write(fd: c_int, bytes: &[u8]) -> Result<(), Errno> {
    // SAFETY: pointer and length are those of a live slice.
    let result = unsafe { libc::write(fd, bytes.as_ptr().cast(), bytes.len()) };
    check(result as c_long).map(drop)
}

/// Opens an existing file, writes to it once and closes it.
pub(super) fn write_file(path: &CStr, bytes: &[u8]) -> Result<(), Errno> {
    let fd = open(path, libc::O_WRONLY)?;
    let result = write(fd, bytes);
    close(fd);
    result
}

/// Whether a directory can be opened for reading.
pub(super) fn open_directory(path: &CStr) -> Result<(), Errno> {
    open(path, libc::O_RDONLY | libc::O_DIRECTORY).map(close)
}

/// Moves the process into new namespaces of the kinds in `flags`.
pub(super) fn unshare(flags: c_int) -> Result<(), Errno> {
    // SAFETY: `unshare` takes no pointers.
    check(c_long::from(unsafe { libc::unshare(flags) })).map(drop)
}

/// Detaches every mount of this namespace from its peers.
pub(super) fn make_mounts_private() -> Result<(), Errno> {
    mount(None, c"/", libc::MS_REC | libc::MS_PRIVATE)
}

/// Mounts a new file system of a kind, such as `tmpfs`.
pub(super) fn mount_new(kind: &CStr, target: &CStr) -> Result<(), Errno> {
    mount(
        Some(kind),
        target,
        libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC,
    )
}

/// Switches on the loopback device of this network namespace.
pub(super) fn raise_loopback() -> Result<(), Errno> {
    // SAFETY: `socket` takes no pointers.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    check(c_long::from(socket))?;
    // SAFETY: ifreq is plain data, valid when zero; zeros also end the name.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(c"lo".to_bytes()) {
        *to = from.cast_signed() as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: the request is a live local of the type that SIOCSIFFLAGS reads.
    let result = unsafe { libc::ioctl(socket, libc::SIOCSIFFLAGS as _, &raw mut request) };
    let result = check(c_long::from(result));
    close(socket);
    result.map(drop)
}

/// Gives up gaining privileges by `execve`, which unprivileged Landlock and seccomp demand.
pub(super) fn set_no_new_privs() -> Result<(), Errno> {
    // SAFETY: prctl with these arguments takes no pointers.
    check(c_long::from(unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    }))
    .map(drop)
}

/// The version of the kernel's Landlock interface.
pub(super) fn landlock_abi() -> Result<c_int, Errno> {
    const VERSION: c_long = 1;
    let no_attributes = ptr::null::<u64>();
    let size: usize = 0;
    // SAFETY: with this flag the kernel demands a null pointer and reads nothing.
    let abi = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            no_attributes,
            size,
            VERSION,
        )
    };
    check(abi).map(|abi| abi as c_int)
}

/// Takes from this thread, for good: devices that it opens from now on take no commands, from whoever gets them.
///
/// It is for a thread that does nothing else. It needs version 5 of Landlock.
pub(super) fn give_up_device_commands() -> Result<(), Errno> {
    const IOCTL_DEV: u64 = 1 << 15;
    const NO_FLAGS: c_long = 0;
    const ON: c_long = 1;
    // The attributes of the first version: one word, the rights that the ruleset handles.
    let handled_access_fs = IOCTL_DEV;
    // SAFETY: the kernel reads as many bytes as the size says, from a live local.
    let ruleset = check(unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            &raw const handled_access_fs,
            size_of::<u64>(),
            NO_FLAGS,
        )
    })?;
    // SAFETY: the kernel has just made this descriptor, and nobody else knows of it.
    let ruleset = unsafe { OwnedFd::from_raw_fd(ruleset as c_int) };
    // SAFETY: neither call takes a pointer.
    unsafe {
        check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, ON, NO_FLAGS, NO_FLAGS, NO_FLAGS).into())?;
        let ruleset = c_long::from(ruleset.as_raw_fd());
        check(libc::syscall(
            libc::SYS_landlock_restrict_self,
            ruleset,
            NO_FLAGS,
        ))?;
    }
    Ok(())
}

/// Takes from this process, for good, the right to list any directory.
pub(super) fn landlock_hide_directories() -> Result<(), Errno> {
    const READ_DIR: u64 = 1 << 3;
    const NO_FLAGS: c_long = 0;
    // The attributes of the first version: one word, the rights that the ruleset handles.
    let handled_access_fs = READ_DIR;
    // SAFETY: the kernel reads as many bytes as the size says, from a live local.
    let ruleset = unsafe {
        libc::syscall(
            libc::SYS_landlock_create_ruleset,
            &raw const handled_access_fs,
            size_of::<u64>(),
            NO_FLAGS,
        )
    };
    let ruleset = check(ruleset)?;
    // SAFETY: `landlock_restrict_self` takes no pointers.
    let result = unsafe { libc::syscall(libc::SYS_landlock_restrict_self, ruleset, NO_FLAGS) };
    let result = check(result);
    close(ruleset as c_int);
    result.map(drop)
}

/// Asks the kernel whether filters may answer with an action.
pub(super) fn seccomp_action_available(action: u32) -> Result<(), Errno> {
    let operation = c_long::from(libc::SECCOMP_GET_ACTION_AVAIL);
    let no_flags: c_long = 0;
    // SAFETY: the kernel reads one 32-bit word from a live local.
    let result =
        unsafe { libc::syscall(libc::SYS_seccomp, operation, no_flags, &raw const action) };
    check(result).map(drop)
}

/// Installs, for good, a filter that lets `getppid` fail with `errno` and allows all else.
pub(super) fn seccomp_refuse_getppid(errno: u16) -> Result<(), Errno> {
    // Only the number is compared, not the architecture: no foreign call is made here.
    let program = [
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        instruction(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            0,
            1,
            libc::SYS_getppid as u32,
        ),
        instruction(
            libc::BPF_RET | libc::BPF_K,
            0,
            0,
            libc::SECCOMP_RET_ERRNO | u32::from(errno),
        ),
        instruction(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    seccomp_install(&program, 0).map(drop)
}

/// Installs, for good, a filter that allows everything and has a listener, whose descriptor is closed.
pub(super) fn seccomp_listen() -> Result<(), Errno> {
    let program = [instruction(
        libc::BPF_RET | libc::BPF_K,
        0,
        0,
        libc::SECCOMP_RET_ALLOW,
    )];
    let listener = seccomp_install(&program, libc::SECCOMP_FILTER_FLAG_NEW_LISTENER as c_long)?;
    close(listener as c_int);
    Ok(())
}

/// Makes the call `getppid`, past anything that the C library might remember.
pub(super) fn getppid() -> Result<(), Errno> {
    // SAFETY: `getppid` takes no arguments.
    check(unsafe { libc::syscall(libc::SYS_getppid) }).map(drop)
}

fn seccomp_install(program: &[libc::sock_filter], flags: c_long) -> Result<c_long, Errno> {
    let program = libc::sock_fprog {
        len: program.len() as u16,
        // The kernel only reads the program; the C type has no `const`.
        filter: program.as_ptr().cast_mut(),
    };
    let operation = c_long::from(libc::SECCOMP_SET_MODE_FILTER);
    // SAFETY: the program is a live local, whose length and pointer are those of a live slice.
    check(unsafe { libc::syscall(libc::SYS_seccomp, operation, flags, &raw const program) })
}

/// One instruction of a filter. All codes are below 2^16.
fn instruction(code: u32, jt: u8, jf: u8, k: u32) -> libc::sock_filter {
    libc::sock_filter {
        code: code as u16,
        jt,
        jf,
        k,
    }
}

fn mount(kind: Option<&CStr>, target: &CStr, flags: libc::c_ulong) -> Result<(), Errno> {
    let kind = kind.map_or(ptr::null(), CStr::as_ptr);
    // SAFETY: kind (also used as the source's name) and target are null or live C strings; without
    // data no further pointer is read.
    let result = unsafe { libc::mount(kind, target.as_ptr(), kind, flags, ptr::null()) };
    check(c_long::from(result)).map(drop)
}

fn open(path: &CStr, flags: c_int) -> Result<c_int, Errno> {
    // SAFETY: the path is a live C string; without O_CREAT there is no third argument.
    let fd = unsafe { libc::open(path.as_ptr(), flags | libc::O_CLOEXEC) };
    check(c_long::from(fd))?;
    Ok(fd)
}

fn close(fd: c_int) {
    // SAFETY: callers pass a descriptor that they opened and do not use again.
    unsafe {
        libc::close(fd);
    }
}

/// The result of a call, or the error that it left behind. `io::Error` of a number does not allocate.
fn check(result: c_long) -> Result<c_long, Errno> {
    if result >= 0 {
        return Ok(result);
    }
    Err(Errno(
        std::io::Error::last_os_error().raw_os_error().unwrap_or(0),
    ))
}
