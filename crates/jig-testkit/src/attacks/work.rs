//! Ordinary work, which must go on working.

use super::words;
use crate::arena::Arena;
use crate::attack::{Attack, Class, Twin};

const fn work(name: &'static str, about: &'static str, args: fn(&Arena) -> Vec<String>) -> Attack {
    Attack::new(Class::Work, name, name, about, args)
}

const fn after(name: &'static str) -> Attack {
    let about = "writing, after an earlier call has left a trap";
    Attack::new(Class::Work, name, "ok-write", about, sources)
}

fn sources(arena: &Arena) -> Vec<String> {
    vec![arena.workspace("src")]
}

const NO_NETWORK: &str = "there the network is closed altogether";
const NO_PRIVATE: &str = "there nothing is private, so nothing is given";

pub(super) const WORK: &[Attack] = &[
    work("ok-pipeline", "fifty processes in a row", |_| words([])),
    work("ok-threads", "threads", |_| words([])),
    work("ok-loopback", "a server and a client of its own", |_| {
        words([])
    })
    .open_in_b(NO_NETWORK),
    work("ok-unix-socket", "a socket in /tmp", |_| words(["/tmp"])).open_in_b(NO_NETWORK),
    work("ok-socketpair", "a pair of sockets", |_| words([])),
    work("ok-semaphore", "shared memory between processes", |_| {
        words([])
    })
    .open_in_b(NO_PRIVATE),
    work("ok-shell", "a shell", |_| words([])),
    work("ok-system-program", "programs of the system", |_| words([])),
    work("ok-terminal", "a terminal of its own", |_| words([])).open_in_b(NO_PRIVATE),
    work("ok-write", "a file in the workspace", sources),
    // Whatever one call leaves under a restricted name, the next one must start.
    after("ok-after-link").before(|a| words(["symlink", &a.workspace("src/.env")])),
    after("ok-after-pipe").before(|a| words(["mkfifo", &a.workspace("jp.toml")])),
    after("ok-after-directory").before(|a| words(["mkdir", &a.workspace(".git/commondir")])),
    after("ok-after-socket").before(|a| words(["bind-socket", &a.workspace("src/.env")])),
    after("ok-after-closing").before(|a| words(["close-directory", &a.workspace("nested")])),
    work("ok-directories", "directories in the workspace", sources),
    work("ok-rename", "renaming", sources),
    work(
        "ok-rename-across",
        "renaming from directory to directory",
        sources,
    ),
    work("ok-hard-link", "a hard link", sources),
    work("ok-symlink", "a symbolic link", sources),
    work("ok-chmod", "a script of its own", sources),
    work("ok-read-only", "reading what is read-only", |a| {
        words([&a.workspace("locked/file")])
    }),
    work("ok-mmap", "a file in memory", sources),
    work("ok-private-directory", "a file in /tmp", |_| {
        words(["/tmp"])
    })
    .open_in_b(NO_PRIVATE),
    work("ok-home", "a file in its home", |_| words([]))
        .twin(Twin::Machine("the home may belong to somebody else"))
        .open_in_b(NO_PRIVATE),
    work("ok-signals", "signals to a child", |_| words([])),
    work("ok-timers", "timers", |_| words([])),
    work("ok-random", "random numbers", |_| words([])),
    work("ok-own-proc", "reading about itself", |_| words([]))
        .open_in_b("there a rule would have to name a process before it runs"),
    work("ok-devices", "the usual devices", |_| words([])),
    work("ok-event-loop", "waiting for events", |_| words([])),
    work("ok-system-v", "shared memory of System V", |_| words([])).open_in_b(NO_PRIVATE),
    work("ok-user-name", "its own user", |_| words([])),
    work("ok-watch", "watching a directory", sources)
        .open_in_b("there it could watch the whole machine"),
    work("ok-restrict-itself", "confining itself further", |_| {
        words([])
    }),
    work("ok-lower-limits", "lowering its own limits", |_| words([])),
];
