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
