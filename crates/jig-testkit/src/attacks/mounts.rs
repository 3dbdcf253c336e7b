//! Mounts, roots, namespaces, and rights that a process does not have.

use super::words;
use crate::arena::Arena;
use crate::attack::{Attack, Class, Twin};

const fn mount(
    name: &'static str,
    program: &'static str,
    about: &'static str,
    args: fn(&Arena) -> Vec<String>,
) -> Attack {
    Attack::new(Class::Mounts, name, program, about, args).twin(Twin::Root)
}

const fn right(
    name: &'static str,
    program: &'static str,
    about: &'static str,
    args: fn(&Arena) -> Vec<String>,
) -> Attack {
    Attack::new(Class::Privileges, name, program, about, args)
}

const NAMESPACES: Twin = Twin::Machine("user namespaces may be forbidden");

pub(super) const MOUNTS: &[Attack] = &[
    mount(
        "bind-outside",
        "bind-and-read",
        "mounts the outside inside",
        |a| words([&a.outside(""), &a.workspace("mounted"), "secret.txt"]),
    ),
    mount(
        "bind-over-mask",
        "bind-over",
        "mounts over a denied file",
        |a| words([&a.workspace("README.md"), &a.workspace(".env")]),
    ),
    mount(
        "bind-over-locked",
        "bind-over",
        "mounts over a read-only directory",
        |a| words([&a.workspace("src"), &a.workspace("locked")]),
    ),
    mount(
        "remount-locked",
        "remount-writable",
        "makes a read-only directory writable",
        |a| words([&a.workspace("locked")]),
    ),
    mount(
        "setattr-locked",
        "mount-setattr",
        "the same by the newest call",
        |a| words([&a.workspace("locked")]),
    ),
    mount(
        "umount-locked",
        "umount-and-read",
        "takes a mount away",
        |a| words([&a.workspace("nested/deep/.env")]),
    ),
    mount("mount-tmpfs", "mount-tmpfs", "mounts memory", |a| {
        words([&a.workspace("src")])
    }),
    mount("mount-proc", "mount-proc", "mounts another /proc", |a| {
        words([&a.workspace("src")])
    }),
    mount("open-tree", "open-tree", "copies a mount", |a| {
        words([&a.workspace("")])
    }),
    mount(
        "open-tree-read",
        "open-tree-and-read",
        "copies a mount without its masks",
        |a| words([&a.workspace(""), ".env"]),
    ),
    mount("fsopen", "fsopen", "opens a file system", |_| words([])),
    mount("pivot-root", "pivot-root", "changes the root", |a| {
        words([&a.workspace("src")])
    }),
    mount("chroot", "chroot", "changes the root of the process", |a| {
        words([&a.workspace("")])
    }),
    mount(
        "chroot-climb",
        "chroot-fchdir",
        "leaves its root by a second one",
        |a| words([&a.workspace("src"), &a.secret()]),
    ),
    mount(
        "unshare-user",
        "unshare",
        "a user namespace, with all capabilities in it",
        |_| words(["user"]),
    )
    .twin(NAMESPACES),
    mount("unshare-mount", "unshare", "a mount namespace", |_| {
        words(["mount"])
    }),
    mount("unshare-net", "unshare", "a network namespace", |_| {
        words(["net"])
    }),
    mount("unshare-pid", "unshare", "a process namespace", |_| {
        words(["pid"])
    }),
    mount("unshare-ipc", "unshare", "an IPC namespace", |_| {
        words(["ipc"])
    }),
    mount("unshare-uts", "unshare", "a namespace of names", |_| {
        words(["uts"])
    }),
    mount(
        "unshare-cgroup",
        "unshare",
        "a namespace of control groups",
        |_| words(["cgroup"]),
    ),
    mount("unshare-time", "unshare", "a namespace of time", |_| {
        words(["time"])
    })
    .twin(Twin::Machine("older kernels lack it")),
    mount(
        "clone-user",
        "clone-namespace",
        "a child in a user namespace",
        |_| words(["user"]),
    )
    .twin(NAMESPACES),
    mount(
        "clone-mount",
        "clone-namespace",
        "a child in a mount namespace",
        |_| words(["mount"]),
    ),
    mount(
        "clone-net",
        "clone-namespace",
        "a child in a network namespace",
        |_| words(["net"]),
    ),
    mount(
        "clone3-user",
        "clone3-namespace",
        "the same by the newest call",
        |_| words(["user"]),
    )
    .twin(NAMESPACES),
    mount(
        "clone3-pid",
        "clone3-namespace",
        "a process namespace by it",
        |_| words(["pid"]),
    ),
    mount(
        "setns-victim-uts",
        "setns",
        "joins a namespace of the host",
        |a| words([&a.host().victim.id(), "uts"]),
    ),
    mount(
        "setns-victim-mount",
        "setns",
        "joins the mounts of the host",
        |a| words([&a.host().victim.id(), "mnt"]),
    ),
    mount(
        "setns-init-mount",
        "setns",
        "joins the mounts of process 1",
        |_| words(["1", "mnt"]),
    )
    .against_process_1(),
    mount(
        "setns-pidfd",
        "setns-by-pidfd",
        "joins the namespaces of a process",
        |a| words([&a.host().victim.id()]),
    ),
    mount(
        "own-root-umount",
        "own-user-namespace-umount",
        "takes a mask away as root of its own",
        |a| words([&a.workspace(".env")]),
    )
    .twin(NAMESPACES),
    mount(
        "own-root-bind",
        "own-user-namespace-bind",
        "mounts the outside as root of its own",
        |a| words([&a.outside(""), &a.workspace("mounted"), "secret.txt"]),
    )
    .twin(NAMESPACES),
    mount(
        "own-root-pivot",
        "own-user-namespace-root",
        "changes the root as root of its own",
        |a| words([&a.workspace("src")]),
    )
    .twin(NAMESPACES),
];

