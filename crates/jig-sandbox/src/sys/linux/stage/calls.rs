//! The system calls of keeper and tool, each behind a function that is safe to call. Those that make
//! mounts are in [`super::mounts`], those that tell the time in [`super::clocks`], those that bind a process
//! to rules in [`super::bounds`].

#![expect(
    unsafe_code,
    reason = "system calls take addresses; each is given that of a live local or slice"
)]

use core::ffi::CStr;
use core::ptr;
use core::sync::atomic::AtomicU32;

use super::raw::{self, RawErrno, call};
use super::record::MOST_DESCRIPTORS;

/// Ends the process at once.
pub(crate) fn exit(code: i32) -> ! {
    loop {
        // SAFETY: the call takes no addresses, and does not return.
        let _ = unsafe { call!(EXIT_GROUP, code) };
    }
}

/// Ends the process when dropped, so that a panic cannot unwind into the copied frames of the host.
pub(crate) struct KeeperExitOnDrop;

impl Drop for KeeperExitOnDrop {
    fn drop(&mut self) {
        exit(0);
    }
}

/// Memory of its own for a stack, zeroed and aligned to pages; its end.
pub(crate) fn new_stack(size: usize) -> Result<*mut u8, RawErrno> {
    // SAFETY: the end of a block is a valid address.
    map(size, -1).map(|start| unsafe { start.add(size) })
}

/// Maps memory, readable and writable: new, or a private copy of a file.
pub(crate) fn map(size: usize, fd: i32) -> Result<*mut u8, RawErrno> {
    const READ_WRITE: usize = 3;
    const PRIVATE: usize = 2;
    const ANONYMOUS: usize = 0x20;
    let flags = PRIVATE | if fd < 0 { ANONYMOUS } else { 0 };
    let nowhere = ptr::null::<u8>();
    // SAFETY: the kernel finds a free place, so that no memory in use is touched.
    let start = unsafe { call!(MMAP, nowhere, size, READ_WRITE, flags, fd, 0_usize) }?;
    Ok(ptr::with_exposed_provenance_mut(start))
}

pub(crate) fn close(fd: i32) {
    // SAFETY: the call takes no addresses. Nothing here owns descriptors by value.
    let _ = unsafe { call!(CLOSE, fd) };
}

/// Reads once.
pub(crate) fn read(fd: i32, bytes: &mut [u8]) -> Result<usize, RawErrno> {
    // SAFETY: address and length are those of a live slice.
    unsafe { call!(READ, fd, bytes.as_mut_ptr(), bytes.len()) }
}

/// Writes once.
pub(crate) fn write(fd: i32, bytes: &[u8]) -> Result<usize, RawErrno> {
    // SAFETY: address and length are those of a live slice.
    unsafe { call!(WRITE, fd, bytes.as_ptr(), bytes.len()) }
}

/// Opens a path below a directory, or an absolute one. Links are followed: for paths in `/proc` only.
pub(crate) fn open_at(directory: i32, path: &CStr, flags: i32) -> Result<i32, RawErrno> {
    // SAFETY: the path is a live C string; without O_CREAT no mode is read.
    unsafe { call!(OPENAT, directory, path.as_ptr(), flags | O_CLOEXEC, 0) }.map(descriptor)
}

/// Opens a path below a directory, never through a link. See `openat2`.
pub(crate) fn open_strictly(
    directory: i32,
    path: &CStr,
    flags: i32,
    mode: u32,
    resolve: u64,
) -> Result<i32, RawErrno> {
    let how = [
        (flags | O_CLOEXEC).cast_unsigned().into(),
        u64::from(mode),
        resolve,
    ];
    loop {
        // SAFETY: the path is a live C string; `how` is what `struct open_how` is, a live local.
        let result = unsafe {
            call!(
                OPENAT2,
                directory,
                path.as_ptr(),
                how.as_ptr(),
                size_of_val(&how)
            )
        };
        match result {
            // A rename elsewhere made the walk uncertain.
            Err(RawErrno::AGAIN) => {}
            result => return result.map(descriptor),
        }
    }
}

