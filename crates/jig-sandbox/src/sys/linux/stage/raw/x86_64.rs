//! x86-64.

use core::arch::asm;

/// The numbers of the calls that are made here.
#[cfg_attr(
    not(test),
    expect(dead_code, reason = "a zygote makes some that the library does not")
)]
pub(crate) mod number {
    pub(crate) const BIND: usize = 49;
    pub(crate) const CAPGET: usize = 125;
    pub(crate) const CAPSET: usize = 126;
    pub(crate) const CHDIR: usize = 80;
    pub(crate) const CLOCK_GETTIME: usize = 228;
    pub(crate) const CLONE: usize = 56;
    pub(crate) const CLOSE: usize = 3;
    pub(crate) const CLOSE_RANGE: usize = 436;
    pub(crate) const CONNECT: usize = 42;
    pub(crate) const DUP3: usize = 292;
    pub(crate) const EXECVE: usize = 59;
    pub(crate) const EXECVEAT: usize = 322;
    pub(crate) const EXIT_GROUP: usize = 231;
    pub(crate) const FCHDIR: usize = 81;
    pub(crate) const FCNTL: usize = 72;
    pub(crate) const FSCONFIG: usize = 431;
    pub(crate) const FSMOUNT: usize = 432;
    pub(crate) const FSOPEN: usize = 430;
    pub(crate) const FSTATFS: usize = 138;
    pub(crate) const GETCWD: usize = 79;
    pub(crate) const FUTEX: usize = 202;
    pub(crate) const GETDENTS64: usize = 217;
    pub(crate) const GETPGID: usize = 121;
    pub(crate) const GETPID: usize = 39;
    pub(crate) const GETPPID: usize = 110;
    pub(crate) const IOCTL: usize = 16;
    pub(crate) const KILL: usize = 62;
    pub(crate) const LANDLOCK_ADD_RULE: usize = 445;
    pub(crate) const LANDLOCK_CREATE_RULESET: usize = 444;
    pub(crate) const LANDLOCK_RESTRICT_SELF: usize = 446;
    pub(crate) const LISTEN: usize = 50;
    pub(crate) const MKDIRAT: usize = 258;
    pub(crate) const MMAP: usize = 9;
    pub(crate) const MOUNT: usize = 165;
    pub(crate) const MOUNT_SETATTR: usize = 442;
    pub(crate) const MOVE_MOUNT: usize = 429;
    pub(crate) const MUNMAP: usize = 11;
    pub(crate) const OPEN_TREE: usize = 428;
    pub(crate) const OPENAT: usize = 257;
    pub(crate) const OPENAT2: usize = 437;
    pub(crate) const PIDFD_OPEN: usize = 434;
    pub(crate) const PIVOT_ROOT: usize = 155;
    pub(crate) const PPOLL: usize = 271;
    pub(crate) const PRCTL: usize = 157;
    pub(crate) const PRLIMIT64: usize = 302;
    pub(crate) const READ: usize = 0;
    pub(crate) const RECVMSG: usize = 47;
    pub(crate) const RT_SIGACTION: usize = 13;
    pub(crate) const RT_SIGPROCMASK: usize = 14;
    pub(crate) const MSGCTL: usize = 71;
    pub(crate) const SEMCTL: usize = 66;
    pub(crate) const SHMCTL: usize = 31;
    pub(crate) const SECCOMP: usize = 317;
    pub(crate) const SENDMSG: usize = 46;
    pub(crate) const SENDTO: usize = 44;
    pub(crate) const SETHOSTNAME: usize = 170;
    pub(crate) const SETNS: usize = 308;
    pub(crate) const SETSOCKOPT: usize = 54;
    pub(crate) const SETSID: usize = 112;
    pub(crate) const SET_TID_ADDRESS: usize = 218;
    pub(crate) const SIGNALFD4: usize = 289;
    pub(crate) const SOCKET: usize = 41;
    pub(crate) const SOCKETPAIR: usize = 53;
    pub(crate) const STATX: usize = 332;
    pub(crate) const SYMLINKAT: usize = 266;
    pub(crate) const UMASK: usize = 95;
    pub(crate) const UMOUNT2: usize = 166;
    pub(crate) const UNLINKAT: usize = 263;
    pub(crate) const UNSHARE: usize = 272;
    pub(crate) const WAIT4: usize = 61;
    pub(crate) const WAITID: usize = 247;
    pub(crate) const WRITE: usize = 1;
    pub(crate) const EXIT: usize = 60;
    pub(crate) const LINKAT: usize = 265;
    pub(crate) const MKNODAT: usize = 259;
    pub(crate) const PIDFD_GETFD: usize = 438;
    pub(crate) const PROCESS_VM_READV: usize = 310;
    pub(crate) const READLINKAT: usize = 267;
    pub(crate) const RENAMEAT2: usize = 316;
}

pub(crate) const O_DIRECTORY: i32 = 0o200_000;

/// # Safety
///
/// That of [`super::make`].
pub(super) unsafe fn syscall(number: usize, words: [usize; 6]) -> usize {
    let result;
    // SAFETY: the instruction leaves all registers but the three named ones alone; the rest is the
    // caller's promise.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") words[0],
            in("rsi") words[1],
            in("rdx") words[2],
            in("r10") words[3],
            in("r8") words[4],
            in("r9") words[5],
            lateout("rcx") _,
            lateout("r11") _,
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
            "syscall",
            "test rax, rax",
            "jnz 2f",
            "xor ebp, ebp",
            "mov rdi, r13",
            "call r14",
            "ud2",
            "2:",
            inlateout("rax") number::CLONE => result,
            in("rdi") flags,
            in("rsi") stack_top,
            in("rdx") 0,
            in("r10") 0,
            in("r8") 0,
            in("r13") argument,
            in("r14") job,
            lateout("rcx") _,
            lateout("r11") _,
        );
    }
    result
}
