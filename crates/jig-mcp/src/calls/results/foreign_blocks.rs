//! The blocks of servers behind jig: passed on as they came.
//!
//! A client refuses all of a result for one block that it cannot read, and the results of every server come out
//! of this one. So each block is read as a client would read it. What is odd about it is left out, and what
//! cannot be read at all is told in words.

use jig_proto::{Block, ToolState};
use rmcp::model::{ContentBlock, MetaObject};
use serde::Deserialize as _;
use serde_json::{Map, Value};

use super::blocks::{annotations, base64_of, is_base64};
use super::long_texts::Shortener;
use crate::methods::uris;

/// A server's block.
///
/// Its link may name anything, also what looks like a resource of ours. What ours are is looked up by whoever
/// reads them, and a server's are not among them.
pub(super) fn block(mut block: Value, shortener: &mut Shortener<'_>) -> ContentBlock {
    shorten(&mut block, shortener);
    match read(&mut block) {
        Some(read) => read,
        None => {
            let words = Block::Foreign(block).in_words();
            let words = shortener.text(words, None);
            ContentBlock::text(format!(
                "{words}\n[the server sent it in a form that cannot be passed on]"
            ))
        }
    }
}

/// What the report of a handle has no words for: the images and the like in what a server's tool came to.
pub(super) fn seen(state: &ToolState) -> Vec<Value> {
    let content = match state {
        ToolState::Stopped {
            result: Ok(content),
            ..
        } => content,
        ToolState::Stopped {
            result: Err(error), ..
        } => &error.content,
        ToolState::Running { .. } | ToolState::Waiting { .. } => return Vec::new(),
    };
    let blocks = content.blocks().iter();
    let seen = blocks.filter_map(|block| match block {
        Block::Foreign(one) if block.binary_bytes() > 0 || one["type"] == "resource_link" => {
            Some(one.clone())
        }
        _ => None,
    });
    seen.collect()
}

/// Cuts the text of a block that is too large.
fn shorten(block: &mut Value, shortener: &mut Shortener<'_>) {
    let long = match block["type"].as_str() {
        Some("text") => block.get_mut("text"),
        Some("resource") => block
            .get_mut("resource")
            .and_then(|inner| inner.get_mut("text")),
        _ => None,
    };
    if let Some(Value::String(long)) = long {
        *long = shortener.text(std::mem::take(long), None);
    }
}

fn read(block: &mut Value) -> Option<ContentBlock> {
    let members = block.as_object_mut()?;
    let inner = match members.get("type")?.as_str()? {
        "resource" => members.get_mut("resource")?.as_object_mut()?,
        _ => members,
    };
    if let Some(Value::String(written)) = inner.get_mut("uri") {
        *written = uris::valid(written);
    }
    for key in ["data", "blob"] {
        if let Some(Value::String(base64)) = inner.get_mut(key)
            && !is_base64(base64)
        {
            *base64 = base64_of(base64.clone())?;
        }
    }
    let members = block.as_object_mut()?;
    if let Some(value) = members.get("annotations")
        && annotations(Some(value.clone())).is_none()
    {
        members.remove("annotations");
    }
    if let Ok(read) = ContentBlock::deserialize(&*block) {
        return Some(read);
    }
    // Something is odd about what need not be there.
    let members = block.as_object_mut()?;
    members.retain(|key, _| NEEDED.contains(&key.as_str()));
    if let Some(Value::Object(inner)) = members.get_mut("resource") {
        inner.retain(|key, _| NEEDED.contains(&key.as_str()));
    }
    ContentBlock::deserialize(&*block).ok()
}

/// What a result says about itself, without what is said about the exchange with the server that sent it: that
/// was another exchange.
pub(super) fn meta(meta: Map<String, Value>) -> Option<MetaObject> {
    let is_reserved = |key: &str| match key.split_once('/') {
        Some((prefix, _)) => prefix.split('.').any(|label| RESERVED.contains(&label)),
        None => key == "progressToken",
    };
    let kept = meta.into_iter().filter(|(key, _)| !is_reserved(key));
    let mut meta = MetaObject::new();
    for (key, value) in kept {
        meta.insert(key, value);
    }
    (!meta.is_empty()).then_some(meta)
}

/// What makes up a block, of every kind.
const NEEDED: [&str; 8] = [
    "type", "text", "data", "mimeType", "uri", "name", "resource", "blob",
];

/// Labels in the prefix of a key that only the protocol, or jig, may use.
const RESERVED: [&str; 3] = ["modelcontextprotocol", "mcp", "jig"];
