//! Shared objects and other processes.

use super::{because, words};
use crate::arena::Arena;
use crate::attack::{Attack, Class, Twin};

const fn object(
    name: &'static str,
    program: &'static str,
    about: &'static str,
    args: fn(&Arena) -> Vec<String>,
) -> Attack {
    Attack::new(Class::Ipc, name, program, about, args)
}

const fn process(
    name: &'static str,
    program: &'static str,
    about: &'static str,
    args: fn(&Arena) -> Vec<String>,
) -> Attack {
    Attack::new(Class::Processes, name, program, about, args)
}

fn segment(arena: &Arena) -> Vec<String> {
    vec![arena.host().objects.memory.to_string()]
}

fn file(arena: &Arena) -> Vec<String> {
    vec![arena.host().objects.file.to_string_lossy().into_owned()]
}

fn victim(arena: &Arena) -> Vec<String> {
    vec![arena.host().victim.id()]
}

fn memory_of_victim(arena: &Arena) -> Vec<String> {
    let victim = &arena.host().victim;
    vec![victim.id(), victim.address.clone()]
}

fn descriptor_of_victim(arena: &Arena) -> Vec<String> {
    let victim = &arena.host().victim;
    vec![victim.id(), victim.descriptor.clone()]
}

const PTRACE: Twin = Twin::Machine("tracing may be restricted to children");
const KEEPER: Twin = Twin::Never("outside, the parent is the test itself");

pub(super) const IPC: &[Attack] = &[
    object("sysv-memory", "sysv-memory", "reads shared memory", segment),
    object(
        "sysv-memory-write",
        "sysv-memory-write",
        "maps it for writing",
        segment,
    ),
    object(
        "sysv-memory-stat",
        "sysv-memory-stat",
        "learns about it",
        segment,
    ),
    object(
        "sysv-semaphore",
        "sysv-semaphore",
        "reads a semaphore",
        |a| vec![a.host().objects.semaphores.to_string()],
    ),
    object("sysv-message", "sysv-message", "finds a message", |a| {
        vec![a.host().objects.messages.to_string()]
    }),
    object("sysv-table", "sysv-table", "finds it in the table", segment),
    object("posix-queue", "posix-queue", "opens a queue", |a| {
        vec![a.host().objects.queue.clone().unwrap_or_default()]
    })
    .twin(Twin::Machine("not every kernel has queues")),
    object(
        "shared-file",
        "shared-file",
        "reads a file in /dev/shm",
        file,
    ),
    object(
        "shared-file-write",
        "shared-file-write",
        "opens it for writing",
        file,
    ),
    object("shared-file-list", "list", "finds it in /dev/shm", |a| {
        let name = a.host().objects.file.file_name().unwrap_or_default();
        words(["/dev/shm", &name.to_string_lossy()])
    }),
];

