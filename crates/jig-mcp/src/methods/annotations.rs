//! What a client is told of a tool's effects: as its policy has them, never as the tool says.

use jig_engine::Effects;
use rmcp::model::ToolAnnotations;

/// The hints for clients. All four are always there: the defaults of the protocol are not those of jig.
pub(crate) fn annotations(title: Option<&str>, effects: Effects) -> ToolAnnotations {
    let Effects {
        read_only,
        destructive,
        idempotent,
        open_world,
        ..
    } = effects;
    ToolAnnotations::from_raw(
        title.map(str::to_owned),
        Some(read_only),
        // What changes nothing destroys nothing, and changes nothing the second time either.
        Some(destructive && !read_only),
        Some(idempotent || read_only),
        Some(open_world),
    )
}
