//! System calls that a confined program tries, and how each must fail.

use std::ffi::{c_int, c_long};
use std::io;

/// A call with its arguments, and the error that the filter gives.
pub(crate) struct Attempt {
    pub(crate) name: &'static str,
    number: c_long,
    arguments: [u64; 6],
    pub(crate) refused_with: c_int,
    /// Whether the kernel, without the filter, gives a program without privileges another answer.
    pub(crate) filter_alone: bool,
}

impl Attempt {
    /// Makes the call; 0, or the error.
    pub(crate) fn make(&self) -> c_int {
        let [a, b, c, d, e, f] = self.arguments;
        // SAFETY: every argument is a number, null, or the address of something static that the call
        // only reads.
        let result = unsafe { libc::syscall(self.number, a, b, c, d, e, f) };
        let errno = io::Error::last_os_error().raw_os_error().unwrap_or(0);
        if is_fork(self.name) && result == 0 {
            // SAFETY: it ends a child that has done nothing.
            unsafe { libc::_exit(0) };
        }
        if result >= 0 { 0 } else { errno }
    }
}

fn is_fork(name: &str) -> bool {
    name.starts_with("SYS_clone")
}

const fn attempt(
    name: &'static str,
    number: c_long,
    arguments: [u64; 6],
    refused_with: c_int,
    filter_alone: bool,
) -> Attempt {
    Attempt {
        name,
        number,
        arguments,
        refused_with,
        filter_alone,
    }
}

macro_rules! attempts {
    ($($name:ident $([$what:literal])? ($($argument:expr),*) $errno:ident $alone:literal;)*) => {
        &[$(attempt(
            concat!(stringify!($name), $(" ", $what)?),
            libc::$name,
            padded(&[$($argument as u64),*]),
            libc::$errno,
            $alone,
        )),*]
    };
}

const fn padded(arguments: &[u64]) -> [u64; 6] {
    let mut padded = [0; 6];
    let mut at = 0;
    while at < arguments.len() {
        padded[at] = arguments[at];
        at += 1;
    }
    padded
}

/// A descriptor that is not open, for calls that would do something with one.
const BAD: i64 = -77;
const SIGCHLD: c_int = libc::SIGCHLD;

