//! Files inside of the workspace that are denied, read-only or protected.

use super::{because, words};
use crate::arena::Arena;
use crate::attack::{Attack, Class, Twin};

const fn attack(
    name: &'static str,
    program: &'static str,
    about: &'static str,
    args: fn(&Arena) -> Vec<String>,
) -> Attack {
    Attack::new(Class::Inside, name, program, about, args)
}

const NO_ATTRIBUTES: Twin = Twin::Machine("not every file system has attributes");

pub(super) const INSIDE: &[Attack] = &[
    // A denied file.
    attack("denied-read", "read", "reads a denied file", |a| {
        words([&a.workspace(".env")])
    }),
    attack("denied-read-mmap", "read-mmap", "maps it", |a| {
        words([&a.workspace(".env")])
    }),
    attack(
        "denied-read-openat2",
        "read-openat2",
        "reads by the newest open",
        |a| words([&a.workspace(".env")]),
    ),
    attack(
        "denied-read-opath",
        "read-opath",
        "reopens a bare handle",
        |a| words([&a.workspace(".env")]),
    ),
    attack("denied-read-link", "read", "follows a link to it", |a| {
        words([&a.workspace("to-env")])
    }),
    attack(
        "denied-read-new-link",
        "read-through-new-symlink",
        "makes a link to it",
        |a| words([".env", &a.workspace("new-link")]),
    ),
    attack(
        "denied-read-hard-link",
        "read-through-hard-link",
        "gives it another name",
        |a| words([&a.workspace(".env"), &a.workspace("new-name")]),
    ),
    attack(
        "denied-read-rename",
        "read-through-rename",
        "renames it",
        |a| words([&a.workspace(".env"), &a.workspace("renamed")]),
    ),
    attack(
        "denied-read-own-cwd",
        "read-through-proc",
        "by /proc/self/cwd",
        |_| words(["/proc/self/cwd/", ".env"]),
    ),
    attack(
        "denied-read-odd-spelling",
        "read",
        "by a path with `.`, `..` and double slashes",
        |a| words([&a.workspace("src/.././/.env")]),
    ),
    attack(
        "denied-read-by-cat",
        "read-by-subprocess",
        "has another program read it",
        |a| words([&a.workspace(".env")]),
    ),
    attack("denied-stat", "stat", "learns its size", |a| {
        words([&a.workspace(".env")])
    })
    .open_in_b(because::METADATA),
    attack("denied-write", "append", "writes to it", |a| {
        words([&a.workspace(".env")])
    }),
    attack("denied-delete", "delete", "removes it", |a| {
        words([&a.workspace(".env")])
    }),
    attack("denied-truncate", "truncate", "empties it", |a| {
        words([&a.workspace(".env")])
    }),
    attack(
        "denied-replace",
        "replace-by-rename",
        "renames over it",
        |a| words([&a.workspace(".env"), &a.workspace("new")]),
    ),
    attack(
        "denied-exchange",
        "exchange",
        "exchanges it with another file",
        |a| words([&a.workspace(".env"), &a.workspace("README.md")]),
    ),
    attack("denied-chmod", "chmod", "makes it readable for all", |a| {
        words([&a.workspace(".env")])
    })
    .open_in_b(because::METADATA),
    attack(
        "denied-umount",
        "umount-and-read",
        "takes the mask away",
        |a| words([&a.workspace(".env")]),
    ),
    attack(
        "denied-second-call",
        "read",
        "renames its parent in one call, reads in the next (X-65)",
        |a| words([&a.workspace("moved/deep/.env")]),
    )
    .before(|a| words(["rename", &a.workspace("nested"), &a.workspace("moved")])),
    attack(
        "denied-second-call-deep",
        "read",
        "the same with the directory right above it",
        |a| words([&a.workspace("nested/moved/.env")]),
    )
    .before(|a| {
        words([
            "rename",
            &a.workspace("nested/deep"),
            &a.workspace("nested/moved"),
        ])
    }),
    attack(
        "denied-second-call-exchange",
        "read",
        "the same by an exchange of directories",
        |a| words([&a.workspace("src/deep/.env")]),
    )
    .before(|a| words(["exchange", &a.workspace("nested"), &a.workspace("src")])),
    attack(
        "denied-second-call-link",
        "read",
        "gives it another name in one call, reads in the next",
        |a| words([&a.workspace("other")]),
    )
    .before(|a| words(["link", &a.workspace(".env"), &a.workspace("other")])),
    attack(
        "parent-close",
        "close-directory",
        "closes the parent of a denied file, to itself as well",
        |a| words([&a.workspace("nested")]),
    )
    .open("modes may be changed where changes are allowed"),
    attack(
        "denied-closed-parent",
        "reopen-and-read",
        "closes its parent in one call, opens it in the next",
        |a| words([&a.workspace("nested"), &a.workspace("nested/deep/.env")]),
    )
    .before(|a| words(["close-directory", &a.workspace("nested")])),
    attack(
        "git-closed-parent",
        "reopen-and-create",
        "the same, for the hooks of git",
        |a| {
            words([
                &a.workspace(".git"),
                &a.workspace(".git/hooks/post-checkout"),
            ])
        },
    )
    .before(|a| words(["close-directory", &a.workspace(".git")])),
    attack(
        "workspace-second-call",
        "read",
        "renames the workspace itself between two calls",
        |a| words([&format!("{}-moved/.env", a.workspace(""))]),
    )
    .before(|a| {
        words([
            "rename",
            &a.workspace(""),
            &format!("{}-moved", a.workspace("")),
        ])
    })
    .twin(Twin::Never("the second call has no workspace to start in")),
    attack(
        "denied-replaced",
        "read-patiently",
        "reads it after the user has saved it anew",
        |a| words([&a.workspace(".env")]),
    )
    .meanwhile(|a| a.replace(&a.workspace(".env")))
    .open(because::REPLACED),
    attack(
        "denied-appears",
        "read-patiently",
        "reads a denied file that the user makes meanwhile",
        |a| words([&a.workspace("src/.env")]),
    )
    .meanwhile(|a| a.replace(&a.workspace("src/.env")))
    .open(because::MISSING),
    attack(
        "config-replaced",
        "append-patiently",
        "writes after the user has saved it anew",
        |a| words([&a.workspace("jig.toml")]),
    )
    .meanwhile(|a| a.replace(&a.workspace("jig.toml")))
    .open(because::REPLACED),
    attack(
        "locked-replaced",
        "create-patiently",
        "creates after the user has replaced the subtree",
        |a| words([&a.workspace("locked/new")]),
    )
    .meanwhile(|a| a.replace_directory(&a.workspace("locked")))
    .open(because::REPLACED),
    // A read-only subtree.
    attack("locked-write", "write", "writes to a read-only file", |a| {
        words([&a.workspace("locked/file")])
    }),
    attack(
        "locked-write-reopened",
        "write-reopened",
        "reads it, and reopens it for writing",
        |a| words([&a.workspace("locked/file")]),
    ),
    attack(
        "locked-write-mmap",
        "write-mmap",
        "writes through memory",
        |a| words([&a.workspace("locked/file")]),
    ),
    attack(
        "locked-write-dotdot",
        "append",
        "by a path with `..`",
        |a| words([&a.workspace("src/../locked/sub/../file")]),
    ),
    attack(
        "locked-write-own-root",
        "append",
        "by /proc/self/root",
        |a| words([&format!("/proc/self/root{}", a.workspace("locked/file"))]),
    ),
    attack("locked-truncate", "truncate", "empties it", |a| {
        words([&a.workspace("locked/file")])
    }),
    attack("locked-create", "create", "creates a file there", |a| {
        words([&a.workspace("locked/new")])
    }),
    attack("locked-mkdir", "mkdir", "makes a directory there", |a| {
        words([&a.workspace("locked/new")])
    }),
    attack("locked-symlink", "symlink", "makes a link there", |a| {
        words([&a.workspace("locked/new")])
    }),
    attack(
        "locked-bind-socket",
        "bind-socket",
        "makes a socket there",
        |a| words([&a.workspace("locked/new")]),
    ),
    attack("locked-delete", "delete", "removes a file there", |a| {
        words([&a.workspace("locked/file")])
    }),
    attack("locked-rename", "rename", "renames a file there", |a| {
        words([&a.workspace("locked/file"), &a.workspace("locked/other")])
    }),
    attack(
        "locked-rename-away",
        "rename",
        "moves a file away from there",
        |a| words([&a.workspace("locked/file"), &a.workspace("taken")]),
    ),
    attack(
        "locked-rename-itself",
        "rename",
        "renames the whole subtree",
        |a| words([&a.workspace("locked"), &a.workspace("unlocked")]),
    ),
    attack(
        "locked-exchange",
        "exchange",
        "exchanges the subtree with another",
        |a| words([&a.workspace("locked"), &a.workspace("src")]),
    ),
    attack(
        "locked-replace",
        "replace-directory",
        "puts another directory in its place",
        |a| words([&a.workspace("locked"), &a.workspace("away"), "file"]),
    ),
    attack(
        "locked-link-in",
        "link",
        "gives its own file a name there",
        |a| words([&a.workspace("README.md"), &a.workspace("locked/new")]),
    ),
    attack(
        "locked-link-out",
        "append",
        "writes to a second name that it made",
        |a| words([&a.workspace("second")]),
    )
    .before(|a| words(["link", &a.workspace("locked/file"), &a.workspace("second")])),
    attack("locked-chmod", "chmod", "changes a mode", |a| {
        words([&a.workspace("locked/file")])
    })
    .open_in_b(because::METADATA),
    attack(
        "locked-fchmod",
        "fchmod",
        "changes a mode by a descriptor",
        |a| words([&a.workspace("locked/file")]),
    )
    .open_in_b(because::METADATA),
    attack("locked-chown", "chown", "changes an owner", |a| {
        words([&a.workspace("locked/file")])
    })
    .open_in_b(because::METADATA),
    attack("locked-utimes", "utimes", "changes the times", |a| {
        words([&a.workspace("locked/file")])
    })
    .open_in_b(because::METADATA),
    attack("locked-setxattr", "setxattr", "sets an attribute", |a| {
        words([&a.workspace("locked/file")])
    })
    .open_in_b(because::METADATA)
    .twin(NO_ATTRIBUTES),
    attack(
        "locked-set-flags",
        "set-flags",
        "sets a flag of the file system",
        |a| words([&a.workspace("locked/file")]),
    )
    .open_in_b(because::METADATA)
    .twin(Twin::Machine("not every file system has flags")),
    // Directories beside the workspace in which some changes are allowed, and others not.
    attack(
        "update-only-create",
        "create",
        "creates where it may only change",
        |a| words([&a.beside("update/new")]),
    ),
    attack(
        "update-only-mkdir",
        "mkdir",
        "makes a directory where it may only change",
        |a| words([&a.beside("update/new")]),
    ),
    attack(
        "update-only-symlink",
        "symlink",
        "makes a link where it may only change",
        |a| words([&a.beside("update/new")]),
    ),
    attack(
        "update-only-delete",
        "delete",
        "deletes where it may only change",
        |a| words([&a.beside("update/file")]),
    ),
    attack(
        "update-only-rename",
        "rename",
        "renames where it may only change",
        |a| words([&a.beside("update/file"), &a.beside("update/other")]),
    ),
    attack("update-only-move-in", "rename", "moves a file there", |a| {
        words([&a.workspace("README.md"), &a.beside("update/other")])
    }),
    attack(
        "delete-only-write",
        "append",
        "writes where it may only delete",
        |a| words([&a.beside("delete/file")]),
    ),
    attack(
        "delete-only-truncate",
        "truncate",
        "empties where it may only delete",
        |a| words([&a.beside("delete/file")]),
    ),
    attack(
        "delete-only-create",
        "create",
        "creates where it may only delete",
        |a| words([&a.beside("delete/new")]),
    ),
    // A file that the host has opened for reading and handed over.
    attack(
        "given-write",
        "given-write",
        "reopens it for writing",
        |_| words([]),
    ),
    attack("given-truncate", "given-truncate", "empties it", |_| {
        words([])
    }),
    attack(
        "given-link",
        "given-link",
        "gives it a name of its own",
        |a| words([&a.workspace("new")]),
    ),
    attack("given-chmod", "given-chmod", "changes its mode", |_| {
        words([])
    })
    .open(because::HANDED),
    attack("given-utimes", "given-utimes", "changes its times", |_| {
        words([])
    })
    .open(because::HANDED),
    attack(
        "given-setxattr",
        "given-setxattr",
        "sets an attribute",
        |_| words([]),
    )
    .twin(NO_ATTRIBUTES)
    .open(because::HANDED),
    // Files that decide what jig and git run.
    attack(
        "config-write",
        "append",
        "writes to jig's configuration",
        |a| words([&a.workspace("jig.toml")]),
    ),
    attack(
        "config-delete",
        "delete",
        "removes jig's configuration",
        |a| words([&a.workspace("jig.toml")]),
    ),
    attack(
        "config-replace",
        "replace-by-rename",
        "renames over jig's configuration",
        |a| words([&a.workspace("jig.toml"), &a.workspace("new")]),
    ),
    attack(
        "config-directory-write",
        "append",
        "writes below `.jig`",
        |a| words([&a.workspace(".jig/config.toml")]),
    ),
    attack(
        "config-directory-create",
        "create",
        "creates below `.jig`",
        |a| words([&a.workspace(".jig/local.toml")]),
    ),
    attack(
        "config-directory-replace",
        "replace-directory",
        "puts another `.jig` in its place",
        |a| words([&a.workspace(".jig"), &a.workspace("away"), "config.toml"]),
    ),
    attack(
        "git-config-write",
        "append",
        "has git run a program by its configuration",
        |a| words([&a.workspace(".git/config")]),
    ),
    attack(
        "git-config-replace",
        "replace-by-rename",
        "replaces git's configuration",
        |a| {
            words([
                &a.workspace(".git/config"),
                &a.workspace(".git/config.lock"),
            ])
        },
    ),
    attack("git-hook-create", "create", "adds a hook", |a| {
        words([&a.workspace(".git/hooks/post-checkout")])
    }),
    attack("git-hook-write", "append", "changes a hook", |a| {
        words([&a.workspace(".git/hooks/pre-commit")])
    }),
    attack(
        "git-hooks-replace",
        "replace-directory",
        "puts other hooks in their place",
        |a| {
            words([
                &a.workspace(".git/hooks"),
                &a.workspace("away"),
                "post-checkout",
            ])
        },
    ),
    attack(
        "git-replace",
        "replace-directory",
        "puts another repository in its place",
        |a| words([&a.workspace(".git"), &a.workspace("away"), "hooks"]),
    ),
    attack(
        "missing-config-create",
        "create",
        "creates a configuration that was not there",
        |a| words([&a.workspace("jp.toml")]),
    )
    .open(because::MISSING),
    attack(
        "missing-commondir-create",
        "create",
        "has git look for its configuration elsewhere",
        |a| words([&a.workspace(".git/commondir")]),
    )
    .open(because::MISSING),
    attack(
        "missing-env-create",
        "create",
        "creates a denied file that was not there",
        |a| words([&a.workspace("src/.env")]),
    )
    .open(because::MISSING),
];
