//! The small settings of a tool.

use super::access::TEXTS;
use crate::shape::quantity::{GIB, KIB, Quantity, Unit};
use crate::shape::text::{ANY, NOT_EMPTY};
use crate::shape::{Key, List, ListMerge, Map, Shape, Table, Word, key};

pub(super) const ENABLE: Key = key!(
    "enable",
    Shape::Any(&[
        Shape::Bool,
        Shape::Word(&[
            Word {
                name: "on",
                doc: "Offered; the same as `true`."
            },
            Word {
                name: "off",
                doc: "Not offered; the same as `false`."
            },
            Word {
                name: "always",
                doc: "Offered, and nothing switches it off."
            },
            Word {
                name: "explicit",
                doc: "Not offered until a request names it."
            },
        ]),
        Shape::Table(&Table {
            what: "the state of a tool",
            keys: &[
                key!(
                    "state",
                    Shape::Any(&[
                        Shape::Bool,
                        Shape::Word(&[
                            Word {
                                name: "on",
                                doc: "Offered."
                            },
                            Word {
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
                    Shape::Word(&[
                        Word {
                            name: "any",
                            doc: "Any request switches it."
                        },
                        Word {
                            name: "never",
                            doc: "Nothing switches it."
                        },
                        Word {
                            name: "if_named",
                            doc: "A request that names the tool."
                        },
                        Word {
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

pub(super) static COMMAND_TABLE: Table = Table {
    what: "a command",
    keys: &[
        key!(
            "program",
            Shape::Text(&NOT_EMPTY),
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
            Shape::Bool,
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

pub(super) const REPEATABLE: Key = key!(
    "repeatable",
    Shape::Bool,
    "Whether running it twice does no harm: a call that failed is then run again, watched, to say what it was refused.",
    default = "false"
);

pub(super) const OVERLAY: Key = key!(
    "overlay",
    Shape::Word(&[
        Word {
            name: "ask",
            doc: "Somebody sees the changes after the call, and says whether they are made."
        },
        Word {
            name: "apply",
            doc: "They are made when the call succeeded, and forgotten when it failed."
        },
        Word {
            name: "discard",
            doc: "They are forgotten."
        },
    ]),
    "Lets the tool write to a layer over the workspace instead of the workspace, and says what becomes of it."
);

pub(super) const RUNTIME: Key = key!(
    "runtime",
    Shape::Word(&[
        Word {
            name: "stdio",
            doc: "A subprocess that the operating system confines."
        },
        Word {
            name: "vfs",
            doc: "A subprocess that asks jig for everything it needs."
        },
        Word {
            name: "wasm",
            doc: "A Wasm component."
        },
        Word {
            name: "builtin",
            doc: "Code inside jig; for its predefined tools."
        },
    ]),
    "How a local tool runs. Without it: `wasm` for a component, else `stdio`."
);

pub(super) const INPUT: Key = key!(
    "input",
    Shape::Word(&[
        Word {
            name: "argv",
            doc: "In the words of `command`, through its templates. One word holds at most 128 KiB."
        },
        Word {
            name: "stdin",
            doc: "As one line of JSON, `{\"context\":…,\"tool\":…}`, on standard input."
        },
        Word {
            name: "file",
            doc: "As the same JSON in a file that only the tool sees; `JIG_INPUT` names it."
        },
    ]),
    "How a call reaches a tool of runtime `stdio`.",
    default = "\"argv\""
);

pub(super) const SIZE_THRESHOLD: Key = key!(
    "size_threshold",
    Shape::Quantity(&Quantity {
        unit: Unit::Size,
        min: KIB,
        max: GIB,
        liftable: false,
    }),
    "The most of a result that is passed on; the rest is cut off, and the result says so."
);

pub(super) const RESULT: Key = key!(
    "result",
    Shape::Word(&[
        Word {
            name: "unattended",
            doc: "The model gets it at once."
        },
        Word {
            name: "ask",
            doc: "Somebody approves every result."
        },
        Word {
            name: "edit",
            doc: "Somebody may change the result first."
        },
        Word {
            name: "skip",
            doc: "The model does not get it."
        },
    ]),
    "Whether somebody is asked before the model gets the result.",
    default = "\"unattended\""
);

pub(super) const FORMAT: Key = key!(
    "format",
    Shape::Word(&[
        Word {
            name: "ask",
            doc: "Somebody approves it."
        },
        Word {
            name: "unattended",
            doc: "It happens at once."
        },
    ]),
    "Whether somebody is asked before the tool formats its arguments. Without it: as `run` says."
);

pub(super) const QUESTIONS: Key = key!(
    "questions",
    Shape::Map(&Map {
        what: "a question",
        name: &NOT_EMPTY,
        value: Shape::Table(&Table {
            what: "a question",
            keys: &[
                key!(
                    "target",
                    Shape::Word(&[
                        Word {
                            name: "user",
                            doc: "The person at the terminal."
                        },
                        Word {
                            name: "assistant",
                            doc: "The model."
                        },
                    ]),
                    "Who answers the question.",
                    default = "\"user\""
                ),
                key!(
                    "answer",
                    Shape::Free,
                    "The answer, known in advance: nobody is asked."
                ),
                key!(
                    "remember",
                    Shape::Bool,
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

pub(super) const OPTIONS: Key = key!(
    "options",
    Shape::FreeTable,
    "Settings that reach the tool and stay invisible to the model."
);

pub(super) const STYLE: Key = key!(
    "style",
    Shape::FreeTable,
    "How JP displays the tool; jig keeps it as it is."
);

pub(super) const ON_UNCOVERED: Key = key!(
    "on_uncovered",
    Shape::Word(&[
        Word {
            name: "ask",
            doc: "Somebody is asked; denied where nobody can answer."
        },
        Word {
            name: "deny",
            doc: "The request is denied."
        },
    ]),
    "What happens when no rule covers a request of the tool.",
    default = "\"ask\""
);

pub(super) const EXAMPLES: Shape = Shape::Any(&[
    Shape::Text(&ANY),
    Shape::List(&List {
        item: Shape::Text(&ANY),
        merge: ListMerge::Replace,
    }),
]);
