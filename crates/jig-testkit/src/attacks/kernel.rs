//! Rarely used parts of the kernel, and running what may not be run.

use super::words;
use crate::arena::Arena;
use crate::attack::{Attack, Class, Twin};

const fn part(name: &'static str, program: &'static str, about: &'static str) -> Attack {
    Attack::new(Class::Kernel, name, program, about, |_| words([])).twin(MAYBE)
}

const fn execution(
    name: &'static str,
    program: &'static str,
    about: &'static str,
    args: fn(&Arena) -> Vec<String>,
) -> Attack {
    Attack::new(Class::Execution, name, program, about, args)
}

const MAYBE: Twin = Twin::Machine("not every kernel has it, or has it for everybody");

fn plain_program(arena: &Arena) -> Vec<String> {
    vec![arena.workspace("plain/program")]
}

pub(super) const KERNEL: &[Attack] = &[
    part("bpf", "bpf", "programs in the kernel").twin(Twin::Root),
    part("perf", "perf", "measuring the kernel"),
    part("userfaultfd", "userfaultfd", "delaying the kernel"),
    part("io-uring", "io-uring", "calls that no filter sees"),
    part("memfd", "memfd", "files that no rule sees").twin(Twin::Anybody),
    part(
        "memfd-secret",
        "memfd-secret",
        "memory that the host cannot see",
    ),
    part(
        "calls-of-32-bit",
        "calls-of-32-bit",
        "the calls of another architecture",
    ),
    part(
        "calls-of-x32",
        "calls-of-x32",
        "the calls of a third architecture",
    ),
    part("personality", "personality", "executing all that is read"),
    part("add-key", "add-key", "keys in the kernel"),
    part(
        "request-key",
        "request-key",
        "a program of the host that makes keys",
    ),
    part("user-keyring", "session-keyring", "the keys of the user"),
    part("kexec", "kexec", "another kernel"),
    part("reboot", "reboot", "a restart of the machine").twin(Twin::Root),
    part("load-module", "load-module", "code in the kernel"),
    part("unload-module", "unload-module", "less code in the kernel"),
    part("swap-on", "swap-on", "memory on disk").twin(Twin::Root),
    part("swap-off", "swap-off", "no memory on disk").twin(Twin::Root),
    part("account", "account", "a log of all processes"),
    part("set-clock", "set-clock", "the time of the machine").twin(Twin::Root),
    part("io-ports", "io-ports", "the ports of devices"),
    part("segment-table", "segment-table", "segments of memory"),
    part("quota", "quota", "quotas of users"),
    part("file-handle", "file-handle", "files without paths"),
    part("unknown-call", "unknown-call", "a call that does not exist"),
    part("list-mounts", "listmount", "mounts without paths"),
    part(
        "process-events",
        "handle-of-process",
        "the start and end of all processes",
    ),
];

pub(super) const EXECUTION: &[Attack] = &[
    execution("exec-outside", "exec", "runs a program outside", |a| {
        words([&a.outside("program")])
    }),
    execution(
        "exec-outside-link",
        "exec-by-link",
        "runs it through a link",
        |a| words([&a.outside("program"), &a.workspace("new-link")]),
    ),
    execution(
        "exec-outside-loader",
        "exec-by-loader",
        "has the loader run it",
        |a| words([&a.outside("program")]),
    ),
    execution(
        "exec-plain",
        "exec",
        "runs a file without the right to be run",
        plain_program,
    ),
    execution(
        "exec-plain-descriptor",
        "exec-by-descriptor",
        "by a descriptor",
        plain_program,
    ),
    execution(
        "exec-plain-opath",
        "exec-by-bare-handle",
        "by a bare handle",
        plain_program,
    ),
    execution(
        "exec-plain-loader",
        "exec-by-loader",
        "has the loader run it",
        plain_program,
    )
    .open_in_b("Landlock does not see code that is only mapped"),
    execution(
        "exec-plain-link",
        "exec-by-link",
        "through a link where things may be run",
        |a| words([&a.workspace("plain/program"), &a.workspace("new-link")]),
    ),
    execution(
        "exec-plain-hard-link",
        "exec-by-hard-link",
        "by a name where things may be run",
        |a| words([&a.workspace("plain/program"), &a.workspace("new-name")]),
    ),
    execution(
        "exec-plain-map",
        "map-executable",
        "maps it as code",
        plain_program,
    )
    .open_in_b("Landlock does not see code that is only mapped"),
    execution(
        "exec-plain-protect",
        "map-then-protect",
        "maps it, then makes it code",
        plain_program,
    )
    .open_in_b("Landlock does not see code that is only mapped"),
    execution(
        "exec-plain-script",
        "exec-script",
        "has a shell read it",
        |a| words([&a.workspace("plain/script")]),
    )
    .open("an interpreter that may be run may run what it can read"),
    execution(
        "exec-memory",
        "exec-from-memory",
        "runs a program that has no file",
        |_| words([]),
    ),
    execution("exec-tmp", "exec-copy", "runs a program from /tmp", |_| {
        words(["/tmp"])
    })
    .twin(Twin::Machine("/tmp may be without programs")),
    execution(
        "exec-shared-memory",
        "exec-copy",
        "runs a program from /dev/shm",
        |_| words(["/dev/shm"]),
    )
    .twin(Twin::Machine("/dev/shm may be without programs")),
];
