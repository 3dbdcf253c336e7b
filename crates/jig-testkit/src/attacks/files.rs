//! Files outside of the workspace.

use super::{because, words};
use crate::arena::Arena;
use crate::attack::{Attack, Class, Judge, Twin};

const fn attack(
    name: &'static str,
    program: &'static str,
    about: &'static str,
    args: fn(&Arena) -> Vec<String>,
) -> Attack {
    Attack::new(Class::Outside, name, program, about, args)
}

const NO_ATTRIBUTES: Twin = Twin::Machine("not every file system has attributes");
const NO_FLAGS: Twin = Twin::Machine("not every file system has flags");

pub(super) const OUTSIDE: &[Attack] = &[
    attack("outside-read", "read", "reads a file outside", |a| {
        words([&a.secret()])
    }),
    attack(
        "outside-read-mmap",
        "read-mmap",
        "maps a file outside",
        |a| words([&a.secret()]),
    ),
    attack(
        "outside-read-openat2",
        "read-openat2",
        "reads by the newest open",
        |a| words([&a.secret()]),
    ),
    attack(
        "outside-read-opath",
        "read-opath",
        "reopens a bare handle",
        |a| words([&a.secret()]),
    ),
    attack(
        "outside-read-by-handle",
        "read-by-handle",
        "opens by a handle instead of a path",
        |a| words([&a.secret(), &a.workspace("")]),
    )
    .twin(Twin::Root),
    attack(
        "outside-read-sendfile",
        "read-sendfile",
        "copies inside of the kernel",
        |a| words([&a.secret()]),
    ),
    attack(
        "outside-read-splice",
        "read-splice",
        "splices into a pipe",
        |a| words([&a.secret()]),
    ),
    attack(
        "outside-read-by-cat",
        "read-by-subprocess",
        "has another program read it",
        |a| words([&a.secret()]),
    ),
    attack(
        "outside-read-dotdot",
        "read",
        "leaves the workspace by `..`",
        |_| words(["../outside/secret.txt"]),
    ),
    attack(
        "outside-read-link",
        "read",
        "follows a link to a file",
        |a| words([&a.workspace("to-secret")]),
    ),
    attack(
        "outside-read-directory-link",
        "read",
        "follows a link to a directory",
        |a| words([&a.workspace("to-outside/secret.txt")]),
    ),
    attack(
        "outside-read-new-link",
        "read-through-new-symlink",
        "makes a link and follows it",
        |a| words([&a.secret(), &a.workspace("new-link")]),
    ),
    attack(
        "outside-read-relative-link",
        "read-through-new-symlink",
        "makes a relative link",
        |a| words(["../outside/secret.txt", &a.workspace("new-link")]),
    ),
    attack(
        "outside-read-proc-link",
        "read-through-new-symlink",
        "links to a link of /proc",
        |a| {
            words([
                &format!("/proc/self/root{}", a.secret()),
                &a.workspace("new-link"),
            ])
        },
    ),
    attack(
        "outside-read-hard-link",
        "read-through-hard-link",
        "gives it a name inside",
        |a| words([&a.secret(), &a.workspace("new-name")]),
    ),
    attack(
        "outside-read-rename",
        "read-through-rename",
        "moves it inside",
        |a| words([&a.outside("victim.txt"), &a.workspace("moved")]),
    ),
    attack(
        "outside-read-chdir",
        "read-from-directory",
        "enters and reads by a short name",
        |a| words([&a.outside(""), "secret.txt"]),
    ),
    attack(
        "outside-read-own-root",
        "read-through-proc",
        "by /proc/self/root",
        |a| words(["/proc/self/root", &a.secret()]),
    ),
    attack(
        "outside-read-thread-root",
        "read-through-proc",
        "by /proc/thread-self/root",
        |a| words(["/proc/thread-self/root", &a.secret()]),
    ),
    attack(
        "outside-read-own-cwd",
        "read-through-proc",
        "by the parent of /proc/self/cwd",
        |_| words(["/proc/self/cwd/../", "outside/secret.txt"]),
    ),
    attack(
        "outside-read-init-root",
        "read-through-proc",
        "by /proc/1/root",
        |a| words(["/proc/1/root", &a.secret()]),
    )
    .against_process_1(),
    attack(
        "outside-read-parent-root",
        "read-parent-root",
        "by the root of its keeper",
        |a| words([&a.secret()]),
    ),
    attack(
        "outside-read-parent-cwd",
        "read-parent-cwd",
        "by the working directory of its keeper",
        |a| {
            words([&a
                .secret()
                .replacen('/', "/../../../../../../../../../../../../", 1)])
        },
    ),
    attack(
        "outside-read-victim-root",
        "read-through-proc",
        "by the root of another process",
        |a| words([&format!("/proc/{}/root", a.host().victim.id()), &a.secret()]),
    ),
    attack(
        "outside-read-swapping",
        "read-while-swapping",
        "swaps a directory with a link",
        |a| words([&a.workspace("race"), &a.outside(""), "secret.txt"]),
    ),
    attack("outside-list", "list", "lists a directory outside", |a| {
        words([&a.outside(""), "secret.txt"])
    }),
    attack("outside-list-link", "list", "lists through a link", |a| {
        words([&a.workspace("to-outside"), "secret.txt"])
    }),
    attack(
        "outside-stat",
        "stat",
        "learns the size of a file outside",
        |a| words([&a.secret()]),
    )
    .open_in_b(because::METADATA),
    attack(
        "outside-statx",
        "find-by-statx",
        "learns the size by the newest stat",
        |a| words([&a.secret()]),
    )
    .open_in_b(because::METADATA),
    attack(
        "outside-readlink",
        "readlink",
        "reads where a link leads",
        |a| words([&a.outside("link")]),
    )
    .open_in_b(because::METADATA),
    attack("outside-getxattr", "getxattr", "reads an attribute", |a| {
        words([&a.secret()])
    })
    .twin(NO_ATTRIBUTES)
    .open_in_b(because::METADATA),
    attack("outside-watch", "watch", "watches a directory", |a| {
        words([&a.outside("")])
    }),
    attack(
        "outside-watch-fanotify",
        "watch-by-fanotify",
        "watches a directory by fanotify",
        |a| words([&a.outside("")]),
    )
    .twin(Twin::Machine("fanotify may need privileges")),
    attack("outside-enter", "enter", "goes there", |a| {
        words([&a.outside("")])
    })
    .open_in_b(because::METADATA),
    attack("outside-write", "write", "writes to a file", |a| {
        words([&a.secret()])
    }),
    attack("outside-append", "append", "appends to a file", |a| {
        words([&a.secret()])
    }),
    attack(
        "outside-write-truncating",
        "write-truncating",
        "empties a file by opening it",
        |a| words([&a.secret()]),
    ),
    attack(
        "outside-write-opath",
        "write-opath",
        "reopens a bare handle for writing",
        |a| words([&a.secret()]),
    ),
    attack(
        "outside-write-mmap",
        "write-mmap",
        "writes through memory",
        |a| words([&a.secret()]),
    ),
    attack(
        "outside-write-link",
        "append",
        "writes through a link",
        |a| words([&a.workspace("to-secret")]),
    ),
    attack("outside-write-dotdot", "append", "writes by `..`", |_| {
        words(["../outside/secret.txt"])
    }),
    attack(
        "outside-write-swapping",
        "write-while-swapping",
        "swaps a directory while it writes",
        |a| words([&a.workspace("race"), &a.outside(""), "victim.txt"]),
    ),
    attack(
        "outside-truncate",
        "truncate",
        "empties a file by its path",
        |a| words([&a.secret()]),
    ),
    attack("outside-fallocate", "fallocate", "enlarges a file", |a| {
        words([&a.secret()])
    }),
    attack("outside-create", "create", "creates a file", |a| {
        words([&a.outside("new")])
    }),
    attack(
        "outside-create-exclusive",
        "create-exclusive",
        "creates a file that must be new",
        |a| words([&a.outside("new")]),
    ),
    attack(
        "outside-create-dangling",
        "create",
        "creates through a link to nowhere (X-12)",
        |a| words([&a.workspace("to-nowhere")]),
    ),
    attack(
        "outside-create-unnamed",
        "create-unnamed",
        "creates first, names then",
        |a| words([&a.outside("dir"), &a.outside("new")]),
    )
    .twin(Twin::Machine(
        "not every file system has files without names",
    )),
    attack(
        "outside-create-in-link",
        "create",
        "creates below a link to a directory",
        |a| words([&a.workspace("to-outside/new")]),
    ),
    attack("outside-mkdir", "mkdir", "makes a directory", |a| {
        words([&a.outside("new")])
    }),
    attack("outside-symlink", "symlink", "makes a symbolic link", |a| {
        words([&a.outside("new")])
    }),
    attack("outside-mkfifo", "mkfifo", "makes a named pipe", |a| {
        words([&a.outside("new")])
    }),
    attack(
        "outside-bind-socket",
        "bind-socket",
        "makes a socket",
        |a| words([&a.outside("new")]),
    ),
    attack(
        "outside-link-out",
        "link",
        "gives its own file a name outside",
        |a| words([&a.workspace("README.md"), &a.outside("new")]),
    ),
    attack("outside-delete", "delete", "removes a file", |a| {
        words([&a.secret()])
    }),
    attack(
        "outside-delete-link",
        "delete",
        "removes through a link to a directory",
        |a| words([&a.workspace("to-outside/victim.txt")]),
    ),
    attack("outside-rmdir", "rmdir", "removes a directory", |a| {
        words([&a.outside("empty")])
    }),
    attack("outside-rename", "rename", "renames a file", |a| {
        words([&a.secret(), &a.outside("renamed")])
    }),
    attack(
        "outside-rename-out",
        "rename",
        "moves its own file out",
        |a| words([&a.workspace("README.md"), &a.outside("new")]),
    ),
    attack(
        "outside-exchange",
        "exchange",
        "exchanges a file inside with one outside",
        |a| words([&a.workspace("README.md"), &a.secret()]),
    ),
    attack(
        "outside-replace",
        "replace-by-rename",
        "renames over a file",
        |a| words([&a.secret(), &a.workspace("new")]),
    ),
    attack("outside-chmod", "chmod", "changes a mode", |a| {
        words([&a.secret()])
    })
    .open_in_b(because::METADATA),
    attack(
        "outside-chmod-link",
        "chmod",
        "changes a mode through a link",
        |a| words([&a.workspace("to-secret")]),
    )
    .open_in_b(because::METADATA),
    attack(
        "outside-fchmodat2",
        "fchmodat2",
        "changes a mode by the newest call",
        |a| words([&a.secret()]),
    )
    .twin(Twin::Machine("older kernels lack the call"))
    .open_in_b(because::METADATA),
    attack("outside-chown", "chown", "changes an owner", |a| {
        words([&a.secret()])
    })
    .open_in_b(because::METADATA),
    attack("outside-utimes", "utimes", "changes the times", |a| {
        words([&a.secret()])
    })
    .open_in_b(because::METADATA),
    attack("outside-setxattr", "setxattr", "sets an attribute", |a| {
        words([&a.secret()])
    })
    .twin(NO_ATTRIBUTES)
    .open_in_b(because::METADATA),
    attack(
        "outside-removexattr",
        "removexattr",
        "removes an attribute",
        |a| words([&a.secret()]),
    )
    .twin(NO_ATTRIBUTES)
    .open_in_b(because::METADATA),
    attack(
        "outside-set-flags",
        "set-flags",
        "sets a flag of the file system",
        |a| words([&a.secret()]),
    )
    .twin(NO_FLAGS),
    attack(
        "outside-copy-range",
        "copy-range",
        "copies into a file inside of the kernel",
        |a| words([&a.secret()]),
    ),
    attack(
        "outside-lock",
        "lock",
        "locks a file, so that others wait",
        |a| words([&a.secret()]),
    ),
    attack(
        "outside-shared-tmp",
        "leave-file",
        "leaves a file in /tmp for others to find",
        |a| words([&a.shared_name()]),
    )
    .judge(Judge::Host(|arena| {
        let found = arena.has_shared_file();
        found.then(|| "the host finds the file".to_owned())
    })),
];
