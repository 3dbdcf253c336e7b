//! The table: which system calls a tool may make, in groups, each with its reason.
//!
//! What is in no group does not exist for a tool: it gets `ENOSYS`, and a program that was written for
//! older kernels too goes on without. What is refused by name is known and has a reason.

use super::rules::{ENOSYS, EPERM, FilterRule, IOPRIO_WHO_USER, PRIO_USER, SyscallGroup};

#[rustfmt::skip]
pub(super) const GROUPS: &[SyscallGroup] = &[
    SyscallGroup {
        why: "files: which of them is decided by mounts and Landlock",
        rule: FilterRule::Allow,
        calls: &[
            "access", "cachestat", "chdir", "chown", "close", "close_range", "copy_file_range",
            "dup", "dup2", "dup3", "faccessat", "faccessat2", "fadvise64", "fallocate", "fchdir",
            "fchown", "fchownat", "fcntl", "fdatasync", "fgetxattr", "flistxattr", "flock",
            "fremovexattr", "fsetxattr", "fstat", "fstatfs", "fsync", "ftruncate", "futimesat",
            "getcwd", "getdents", "getdents64", "getxattr", "getxattrat", "lchown", "lgetxattr",
            "link", "linkat", "listxattr", "listxattrat", "llistxattr", "lremovexattr", "lseek",
            "lsetxattr", "lstat", "mkdir", "mkdirat", "newfstatat", "pread64", "preadv", "preadv2",
            "pwrite64", "pwritev", "pwritev2", "read", "readahead", "readlink", "readlinkat",
            "readv", "removexattr", "removexattrat", "rename", "renameat", "renameat2", "rmdir",
            "sendfile", "setxattr", "setxattrat", "splice", "stat", "statfs", "statx", "symlink",
            "symlinkat", "sync", "sync_file_range", "syncfs", "tee", "umask", "unlink",
            "unlinkat", "utime", "utimensat", "utimes", "vmsplice", "write", "writev",
        ],
    },
    SyscallGroup {
        why: "a set-uid file outlives the sandbox and lends the user to whoever runs it outside",
        rule: FilterRule::Mode {
            mode: 1,
            flags: None,
        },
        calls: &["chmod", "creat", "fchmod", "mknod"],
    },
    SyscallGroup {
        why: "as above, with a directory as first argument",
        rule: FilterRule::Mode {
            mode: 2,
            flags: None,
        },
        calls: &["fchmodat", "fchmodat2", "mknodat"],
    },
    SyscallGroup {
        why: "as above, where the call makes a file",
        rule: FilterRule::Mode {
            mode: 2,
            flags: Some(1),
        },
        calls: &["open"],
    },
    SyscallGroup {
        why: "as above, with a directory as first argument",
        rule: FilterRule::Mode {
            mode: 3,
            flags: Some(2),
        },
        calls: &["openat"],
    },
    SyscallGroup {
        why: "old kernels let it empty files that may only be read; programs mostly use ftruncate",
        rule: FilterRule::Truncate,
        calls: &["truncate"],
    },
    SyscallGroup {
        why: "its mode lies in memory, where a filter cannot see it; programs fall back to openat",
        rule: FilterRule::Refuse(ENOSYS),
        calls: &["openat2"],
    },
    SyscallGroup {
        why: "changes can be watched by whoever may see the names: in namespaces all names are the tool's",
        rule: FilterRule::InNamespaces,
        calls: &["inotify_add_watch", "inotify_init", "inotify_init1", "inotify_rm_watch"],
    },
    SyscallGroup {
        why: "memory of the caller",
        rule: FilterRule::Allow,
        calls: &[
            "brk", "get_mempolicy", "madvise", "map_shadow_stack", "mbind", "membarrier", "mincore",
            "mlock", "mlock2", "mlockall", "mmap", "mprotect", "mremap", "mseal", "msync",
            "munlock", "munlockall", "munmap", "pkey_alloc", "pkey_free", "pkey_mprotect",
            "remap_file_pages", "set_mempolicy", "set_mempolicy_home_node",
        ],
    },
    SyscallGroup {
        why: "memory that no limit counts, and code in it that no rule sees",
        rule: FilterRule::Refuse(ENOSYS),
        calls: &["memfd_create", "memfd_secret"],
    },
    SyscallGroup {
        why: "processes, threads and signals: whose is decided by the process namespace and Landlock",
        rule: FilterRule::Allow,
        calls: &[
            "arch_prctl", "capget", "capset", "execve", "execveat", "exit", "exit_group", "fork",
            "futex", "futex_requeue", "futex_wait", "futex_waitv", "futex_wake", "get_robust_list",
            "getcpu", "getegid", "geteuid", "getgid", "getgroups", "getpgid", "getpgrp", "getpid",
            "getppid", "getpriority", "getresgid", "getresuid", "getrlimit", "getrusage", "getsid",
            "gettid", "getuid", "ioprio_get", "kill", "landlock_add_rule",
            "landlock_create_ruleset", "landlock_restrict_self", "pause", "pidfd_getfd",
            "pidfd_open", "pidfd_send_signal", "prctl", "restart_syscall", "rseq", "rt_sigaction",
            "rt_sigpending", "rt_sigprocmask", "rt_sigqueueinfo", "rt_sigreturn", "rt_sigsuspend",
            "rt_sigtimedwait", "rt_tgsigqueueinfo", "sched_get_priority_max",
            "sched_get_priority_min", "sched_getaffinity", "sched_getattr", "sched_getparam",
            "sched_getscheduler", "sched_rr_get_interval", "sched_yield", "seccomp",
            "set_robust_list", "set_tid_address", "setfsgid", "setfsuid", "setgid", "setgroups",
            "setpgid", "setregid", "setresgid", "setresuid", "setreuid", "setrlimit", "setsid",
            "setuid", "sigaltstack", "tgkill", "times", "tkill", "vfork", "wait4", "waitid",
        ],
    },
    SyscallGroup {
        why: "a new namespace gives back capabilities over what is in it",
        rule: FilterRule::Clone,
        calls: &["clone"],
    },
    SyscallGroup {
        why: "its flags lie in memory, where a filter cannot see them; programs fall back to clone",
        rule: FilterRule::Refuse(ENOSYS),
        calls: &["clone3"],
    },
    SyscallGroup {
        why: "limits and priorities of other processes of the user",
        rule: FilterRule::OfItself { id: 0, not: None },
        calls: &[
            "prlimit64", "sched_setaffinity", "sched_setattr", "sched_setparam",
            "sched_setscheduler",
        ],
    },
    SyscallGroup {
        why: "as above, with the kind of id as first argument, and one kind for all of a user",
        rule: FilterRule::OfItself {
            id: 1,
            not: Some((0, PRIO_USER)),
        },
        calls: &["setpriority"],
    },
    SyscallGroup {
        why: "as above, with other numbers",
        rule: FilterRule::OfItself {
            id: 1,
            not: Some((0, IOPRIO_WHO_USER)),
        },
        calls: &["ioprio_set"],
    },
    SyscallGroup {
        why: "other personalities switch protections of memory off",
        rule: FilterRule::Personality,
        calls: &["personality"],
    },
    SyscallGroup {
        why: "time, waiting and facts about the machine",
        rule: FilterRule::Allow,
        calls: &[
            "alarm", "clock_getres", "clock_gettime", "clock_nanosleep", "epoll_create",
            "epoll_create1", "epoll_ctl", "epoll_pwait", "epoll_pwait2", "epoll_wait", "eventfd",
            "eventfd2", "getitimer", "getrandom", "gettimeofday", "io_cancel", "io_destroy",
            "io_getevents", "io_pgetevents", "io_setup", "io_submit", "nanosleep", "pipe", "pipe2",
            "poll", "ppoll", "pselect6", "select", "setitimer", "signalfd", "signalfd4", "sysinfo",
            "time", "timer_create", "timer_delete", "timer_getoverrun", "timer_gettime",
            "timer_settime", "timerfd_create", "timerfd_gettime", "timerfd_settime", "uname",
        ],
    },
    SyscallGroup {
        why: "sockets that exist: of which kind is decided when they are made",
        rule: FilterRule::Allow,
        calls: &[
            "accept", "accept4", "getpeername", "getsockname", "getsockopt", "listen", "recvfrom",
            "recvmmsg", "recvmsg", "sendmmsg", "sendmsg", "sendto", "setsockopt", "shutdown",
        ],
    },
    SyscallGroup {
        why: "names for sockets: without a network there is nothing to name",
        rule: FilterRule::WithNetwork,
        calls: &["bind", "connect"],
    },
    SyscallGroup {
        why: "few address families, and few protocols of each",
        rule: FilterRule::Socket,
        calls: &["socket"],
    },
    SyscallGroup {
        why: "pairs talk to each other, not to others",
        rule: FilterRule::SocketPair,
        calls: &["socketpair"],
    },
    SyscallGroup {
        why: "shared memory, semaphores and queues belong to all processes outside an IPC namespace",
        rule: FilterRule::InNamespaces,
        calls: &[
            "mq_getsetattr", "mq_notify", "mq_open", "mq_timedreceive", "mq_timedsend", "mq_unlink",
            "msgctl", "msgget", "msgrcv", "msgsnd", "semctl", "semget", "semop", "semtimedop",
            "shmat", "shmctl", "shmdt", "shmget",
        ],
    },
    SyscallGroup {
        why: "commands to devices, but for typing into a terminal, and changing what it is or shows",
        rule: FilterRule::Ioctl,
        calls: &["ioctl"],
    },
    SyscallGroup {
        why: "mounts are the walls of the sandbox",
        rule: FilterRule::Refuse(EPERM),
        calls: &[
            "chroot", "fsconfig", "fsmount", "fsopen", "fspick", "mount", "mount_setattr",
            "move_mount", "open_tree", "open_tree_attr", "pivot_root", "umount2",
        ],
    },
    SyscallGroup {
        why: "a new namespace gives back capabilities over what is in it",
        rule: FilterRule::Refuse(EPERM),
        calls: &["setns", "unshare"],
    },
    SyscallGroup {
        why: "large parts of the kernel with a history of holes, some of them round filters",
        rule: FilterRule::Refuse(EPERM),
        calls: &[
            "bpf", "io_uring_enter", "io_uring_register", "io_uring_setup", "modify_ldt",
            "perf_event_open", "userfaultfd",
        ],
    },
    SyscallGroup {
        why: "keys belong to the user, not to a namespace",
        rule: FilterRule::Refuse(EPERM),
        calls: &["add_key", "keyctl", "request_key"],
    },
    SyscallGroup {
        why: "memory and descriptors of other processes",
        rule: FilterRule::Refuse(EPERM),
        calls: &[
            "kcmp", "process_madvise", "process_mrelease", "process_vm_readv", "process_vm_writev",
            "ptrace",
        ],
    },
    SyscallGroup {
        why: "handles reach files without their path, which rules are about",
        rule: FilterRule::Refuse(EPERM),
        calls: &["fanotify_init", "fanotify_mark", "name_to_handle_at", "open_by_handle_at"],
    },
    SyscallGroup {
        why: "the machine as a whole",
        rule: FilterRule::Refuse(EPERM),
        calls: &[
            "acct", "adjtimex", "clock_adjtime", "clock_settime", "delete_module", "finit_module",
            "init_module", "ioperm", "iopl", "kexec_file_load", "kexec_load", "lookup_dcookie",
            "nfsservctl", "quotactl", "quotactl_fd", "reboot", "setdomainname", "sethostname",
            "settimeofday", "swapoff", "swapon", "syslog", "vhangup",
        ],
    },
];
