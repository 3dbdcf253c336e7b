//! Outliving the call, using up the machine, and what is written.

use super::{because, words};
use crate::arena::Arena;
use crate::attack::{Attack, Class, Judge, Twin};

const fn survivor(name: &'static str, program: &'static str, about: &'static str) -> Attack {
    Attack::new(Class::Survival, name, program, about, |a| vec![a.heart()]).judge(Judge::Heartbeat)
}

const fn limit(
    name: &'static str,
    program: &'static str,
    about: &'static str,
    args: fn(&Arena) -> Vec<String>,
) -> Attack {
    Attack::new(Class::Limits, name, program, about, args)
}

const fn endless(name: &'static str, program: &'static str, about: &'static str) -> Attack {
    Attack::new(Class::Output, name, program, about, |a| vec![a.heart()]).judge(Judge::Ended)
}

const fn written(
    name: &'static str,
    program: &'static str,
    about: &'static str,
    args: fn(&Arena) -> Vec<String>,
) -> Attack {
    Attack::new(Class::Output, name, program, about, args).open(because::READER)
}

pub(super) const SURVIVAL: &[Attack] = &[
    survivor("child", "child", "leaves a child"),
    survivor(
        "child-in-new-group",
        "child-in-new-group",
        "in a process group of its own",
    ),
    survivor(
        "child-in-new-session",
        "child-in-new-session",
        "in a session of its own",
    ),
    survivor(
        "child-with-pipes",
        "child-with-pipes",
        "that keeps the pipes open",
    ),
    survivor(
        "child-without-descriptors",
        "child-without-descriptors",
        "with nothing open",
    ),
    survivor(
        "child-without-death-signal",
        "child-without-death-signal",
        "that clears its death signal",
    ),
    survivor(
        "child-ignoring-signals",
        "child-ignoring-signals",
        "that ignores all signals",
    ),
    survivor(
        "child-of-keeper",
        "child-of-parent",
        "whose parent is the keeper",
    ),
    survivor("daemon", "daemon", "forks twice in a new session"),
    survivor(
        "daemon-with-reaper",
        "daemon-with-reaper",
        "that adopts its own orphans",
    ),
    survivor("daemon-as-shell", "daemon-as-shell", "that runs a shell"),
    survivor("daemon-stopped", "stopped-daemons", "with a stopped child"),
    survivor("many-daemons", "many-daemons", "thirty of them"),
    survivor("kill-keeper", "kill-keeper", "kills its keeper")
        .twin(Twin::Never("outside, the parent is the test itself")),
    survivor("refuse-to-end", "refuse-to-end", "ignores all signals").judge(Judge::Ended),
    survivor(
        "stop-and-beat",
        "stop-and-beat",
        "is stopped by its own child",
    )
    .judge(Judge::Ended),
    survivor(
        "fork-storm",
        "fork-storm",
        "forks faster than it can be counted",
    )
    .judge(Judge::Ended)
    .open_in_b("without a process namespace it may be faster than its killer"),
];

