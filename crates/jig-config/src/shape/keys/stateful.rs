//! What outlives a call: actions, terminals, notices, and who is asked about each action.

use crate::shape::{ListMerge, ListShape, ShapeWord, TableKey, TableShape, ValueShape, key};

pub(super) const STATEFUL: TableKey = key!(
    "stateful",
    ValueShape::Any(&[
        ValueShape::Bool,
        ValueShape::List(&ListShape {
            item: ValueShape::Word(&[
                ShapeWord {
                    name: "spawn",
                    doc: "Start it and return, while it goes on."
                },
                ShapeWord {
                    name: "fetch",
                    doc: "Look at its state and its new output."
                },
                ShapeWord {
                    name: "apply",
                    doc: "Send it input, or the answer to its question."
                },
                ShapeWord {
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

pub(super) const TERMINAL: TableKey = key!(
    "terminal",
    ValueShape::Any(&[
        ValueShape::Bool,
        ValueShape::Table(&TableShape {
            what: "the terminal of a tool",
            keys: &[
                key!(
                    "rows",
                    ValueShape::Int { min: 1, max: 500 },
                    "How many rows it has.",
                    default = "24"
                ),
                key!(
                    "cols",
                    ValueShape::Int { min: 1, max: 1000 },
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

pub(super) const NOTICES: TableKey = key!(
    "notices",
    ValueShape::Any(&[
        ValueShape::Bool,
        ValueShape::List(&ListShape {
            item: ValueShape::Word(&[
                ShapeWord {
                    name: "stopped",
                    doc: "It has ended."
                },
                ShapeWord {
                    name: "waiting",
                    doc: "It asks something."
                },
                ShapeWord {
                    name: "state_stopped",
                    doc: "The same as `stopped`."
                },
                ShapeWord {
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
