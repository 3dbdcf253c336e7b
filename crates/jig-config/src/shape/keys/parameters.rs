//! Parameters, which contain each other.

use crate::shape::text::{ANY, NOT_EMPTY};
use crate::shape::{ListMerge, ListShape, MapShape, ShapeWord, TableShape, ValueShape, key};

pub(super) static PARAMETERS: MapShape = MapShape {
    what: "a parameter",
    name: &NOT_EMPTY,
    value: ValueShape::Table(&PARAMETER),
    special: &[],
};

const JSON_TYPE: ValueShape = ValueShape::Word(&[
    ShapeWord {
        name: "string",
        doc: "Text.",
    },
    ShapeWord {
        name: "number",
        doc: "A number with or without a fraction.",
    },
    ShapeWord {
        name: "integer",
        doc: "A number without a fraction.",
    },
    ShapeWord {
        name: "boolean",
        doc: "`true` or `false`.",
    },
    ShapeWord {
        name: "array",
        doc: "A list.",
    },
    ShapeWord {
        name: "object",
        doc: "A table.",
    },
    ShapeWord {
        name: "null",
        doc: "Nothing.",
    },
]);

static PARAMETER: TableShape = TableShape {
    what: "a parameter",
    keys: &[
        key!(
            "type",
            ValueShape::Any(&[
                JSON_TYPE,
                ValueShape::List(&ListShape {
                    item: JSON_TYPE,
                    merge: ListMerge::Replace,
                }),
            ]),
            "The JSON type of the value, or a list of types."
        ),
        key!(
            "enum",
            ValueShape::List(&ListShape {
                item: ValueShape::Free,
                merge: ListMerge::Replace,
            }),
            "The values that are allowed."
        ),
        key!(
            "default",
            ValueShape::Free,
            "The value when the caller gives none."
        ),
        key!(
            "required",
            ValueShape::Bool,
            "Whether the caller must give a value.",
            default = "false"
        ),
        key!(
            "items",
            ValueShape::Table(&PARAMETER),
            "What the items of an array look like."
        ),
        key!(
            "properties",
            ValueShape::Map(&PARAMETERS),
            "What the properties of an object look like."
        ),
        key!(
            "summary",
            ValueShape::Text(&ANY),
            "One line about the parameter."
        ),
        key!(
            "description",
            ValueShape::Text(&ANY),
            "What the model is told about the parameter."
        ),
        key!(
            "examples",
            ValueShape::Free,
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
