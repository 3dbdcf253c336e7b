//! Files and devices of the machine, its terminal, and what a program inherits.

use super::words;
use crate::arena::Arena;
use crate::attack::{Attack, Class, Twin};

const fn file(
    name: &'static str,
    program: &'static str,
    about: &'static str,
    args: fn(&Arena) -> Vec<String>,
) -> Attack {
    Attack::new(Class::Machine, name, program, about, args).twin(Twin::Root)
}

const fn terminal(
    name: &'static str,
    program: &'static str,
    about: &'static str,
    args: fn(&Arena) -> Vec<String>,
) -> Attack {
    Attack::new(Class::Terminal, name, program, about, args)
}

const fn inherited(
    name: &'static str,
    program: &'static str,
    about: &'static str,
    args: fn(&Arena) -> Vec<String>,
) -> Attack {
    Attack::new(Class::Inheritance, name, program, about, args)
}

const DEVICES: Twin = Twin::Machine("not every machine has the device");
const STREAMS: Twin = Twin::Machine("the streams of a test are pipes");
const TYPING: Twin = Twin::Machine("newer kernels forbid typing for the user");

pub(super) const MACHINE: &[Attack] = &[
    file(
        "passwords",
        "open-for-reading",
        "opens the passwords",
        |_| words(["/etc/shadow"]),
    ),
    file(
        "sudo-rules",
        "open-for-reading",
        "opens the rules of sudo",
        |_| words(["/etc/sudoers"]),
    )
    .twin(Twin::Machine("sudo may not be installed")),
    file(
        "host-keys",
        "list-subtree",
        "lists the keys of the ssh server",
        |_| words(["/etc/ssh"]),
    )
    .twin(Twin::Machine("ssh may not be installed")),
    file("home", "home-listing", "lists the homes of users", |_| {
        let home = std::env::home_dir().unwrap_or_default();
        words([&home.to_string_lossy(), "/root"])
    })
    .twin(Twin::Machine("homes may be empty")),
    file(
        "core-pattern",
        "open-for-writing",
        "names the program that the kernel runs as root",
        |_| words(["/proc/sys/kernel/core_pattern"]),
    ),
    file(
        "sysrq",
        "open-for-writing",
        "presses keys of the console",
        |_| words(["/proc/sysrq-trigger"]),
    )
    .twin(Twin::Machine("kernels may be built without it")),
    file(
        "drop-caches",
        "open-for-writing",
        "changes a setting of the kernel",
        |_| words(["/proc/sys/vm/drop_caches"]),
    ),
    file(
        "host-pid-max",
        "open-for-writing",
        "changes the largest number of a process",
        |_| words(["/proc/sys/kernel/pid_max"]),
    ),
    file(
        "net-settings",
        "open-for-writing",
        "changes a setting of the network",
        |_| words(["/proc/sys/net/ipv4/ip_forward"]),
    ),
    file(
        "module-helper",
        "open-for-writing",
        "names the program that loads modules",
        |_| words(["/proc/sys/kernel/modprobe"]),
    )
    .twin(Twin::Machine("kernels without modules lack it")),
    file(
        "kernel-memory",
        "open-for-reading",
        "opens the memory of the kernel",
        |_| words(["/proc/kcore"]),
    )
    .twin(Twin::Machine("not every kernel shows it")),
    file(
        "kernel-messages",
        "open-for-reading",
        "opens the log of the kernel",
        |_| words(["/dev/kmsg"]),
    )
    .twin(DEVICES),
    file(
        "kernel-log",
        "read-kernel-log",
        "reads the log of the kernel",
        |_| words([]),
    ),
    file("keys", "proc-any", "lists the keys of the user", |_| {
        words([".", "keys"])
    })
    .twin(Twin::Machine("not every kernel has keys")),
    file(
        "timers",
        "proc-any",
        "lists the timers of the machine",
        |_| words([".", "timer_list"]),
    ),
    file(
        "kernel-symbols",
        "kernel-symbols",
        "learns where the kernel lies",
        |_| words([]),
    )
    .twin(Twin::Machine("addresses may be hidden from everybody")),
    file(
        "sys-write",
        "open-for-writing",
        "changes a setting of a device",
        |_| words(["/sys/kernel/mm/transparent_hugepage/enabled"]),
    )
    .twin(DEVICES),
    file(
        "sys-power",
        "open-for-writing",
        "sends the machine to sleep",
        |_| words(["/sys/power/state"]),
    )
    .twin(DEVICES),
    file(
        "sys-debug",
        "list-subtree",
        "lists the debugging of the kernel",
        |_| words(["/sys/kernel/debug"]),
    )
    .twin(DEVICES),
    file(
        "memory-device",
        "open-for-reading",
        "opens the memory of the machine",
        |_| words(["/dev/mem"]),
    )
    .twin(DEVICES),
    file(
        "fuse",
        "open-for-reading",
        "serves a file system of its own",
        |_| words(["/dev/fuse"]),
    )
    .twin(DEVICES),
    file("loop-device", "open-for-reading", "mounts an image", |_| {
        words(["/dev/loop-control"])
    })
    .twin(DEVICES),
    file("kvm", "open-for-reading", "runs a virtual machine", |_| {
        words(["/dev/kvm"])
    })
    .twin(DEVICES),
    file("tun", "open-for-reading", "makes a network device", |_| {
        words(["/dev/net/tun"])
    })
    .twin(DEVICES),
    file(
        "fake-input",
        "open-for-reading",
        "types as a keyboard",
        |_| words(["/dev/uinput"]),
    )
    .twin(DEVICES),
    file("console", "open-console", "opens the console", |_| {
        words(["/dev/console"])
    })
    .twin(DEVICES),
    file(
        "disk",
        "open-block-device",
        "opens the disk under all files",
        |_| words([]),
    )
    .twin(DEVICES),
    file("make-device", "make-device", "makes a device", |a| {
        words([&a.workspace("new")])
    }),
    file(
        "preload",
        "open-for-writing",
        "names a library for every program",
        |_| words(["/etc/ld.so.cache"]),
    )
    .twin(Twin::Machine("other C libraries lack it")),
    file(
        "system-programs",
        "create-and-remove",
        "adds a program to the system",
        |_| words(["/usr/bin"]),
    )
    .twin(Twin::Machine("the system may be mounted read-only")),
    file(
        "system-settings",
        "create-and-remove",
        "adds a setting to the system",
        |_| words(["/etc"]),
    )
    .twin(Twin::Machine("the system may be mounted read-only")),
    file(
        "system-users",
        "open-for-writing",
        "changes who is a user",
        |_| words(["/etc/passwd"]),
    )
    .twin(Twin::Machine("the system may be mounted read-only")),
    file(
        "root-directory",
        "create-and-remove",
        "adds a file to the root directory",
        |_| words(["/."]),
    )
    .twin(Twin::Machine("the system may be mounted read-only")),
    file(
        "set-host-name",
        "set-host-name",
        "names the machine",
        |_| words([]),
    ),
    file(
        "host-name",
        "host-name-of-host",
        "learns the name of the machine",
        |a| words([&a.host().name_of_machine()]),
    )
    .twin(Twin::Anybody)
    .open_in_b("the name of the machine is no secret without a namespace"),
    file(
        "control-groups",
        "move-cgroup",
        "leaves its control group",
        |_| words([]),
    )
    .twin(Twin::Machine("control groups may be read-only")),
];

