//! What outlives a call: actions, terminals, notices, and who is asked about each action.

use crate::shape::{Key, List, ListMerge, Shape, Table, Word, key};

pub(super) const STATEFUL: Key = key!(
    "stateful",
    Shape::Any(&[
        Shape::Bool,
        Shape::List(&List {
            item: Shape::Word(&[
                Word {
                    name: "spawn",
                    doc: "Start it and return, while it goes on."
                },
                Word {
                    name: "fetch",
                    doc: "Look at its state and its new output."
                },
                Word {
                    name: "apply",
                    doc: "Send it input, or the answer to its question."
                },
                Word {
                    name: "abort",
                    doc: "Stop it."
                },
            ]),
            merge: ListMerge::Replace,
        }),
    ]),
    "Whether the tool can be kept running between calls: `true` for all four actions, or those that \
     it has, `spawn` among them. Without it: as the `enum` of a parameter `action` says, else `false`."
);

pub(super) const TERMINAL: Key = key!(
    "terminal",
    Shape::Any(&[
        Shape::Bool,
        Shape::Table(&Table {
            what: "the terminal of a tool",
            keys: &[
                key!(
                    "rows",
                    Shape::Int { min: 1, max: 500 },
                    "How many rows it has.",
                    default = "24"
                ),
                key!(
                    "cols",
                    Shape::Int { min: 1, max: 1000 },
                    "How many columns it has.",
                    default = "80"
                ),
            ],
            foreign: &[
                ("columns", "write `cols`"),
                ("width", "write `cols`"),
                ("height", "write `rows`"),
                ("lines", "write `rows`"),
                ("size", "write `rows` and `cols`"),
            ],
            short: None,
        }),
    ]),
    "Whether a tool of runtime `stdio` runs on a terminal of its own, for programs that draw on the \
     screen or refuse to work without one.",
    default = "false"
);

pub(super) const NOTICES: Key = key!(
    "notices",
    Shape::Any(&[
        Shape::Bool,
        Shape::List(&List {
            item: Shape::Word(&[
                Word {
                    name: "stopped",
                    doc: "It has ended."
                },
                Word {
                    name: "waiting",
                    doc: "It asks something."
                },
                Word {
                    name: "state_stopped",
                    doc: "The same as `stopped`."
                },
                Word {
                    name: "state_waiting",
                    doc: "The same as `waiting`."
                },
            ]),
            merge: ListMerge::Replace,
        }),
    ]),
    "What the model is told about a running tool with the next answer to any call, without asking.",
    default = "true"
);

const MODE: Shape = Shape::Word(&[
    Word {
        name: "ask",
        doc: "Somebody approves every call.",
    },
    Word {
        name: "unattended",
        doc: "It runs at once.",
    },
    Word {
        name: "edit",
        doc: "Somebody may change the arguments first.",
    },
    Word {
        name: "skip",
        doc: "It does not run; the model is told so.",
    },
]);

pub(super) const RUN: Key = key!(
    "run",
    Shape::Any(&[MODE, Shape::Table(&RUN_TABLE)]),
    "Whether somebody is asked before the tool runs. A word is about starting it; a table has a word \
     for each action.",
    default = "\"ask\""
);

static RUN_TABLE: Table = Table {
    what: "the approval of actions",
    keys: &[
        key!(
            "spawn",
            MODE,
            "Before the tool is started, or called without an action.",
            default = "\"ask\""
        ),
        key!(
            "fetch",
            MODE,
            "Before the model gets its state and output.",
            default = "\"unattended\""
        ),
        key!(
            "apply",
            MODE,
            "Before input reaches it.",
            default = "\"unattended\""
        ),
        key!(
            "abort",
            MODE,
            "Before it is stopped.",
            default = "\"unattended\""
        ),
    ],
    foreign: &[
        ("start", "write `spawn`"),
        ("call", "write `spawn`, which is also about plain calls"),
        ("default", "write `spawn`, which is also about plain calls"),
        ("read", "write `fetch`"),
        ("poll", "write `fetch`"),
        ("write", "write `apply`"),
        ("input", "write `apply`"),
        ("send", "write `apply`"),
        ("stop", "write `abort`"),
        ("kill", "write `abort`"),
    ],
    short: Some("spawn"),
};
