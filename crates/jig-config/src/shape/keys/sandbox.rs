//! How the operating system confines a tool, and the other spelling of rules.

use super::access::COMMANDS;
use crate::shape::text::{ENV_EXACT, NOT_EMPTY, SENSITIVE, SYSTEM_PATH};
use crate::shape::{Key, List, ListMerge, Shape, Table, Word, key};

pub(super) const SANDBOX: Key = key!(
    "sandbox",
    Shape::Table(&Table {
        what: "the sandbox of a tool",
        keys: &[
            key!(
                "filesystem",
                Shape::Table(&Table {
                    what: "the file access of a sandbox",
                    keys: &[
                        key!(
                            "allow",
                            Shape::List(&List {
                                item: Shape::Text(&NOT_EMPTY),
                                merge: ListMerge::Append,
                            }),
                            "Paths of the workspace that the tool may read.",
                            default = "[\".\"]"
                        ),
                        key!(
                            "writable",
                            Shape::Bool,
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
                }),
                "Another spelling of `access.fs`."
            ),
            key!(
                "network",
                Shape::Table(&Table {
                    what: "the network access of a sandbox",
                    keys: &[
                        key!(
                            "allow",
                            Shape::List(&List {
                                item: Shape::Text(&NOT_EMPTY),
                                merge: ListMerge::Append,
                            }),
                            "URLs that the tool may reach, or bare hosts."
                        ),
                        key!(
                            "envs",
                            Shape::List(&List {
                                item: Shape::Text(&ENV_EXACT),
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
                }),
                "Another spelling of `access.net`, and of `access.env` with `header`."
            ),
            COMMANDS,
            key!(
                "enforce",
                Shape::Word(&[
                    Word {
                        name: "required",
                        doc: "The tool does not start when a rule can't be enforced here.",
                    },
                    Word {
                        name: "best-effort",
                        doc: "It runs with what can be enforced; the rest is reported.",
                    },
                ]),
                "What happens when this machine can't enforce a declared rule.",
                default = "\"required\""
            ),
            key!(
                "system",
                Shape::List(&List {
                    item: Shape::Any(&[
                        Shape::Text(&SYSTEM_PATH),
                        Shape::Table(&Table {
                            what: "a path outside the workspace",
                            keys: &[
                                key!(
                                    "path",
                                    Shape::Text(&SYSTEM_PATH),
                                    "Absolute, or starting with `~/`.",
                                    required
                                ),
                                key!(
                                    "write",
                                    Shape::Bool,
                                    "Whether it may be changed.",
                                    default = "false"
                                ),
                                key!(
                                    "execute",
                                    Shape::Bool,
                                    "Whether programs there may run.",
                                    default = "false"
                                ),
                            ],
                            foreign: &[
                                ("read", "leave it out: a listed path can always be read"),
                                ("writable", "write `write`"),
                                ("exec", "write `execute`"),
                            ],
                        }),
                    ]),
                    merge: ListMerge::Append,
                }),
                "Paths outside the workspace that the tool may read: toolchains, caches."
            ),
            key!(
                "sensitive_paths",
                Shape::List(&List {
                    item: Shape::Text(&SENSITIVE),
                    merge: ListMerge::Append,
                }),
                "Patterns that extend the list of paths which only a rule that names them covers."
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
        ],
    }),
    "How the operating system confines the tool."
);
