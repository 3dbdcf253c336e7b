//! How the operating system confines a tool, and the other spelling of rules.

use super::access::COMMANDS;
use crate::shape::quantity::{AmountUnit, DAY, GIB, HOUR, KIB, MIB, Quantity, TIB};
use crate::shape::text::{ENV_EXACT, NOT_EMPTY, SENSITIVE, SYSTEM_PATH};
use crate::shape::{ListMerge, ListShape, ShapeWord, TableKey, TableShape, ValueShape, key};

pub(super) const SANDBOX: TableKey = key!(
    "sandbox",
    ValueShape::Table(&TableShape {
        what: "the sandbox of a tool",
        keys: &[
            key!(
                "filesystem",
                ValueShape::Table(&TableShape {
                    what: "the file access of a sandbox",
                    keys: &[
                        key!(
                            "allow",
                            ValueShape::List(&ListShape {
                                item: ValueShape::Text(&NOT_EMPTY),
                                merge: ListMerge::Append,
                            }),
                            "Paths of the workspace that the tool may read.",
                            default = "[\".\"]"
                        ),
                        key!(
                            "writable",
                            ValueShape::Bool,
                            "Whether it may also change them.",
                            default = "false"
                        ),
                    ],
                    foreign: &[
                        ("write", "write `writable`"),
                        ("read", "write `allow`"),
                        ("paths", "write `allow`"),
                        (
                            "deny",
                            "use `access.fs`, where a rule without capabilities denies"
                        ),
                    ],
                    short: None,
                }),
                "Another spelling of `access.fs`."
            ),
            key!(
                "network",
                ValueShape::Table(&TableShape {
                    what: "the network access of a sandbox",
                    keys: &[
                        key!(
                            "allow",
                            ValueShape::List(&ListShape {
                                item: ValueShape::Text(&NOT_EMPTY),
                                merge: ListMerge::Append,
                            }),
                            "URLs that the tool may reach, or bare hosts."
                        ),
                        key!(
                            "envs",
                            ValueShape::List(&ListShape {
                                item: ValueShape::Text(&ENV_EXACT),
                                merge: ListMerge::Replace,
                            }),
                            "Variables that jig may put into request headers for the tool."
                        ),
                    ],
                    foreign: &[
                        ("hosts", "write `allow`"),
                        ("domains", "write `allow`"),
                        ("env", "write `envs`"),
                        ("deny", "use `access.net`, where `allow = false` denies"),
                    ],
                    short: None,
                }),
                "Another spelling of `access.net`, and of `access.env` with `header`."
            ),
            COMMANDS,
            key!(
                "enforce",
                ValueShape::Word(&[
                    ShapeWord {
                        name: "required",
                        doc: "The tool does not start when a rule can't be enforced here.",
                    },
                    ShapeWord {
                        name: "best-effort",
                        doc: "It runs with what can be enforced; the rest is reported.",
                    },
                ]),
                "What happens when this machine can't enforce a declared rule.",
                default = "\"required\""
            ),
            key!(
                "system",
                ValueShape::List(&ListShape {
                    item: ValueShape::Any(&[
                        ValueShape::Text(&SYSTEM_PATH),
                        ValueShape::Table(&TableShape {
                            what: "a path outside the workspace",
                            keys: &[
                                key!(
                                    "path",
                                    ValueShape::Text(&SYSTEM_PATH),
                                    "Absolute, or starting with `~/`.",
                                    required
                                ),
                                key!(
                                    "write",
                                    ValueShape::Bool,
                                    "Whether it may be changed.",
                                    default = "false"
                                ),
                                key!(
                                    "execute",
                                    ValueShape::Bool,
                                    "Whether programs there may run.",
                                    default = "false"
                                ),
                            ],
                            foreign: &[
                                ("read", "leave it out: a listed path can always be read"),
                                ("writable", "write `write`"),
                                ("exec", "write `execute`"),
                            ],
                            short: None,
                        }),
                    ]),
                    merge: ListMerge::Append,
                }),
                "Paths outside the workspace that the tool may read: toolchains, caches."
            ),
            PRESETS,
            LIMITS,
            key!(
                "sensitive_paths",
                ValueShape::List(&ListShape {
                    item: ValueShape::Text(&SENSITIVE),
                    merge: ListMerge::Append,
                }),
                "Patterns that extend the list of paths which only a rule that names them covers."
            ),
            key!(
                "proxy",
                ValueShape::Bool,
                "Whether a program is also told by `HTTP_PROXY`, `HTTPS_PROXY` and `NO_PROXY` of a proxy that holds to the same rules; names work without.",
                default = "false"
            ),
            key!(
                "observe",
                ValueShape::Bool,
                "Whether a program is watched, so that a failed call names each path that it was refused, also if the program does not. It costs a little with every file that is opened; a build can take twice as long.",
                default = "false"
            ),
        ],
        foreign: &[
            ("fs", "write `filesystem`, or `access.fs`"),
            ("files", "write `filesystem`, or `access.fs`"),
            ("net", "write `network`, or `access.net`"),
            ("env", "write `access.env`"),
            (
                "enabled",
                "tools are always confined; `enforce = \"best-effort\"` runs them with what this machine can enforce"
            ),
            (
                "enable",
                "tools are always confined; `enforce = \"best-effort\"` runs them with what this machine can enforce"
            ),
            ("external", "write `system`"),
            ("http_proxy", "write `proxy = true`"),
            ("watch", "write `observe`"),
            ("trace", "write `observe`"),
            ("learn", "write `observe`, or run `jig suggest`"),
            (
                "overlay",
                "it belongs to the tool: write `overlay` in `[tools.NAME]`"
            ),
            (
                "repeatable",
                "it belongs to the tool: write `repeatable` in `[tools.NAME]`"
            ),
            ("paths", "write `system`"),
            ("preset", "write `presets = [\"…\"]`"),
            ("toolchains", "write `presets`"),
            ("memory", "write `limits.memory`"),
            ("time", "write `limits.time`"),
            ("timeout", "write `limits.time`"),
            ("processes", "write `limits.processes`"),
        ],
        short: None,
    }),
    "How the operating system confines the tool."
);