pub(super) const PRIVILEGES: &[Attack] = &[
    right("suid-chmod", "suid-by-chmod", "sets the set-uid bit", |a| {
        words([&a.workspace("new")])
    }),
    right("suid-fchmod", "suid-by-fchmod", "by a descriptor", |a| {
        words([&a.workspace("new")])
    }),
    right(
        "suid-fchmodat2",
        "suid-by-fchmodat2",
        "by the newest call",
        |a| words([&a.workspace("new")]),
    )
    .twin(Twin::Machine("older kernels lack the call")),
    right(
        "suid-open",
        "suid-by-open",
        "by the mode of a new file",
        |a| words([&a.workspace("new")]),
    ),
    right(
        "suid-openat2",
        "suid-by-openat2",
        "by the newest open",
        |a| words([&a.workspace("new")]),
    ),
    right(
        "suid-unnamed",
        "suid-by-unnamed",
        "by a file without a name",
        |_| words([]),
    )
    .twin(Twin::Machine(
        "not every file system has files without names",
    )),
    right("suid-mknod", "suid-by-mknod", "by making a node", |a| {
        words([&a.workspace("new")])
    }),
    right(
        "sgid-directory",
        "sgid-by-mkdir",
        "by a directory whose group is inherited",
        |a| words([&a.workspace("new")]),
    ),
    right(
        "suid-old-calls",
        "suid-by-old-calls",
        "by the calls of old programs",
        |a| words([&a.workspace("new")]),
    )
    .twin(Twin::Machine("newer architectures lack the calls")),
    right(
        "file-capability",
        "file-capability",
        "gives a file a capability",
        |a| words([&a.workspace("new")]),
    )
    .twin(Twin::Root),
    right(
        "run-suid",
        "run-suid-program",
        "runs a set-uid program of the system",
        |a| words([&a.host().set_uid_program()]),
    )
    .twin(Twin::Machine("the program must belong to another user")),
    right("become-root", "become-root", "becomes root", |_| words([])).twin(Twin::Root),
    right(
        "become-another",
        "become-another",
        "becomes another user",
        |_| words([]),
    )
    .twin(Twin::Root),
    right(
        "change-groups",
        "change-groups",
        "leaves its groups",
        |_| words([]),
    )
    .twin(Twin::Root),
    right(
        "raise-capabilities",
        "raise-capabilities",
        "takes capabilities",
        |_| words([]),
    )
    .twin(Twin::Root),
    right(
        "raise-ambient",
        "raise-ambient",
        "keeps capabilities over an exec",
        |_| words([]),
    )
    .twin(Twin::Machine("inheritable capabilities are seldom there")),
    right(
        "override-mode",
        "override-owner",
        "opens what its mode forbids",
        |a| words([&a.workspace("new")]),
    )
    .twin(Twin::Root),
    right(
        "give-away",
        "give-away",
        "gives a file to another user",
        |a| words([&a.workspace("new")]),
    )
    .twin(Twin::Root),
];
