//! Whether somebody is asked before a tool runs.

use crate::shape::text::{POINTER, PREFIX};
use crate::shape::{ListMerge, ListShape, ShapeWord, TableKey, TableShape, ValueShape, key};

pub(super) const RUN: TableKey = key!(
    "run",
    ValueShape::Any(&[MODE, RULES, ValueShape::Table(&RUN_TABLE)]),
    "Whether somebody is asked before the tool runs. A word is about starting it; a list has rules on \
     the arguments, of which the first that matches decides; a table has a word or a list for each action.",
    default = "\"ask\""
);

const MODE_OR_RULES: ValueShape = ValueShape::Any(&[MODE, RULES]);

const MODE: ValueShape = ValueShape::Word(&[
    ShapeWord {
        name: "ask",
        doc: "Somebody approves every call.",
    },
    ShapeWord {
        name: "unattended",
        doc: "It runs at once.",
    },
    ShapeWord {
        name: "edit",
        doc: "Somebody may change the arguments first.",
    },
    ShapeWord {
        name: "skip",
        doc: "It does not run; the model is told so.",
    },
]);

const RULES: ValueShape = ValueShape::List(&ListShape {
    item: ValueShape::Table(&RULE),
    merge: ListMerge::Replace,
});

static RUN_TABLE: TableShape = TableShape {
    what: "the approval of actions",
    keys: &[
        key!(
            "spawn",
            MODE_OR_RULES,
            "Before the tool is started, or called without an action.",
            default = "\"ask\""
        ),
        key!(
            "fetch",
            MODE_OR_RULES,
            "Before the model gets its state and output.",
            default = "\"unattended\""
        ),
        key!(
            "apply",
            MODE_OR_RULES,
            "Before input reaches it.",
            default = "\"unattended\""
        ),
        key!(
            "abort",
            MODE_OR_RULES,
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

static RULE: TableShape = TableShape {
    what: "a run rule",
    keys: &[
        ARG,
        EQUALS,
        PREFIX_KEY,
        ONE_OF,
        PRESENT,
        key!(
            "all",
            ValueShape::List(&ListShape {
                item: ValueShape::Table(&CONDITION),
                merge: ListMerge::Replace,
            }),
            "Several conditions, which must all hold."
        ),
        key!(
            "mode",
            MODE,
            "What holds for a call that the rule matches.",
            required
        ),
    ],
    foreign: FOREIGN,
    short: None,
};

static CONDITION: TableShape = TableShape {
    what: "a condition of a run rule",
    keys: &[ARG, EQUALS, PREFIX_KEY, ONE_OF, PRESENT],
    foreign: FOREIGN,
    short: None,
};

const ARG: TableKey = key!(
    "arg",
    ValueShape::Text(&POINTER),
    "The argument that the rule is about, as a JSON Pointer: `/path`. A rule without one is for every call."
);

const EQUALS: TableKey = key!("equals", ValueShape::Free, "The argument is this value.");

const PREFIX_KEY: TableKey = key!(
    "prefix",
    ValueShape::Text(&PREFIX),
    "The argument is a text that begins so, or a list of such texts. For a directory it ends with a slash; no spelling of a path gets around it."
);

const ONE_OF: TableKey = key!(
    "one_of",
    ValueShape::List(&ListShape {
        item: ValueShape::Free,
        merge: ListMerge::Replace,
    }),
    "The argument is one of these values."
);

const PRESENT: TableKey = key!(
    "present",
    ValueShape::Bool,
    "Whether the argument was given, or has a default."
);

const FOREIGN: &[(&str, &str)] = &[
    ("argument", "write `arg`"),
    ("param", "write `arg`"),
    ("parameter", "write `arg`"),
    (
        "path",
        "write `arg = \"/path\"` for the argument of that name",
    ),
    ("pointer", "write `arg`"),
    ("run", "write `mode`"),
    (
        "action",
        "write `mode`; for rules on other actions write `run = { apply = [{ … }] }`",
    ),
    ("starts_with", "write `prefix`"),
    ("startswith", "write `prefix`"),
    ("begins_with", "write `prefix`"),
    ("is", "write `equals`"),
    ("eq", "write `equals`"),
    ("value", "write `equals`"),
    ("const", "write `equals`"),
    ("in", "write `one_of`"),
    ("enum", "write `one_of`"),
    ("values", "write `one_of`"),
    ("exists", "write `present`"),
    ("given", "write `present`"),
    ("missing", "write `present = false`"),
    (
        "when",
        "write the condition into the rule: `{ arg = \"/path\", prefix = \"src/\", mode = \"ask\" }`",
    ),
    (
        "if",
        "write the condition into the rule: `{ arg = \"/path\", prefix = \"src/\", mode = \"ask\" }`",
    ),
    ("and", "write `all`"),
    ("any", "write one rule for each condition"),
    ("or", "write one rule for each condition"),
    (
        "not",
        "put a rule that matches the opposite before this one: the first that matches decides",
    ),
    (
        "matches",
        "there are no patterns: write `prefix`, or `one_of` with every value",
    ),
    (
        "regex",
        "there are no patterns: write `prefix`, or `one_of` with every value",
    ),
    (
        "pattern",
        "there are no patterns: write `prefix`, or `one_of` with every value",
    ),
    (
        "glob",
        "there are no patterns: write `prefix`, or `one_of` with every value",
    ),
    (
        "suffix",
        "there are no suffixes: write `prefix`, or `one_of` with every value",
    ),
];
