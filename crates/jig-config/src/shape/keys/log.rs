//! The log of what tools did.

use crate::shape::{Shape, Table, key};

/// `[log]`.
pub(crate) static LOG: Table = Table {
    what: "the log",
    keys: &[key!(
        "required",
        Shape::Bool,
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