pub(super) const TERMINAL: &[Attack] = &[
    terminal(
        "tty-read",
        "terminal-read",
        "reads what the user types",
        |_| words(["/dev/tty"]),
    ),
    terminal(
        "tty-write",
        "terminal-write",
        "writes to the user's terminal",
        |_| words(["/dev/tty"]),
    ),
    terminal("tty-type", "terminal-type", "types for the user", |_| {
        words(["/dev/tty"])
    })
    .twin(TYPING),
    terminal(
        "tty-resize",
        "terminal-resize",
        "resizes the user's terminal",
        |_| words(["/dev/tty"]),
    ),
    terminal("pts-read", "terminal-read", "reads it by its path", |a| {
        words([&a.host().terminal()])
    }),
    terminal(
        "pts-write",
        "terminal-write",
        "writes to it by its path",
        |a| words([&a.host().terminal()]),
    ),
    terminal("pts-type", "terminal-type", "types by its path", |a| {
        words([&a.host().terminal()])
    })
    .twin(TYPING),
    terminal("pts-list", "list", "finds it in /dev/pts", |a| {
        let path = a.host().terminal();
        words(["/dev/pts", path.rsplit('/').next().unwrap_or_default()])
    }),
    terminal(
        "tty-type-stdio",
        "terminal-type-stdio",
        "types by a stream that is a terminal",
        |_| words([]),
    )
    .twin(STREAMS),
    terminal(
        "tty-take",
        "terminal-take",
        "takes the terminal for its own session",
        |a| words([&a.host().terminal()]),
    )
    .twin(Twin::Never("the tests would lose their terminal")),
    terminal("pts-any", "terminal-any", "tries all by number", |_| {
        words([])
    }),
    terminal(
        "tty-through-anybody",
        "terminal-through-processes",
        "by what any process has open",
        |_| words([]),
    )
    .twin(STREAMS),
    terminal(
        "tty-discipline-stdio",
        "terminal-discipline-stdio",
        "loads a line discipline by a stream that is a terminal",
        |_| words([]),
    )
    .twin(STREAMS),
    terminal(
        "tty-console-stdio",
        "terminal-console-stdio",
        "gets what the machine's console should",
        |_| words([]),
    )
    .twin(STREAMS),
    terminal(
        "tty-selection-stdio",
        "terminal-selection-stdio",
        "pastes by a stream that is a terminal",
        |_| words([]),
    )
    .twin(STREAMS),
    terminal(
        "tty-through-keeper",
        "terminal-through-parent",
        "by what its keeper has open",
        |_| words([]),
    )
    .twin(STREAMS),
    terminal(
        "tty-discipline",
        "terminal-discipline",
        "loads a line discipline",
        |_| words([]),
    ),
    terminal(
        "tty-type-own",
        "terminal-type-own",
        "types on a terminal of its own",
        |_| words([]),
    )
    .twin(TYPING),
];

