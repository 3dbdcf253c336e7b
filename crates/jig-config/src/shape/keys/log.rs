//! The log of what tools did.

use crate::shape::{TableShape, ValueShape, key};

/// `[log]`.
pub(crate) static LOG: TableShape = TableShape {
    what: "the log",
    keys: &[key!(
        "required",
        ValueShape::Bool,
        "Whether nothing runs where the log cannot be written. With `false`, tools run without a log there. Only your own file, `--config` and `--set` can say so, never a file of the workspace.",
        default = "true"
    )],
    foreign: &[
        ("optional", "write `required = false`"),
        ("enable", "write `required = false`"),
        ("enabled", "write `required = false`"),
    ],
    short: None,
};
