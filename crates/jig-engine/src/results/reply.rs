//! [`Reply`]: what a call comes to.

use jig_proto::{Content, HandleReport};
use serde_json::json;

/// What a call comes to.
#[derive(Debug, Clone, PartialEq)]
// Exhaustive: whoever passes replies on must have an answer to each.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one of it for each call"
)]
pub enum Reply {
    /// The result of a tool that ran to its end.
    Content(Content),
    /// Where a tool stands that its caller drives.
    Handle(HandleReport),
    /// Where handles stand that were waited for.
    Awaited(Vec<HandleReport>),
}

impl Reply {
    /// As it is sent to an assistant: reports as JSON text (S-014).
    pub fn into_content(self) -> Content {
        match self {
            Reply::Content(content) => content,
            Reply::Handle(report) => Content::text(report.to_string()),
            Reply::Awaited(reports) => Content::text(json!(reports).to_string()),
        }
    }

    /// The handles that it tells of.
    pub fn reports(&self) -> &[HandleReport] {
        match self {
            Reply::Content(_) => &[],
            Reply::Handle(report) => std::slice::from_ref(report),
            Reply::Awaited(reports) => reports,
        }
    }
}