/// Opens an existing file of `/proc`, writes to it once and closes it.
pub(crate) fn write_file(directory: i32, path: &CStr, bytes: &[u8]) -> Result<(), RawErrno> {
    let fd = open_at(directory, path, O_WRONLY)?;
    let result = write(fd, bytes);
    close(fd);
    result.map(drop)
}

/// The start of a file of `/proc`, as much of it as fits; its length.
pub(crate) fn read_file(directory: i32, path: &CStr, bytes: &mut [u8]) -> Result<usize, RawErrno> {
    let fd = open_at(directory, path, O_RDONLY)?;
    let result = read(fd, bytes);
    close(fd);
    result
}

pub(crate) fn make_directory(directory: i32, name: &CStr, mode: u32) -> Result<(), RawErrno> {
    // SAFETY: the name is a live C string.
    unsafe { call!(MKDIRAT, directory, name.as_ptr(), mode) }.map(drop)
}

/// Removes a file.
pub(crate) fn remove(directory: i32, name: &CStr) -> Result<(), RawErrno> {
    // SAFETY: the name is a live C string.
    unsafe { call!(UNLINKAT, directory, name.as_ptr(), 0) }.map(drop)
}

pub(crate) fn make_link(to: &CStr, directory: i32, name: &CStr) -> Result<(), RawErrno> {
    // SAFETY: both are live C strings.
    unsafe { call!(SYMLINKAT, to.as_ptr(), directory, name.as_ptr()) }.map(drop)
}

/// What is known of a file.
#[derive(Clone, Copy)]
pub(crate) struct FileFacts {
    pub(crate) is_directory: bool,
    pub(crate) size: u64,
    pub(crate) links: u32,
}

/// Facts about what a descriptor, or a path below it, is. A link is not followed.
pub(crate) fn facts(directory: i32, path: &CStr) -> Result<FileFacts, RawErrno> {
    const EMPTY_PATH: i32 = 0x1000;
    const NO_FOLLOW: i32 = 0x100;
    const TYPE_LINKS_SIZE: u32 = 1 | 4 | 0x200;
    // `struct statx`: the number of links is at byte 16, the mode at 28, the size at 40.
    let mut statx = [0_u64; 32];
    // SAFETY: the path is a live C string; the buffer has the 256 bytes that the kernel fills.
    unsafe {
        call!(
            STATX,
            directory,
            path.as_ptr(),
            EMPTY_PATH | NO_FOLLOW,
            TYPE_LINKS_SIZE,
            statx.as_mut_ptr()
        )
    }?;
    let word = |at: usize| statx[at / 8].to_ne_bytes();
    let (links, mode) = (word(16), word(24));
    Ok(FileFacts {
        is_directory: u16::from_ne_bytes([mode[4], mode[5]]) & 0o170_000 == 0o040_000,
        size: statx[5],
        links: u32::from_ne_bytes([links[0], links[1], links[2], links[3]]),
    })
}

/// Entries of a directory, as the kernel packs them; their length.
pub(crate) fn list(directory: i32, bytes: &mut [u8]) -> Result<usize, RawErrno> {
    // SAFETY: address and length are those of a live slice.
    unsafe { call!(GETDENTS64, directory, bytes.as_mut_ptr(), bytes.len()) }
}

/// The bytes and the files in use of a file system.
pub(crate) fn used_space(fd: i32) -> Result<[u64; 2], RawErrno> {
    // `struct statfs`: kind, block size, blocks, free blocks, available blocks, files, free files, in words of 8
    // bytes, then others.
    let mut statfs = [0_u64; 15];
    // SAFETY: the buffer has the 120 bytes that the kernel fills.
    unsafe { call!(FSTATFS, fd, statfs.as_mut_ptr()) }?;
    let bytes = statfs[2]
        .saturating_sub(statfs[3])
        .saturating_mul(statfs[1]);
    Ok([bytes, statfs[5].saturating_sub(statfs[6])])
}

