//! The small settings of a tool.

use super::access::TEXTS;
use crate::shape::quantity::{AmountUnit, GIB, KIB, Quantity};
use crate::shape::text::{ANY, NOT_EMPTY};
use crate::shape::{
    ListMerge, ListShape, MapShape, ShapeWord, TableKey, TableShape, ValueShape, key,
};

pub(super) const ENABLE: TableKey = key!(
    "enable",
    ValueShape::Any(&[
        ValueShape::Bool,
        ValueShape::Word(&[
            ShapeWord {
                name: "on",
                doc: "Offered; the same as `true`."
            },
            ShapeWord {
                name: "off",
                doc: "Not offered; the same as `false`."
            },
            ShapeWord {
                name: "always",
                doc: "Offered, and nothing switches it off."
            },
            ShapeWord {
                name: "explicit",
                doc: "Not offered until a request names it."
            },
        ]),
        ValueShape::Table(&TableShape {
            what: "the state of a tool",
            keys: &[
                key!(
                    "state",
                    ValueShape::Any(&[
                        ValueShape::Bool,
                        ValueShape::Word(&[
                            ShapeWord {
                                name: "on",
                                doc: "Offered."
                            },
                            ShapeWord {
                                name: "off",
                                doc: "Not offered."
                            },
                        ]),
                    ]),
                    "Whether the tool is offered.",
                    default = "true"
                ),
                key!(
                    "allow_toggle",
                    ValueShape::Word(&[
                        ShapeWord {
                            name: "any",
                            doc: "Any request switches it."
                        },
                        ShapeWord {
                            name: "never",
                            doc: "Nothing switches it."
                        },
                        ShapeWord {
                            name: "if_named",
                            doc: "A request that names the tool."
                        },
                        ShapeWord {
                            name: "if_named_or_group",
                            doc: "A request that names the tool or its group.",
                        },
                    ]),
                    "What may switch the tool during a conversation.",
                    default = "\"any\""
                ),
            ],
            foreign: &[("on", "write `state`"), ("enabled", "write `state`")],
            short: None,
        }),
    ]),
    "Whether the tool is offered to the model.",
    default = "true"
);

pub(super) static COMMAND_TABLE: TableShape = TableShape {
    what: "a command",
    keys: &[
        key!(
            "program",
            ValueShape::Text(&NOT_EMPTY),
            "The program: a name on the search path, or a path from the workspace."
        ),
        key!(
            "args",
            TEXTS,
            "Its arguments, each a template.",
            default = "[]"
        ),
        key!(
            "shell",
            ValueShape::Bool,
            "Whether `sh -c` runs the program and its quoted arguments as one line.",
            default = "false"
        ),
    ],
    foreign: &[
        ("command", "write `program`"),
        ("arguments", "write `args`"),
        ("env", "variables are granted by `access.env`"),
        ("cwd", "tools run in the workspace's directory"),
    ],
    short: None,
};

pub(super) const REPEATABLE: TableKey = key!(
    "repeatable",
    ValueShape::Bool,
    "Whether running it twice does no harm: a call that failed is then run again, watched, to say what it was refused.",
    default = "false"
);

pub(super) const OVERLAY: TableKey = key!(
    "overlay",
    ValueShape::Word(&[
        ShapeWord {
            name: "ask",
            doc: "Somebody sees the changes after the call, and says whether they are made."
        },
        ShapeWord {
            name: "apply",
            doc: "They are made when the call succeeded, and forgotten when it failed."
        },
        ShapeWord {
            name: "discard",
            doc: "They are forgotten."
        },
    ]),
    "Lets the tool write to a layer over the workspace instead of the workspace, and says what becomes of it."
);

pub(super) const RUNTIME: TableKey = key!(
    "runtime",
    ValueShape::Word(&[
        ShapeWord {
            name: "stdio",
            doc: "A subprocess that the operating system confines."
        },
        ShapeWord {
            name: "vfs",
            doc: "A subprocess that asks jig for everything it needs."
        },
        ShapeWord {
            name: "wasm",
            doc: "A Wasm component."
        },
        ShapeWord {
            name: "builtin",
            doc: "Code inside jig; for its predefined tools."
        },
    ]),
    "How a local tool runs. Without it: `wasm` for a component, else `stdio`."
);

