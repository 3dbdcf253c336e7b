//! The rules: files, hosts, variables, programs.

use crate::shape::text::{ANY, ENV_EXACT, ENV_NAME, NOT_EMPTY};
use crate::shape::{ListMerge, ListShape, MapShape, TableKey, TableShape, ValueShape, key};

pub(super) const ACCESS: TableKey = key!(
    "access",
    ValueShape::Table(&TableShape {
        what: "the rules of a tool",
        keys: &[
            key!(
                "fs",
                ValueShape::List(&ListShape {
                    item: ValueShape::Table(&FS_RULE),
                    merge: ListMerge::Append,
                }),
                "Rules on the files of the workspace. One rule makes every other path uncovered."
            ),
            key!(
                "net",
                ValueShape::List(&ListShape {
                    item: ValueShape::Table(&NET_RULE),
                    merge: ListMerge::Append,
                }),
                "Rules on hosts. One rule makes every other host uncovered."
            ),
            key!(
                "env",
                ValueShape::List(&ListShape {
                    item: ValueShape::Table(&ENV_RULE),
                    merge: ListMerge::Append,
                }),
                "Rules on variables of the host's environment."
            ),
            COMMANDS,
        ],
        foreign: &[
            ("filesystem", "write `fs`"),
            ("files", "write `fs`"),
            ("paths", "write `fs`"),
            ("network", "write `net`"),
            ("http", "write `net`"),
            ("hosts", "write `net`"),
            ("environment", "write `env`"),
            ("envs", "write `env`"),
            ("process", "write `commands`"),
            ("exec", "write `commands`"),
            ("command", "write `commands`"),
        ],
        short: None,
    }),
    "The rules: what the tool may read, write, run and reach."
);

static FS_RULE: TableShape = TableShape {
    what: "a rule on files",
    keys: &[
        key!(
            "path",
            ValueShape::Text(&NOT_EMPTY),
            "A path of the workspace and everything below it; literal, `.` is the workspace.",
            required
        ),
        key!(
            "read",
            ValueShape::Bool,
            "Read contents, list entries.",
            default = "false"
        ),
        key!(
            "write",
            ValueShape::Bool,
            "Stands for `create`, `update` and `delete` together.",
            default = "false"
        ),
        key!(
            "create",
            ValueShape::Bool,
            "Make new files and directories; wins over `write`."
        ),
        key!(
            "update",
            ValueShape::Bool,
            "Change what exists; wins over `write`."
        ),
        key!(
            "delete",
            ValueShape::Bool,
            "Remove, or move away; wins over `write`."
        ),
        key!(
            "execute",
            ValueShape::Bool,
            "Run as a program.",
            default = "false"
        ),
        key!(
            "external",
            ValueShape::Bool,
            "Only `false` is allowed: paths outside the workspace belong in `sandbox.system`.",
            default = "false"
        ),
    ],
    foreign: &[
        ("paths", "write one rule per `path`"),
        (
            "glob",
            "write `path`: rules name a path and everything below it, without wildcards",
        ),
        (
            "pattern",
            "write `path`: rules name a path and everything below it, without wildcards",
        ),
        ("exec", "write `execute`"),
        ("modify", "write `update`"),
        ("edit", "write `update`"),
        ("remove", "write `delete`"),
        ("list", "write `read`"),
        ("writable", "write `write`"),
        (
            "allow",
            "name the capabilities: `read`, `write`, `create`, `update`, `delete`, `execute`",
        ),
        (
            "deny",
            "leave the capabilities out: a rule with only a `path` denies everything below it",
        ),
    ],
    short: None,
};

static NET_RULE: TableShape = TableShape {
    what: "a rule on hosts",
    keys: &[
        key!(
            "host",
            ValueShape::Text(&NOT_EMPTY),
            "A host name or an address; `*.example.com` for all names below one, `*` for all public hosts.",
            required
        ),
        key!(
            "scheme",
            ValueShape::Text(&NOT_EMPTY),
            "Only this scheme, such as `https`."
        ),
        key!(
            "port",
            ValueShape::Int { min: 1, max: 65535 },
            "Only this port; without it the scheme's own."
        ),
        key!(
            "path_prefix",
            ValueShape::Text(&NOT_EMPTY),
            "Only URLs whose path starts with these segments."
        ),
        key!(
            "methods",
            ValueShape::List(&METHODS),
            "Only requests with these methods, such as `[\"GET\", \"HEAD\"]`; without it all of them."
        ),
        key!(
            "allow",
            ValueShape::Bool,
            "Whether matching requests are allowed.",
            default = "false"
        ),
    ],
    foreign: &[
        (
            "url",
            "write `host`, and `scheme`, `port` or `path_prefix` where needed",
        ),
        ("hostname", "write `host`"),
        ("domain", "write `host`"),
        ("hosts", "write one rule per `host`"),
        ("ports", "write one rule per `port`"),
        ("protocol", "write `scheme`"),
        ("path", "write `path_prefix`"),
        ("method", "write `methods`"),
        ("prefix", "write `path_prefix`"),
        ("deny", "write `allow = false`"),
        ("read", "write `allow = true`"),
    ],
    short: None,
};

static METHODS: ListShape = ListShape {
    item: ValueShape::Text(&NOT_EMPTY),
    merge: ListMerge::Replace,
};

static ENV_RULE: TableShape = TableShape {
    what: "a rule on variables",
    keys: &[
        key!(
            "name",
            ValueShape::Text(&ENV_NAME),
            "The name of a variable, or a prefix followed by one `*`.",
            required
        ),
        key!(
            "read",
            ValueShape::Bool,
            "Whether the tool gets the value.",
            default = "false"
        ),
        key!(
            "header",
            ValueShape::Bool,
            "Whether jig may put the value into a request header for the tool, which never sees it.",
            default = "false"
        ),
    ],
    foreign: &[
        ("names", "write one rule per `name`"),
        ("key", "write `name`"),
        ("var", "write `name`"),
        ("variable", "write `name`"),
        (
            "value",
            "leave it out: the value comes from the host's environment",
        ),
        ("allow", "write `read = true`"),
        ("deny", "write `read = false`"),
    ],
    short: None,
};

pub(super) const COMMANDS: TableKey = key!(
    "commands",
    ValueShape::Map(&MapShape {
        what: "a program",
        name: &NOT_EMPTY,
        value: ValueShape::Table(&TableShape {
            what: "a rule on a program",
            keys: &[
                key!(
                    "args",
                    ValueShape::List(&ListShape {
                        item: TEXTS,
                        merge: ListMerge::Replace,
                    }),
                    "The argument lists that are allowed; `**` at the end of one stands for any \
                     rest. Without it: any arguments."
                ),
                key!(
                    "envs",
                    ValueShape::List(&ListShape {
                        item: ValueShape::Text(&ENV_EXACT),
                        merge: ListMerge::Replace,
                    }),
                    "The variables of the host that the program is given.",
                    default = "[]"
                ),
            ],
            foreign: &[
                ("arguments", "write `args`"),
                ("env", "write `envs`"),
                ("allow", "leave it out: a program that is listed is allowed"),
                ("subcommands", "write `args = [[\"SUBCOMMAND\", \"**\"]]`"),
            ],
            short: None,
        }),
        special: &[],
    }),
    "The programs that the tool may have run, by name. A program that is not listed is uncovered."
);

pub(super) const TEXTS: ValueShape = ValueShape::List(&ListShape {
    item: ValueShape::Text(&ANY),
    merge: ListMerge::Replace,
});