/// Sets the mask for the modes of new files; the one before.
pub(crate) fn set_file_mask(mask: u32) -> u32 {
    // SAFETY: the call takes no addresses, and always succeeds.
    unsafe { call!(UMASK, mask) }.unwrap_or(0) as u32
}

pub(crate) fn change_directory(path: &CStr) -> Result<(), RawErrno> {
    // SAFETY: the path is a live C string.
    unsafe { call!(CHDIR, path.as_ptr()) }.map(drop)
}

pub(crate) fn enter_directory(fd: i32) -> Result<(), RawErrno> {
    // SAFETY: the call takes no addresses.
    unsafe { call!(FCHDIR, fd) }.map(drop)
}

/// Closes the descriptors from `first` to `last`, both included. Linux 5.9.
pub(crate) fn close_range(first: u32, last: u32) -> Result<(), RawErrno> {
    // SAFETY: the call takes no addresses.
    unsafe { call!(CLOSE_RANGE, first, last, 0) }.map(drop)
}

/// Has `exec` close the descriptors from `first` to `last`, both included. Linux 5.11.
pub(crate) fn close_on_exec(first: u32, last: u32) -> Result<(), RawErrno> {
    const ONLY_MARK: i32 = 4;
    // SAFETY: the call takes no addresses.
    unsafe { call!(CLOSE_RANGE, first, last, ONLY_MARK) }.map(drop)
}

/// Copies a descriptor to a free number from `floor` up. The copy is closed by `exec`.
pub(crate) fn copy_above(fd: i32, floor: i32) -> Result<i32, RawErrno> {
    const DUPLICATE: i32 = 1030;
    // SAFETY: the call takes no addresses.
    unsafe { call!(FCNTL, fd, DUPLICATE, floor) }.map(descriptor)
}

/// Copies a descriptor to another number, which is closed first. The copy stays open across `exec`.
pub(crate) fn copy_onto(fd: i32, target: i32) -> Result<(), RawErrno> {
    // SAFETY: the call takes no addresses.
    unsafe { call!(DUP3, fd, target, 0) }.map(drop)
}

/// Lets a descriptor stay open across `exec`.
pub(crate) fn keep_open(fd: i32) -> Result<(), RawErrno> {
    const SET_FLAGS: i32 = 2;
    // SAFETY: the call takes no addresses.
    unsafe { call!(FCNTL, fd, SET_FLAGS, 0) }.map(drop)
}

/// Waits, without limit if `milliseconds` is negative, until one of the descriptors can be read or its
/// other end is gone, and says for each whether that is so.
pub(crate) fn wait_readable<const N: usize>(fds: [i32; N], milliseconds: i64) -> [bool; N] {
    #[repr(C)]
    struct RawPollFd {
        fd: i32,
        events: i16,
        found: i16,
    }
    const READABLE: i16 = 1;
    let mut entries = fds.map(|fd| RawPollFd {
        fd,
        events: READABLE,
        found: 0,
    });
    let time = [milliseconds / 1000, milliseconds % 1000 * 1_000_000];
    let limit = if milliseconds < 0 {
        ptr::null()
    } else {
        time.as_ptr()
    };
    let no_mask = ptr::null::<u64>();
    // SAFETY: the entries and the time are live locals. On failure the results stay zero.
    let _ = unsafe { call!(PPOLL, entries.as_mut_ptr(), N, limit, no_mask, 8) };
    entries.map(|entry| entry.found != 0)
}

/// Waits for a short while.
pub(crate) fn pause(milliseconds: i64) {
    wait_readable([], milliseconds);
}

