//! Results for clients that don't know all kinds of content.

use rmcp::model::{CallToolResponse, ContentBlock, ProtocolVersion};

/// The response as a client of this version of the protocol can read it: one refuses all of a result that
/// holds a kind of content which came later.
pub(crate) fn for_version(
    mut response: CallToolResponse,
    version: Option<&ProtocolVersion>,
) -> CallToolResponse {
    if let (CallToolResponse::Complete(result), Some(version)) = (&mut response, version) {
        // Earlier it was an object, if it was there at all.
        let is_early = version.as_str() < ProtocolVersion::V_2026_07_28.as_str();
        if is_early {
            result.structured_content.take_if(|said| !said.is_object());
        }
        for block in &mut result.content {
            if let Some(text) = in_words(block, version) {
                *block = ContentBlock::text(text);
            }
        }
    }
    response
}

/// What stands for a block that the version does not have.
fn in_words(block: &ContentBlock, version: &ProtocolVersion) -> Option<String> {
    // Versions are dates, which are in order as texts.
    let is_before = |other: ProtocolVersion| version.as_str() < other.as_str();
    match block {
        ContentBlock::ResourceLink(link) if is_before(ProtocolVersion::V_2025_06_18) => {
            let about = link.description.as_deref().unwrap_or_default();
            Some(format!("[resource {}: {about}]", link.uri))
        }
        ContentBlock::Audio(audio) if is_before(ProtocolVersion::V_2025_03_26) => Some(format!(
            "[{}, which this client cannot take]",
            audio.mime_type
        )),
        _ => None,
    }
}