/// Refused everywhere. Arguments are such that nothing happens where the call is not refused.
pub(crate) const REFUSED: &[Attempt] = attempts![
    SYS_mount(0, 0, 0, 0, 0) EPERM true;
    SYS_umount2(0, 0) EPERM true;
    SYS_pivot_root(0, 0) EPERM false;
    SYS_chroot(0) EPERM true;
    SYS_move_mount(BAD, 0, BAD, 0, 0) EPERM false;
    SYS_open_tree(BAD, 0, 0) EPERM true;
    SYS_fsopen(0, 0) EPERM false;
    SYS_fsconfig(BAD, 0, 0, 0, 0) EPERM true;
    SYS_fsmount(BAD, 0, 0) EPERM false;
    SYS_fspick(BAD, 0, 0) EPERM false;
    SYS_mount_setattr(BAD, 0, 0, 0, 0) EPERM true;
    SYS_unshare(0) EPERM true;
    SYS_unshare["user"](libc::CLONE_NEWUSER) EPERM true;
    SYS_setns(BAD, 0) EPERM true;
    SYS_clone["user"](libc::CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0) EPERM true;
    SYS_clone["mount"](libc::CLONE_NEWNS | SIGCHLD, 0, 0, 0, 0) EPERM false;
    SYS_clone["network"](libc::CLONE_NEWNET | SIGCHLD, 0, 0, 0, 0) EPERM false;
    SYS_clone["process"](libc::CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0) EPERM false;
    SYS_clone["ipc"](libc::CLONE_NEWIPC | SIGCHLD, 0, 0, 0, 0) EPERM false;
    SYS_clone["names"](libc::CLONE_NEWUTS | SIGCHLD, 0, 0, 0, 0) EPERM false;
    SYS_clone["groups"](libc::CLONE_NEWCGROUP | SIGCHLD, 0, 0, 0, 0) EPERM false;
    SYS_clone3(0, 0) ENOSYS true;
    SYS_bpf(77, 0, 0) EPERM true;
    SYS_perf_event_open(0, 0, BAD, BAD, 0) EPERM true;
    SYS_userfaultfd(1) EPERM true;
    SYS_io_uring_setup(1, 0) EPERM true;
    SYS_io_uring_enter(BAD, 0, 0, 0, 0, 0) EPERM true;
    SYS_io_uring_register(BAD, 0, 0, 0) EPERM true;
    SYS_keyctl(0, -3i64, 0, 0, 0) EPERM true;
    SYS_add_key(0, 0, 0, 0, 0) EPERM true;
    SYS_request_key(0, 0, 0, 0) EPERM true;
    SYS_kexec_load(0, 0, 0, 0) EPERM false;
    SYS_kexec_file_load(BAD, BAD, 0, 0, 0) EPERM false;
    SYS_init_module(0, 0, 0) EPERM false;
    SYS_finit_module(BAD, 0, 0) EPERM false;
    SYS_delete_module(0, 0) EPERM false;
    SYS_ptrace(77, -1i64, 0, 0) EPERM true;
    SYS_process_vm_readv(0, 0, 0, 0, 0, 0) EPERM true;
    SYS_process_vm_writev(0, 0, 0, 0, 0, 0) EPERM true;
    SYS_process_madvise(BAD, 0, 0, 0, 0) EPERM true;
    SYS_process_mrelease(BAD, 0) EPERM true;
    SYS_kcmp(-1i64, -1i64, 0, 0, 0) EPERM true;
    SYS_open_by_handle_at(BAD, 0, 0) EPERM true;
    SYS_name_to_handle_at(BAD, 0, 0, 0, 0) EPERM true;
    SYS_fanotify_init(0xffff, 0) EPERM false;
    SYS_fanotify_mark(BAD, 0, 0, 0, 0) EPERM true;
    SYS_quotactl(0, 0, 0, 0) EPERM true;
    SYS_reboot(0, 0, 0, 0) EPERM false;
    SYS_swapon(0, 0) EPERM false;
    SYS_swapoff(0) EPERM false;
    SYS_acct(0) EPERM false;
    SYS_settimeofday(0, 0) EPERM false;
    SYS_clock_settime(77, 0) EPERM true;
    SYS_adjtimex(0) EPERM true;
    SYS_clock_adjtime(77, 0) EPERM true;
    SYS_vhangup() EPERM false;
    SYS_syslog(77, 0, 0) EPERM false;
    SYS_sethostname(0, 0) EPERM false;
    SYS_setdomainname(0, 0) EPERM false;
    SYS_personality["no random addresses"](0x0004_0000) EPERM true;
    SYS_memfd_create(0, 0) ENOSYS true;
    SYS_memfd_secret(0) ENOSYS false;
    SYS_openat2(BAD, 0, 0, 0) ENOSYS true;
    SYS_fchmod["set-uid"](BAD, 0o4755) EPERM true;
    SYS_fchmod["set-gid"](BAD, 0o2755) EPERM true;
    SYS_fchmodat["set-uid"](BAD, 0, 0o4755) EPERM true;
    SYS_mknodat["set-uid"](BAD, 0, 0o104_755, 0) EPERM true;
    SYS_openat["set-uid"](BAD, 0, libc::O_CREAT, 0o4755) EPERM true;
    SYS_openat["unnamed set-uid"](BAD, 0, libc::O_TMPFILE | libc::O_RDWR, 0o4755) EPERM true;
    SYS_ioctl["typing into a terminal"](BAD, libc::TIOCSTI, 0) EPERM true;
    SYS_ioctl["pasting into a terminal"](BAD, libc::TIOCLINUX, 0) EPERM true;
    SYS_ioctl["the console's output"](BAD, libc::TIOCCONS, 0) EPERM true;
    SYS_ioctl["another line discipline"](BAD, libc::TIOCSETD, 0) EPERM true;
    SYS_ioctl["a subvolume"](BAD, 0x5000_940e_u32, 0) EPERM true;
    SYS_ioctl["a snapshot"](BAD, 0x5000_9401_u32, 0) EPERM true;
    SYS_ioctl["a snapshot with flags"](BAD, 0x5000_9417_u32, 0) EPERM true;
    SYS_socket["packets"](libc::AF_PACKET, libc::SOCK_RAW, 0) EAFNOSUPPORT true;
    SYS_socket["the kernel's ciphers"](libc::AF_ALG, libc::SOCK_SEQPACKET, 0) EAFNOSUPPORT false;
    SYS_socket["virtual machines"](libc::AF_VSOCK, libc::SOCK_STREAM, 0) EAFNOSUPPORT false;
    SYS_socket["audit"](libc::AF_NETLINK, libc::SOCK_RAW, 9) EAFNOSUPPORT true;
    SYS_socketpair["tipc"](30, libc::SOCK_STREAM, 0, 0) EAFNOSUPPORT false;
];