/// Waits while a word that another process may change has this value. It may also return without a reason.
pub(crate) fn wait_while(word: &AtomicU32, value: u32) {
    const WAIT: i32 = 0;
    let for_ever = ptr::null::<u64>();
    // SAFETY: the word is alive; without a time nothing else is read.
    let _ = unsafe { call!(FUTEX, word.as_ptr(), WAIT, value, for_ever) };
}

/// Wakes whoever waits for a change of a word.
pub(crate) fn wake(word: &AtomicU32) {
    const WAKE: i32 = 1;
    // SAFETY: the word is alive, and only its address counts.
    let _ = unsafe { call!(FUTEX, word.as_ptr(), WAKE, 1) };
}

/// Has the kernel clear a word, and wake whoever waits for that, when this process executes a program or
/// ends, and its memory is another's too.
pub(crate) fn clear_when_done(word: &'static AtomicU32) {
    // SAFETY: the word is never given back.
    let _ = unsafe { call!(SET_TID_ADDRESS, word.as_ptr()) };
}

/// From now on descriptors are this process's own, if it shared them with another.
pub(crate) fn own_descriptors() -> Result<(), RawErrno> {
    const UNSHARE: i32 = 2;
    // SAFETY: the call takes no addresses. The one number that it closes is never used.
    unsafe { call!(CLOSE_RANGE, u32::MAX, u32::MAX, UNSHARE) }.map(drop)
}

/// Gives every signal its default action. Ignored ones would stay ignored in a new program.
pub(crate) fn reset_signals() {
    // The kernel's form of an action is four words. Zeros are the default action.
    let default = [0_u64; 4];
    let no_old = ptr::null::<u64>();
    for signal in 1..=64 {
        // SAFETY: the kernel reads an action from a live local. It refuses SIGKILL and SIGSTOP, which
        // have no other action.
        let _ = unsafe { call!(RT_SIGACTION, signal, default.as_ptr(), no_old, 8) };
    }
}

/// Blocks exactly the signals of a set.
pub(crate) fn set_blocked(signals: u64) {
    const SET: i32 = 2;
    let no_old = ptr::null::<u64>();
    // SAFETY: the set is a live local of 8 bytes.
    let _ = unsafe { call!(RT_SIGPROCMASK, SET, &raw const signals, no_old, 8) };
}

/// A descriptor that can be read when a child has ended. `SIGCHLD` must be blocked.
pub(crate) fn child_signals() -> Result<i32, RawErrno> {
    let set = 1_u64 << (SIGCHLD - 1);
    // SAFETY: the set is a live local of 8 bytes.
    unsafe { call!(SIGNALFD4, -1, &raw const set, 8, O_CLOEXEC | O_NONBLOCK) }.map(descriptor)
}

/// Reads and forgets what is there. Errors are as good as nothing to read.
pub(crate) fn drain(fd: i32) {
    let _ = read(fd, &mut [0; 512]);
}

/// The process id.
pub(crate) fn id() -> i32 {
    // SAFETY: the call takes no addresses, and cannot fail.
    unsafe { call!(GETPID) }.map_or(0, descriptor)
}

/// The process id of the parent; 0 if it is outside of this process namespace.
pub(crate) fn parent() -> i32 {
    // SAFETY: the call takes no addresses, and cannot fail.
    unsafe { call!(GETPPID) }.map_or(0, descriptor)
}

/// The process group of a process.
pub(crate) fn group_of(pid: i32) -> Result<i32, RawErrno> {
    // SAFETY: the call takes no addresses.
    unsafe { call!(GETPGID, pid) }.map(descriptor)
}

/// Sends a signal as `kill` does: to a process, to a group (negative), to all that may be reached (-1).
pub(crate) fn signal(pid: i32, signal: i32) {
    // SAFETY: the call takes no addresses.
    let _ = unsafe { call!(KILL, pid, signal) };
}

