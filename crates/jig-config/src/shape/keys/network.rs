//! What all tools share of the network.

use crate::shape::text::RESOLVER;
use crate::shape::{TableShape, ValueShape, key};

/// `[network]`.
pub(crate) static NETWORK: TableShape = TableShape {
    what: "the network of all tools",
    keys: &[key!(
        "resolver",
        ValueShape::Text(&RESOLVER),
        "Who turns the names of hosts into addresses for tools: `system`, or the address of a server, with a port where it is not 53.",
        default = "\"system\""
    )],
    foreign: &[
        ("dns", "write `resolver`"),
        ("nameserver", "write `resolver`"),
        ("nameservers", "write `resolver`, with one address"),
        ("server", "write `resolver`"),
        (
            "allow",
            "hosts are allowed tool by tool: `[[tools.NAME.access.net]]`",
        ),
        (
            "hosts",
            "hosts are allowed tool by tool: `[[tools.NAME.access.net]]`",
        ),
        ("proxy", "write `sandbox.proxy = true` for a tool"),
    ],
    short: None,
};