pub(super) const INPUT: TableKey = key!(
    "input",
    ValueShape::Word(&[
        ShapeWord {
            name: "argv",
            doc: "In the words of `command`, through its templates. One word holds at most 128 KiB."
        },
        ShapeWord {
            name: "stdin",
            doc: "As one line of JSON, `{\"context\":…,\"tool\":…}`, on standard input."
        },
        ShapeWord {
            name: "file",
            doc: "As the same JSON in a file that only the tool sees; `JIG_INPUT` names it."
        },
    ]),
    "How a call reaches a tool of runtime `stdio`.",
    default = "\"argv\""
);

pub(super) const SIZE_THRESHOLD: TableKey = key!(
    "size_threshold",
    ValueShape::Quantity(&Quantity {
        unit: AmountUnit::Size,
        min: KIB,
        max: GIB,
        liftable: false,
    }),
    "The most of a result that is passed on; the rest is cut off, and the result says so."
);

pub(super) const RESULT: TableKey = key!(
    "result",
    ValueShape::Word(&[
        ShapeWord {
            name: "unattended",
            doc: "The model gets it at once."
        },
        ShapeWord {
            name: "ask",
            doc: "Somebody approves every result."
        },
        ShapeWord {
            name: "edit",
            doc: "Somebody may change the result first."
        },
        ShapeWord {
            name: "skip",
            doc: "The model does not get it."
        },
    ]),
    "Whether somebody is asked before the model gets the result.",
    default = "\"unattended\""
);

pub(super) const FORMAT: TableKey = key!(
    "format",
    ValueShape::Word(&[
        ShapeWord {
            name: "ask",
            doc: "Somebody approves it."
        },
        ShapeWord {
            name: "unattended",
            doc: "It happens at once."
        },
    ]),
    "Whether somebody is asked before the tool formats its arguments. Without it: as `run` says."
);

pub(super) const QUESTIONS: TableKey = key!(
    "questions",
    ValueShape::Map(&MapShape {
        what: "a question",
        name: &NOT_EMPTY,
        value: ValueShape::Table(&TableShape {
            what: "a question",
            keys: &[
                key!(
                    "target",
                    ValueShape::Word(&[
                        ShapeWord {
                            name: "user",
                            doc: "The person at the terminal."
                        },
                        ShapeWord {
                            name: "assistant",
                            doc: "The model."
                        },
                    ]),
                    "Who answers the question.",
                    default = "\"user\""
                ),
                key!(
                    "answer",
                    ValueShape::Free,
                    "The answer, known in advance: nobody is asked."
                ),
                key!(
                    "remember",
                    ValueShape::Bool,
                    "Whether the answer also holds for later calls of the same turn.",
                    default = "false"
                ),
            ],
            foreign: &[
                ("default", "write `answer`"),
                ("who", "write `target`"),
                ("once", "write `remember = true`"),
            ],
            short: None,
        }),
        special: &[],
    }),
    "How the questions of the tool are answered, by their id."
);

pub(super) const OPTIONS: TableKey = key!(
    "options",
    ValueShape::FreeTable,
    "Settings that reach the tool and stay invisible to the model."
);

pub(super) const STYLE: TableKey = key!(
    "style",
    ValueShape::FreeTable,
    "How JP displays the tool; jig keeps it as it is."
);

pub(super) const ON_UNCOVERED: TableKey = key!(
    "on_uncovered",
    ValueShape::Word(&[
        ShapeWord {
            name: "ask",
            doc: "Somebody is asked; denied where nobody can answer."
        },
        ShapeWord {
            name: "deny",
            doc: "The request is denied."
        },
    ]),
    "What happens when no rule covers a request of the tool.",
    default = "\"ask\""
);

pub(super) const EXAMPLES: ValueShape = ValueShape::Any(&[
    ValueShape::Text(&ANY),
    ValueShape::List(&ListShape {
        item: ValueShape::Text(&ANY),
        merge: ListMerge::Replace,
    }),
]);