const PRESETS: TableKey = key!(
    "presets",
    ValueShape::List(&ListShape {
        item: ValueShape::Word(&[
            ShapeWord {
                name: "rust",
                doc: "The toolchains of rustup, and the caches of cargo to read.",
            },
            ShapeWord {
                name: "node",
                doc: "Node.js, where it is installed outside the system's own directories.",
            },
            ShapeWord {
                name: "python",
                doc: "Python, where it is installed outside the system's own directories.",
            },
            ShapeWord {
                name: "go",
                doc: "Go, and the cache of its modules to read.",
            },
            ShapeWord {
                name: "git",
                doc: "The user's configuration of git to read, and that of the repository to change.",
            },
        ]),
        merge: ListMerge::Append,
    }),
    "What the tool works with, wherever this machine has it; credentials are left out."
);

const LIMITS: TableKey = key!(
    "limits",
    ValueShape::Table(&LIMITS_TABLE),
    "How much the tool and all that it starts may use. `false` or `\"none\"` lifts a limit."
);

/// `[tools.NAME.sandbox.limits]`.
pub(crate) static LIMITS_TABLE: TableShape = TableShape {
    what: "the limits of a tool",
    keys: &[
        key!(
            "processes",
            ValueShape::Quantity(&Quantity {
                unit: AmountUnit::Count,
                min: 1,
                max: 1 << 22,
                liftable: true,
            }),
            "Processes and threads at once, of the tool and all that it starts.",
            default = "4096"
        ),
        key!(
            "memory",
            ValueShape::Quantity(&Quantity {
                unit: AmountUnit::Size,
                min: MIB,
                max: 1024 * TIB,
                liftable: true,
            }),
            "Memory of the tool and all that it starts together; more ends it.",
            default = "\"8GiB\""
        ),
        key!(
            "file_size",
            ValueShape::Quantity(&Quantity {
                unit: AmountUnit::Size,
                min: KIB,
                max: 1024 * TIB,
                liftable: true,
            }),
            "The largest file that it can write.",
            default = "\"8GiB\""
        ),
        key!(
            "disk",
            ValueShape::Quantity(&Quantity {
                unit: AmountUnit::Size,
                min: MIB,
                max: 1024 * TIB,
                liftable: true,
            }),
            "By how much the disk of the workspace may become fuller while it runs, whoever fills it; more ends it.",
            default = "\"256GiB\""
        ),
        key!(
            "files",
            ValueShape::Quantity(&Quantity {
                unit: AmountUnit::Count,
                min: 16,
                max: 1 << 40,
                liftable: true,
            }),
            "How many files may be added to the disk of the workspace while it runs, whoever adds them; more ends it.",
            default = "10000000"
        ),
        key!(
            "descriptors",
            ValueShape::Quantity(&Quantity {
                unit: AmountUnit::Count,
                min: 16,
                max: 1 << 20,
                liftable: true,
            }),
            "Open files and connections of each process.",
            default = "4096"
        ),
        key!(
            "output",
            ValueShape::Quantity(&Quantity {
                unit: AmountUnit::Size,
                min: KIB,
                max: 1024 * TIB,
                liftable: true,
            }),
            "All that it prints, on standard output and standard error; more ends it. The default is for calls, not for what is spawned.",
            default = "\"64MiB\""
        ),
        key!(
            "time",
            ValueShape::Quantity(&Quantity {
                unit: AmountUnit::Time,
                min: 100,
                max: 30 * DAY,
                liftable: true,
            }),
            "How long it may run; longer ends it. The default is for calls, not for what is spawned.",
            default = "\"30m\""
        ),
        key!(
            "cancel_grace",
            ValueShape::Quantity(&GRACE),
            "How long a tool that speaks a protocol may take to end after it was asked to, or after its last word, before it gets SIGTERM.",
            default = "\"5s\""
        ),
        key!(
            "kill_grace",
            ValueShape::Quantity(&GRACE),
            "How long it may take from SIGTERM to SIGKILL.",
            default = "\"5s\""
        ),
        key!(
            "silence",
            ValueShape::Quantity(&Quantity {
                unit: AmountUnit::Time,
                min: 100,
                max: 30 * DAY,
                liftable: true,
            }),
            "How long a tool of the VFS protocol may say nothing, while nobody owes it an answer, before it counts as hung and is ended.",
            default = "\"60s\""
        ),
        key!(
            "response",
            ValueShape::Quantity(&Quantity {
                unit: AmountUnit::Time,
                min: 100,
                max: DAY,
                liftable: false,
            }),
            "How long a tool of the VFS protocol waits for an answer before it may give its request up; it is told so.",
            default = "\"30s\""
        ),
        key!(
            "message",
            ValueShape::Quantity(&Quantity {
                unit: AmountUnit::Size,
                min: 64 * KIB,
                max: 256 * MIB,
                liftable: false,
            }),
            "The longest message of a tool of the VFS protocol, and the longest answer.",
            default = "\"16MiB\""
        ),
        key!(
            "file",
            ValueShape::Quantity(&Quantity {
                unit: AmountUnit::Size,
                min: KIB,
                max: GIB,
                liftable: false,
            }),
            "The most content of a file in one answer of the VFS protocol; larger files are read in parts.",
            default = "\"10MB\""
        ),
        key!(
            "http_time",
            ValueShape::Quantity(&Quantity {
                unit: AmountUnit::Time,
                min: 100,
                max: DAY,
                liftable: false,
            }),
            "How long one request of `http.get` and `http.post` may take, with all redirects.",
            default = "\"30s\""
        ),
        key!(
            "program_time",
            ValueShape::Quantity(&Quantity {
                unit: AmountUnit::Time,
                min: 100,
                max: 30 * DAY,
                liftable: false,
            }),
            "How long a program of `process.run` may run.",
            default = "\"2m\""
        ),
        key!(
            "frame",
            ValueShape::Quantity(&Quantity {
                unit: AmountUnit::Size,
                min: 8 * KIB,
                max: 256 * MIB,
                liftable: false,
            }),
            "The longest message of a client of `jig proxy`; a longer one ends its connection.",
            default = "\"1MiB\""
        ),
        key!(
            "chunk",
            ValueShape::Quantity(&Quantity {
                unit: AmountUnit::Size,
                min: 4 * KIB,
                max: 512 * KIB,
                liftable: false,
            }),
            "The most bytes that one `read` of a client of `jig proxy` may ask for.",
            default = "\"4KiB\""
        ),
    ],
    foreign: &[
        ("grace", "write `cancel_grace`, or `kill_grace`"),
        ("hang", "write `silence`"),
        ("idle", "write `silence`"),
        ("idle_timeout", "write `silence`"),
        ("message_bytes", "write `message`"),
        ("file_bytes", "write `file`"),
        ("max_frame", "write `frame`"),
        ("max_read", "write `chunk`"),
        ("tasks", "write `processes`"),
        ("threads", "write `processes`, which counts both"),
        ("procs", "write `processes`"),
        ("pids", "write `processes`"),
        ("mem", "write `memory`"),
        ("ram", "write `memory`"),
        ("fsize", "write `file_size`"),
        ("disk_space", "write `disk`"),
        ("inodes", "write `files`"),
        ("fds", "write `descriptors`"),
        ("nofile", "write `descriptors`"),
        ("open_files", "write `descriptors`"),
        ("stdout", "write `output`"),
        ("timeout", "write `time`"),
        ("duration", "write `time`"),
        ("wall_clock", "write `time`"),
        (
            "cpu",
            "remove it: `time` limits how long the tool runs, whatever it does meanwhile",
        ),
    ],
    short: None,
};

/// A grace; 0 means at once.
const GRACE: Quantity = Quantity {
    unit: AmountUnit::Time,
    min: 0,
    max: HOUR,
    liftable: false,
};