pub(super) const INHERITANCE: &[Attack] = &[
    inherited(
        "descriptors-of-host",
        "inherited-descriptors",
        "files that the host has open",
        |_| words([]),
    ),
    inherited(
        "environment-of-host",
        "inherited-environment",
        "variables of the host",
        |_| words([]),
    ),
    inherited(
        "effective-capabilities",
        "status-field",
        "capabilities",
        |_| words(["CapEff"]),
    )
    .twin(Twin::Root),
    inherited(
        "permitted-capabilities",
        "status-field",
        "capabilities it may use",
        |_| words(["CapPrm"]),
    )
    .twin(Twin::Root),
    inherited(
        "inheritable-capabilities",
        "status-field",
        "capabilities for an exec",
        |_| words(["CapInh"]),
    )
    .twin(Twin::Machine("they are seldom there")),
    inherited(
        "ambient-capabilities",
        "status-field",
        "capabilities that stay",
        |_| words(["CapAmb"]),
    )
    .twin(Twin::Machine("they are seldom there")),
    inherited(
        "bounding-capabilities",
        "status-field",
        "capabilities that it could gain",
        |_| words(["CapBnd"]),
    ),
    inherited("no-filter", "not-filtered", "all system calls", |_| {
        words([])
    }),
    inherited(
        "new-privileges",
        "new-privileges",
        "rights from set-uid programs",
        |_| words([]),
    ),
    inherited(
        "root-with-rights",
        "root-with-rights",
        "the rights of root",
        |_| words([]),
    )
    .twin(Twin::Root),
    inherited(
        "controlling-terminal",
        "controlling-terminal",
        "the terminal",
        |_| words([]),
    ),
    inherited(
        "session-of-host",
        "foreign-session",
        "the session, with its signals",
        |_| words([]),
    ),
    inherited(
        "blocked-signals",
        "blocked-signals",
        "signals that it cannot hear",
        |_| words([]),
    )
    .twin(Twin::Machine(
        "the standard library unblocks them in a child",
    )),
    inherited(
        "ignored-signals",
        "ignored-signals",
        "signals that end nothing",
        |_| words([]),
    ),
    inherited(
        "working-directory",
        "working-directory",
        "where the host was started",
        |a| words([&a.workspace("")]),
    )
    .twin(Twin::Machine("the twin starts in the workspace, too")),
];