/// What the suite allows, and what the attacks try, is so small that the twins do no harm.
pub(super) const LIMITS: &[Attack] = &[
    limit(
        "fork-bomb",
        "processes",
        "starts too many processes",
        |_| words(["1000"]),
    )
    .open_in_b(because::UNCOUNTED),
    limit(
        "fork-bomb-sessions",
        "processes-in-sessions",
        "each in its own session",
        |_| words(["1000"]),
    )
    .open_in_b(because::UNCOUNTED),
    limit(
        "zombies",
        "zombies",
        "that end and are not waited for",
        |_| words(["1000"]),
    )
    .open_in_b(because::UNCOUNTED),
    limit("thread-bomb", "threads", "starts too many threads", |_| {
        words(["1000"])
    })
    .open_in_b(because::UNCOUNTED),
    limit("memory", "memory", "takes too much memory", |_| {
        words(["268435456"])
    }),
    limit("memory-brk", "memory-by-brk", "on the heap", |_| {
        words(["268435456"])
    })
    .twin(Twin::Machine("something may lie behind the heap")),
    limit(
        "memory-shared",
        "memory-shared",
        "that it shares with itself",
        |_| words(["268435456"]),
    ),
    limit(
        "memory-of-many",
        "memory-of-many",
        "in many processes, a little each",
        |_| words(["8", "41943040"]),
    ),
    limit("memory-tmp", "memory-in-file", "in files of /tmp", |_| {
        words(["/tmp", "67108864"])
    }),
    limit(
        "memory-shm",
        "memory-in-file",
        "in files of /dev/shm",
        |_| words(["/dev/shm", "268435456"]),
    ),
    limit(
        "memory-nameless",
        "memory-in-deleted-files",
        "in files without names",
        |_| words(["/dev/shm", "268435456"]),
    ),
    limit(
        "memory-memfd",
        "memory-in-memfd",
        "in files that no rule sees",
        |_| words(["268435456"]),
    ),
    limit(
        "memory-segments",
        "memory-in-segments",
        "in segments that nobody has mapped",
        |_| words(["268435456"]),
    ),
    limit(
        "memory-messages",
        "memory-in-messages",
        "in messages that nobody reads",
        |_| words(["167772160"]),
    )
    .twin(Twin::Machine("the machine may allow fewer queues")),
    limit(
        "memory-semaphores",
        "memory-in-semaphores",
        "in sets of semaphores",
        |_| words(["163840000"]),
    )
    .twin(Twin::Machine("the machine may allow fewer sets")),
    limit(
        "memory-names-tmp",
        "memory-in-names",
        "in empty files of /tmp",
        |_| words(["/tmp", "150000"]),
    )
    .twin(Twin::Never("on a disk names are no memory")),
    limit(
        "memory-names-shm",
        "memory-in-names",
        "in empty files of /dev/shm",
        |_| words(["/dev/shm", "150000"]),
    )
    .twin(Twin::Machine("a file system may have room for fewer files")),
    limit(
        "memory-page-tables",
        "memory-in-page-tables",
        "in the tables of the memory itself",
        |_| words(["167772160"]),
    ),
    limit(
        "memory-pipes",
        "memory-in-pipes",
        "in pipes that nobody reads",
        |_| words(["268435456"]),
    )
    .twin(Twin::Machine("the user may have fewer pipes")),
    limit(
        "memory-sockets",
        "memory-in-sockets",
        "in sockets that nobody reads",
        |_| words(["268435456"]),
    )
    .twin(Twin::Machine("the limit of descriptors may come first"))
    .open("the kernel's buffers count for nobody; descriptors and tasks bound them"),
    limit(
        "file-size",
        "file-size",
        "writes a file that is too large",
        |a| words([&a.workspace("large"), "67108864"]),
    ),
    limit(
        "file-size-truncate",
        "file-size-by-truncate",
        "makes it large without writing",
        |a| words([&a.workspace("large"), "67108864"]),
    ),
    limit("descriptors", "descriptors", "opens too many files", |_| {
        words(["600"])
    }),
    limit(
        "raise-descriptors",
        "raise-limit",
        "raises the limit of descriptors",
        |_| words(["7", "100000"]),
    )
    .twin(Twin::Machine("root of a container may not")),
    limit(
        "raise-core",
        "raise-limit",
        "raises the limit of memory images",
        |_| words(["4", "1000000"]),
    )
    .twin(Twin::Machine("it may be unlimited")),
    limit(
        "leave-core",
        "leave-core",
        "leaves an image of its memory",
        |a| words([&a.workspace("src")]),
    )
    .twin(Twin::Machine("images may be switched off")),
    limit(
        "raise-priority",
        "raise-priority",
        "goes before others",
        |_| words([]),
    )
    .twin(Twin::Root),
    limit("real-time", "real-time", "goes before everybody", |_| {
        words([])
    })
    .twin(Twin::Machine("control groups may forbid it")),
    limit(
        "spare-from-killer",
        "spare-from-killer",
        "has others killed first",
        |_| words([]),
    )
    .twin(Twin::Machine("root of a container may not")),
];

pub(super) const OUTPUT: &[Attack] = &[
    written("flood", "flood", "writes more than anybody reads", |_| {
        words(["33554432"])
    }),
    written(
        "flood-errors",
        "flood-errors",
        "writes as many errors",
        |_| words(["33554432"]),
    ),
    written(
        "giant-line",
        "giant-line",
        "writes a line without an end",
        |_| words(["33554432"]),
    ),
    written(
        "invalid-utf8",
        "invalid-utf8",
        "writes what is no text",
        |_| words([]),
    ),
    written("zero-bytes", "zero-bytes", "writes zero bytes", |_| {
        words([])
    }),
    written(
        "control-sequences",
        "control-sequences",
        "writes to whoever shows it",
        |_| words([]),
    ),
    written(
        "fake-protocol",
        "fake-protocol",
        "writes what looks like an answer",
        |_| words([]),
    ),
    endless("endless-flood", "endless-flood", "writes without an end"),
    endless("drip", "drip", "writes a byte now and then"),
    endless(
        "closed-streams",
        "closed-streams",
        "closes its streams and goes on",
    ),
    endless("silence", "silence", "says nothing and goes on"),
    endless("spin", "spin", "computes without an end"),
];
