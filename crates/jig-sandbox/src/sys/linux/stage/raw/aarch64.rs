//! 64-bit Arm.

use core::arch::asm;

/// The numbers of the calls that are made here.
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "a zygote makes some that the library does not")
)]
pub(crate) mod number {
    pub(crate) const BIND: usize = 200;
    pub(crate) const CAPGET: usize = 90;
    pub(crate) const CAPSET: usize = 91;
    pub(crate) const CHDIR: usize = 49;
    pub(crate) const CLOCK_GETTIME: usize = 113;
    pub(crate) const CLONE: usize = 220;
    pub(crate) const CLOSE: usize = 57;
    pub(crate) const CLOSE_RANGE: usize = 436;
    pub(crate) const CONNECT: usize = 203;
    pub(crate) const DUP3: usize = 24;
    pub(crate) const EXECVE: usize = 221;
    pub(crate) const EXECVEAT: usize = 281;
    pub(crate) const EXIT_GROUP: usize = 94;
    pub(crate) const FCHDIR: usize = 50;
    pub(crate) const FCNTL: usize = 25;
    pub(crate) const FSCONFIG: usize = 431;
    pub(crate) const FSMOUNT: usize = 432;
    pub(crate) const FSOPEN: usize = 430;
    pub(crate) const FSTATFS: usize = 44;
    pub(crate) const GETCWD: usize = 17;
    pub(crate) const FUTEX: usize = 98;
    pub(crate) const GETDENTS64: usize = 61;
    pub(crate) const GETPGID: usize = 155;
    pub(crate) const GETPID: usize = 172;
    pub(crate) const GETPPID: usize = 173;
    pub(crate) const IOCTL: usize = 29;
    pub(crate) const KILL: usize = 129;
    pub(crate) const LANDLOCK_ADD_RULE: usize = 445;
    pub(crate) const LANDLOCK_CREATE_RULESET: usize = 444;
    pub(crate) const LANDLOCK_RESTRICT_SELF: usize = 446;
    pub(crate) const LISTEN: usize = 201;
    pub(crate) const MKDIRAT: usize = 34;
    pub(crate) const MMAP: usize = 222;
    pub(crate) const MOUNT: usize = 40;
    pub(crate) const MOUNT_SETATTR: usize = 442;
    pub(crate) const MOVE_MOUNT: usize = 429;
    pub(crate) const MUNMAP: usize = 215;
    pub(crate) const OPEN_TREE: usize = 428;
    pub(crate) const OPENAT: usize = 56;
    pub(crate) const OPENAT2: usize = 437;
    pub(crate) const PIDFD_OPEN: usize = 434;
    pub(crate) const PIVOT_ROOT: usize = 41;
    pub(crate) const PPOLL: usize = 73;
    pub(crate) const PRCTL: usize = 167;
    pub(crate) const PRLIMIT64: usize = 261;
    pub(crate) const READ: usize = 63;
    pub(crate) const RECVMSG: usize = 212;
    pub(crate) const RT_SIGACTION: usize = 134;
    pub(crate) const RT_SIGPROCMASK: usize = 135;
    pub(crate) const MSGCTL: usize = 187;
    pub(crate) const SEMCTL: usize = 191;
    pub(crate) const SHMCTL: usize = 195;
    pub(crate) const SECCOMP: usize = 277;
    pub(crate) const SENDMSG: usize = 211;
    pub(crate) const SENDTO: usize = 206;
    pub(crate) const SETHOSTNAME: usize = 161;
    pub(crate) const SETNS: usize = 268;
    pub(crate) const SETSOCKOPT: usize = 208;
    pub(crate) const SETSID: usize = 157;
    pub(crate) const SET_TID_ADDRESS: usize = 96;
    pub(crate) const SIGNALFD4: usize = 74;
    pub(crate) const SOCKET: usize = 198;
    pub(crate) const SOCKETPAIR: usize = 199;
    pub(crate) const STATX: usize = 291;
    pub(crate) const SYMLINKAT: usize = 36;
    pub(crate) const UMASK: usize = 166;
    pub(crate) const UMOUNT2: usize = 39;
    pub(crate) const UNLINKAT: usize = 35;
    pub(crate) const UNSHARE: usize = 97;
    pub(crate) const WAIT4: usize = 260;
    pub(crate) const WAITID: usize = 95;
    pub(crate) const WRITE: usize = 64;
    pub(crate) const EXIT: usize = 93;
    pub(crate) const LINKAT: usize = 37;
    pub(crate) const MKNODAT: usize = 33;
    pub(crate) const PIDFD_GETFD: usize = 438;
    pub(crate) const PROCESS_VM_READV: usize = 270;
    pub(crate) const READLINKAT: usize = 78;
    pub(crate) const RENAMEAT2: usize = 276;
}

pub(crate) const O_DIRECTORY: i32 = 0o40_000;

/// # Safety
///
/// That of [`super::make`].
pub(super) unsafe fn syscall(number: usize, words: [usize; 6]) -> usize {
    let result;
    // SAFETY: the instruction leaves all registers but the first alone; the rest is the caller's promise.
    unsafe {
        asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") words[0] => result,
            in("x1") words[1],
            in("x2") words[2],
            in("x3") words[3],
            in("x4") words[4],
            in("x5") words[5],
            options(nostack),
        );
    }
    result
}

/// # Safety
///
/// That of [`super::clone_running`].
pub(super) unsafe fn clone_onto(
    flags: u64,
    stack_top: *mut u8,
    job: extern "C" fn(*mut u8) -> !,
    argument: *mut u8,
) -> usize {
    let result;
    // SAFETY: the new process has the registers of this one, and the stack that was given; it calls the
    // job, which does not return. In this process nothing else happens but the call.
    unsafe {
        asm!(
            "svc 0",
            "cbnz x0, 2f",
            "mov x29, xzr",
            "mov x30, xzr",
            "mov x0, x20",
            "blr x21",
            "brk 1",
            "2:",
            in("x8") number::CLONE,
            inlateout("x0") flags as usize => result,
            in("x1") stack_top,
            in("x2") 0,
            in("x3") 0,
            in("x4") 0,
            in("x20") argument,
            in("x21") job,
        );
    }
    result
}