/// Refused besides where there are no namespaces and no network.
pub(crate) const REFUSED_WITHOUT_NAMESPACES: &[Attempt] = attempts![
    SYS_socket["unix"](libc::AF_UNIX, libc::SOCK_STREAM, 0) EAFNOSUPPORT true;
    SYS_socket["tcp"](libc::AF_INET, libc::SOCK_STREAM, 0) EAFNOSUPPORT true;
    SYS_socket["udp"](libc::AF_INET, libc::SOCK_DGRAM, 0) EAFNOSUPPORT true;
    SYS_socket["tcp 6"](libc::AF_INET6, libc::SOCK_STREAM, 0) EAFNOSUPPORT false;
    SYS_socket["routes"](libc::AF_NETLINK, libc::SOCK_RAW, 0) EAFNOSUPPORT true;
    SYS_socketpair["datagrams"](libc::AF_UNIX, libc::SOCK_DGRAM, 0, 0) EAFNOSUPPORT true;
    SYS_bind(BAD, 0, 0) EPERM true;
    SYS_connect(BAD, 0, 0) EPERM true;
    SYS_shmget(0, 0, 0) EPERM true;
    SYS_shmat(-1i64, 0, 0) EPERM true;
    SYS_semget(0, 0, 0) EPERM true;
    SYS_msgget(1, 0) EPERM true;
    SYS_mq_open(0, 0, 0, 0) EPERM true;
    SYS_inotify_init1(0xffff) EPERM true;
    SYS_prlimit64["another's"](1, 77, 0, 0) EPERM false;
    SYS_sched_setaffinity["another's"](1, 0, 0) EPERM false;
    SYS_sched_setscheduler["another's"](1, 77, 0) EPERM true;
    SYS_sched_setparam["another's"](1, 0) EPERM true;
    SYS_setpriority["another's"](77, 1, 0) EPERM true;
    SYS_setpriority["everybody's"](libc::PRIO_USER, 0, 0) EPERM false;
    SYS_ioprio_set["another's"](77, 1, 0) EPERM true;
];

/// Ordinary calls, which must not meet the filter: each then fails for its own reason, or works.
pub(crate) const ALLOWED: &[Attempt] = attempts![
    SYS_getpid() EPERM false;
    SYS_pidfd_open(-1i64, 0) EPERM false;
    SYS_pidfd_getfd(BAD, 0, 0) EPERM false;
    SYS_landlock_create_ruleset(0, 0, 1) EPERM false;
    SYS_prctl(libc::PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) EPERM false;
    SYS_personality["query"](0xffff_ffffu32) EPERM false;
    SYS_fchmod["ordinary"](BAD, 0o1755) EPERM false;
    SYS_ioctl["size of a terminal"](BAD, libc::TIOCGWINSZ, 0) EPERM false;
    SYS_clone["nothing new"](SIGCHLD, 0, 0, 0, 0) EPERM false;
    SYS_prlimit64["own"](0, 7, 0, 0) EPERM false;
    SYS_eventfd2(0, 0) EPERM false;
    SYS_copy_file_range(BAD, 0, BAD, 0, 0, 0) EPERM false;
];
