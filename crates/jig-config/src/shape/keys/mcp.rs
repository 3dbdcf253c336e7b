//! How the tools are served over MCP, and the servers whose tools are.

use super::servers::SERVERS;
use crate::shape::quantity::{AmountUnit, DAY, KIB, MIB, Quantity, SECOND};
use crate::shape::{ShapeWord, TableShape, ValueShape, key};

/// `[mcp]`.
pub(crate) static MCP: TableShape = TableShape {
    what: "the MCP server",
    keys: &[
        key!(
            "ask",
            ValueShape::Word(&[
                ShapeWord {
                    name: "both",
                    doc: "The client, by a form, and whoever watches: the first answer counts. Without either, the call is refused at once, and `jig approve` can allow the next one."
                },
                ShapeWord {
                    name: "client",
                    doc: "The client. A call does not wait for anybody else."
                },
                ShapeWord {
                    name: "board",
                    doc: "You, by `jig approve`. The call waits for that, also if nobody watches yet. For clients without a person in front of them."
                },
            ]),
            "Who is asked what a call has to ask. A file of a workspace cannot change `board`.",
            default = "\"both\""
        ),
        key!(
            "approval_wait",
            ValueShape::Quantity(&Quantity {
                unit: AmountUnit::Time,
                min: SECOND,
                max: DAY,
                liftable: false,
            }),
            "How long a call waits for an approval that a person connected to the server may give. A file of a workspace can only shorten it.",
            default = "\"10m\""
        ),
        key!(
            "idle",
            ValueShape::Quantity(&Quantity {
                unit: AmountUnit::Time,
                min: SECOND,
                max: DAY,
                liftable: false,
            }),
            "How long a caller over HTTP may be silent before its turn ends, and with it what was approved for the turn. A file of a workspace can only shorten it.",
            default = "\"30m\""
        ),
        key!(
            "link_above",
            ValueShape::Quantity(&Quantity {
                unit: AmountUnit::Size,
                min: KIB,
                max: 16 * MIB,
                liftable: false,
            }),
            "The size of a text above which a result links to it instead of holding it.",
            default = "\"64KiB\""
        ),
        key!(
            "servers",
            ValueShape::Map(&SERVERS),
            "The MCP servers whose tools are jig's, too, by name."
        ),
    ],
    foreign: &[
        ("server", "write `[mcp.servers.NAME]`"),
        (
            "command",
            "a program belongs to a server: `[mcp.servers.NAME]` with `command`",
        ),
        (
            "url",
            "a URL belongs to a server: `[mcp.servers.NAME]` with `url`",
        ),
        ("timeout", "write `approval_wait`, or `idle`"),
        ("wait", "write `approval_wait`"),
        ("idle_timeout", "write `idle`"),
        (
            "max_output",
            "write `link_above`, or `size_threshold` of a tool",
        ),
        ("http", "pass `--http ADDRESS` to `jig mcp`"),
        ("listen", "pass `--http ADDRESS` to `jig mcp`"),
        ("port", "pass `--http ADDRESS` to `jig mcp`"),
        (
            "token",
            "pass `--token-file FILE` to `jig mcp`, or set `JIG_MCP_TOKEN`",
        ),
    ],
    short: None,
};