/// A child that has ended and was not reaped, if there is one. It stays so. `ECHILD`: no child is left.
pub(crate) fn ended_child() -> Result<Option<i32>, RawErrno> {
    const ALL: i32 = 0;
    const EXITED: i32 = 4;
    const NO_WAIT: i32 = 0x0100_0000;
    const NO_HANG: i32 = 1;
    // `siginfo_t` is 128 bytes; for a child the process id is at byte 16 on 64-bit machines.
    let mut info = [0_u64; 16];
    let no_usage = ptr::null::<u64>();
    // SAFETY: the buffer is a live local of the size that the kernel fills.
    unsafe {
        call!(
            WAITID,
            ALL,
            0,
            info.as_mut_ptr(),
            EXITED | NO_WAIT | NO_HANG | ANY_KIND,
            no_usage
        )
    }?;
    let word = info[2].to_ne_bytes();
    let pid = i32::from_ne_bytes([word[0], word[1], word[2], word[3]]);
    Ok((pid != 0).then_some(pid))
}

/// Reaps a child and returns its status as the kernel codes it. Waits until it has ended.
pub(crate) fn reap(pid: i32) -> Result<i32, RawErrno> {
    let mut status = 0_i32;
    let no_usage = ptr::null::<u64>();
    loop {
        // SAFETY: the status is a live local.
        match unsafe { call!(WAIT4, pid, &raw mut status, ANY_KIND, no_usage) } {
            Ok(_) => return Ok(status),
            Err(RawErrno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
}

/// Begins a session of its own: no controlling terminal, and a new process group.
pub(crate) fn leave_session() -> Result<(), RawErrno> {
    // SAFETY: the call takes no addresses.
    unsafe { call!(SETSID) }.map(drop)
}

/// Makes a terminal the one that controls this session, which has none yet and is led by this process. It is
/// refused if the terminal controls another session, also to root: that would be taken from its user.
pub(crate) fn take_terminal(fd: i32) -> Result<(), RawErrno> {
    const SET_CONTROLLING_TERMINAL: i32 = 0x540e;
    const NOT_FROM_OTHERS: i32 = 0;
    // SAFETY: this command takes a number, and no address.
    unsafe { call!(IOCTL, fd, SET_CONTROLLING_TERMINAL, NOT_FROM_OTHERS) }.map(drop)
}

/// Makes orphaned descendants children of this process.
pub(crate) fn adopt_orphans() -> Result<(), RawErrno> {
    control(36, 1, 0)
}

/// Asks for death by `SIGKILL` when the thread that made this process ends.
pub(crate) fn die_with_parent() -> Result<(), RawErrno> {
    control(1, SIGKILL as usize, 0)
}

/// Whether others of the same user may look into this process's memory and environment.
pub(crate) fn set_inspectable(inspectable: bool) -> Result<(), RawErrno> {
    control(4, inspectable.into(), 0)
}

/// Gives up gaining privileges by `execve`.
pub(crate) fn set_no_new_privs() -> Result<(), RawErrno> {
    control(38, 1, 0)
}

/// Sets the name that `ps` shows for a process without a command line.
pub(crate) fn set_name(name: &CStr) {
    // The kernel copies at most 16 bytes of a live C string.
    let _ = control(15, raw::SyscallWord::word(name.as_ptr()), 0);
}

/// Takes from this process, and what it becomes, every way by which user 0 or a file could bring
/// capabilities back: the bounding set, and what is special about user 0. Needs `CAP_SETPCAP`.
pub(crate) fn close_ways_to_privileges() -> Result<(), RawErrno> {
    const SET_SECUREBITS: i32 = 28;
    // Each with its lock: NOROOT, NO_SETUID_FIXUP, NO_CAP_AMBIENT_RAISE; of KEEP_CAPS only the lock.
    const ALL_LOCKED: usize = 0b11 | 0b11 << 2 | 1 << 5 | 0b11 << 6;
    for capability in 0..64 {
        match drop_from_bounding_set(capability) {
            Ok(()) => {}
            // Beyond the last that this kernel has.
            Err(RawErrno::INVAL) => break,
            Err(errno) => return Err(errno),
        }
    }
    control(SET_SECUREBITS, ALL_LOCKED, 0)
}

/// Takes a capability from what this process becomes, whatever it is. Needs `CAP_SETPCAP`.
pub(crate) fn drop_from_bounding_set(capability: usize) -> Result<(), RawErrno> {
    control(24, capability, 0)
}

/// The capabilities of this process: effective, permitted, inheritable.
pub(crate) fn capabilities() -> Result<[u64; 3], RawErrno> {
    let header = [CAPABILITY_VERSION, 0];
    let mut sets = [0_u32; 6];
    // SAFETY: header and sets are live locals of the sizes of version 3.
    unsafe { call!(CAPGET, header.as_ptr(), sets.as_mut_ptr()) }?;
    let join = |low: usize| u64::from(sets[low]) | u64::from(sets[low + 3]) << 32;
    Ok([join(0), join(1), join(2)])
}

/// Sets them. The sets can only shrink, but for the inheritable one within the permitted one.
pub(crate) fn set_capabilities(sets: [u64; 3]) -> Result<(), RawErrno> {
    let header = [CAPABILITY_VERSION, 0];
    let [effective, permitted, inheritable] = sets;
    let low = |set: u64| set as u32;
    let high = |set: u64| (set >> 32) as u32;
    let sets = [
        low(effective),
        low(permitted),
        low(inheritable),
        high(effective),
        high(permitted),
        high(inheritable),
    ];
    // SAFETY: header and sets are live locals of the sizes of version 3.
    unsafe { call!(CAPSET, header.as_ptr(), sets.as_ptr()) }.map(drop)
}

/// Empties the set of capabilities that programs without privileges would keep.
pub(crate) fn clear_ambient() -> Result<(), RawErrno> {
    control(AMBIENT, 4, 0)
}

/// Lets the next program keep a capability.
pub(crate) fn raise_ambient(capability: usize) -> Result<(), RawErrno> {
    control(AMBIENT, 2, capability)
}

/// `prctl`, for operations that take numbers, or the address of a live string.
fn control(operation: i32, one: usize, two: usize) -> Result<(), RawErrno> {
    // SAFETY: the operations used here read no memory, but for a name, which callers keep alive.
    unsafe { call!(PRCTL, operation, one, two, 0, 0) }.map(drop)
}

/// Sets a limit, the soft and the hard one alike.
pub(crate) fn set_limit(resource: u32, value: u64) -> Result<(), RawErrno> {
    let limit = [value, value];
    let no_old = ptr::null::<u64>();
    // SAFETY: the limit is a live local.
    unsafe { call!(PRLIMIT64, 0, resource, limit.as_ptr(), no_old) }.map(drop)
}

pub(crate) fn set_host_name(name: &[u8]) -> Result<(), RawErrno> {
    // SAFETY: address and length are those of a live slice.
    unsafe { call!(SETHOSTNAME, name.as_ptr(), name.len()) }.map(drop)
}

/// A stream socket that listens under a name in the working directory.
pub(crate) fn listen_here(name: &CStr) -> Result<i32, RawErrno> {
    const UNIX: u16 = 1;
    const STREAM: i32 = 1;
    const BACKLOG: i32 = 128;
    let mut address = [0_u8; 110];
    address[..2].copy_from_slice(&UNIX.to_ne_bytes());
    let bytes = name.to_bytes_with_nul();
    let room = address.get_mut(2..2 + bytes.len());
    room.ok_or(RawErrno::NAMETOOLONG)?.copy_from_slice(bytes);
    // SAFETY: the call takes no addresses.
    let socket =
        unsafe { call!(SOCKET, i32::from(UNIX), STREAM | O_CLOEXEC, 0) }.map(descriptor)?;
    // SAFETY: the address is a live local, of which as much is read as the length says.
    let listening =
        unsafe { call!(BIND, socket, address.as_ptr(), 2 + bytes.len()) }.and_then(|_| {
            // SAFETY: the call takes no addresses.
            unsafe { call!(LISTEN, socket, BACKLOG) }
        });
    match listening {
        Ok(_) => Ok(socket),
        Err(errno) => {
            close(socket);
            Err(errno)
        }
    }
}

/// Replaces the program. Returns only if that failed.
///
/// # Safety
///
/// `arguments` and `environment` are arrays of pointers to C strings that end in a null pointer.
pub(crate) unsafe fn execute(
    path: &CStr,
    arguments: *const *const core::ffi::c_char,
    environment: *const *const core::ffi::c_char,
) -> RawErrno {
    // SAFETY: the path is a live C string; the arrays are the caller's promise. The kernel takes no fourth
    // word; a filter sees it.
    let result = unsafe { call!(EXECVE, path.as_ptr(), arguments, environment, OWN_CALL) };
    result.err().unwrap_or(RawErrno(0))
}

/// As [`execute`], of the program that a descriptor is.
///
/// # Safety
///
/// That of [`execute`].
pub(crate) unsafe fn execute_file(
    fd: i32,
    arguments: *const *const core::ffi::c_char,
    environment: *const *const core::ffi::c_char,
) -> RawErrno {
    const EMPTY_PATH: i32 = 0x1000;
    let here = c"".as_ptr();
    // SAFETY: the path is a live C string; the arrays are the caller's promise.
    let result = unsafe { call!(EXECVEAT, fd, here, arguments, environment, EMPTY_PATH) };
    result.err().unwrap_or(RawErrno(0))
}

/// Sends bytes over a socket, with at most [`MOST_DESCRIPTORS`]. A partner that is gone raises no signal.
pub(crate) fn send(socket: i32, bytes: &[u8], fds: &[i32]) -> Result<(), RawErrno> {
    const NO_SIGNAL: i32 = 0x4000;
    let mut control = CmsghdrDescriptors::<MOST_DESCRIPTORS>::default();
    let length = control.put(fds);
    let part = IoVec {
        start: bytes.as_ptr().cast_mut(),
        length: bytes.len(),
    };
    let message = Msghdr::new(&part, &raw mut control, length);
    // SAFETY: message, part, bytes and control are live; the kernel reads as much as the lengths say.
    // It takes no fourth word; a filter sees that.
    unsafe { call!(SENDMSG, socket, &raw const message, NO_SIGNAL, OWN_CALL) }.map(drop)
}

/// Receives one record of at most so many bytes, with at most `N` descriptors, which are closed by
/// `exec`; how many there are of each. None of either: the partner is gone.
pub(crate) fn receive<const N: usize>(
    socket: i32,
    bytes: &mut [u8],
    fds: &mut [i32; N],
) -> Result<(usize, usize), RawErrno> {
    const CLOSE_ON_EXEC: i32 = 0x4000_0000;
    let mut control = CmsghdrDescriptors::<N>::default();
    let part = IoVec {
        start: bytes.as_mut_ptr(),
        length: bytes.len(),
    };
    // Without room, descriptors that come uncalled are dropped by the kernel.
    let room = if N == 0 {
        0
    } else {
        size_of::<CmsghdrDescriptors<N>>()
    };
    let mut message = Msghdr::new(&part, &raw mut control, room);
    // SAFETY: message, part, bytes and control are live; the kernel fills at most the lengths given.
    let count = unsafe { call!(RECVMSG, socket, &raw mut message, CLOSE_ON_EXEC) }?;
    Ok((count, control.take(message.control_length, fds)))
}

/// The first byte of the next record; `None` if the partner is gone.
pub(crate) fn receive_byte(socket: i32) -> Option<u8> {
    let mut byte = [0];
    match receive::<0>(socket, &mut byte, &mut []) {
        Ok((1, _)) => Some(byte[0]),
        _ => None,
    }
}

/// `struct iovec`.
#[repr(C)]
struct IoVec {
    start: *mut u8,
    length: usize,
}

/// `struct msghdr`.
#[repr(C)]
struct Msghdr {
    name: *const u8,
    name_length: u64,
    parts: *const IoVec,
    part_count: usize,
    control: *mut u8,
    control_length: usize,
    flags: u64,
}

impl Msghdr {
    fn new<const N: usize>(
        part: &IoVec,
        control: *mut CmsghdrDescriptors<N>,
        control_length: usize,
    ) -> Self {
        Self {
            name: ptr::null(),
            name_length: 0,
            parts: part,
            part_count: 1,
            control: if control_length == 0 {
                ptr::null_mut()
            } else {
                control.cast()
            },
            control_length,
            flags: 0,
        }
    }
}

/// One control message with descriptors: `struct cmsghdr` and what follows it.
#[repr(C)]
struct CmsghdrDescriptors<const N: usize> {
    length: usize,
    level: i32,
    kind: i32,
    fds: [i32; N],
    /// The kernel rounds up to words of 8 bytes.
    rounding: u32,
}

impl<const N: usize> Default for CmsghdrDescriptors<N> {
    fn default() -> Self {
        Self {
            length: 0,
            level: 0,
            kind: 0,
            fds: [-1; N],
            rounding: 0,
        }
    }
}

impl<const N: usize> CmsghdrDescriptors<N> {
    const HEADER: usize = 16;

    /// Its length in a message: none without descriptors.
    fn put(&mut self, fds: &[i32]) -> usize {
        if fds.is_empty() {
            return 0;
        }
        for (to, from) in self.fds.iter_mut().zip(fds) {
            *to = *from;
        }
        self.length = Self::HEADER + fds.len().min(N) * size_of::<i32>();
        self.level = SOL_SOCKET;
        self.kind = RIGHTS;
        self.length
    }

    fn take(&self, length: usize, fds: &mut [i32; N]) -> usize {
        if length < Self::HEADER || (self.level, self.kind) != (SOL_SOCKET, RIGHTS) {
            return 0;
        }
        let count = self.length.saturating_sub(Self::HEADER) / size_of::<i32>();
        let count = count.min(N);
        fds[..count].copy_from_slice(&self.fds[..count]);
        count
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

/// A result that is a small number, such as a descriptor.
pub(crate) fn descriptor(result: usize) -> i32 {
    result as i32
}

/// Marks a call for the filter that watches a tool, in a word that the kernel does not look at: it is none of
/// the tool's. Programs that use the same mark are seen a little less, and gain nothing else.
pub(crate) const OWN_CALL: u32 = 0x6a69_6721;

pub(crate) const O_RDONLY: i32 = 0;
pub(crate) const O_WRONLY: i32 = 1;
pub(crate) const O_CREAT: i32 = 0o100;
pub(crate) const O_EXCL: i32 = 0o200;
pub(crate) const O_NONBLOCK: i32 = 0o4000;
pub(crate) const O_CLOEXEC: i32 = 0o2_000_000;
pub(crate) const O_PATH: i32 = 0o10_000_000;
pub(crate) const WORKING_DIRECTORY: i32 = -100;

pub(crate) const SIGKILL: i32 = 9;
pub(crate) const SIGCHLD: i32 = 17;
pub(crate) const SIGCONT: i32 = 18;
pub(crate) const SIGXFSZ: i32 = 25;

/// Children of every kind, whatever signal their end raises.
const ANY_KIND: i32 = 0x4000_0000;

const AMBIENT: i32 = 47;
const CAPABILITY_VERSION: u32 = 0x2008_0522;
const SOL_SOCKET: i32 = 1;
const RIGHTS: i32 = 1;
