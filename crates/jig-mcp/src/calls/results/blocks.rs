//! The blocks of a tool's content as those of a result.

use jig_proto::{Block, Content, Resource, ResourceData, Text};
use rmcp::model::{
    Annotations, AudioContent, ContentBlock, EmbeddedResource, ImageContent, MetaObject,
    ResourceContents, TextContent,
};
use serde_json::{Value, json};

use super::foreign_blocks;
use super::long_texts::Shortener;
use crate::methods::uris;

/// The blocks of a content, in order. Questions are left out: they were asked.
///
/// Once the texts are too large together, all that is left of them is one output.
pub(super) fn content(content: Content, shortener: &mut Shortener<'_>) -> Vec<ContentBlock> {
    let mut blocks = Vec::with_capacity(content.blocks().len());
    let mut rest: Option<(usize, Text)> = None;
    for block in content.into_blocks() {
        match (block, &mut rest) {
            (Block::Text(more), Some((_, rest))) => {
                if !rest.text.ends_with('\n') {
                    rest.text.push('\n');
                }
                rest.text.push_str(&more.text);
            }
            (Block::Text(one), None) => match shortener.fits(one.text.len()) {
                true => blocks.push(text(one)),
                false => rest = Some((blocks.len(), one)),
            },
            (Block::Resource(one), _) => blocks.extend(resource(one, shortener)),
            (Block::Foreign(one), _) => blocks.push(foreign_blocks::block(one, shortener)),
            _ => {}
        }
    }
    if let Some((at, mut large)) = rest {
        large.text = shortener.begin(large.text, large.mime_type.as_deref());
        blocks.insert(at, text(large));
    }
    blocks
}

fn text(block: Text) -> ContentBlock {
    let mut content = TextContent::new(block.text);
    content.annotations = annotations(block.annotations);
    if let Some(mime_type) = block.mime_type {
        let mut meta = MetaObject::new();
        meta.insert("jig/mimeType".to_owned(), json!(mime_type));
        content.meta = Some(meta);
    }
    ContentBlock::Text(content)
}

/// A resource; nothing if its text became an output, whose link is added with the others.
fn resource(block: Resource, shortener: &mut Shortener<'_>) -> Option<ContentBlock> {
    let meta = resource_meta(&block);
    let annotations = annotations(block.annotations);
    let uri = uris::valid(&block.uri);
    let mime_type = block.mime_type;
    let contents = match block.data {
        ResourceData::Text(text) => {
            let text = match shortener.fits(text.len()) {
                true => text,
                false => match shortener.link(text, mime_type.as_deref()) {
                    Ok(()) => return None,
                    Err(text) => text,
                },
            };
            ResourceContents::TextResourceContents {
                uri,
                mime_type,
                text,
                meta: None,
            }
        }
        ResourceData::Blob(base64) => {
            let Some(blob) = base64_of(base64) else {
                let text = format!("[{uri}: the tool sent bytes that are not base64]");
                return Some(ContentBlock::text(text));
            };
            match &mime_type {
                Some(kind) if is_kind(kind, "image/") => {
                    let mut image = ImageContent::new(blob, kind);
                    (image.meta, image.annotations) = (meta, annotations);
                    return Some(ContentBlock::Image(image));
                }
                Some(kind) if is_kind(kind, "audio/") => {
                    let mut audio = AudioContent::new(blob, kind);
                    (audio.meta, audio.annotations) = (meta, annotations);
                    return Some(ContentBlock::Audio(audio));
                }
                _ => ResourceContents::BlobResourceContents {
                    uri,
                    mime_type,
                    blob,
                    meta: None,
                },
            }
        }
    };
    let mut embedded = EmbeddedResource::new(contents);
    (embedded.meta, embedded.annotations) = (meta, annotations);
    Some(ContentBlock::Resource(embedded))
}

fn is_kind(mime_type: &str, kind: &str) -> bool {
    let start = mime_type.get(..kind.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(kind))
}

/// What the protocol has no place for in a resource that is sent with a result.
fn resource_meta(resource: &Resource) -> Option<MetaObject> {
    let words = [
        ("jig/name", &resource.name),
        ("jig/title", &resource.title),
        ("jig/description", &resource.description),
        ("jig/formatted", &resource.formatted),
    ];
    let mut meta = MetaObject::new();
    for (key, word) in words {
        if let Some(word) = word {
            meta.insert(key.to_owned(), json!(word));
        }
    }
    (!meta.is_empty()).then_some(meta)
}

/// Annotations as the protocol has them. What does not fit is left out: a client would refuse all of the
/// result for it.
pub(super) fn annotations(value: Option<Value>) -> Option<Annotations> {
    let annotations: Annotations = serde_json::from_value(value?).ok()?;
    let is_valid = |priority: f32| (0.0..=1.0).contains(&priority);
    let is_empty = annotations == Annotations::default();
    (annotations.priority.is_none_or(is_valid) && !is_empty).then_some(annotations)
}

/// The text, if it is base64; without the line breaks that some programs put into it. Clients refuse all of
/// a result that holds anything else.
pub(super) fn base64_of(text: String) -> Option<String> {
    if is_base64(&text) {
        return Some(text);
    }
    let dense: String = text.split_ascii_whitespace().collect();
    is_base64(&dense).then_some(dense)
}

pub(super) fn is_base64(text: &str) -> bool {
    let digits = text.trim_end_matches('=');
    let padding = text.len() - digits.len();
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    text.len().is_multiple_of(4) && padding <= 2 && digits.bytes().all(is_digit)
}