pub(super) const PROCESSES: &[Attack] = &[
    process("signal", "signal", "signals a process of the host", victim),
    process(
        "signal-thread",
        "signal-thread",
        "signals one of its threads",
        victim,
    ),
    process(
        "signal-queued",
        "signal-queued",
        "sends a signal with a value",
        victim,
    ),
    process(
        "signal-pidfd",
        "signal-by-pidfd",
        "signals by a descriptor",
        victim,
    ),
    process(
        "signal-owner",
        "signal-by-owner",
        "has the kernel signal it",
        victim,
    )
    .open_in_b("naming it is allowed, the signal is not sent"),
    process("signal-group", "signal", "signals its process group", |a| {
        vec![format!("-{}", a.host().victim.id())]
    }),
    process(
        "signal-all",
        "signal-all",
        "asks whether it could signal all processes",
        |_| words([]),
    )
    .open_in_b(because::VISIBLE),
    process(
        "signal-keeper",
        "signal-parent",
        "finds out whether it may signal its keeper",
        |_| words([]),
    )
    .open("asking is allowed; the signals that matter are tried by others"),
    process("ptrace", "ptrace", "traces it", victim).twin(PTRACE),
    process(
        "ptrace-keeper",
        "ptrace-parent",
        "traces its keeper",
        |_| words([]),
    )
    .twin(KEEPER),
    process(
        "ptrace-child",
        "ptrace-child",
        "traces a child of its own",
        |_| words([]),
    ),
    process(
        "read-memory",
        "read-memory",
        "reads its memory",
        memory_of_victim,
    )
    .twin(PTRACE),
    process(
        "write-memory",
        "write-memory",
        "writes its memory",
        memory_of_victim,
    )
    .twin(PTRACE),
    process(
        "take-descriptor",
        "take-descriptor",
        "takes a file that it has open",
        descriptor_of_victim,
    )
    .twin(PTRACE),
    process("prlimit", "prlimit", "sets its limits", victim),
    process("set-priority", "set-priority", "sets its priority", victim),
    process(
        "set-io-priority",
        "set-io-priority",
        "sets its priority on disks",
        victim,
    ),
    process(
        "set-affinity",
        "set-affinity",
        "sets its processors",
        victim,
    ),
    process(
        "set-scheduler",
        "set-scheduler",
        "sets how it is scheduled",
        victim,
    ),
    process("compare", "compare", "compares its resources", victim)
        .twin(Twin::Machine("not every kernel can")),
    process(
        "robust-list",
        "robust-list",
        "learns an address in it",
        victim,
    )
    .twin(PTRACE),
    process("move-pages", "move-pages", "moves its memory", victim)
        .twin(Twin::Machine("not every kernel can")),
    process("session-of", "session-of", "learns that it exists", victim)
        .open_in_b(because::VISIBLE),
    process(
        "proc-environment",
        "proc-file",
        "reads its environment",
        |a| words([&a.host().victim.id(), "environ"]),
    )
    .twin(PTRACE),
    process("proc-arguments", "proc-file", "reads its arguments", |a| {
        words([&a.host().victim.id(), "cmdline"])
    }),
    process("proc-status", "proc-any", "reads what it does", |a| {
        words([&a.host().victim.id(), "status"])
    }),
    process(
        "proc-maps",
        "proc-any",
        "reads where its memory lies",
        |a| words([&a.host().victim.id(), "maps"]),
    )
    .twin(PTRACE),
    process(
        "proc-memory",
        "proc-memory",
        "reads its memory",
        memory_of_victim,
    )
    .twin(PTRACE),
    process(
        "proc-descriptor",
        "proc-descriptor",
        "opens what it has open",
        descriptor_of_victim,
    )
    .twin(PTRACE),
    process(
        "proc-scan",
        "proc-scan",
        "looks for it among all processes",
        |_| words([]),
    ),
    process("proc-oom", "proc-write", "has it killed first", |a| {
        words([&a.host().victim.id(), "oom_score_adj"])
    }),
    process("proc-namespaces", "proc-write", "changes its users", |a| {
        words([&a.host().victim.id(), "uid_map"])
    })
    .twin(Twin::Root),
    process(
        "init-environment",
        "proc-any",
        "reads the environment of process 1",
        |_| words(["1", "environ"]),
    )
    .against_process_1(),
    process(
        "init-memory",
        "proc-write",
        "opens the memory of process 1",
        |_| words(["1", "mem"]),
    )
    .against_process_1(),
    process(
        "init-maps",
        "proc-any",
        "reads where the memory of process 1 lies",
        |_| words(["1", "maps"]),
    )
    .against_process_1(),
    process(
        "keeper-environment",
        "parent-environment",
        "finds the host's variables in its keeper",
        |_| words([]),
    )
    .twin(PTRACE),
    process(
        "keeper-arguments",
        "parent-arguments",
        "finds the host's arguments in its keeper",
        |_| words(["--exact"]),
    ),
    process(
        "keeper-program",
        "parent-program",
        "opens the program of its keeper",
        |_| words([]),
    )
    .twin(PTRACE),
    process(
        "keeper-descriptor",
        "parent-take-descriptor",
        "takes what its keeper has open",
        |_| words([]),
    )
    .twin(PTRACE),
    process(
        "keeper-memory",
        "parent-memory",
        "reads the memory of its keeper",
        |_| words([]),
    )
    .twin(PTRACE),
    process(
        "keeper-maps",
        "parent-maps",
        "reads where the memory of its keeper lies",
        |_| words([]),
    )
    .twin(PTRACE),
    process(
        "keeper-descriptors",
        "parent-descriptors",
        "lists what its keeper has open",
        |_| words([]),
    )
    .twin(PTRACE),
    process("stop-keeper", "stop-keeper", "stops its keeper", |_| {
        words([])
    })
    .twin(KEEPER),
];
