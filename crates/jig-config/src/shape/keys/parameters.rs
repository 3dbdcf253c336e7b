//! Parameters, which contain each other.

use crate::shape::text::{ANY, NOT_EMPTY};
use crate::shape::{List, ListMerge, Map, Shape, Table, Word, key};

pub(super) static PARAMETERS: Map = Map {
    what: "a parameter",
    name: &NOT_EMPTY,
    value: Shape::Table(&PARAMETER),
    special: &[],
};

const JSON_TYPE: Shape = Shape::Word(&[
    Word {
        name: "string",
        doc: "Text.",
    },
    Word {
        name: "number",
        doc: "A number with or without a fraction.",
    },
    Word {
        name: "integer",
        doc: "A number without a fraction.",
    },
    Word {
        name: "boolean",
        doc: "`true` or `false`.",
    },
    Word {
        name: "array",
        doc: "A list.",
    },
    Word {
        name: "object",
        doc: "A table.",
    },
    Word {
        name: "null",
        doc: "Nothing.",
    },
]);

static PARAMETER: Table = Table {
    what: "a parameter",
    keys: &[
        key!(
            "type",
            Shape::Any(&[
                JSON_TYPE,
                Shape::List(&List {
                    item: JSON_TYPE,
                    merge: ListMerge::Replace,
                }),
            ]),
            "The JSON type of the value, or a list of types."
        ),
        key!(
            "enum",
            Shape::List(&List {
                item: Shape::Free,
                merge: ListMerge::Replace,
            }),
            "The values that are allowed."
        ),
        key!(
            "default",
            Shape::Free,
            "The value when the caller gives none."
        ),
        key!(
            "required",
            Shape::Bool,
            "Whether the caller must give a value.",
            default = "false"
        ),
        key!(
            "items",
            Shape::Table(&PARAMETER),
            "What the items of an array look like."
        ),
        key!(
            "properties",
            Shape::Map(&PARAMETERS),
            "What the properties of an object look like."
        ),
        key!(
            "summary",
            Shape::Text(&ANY),
            "One line about the parameter."
        ),
        key!(
            "description",
            Shape::Text(&ANY),
            "What the model is told about the parameter."
        ),
        key!(
            "examples",
            Shape::Free,
            "Examples of values: one, or a list of them."
        ),
    ],
    foreign: &[
        ("desc", "write `description`"),
        (
            "optional",
            "parameters are optional unless `required = true`",
        ),
        ("choices", "write `enum`"),
        ("values", "write `enum`"),
        ("const", "write `enum` with one value"),
        (
            "additionalProperties",
            "leave it out: unknown properties are always refused",
        ),
    ],
    short: None,
};
