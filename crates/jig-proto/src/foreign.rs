//! Results of MCP servers as [`Content`]: their blocks are carried as they came, and read only as far as it
//! takes to count, cut and show them.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::fields::quoted;
use crate::visible::is_deceptive;
use crate::{Block, Content, Resource, ResourceData, ToolError};

impl Content {
    /// The result of a `tools/call`, as an MCP server sent it.
    ///
    /// Plain text becomes [`Block::Text`], every other block a [`Block::Foreign`], `structuredContent` a
    /// [`Block::Structured`] and the `_meta` of the result a [`Block::Meta`]. What is no block of MCP is
    /// replaced by a note: one bad block must not cost the others. No result is refused, and of more than
    /// [`MAX_BLOCKS`](Self::MAX_BLOCKS) blocks the rest is left out.
    ///
    /// # Errors
    ///
    /// If the server says that the tool failed (`isError`): the error [carries](ToolError::content) the blocks,
    /// and its message is their text.
    pub fn from_mcp(result: Value) -> Result<Self, ToolError> {
        let Value::Object(mut result) = result else {
            return Ok(Self::text("[the server sent a result that is no object]"));
        };
        let mut blocks = match result.remove("content") {
            Some(Value::Array(all)) => read_blocks(all),
            None | Some(Value::Null) => Vec::new(),
            Some(_) => vec![Block::text("[the server sent content that is no list]")],
        };
        if let Some(structured) = result.remove("structuredContent") {
            blocks.push(Block::Structured(structured));
        }
        if let Some(Value::Object(meta)) = result.remove("_meta")
            && !meta.is_empty()
        {
            blocks.push(Block::Meta(meta));
        }
        let content = Self::from(blocks);
        match result.get("isError") == Some(&Value::Bool(true)) {
            true => Err(ToolError::of_content(content)),
            false => Ok(content),
        }
    }

    /// The most blocks of one result. A server chooses how many there are, and each costs a client more than
    /// its bytes.
    pub const MAX_BLOCKS: usize = 1024;

    /// What the result says as JSON beside its text, if it does.
    pub fn structured(&self) -> Option<&Value> {
        self.blocks().iter().find_map(|block| match block {
            Block::Structured(value) => Some(value),
            _ => None,
        })
    }

    /// Shows every text of the content to `change`, for example to take secrets out: all strings but the
    /// base64 of binary data, keys of JSON included where it is carried unread.
    pub fn visit_texts(&mut self, change: &mut dyn FnMut(&mut String)) {
        for block in self.blocks_mut() {
            visit_block(block, change);
        }
    }
}

fn read_blocks(all: Vec<Value>) -> Vec<Block> {
    let beyond = all.len().saturating_sub(Content::MAX_BLOCKS);
    let all = all.into_iter().take(Content::MAX_BLOCKS);
    let mut blocks: Vec<Block> = all.map(read_block).collect();
    if beyond > 0 {
        blocks.push(Block::text(format!("[{beyond} more blocks were left out]")));
    }
    blocks
}

fn read_block(value: Value) -> Block {
    let Value::Object(mut members) = value else {
        return Block::text("[the server sent something that is no block]");
    };
    let kind = match members.get("type") {
        Some(Value::String(kind)) => kind.as_str(),
        _ => return Block::text("[the server sent a block without a type]"),
    };
    let has = |key: &str| members.get(key).is_some_and(Value::is_string);
    let is_whole = match kind {
        "text" => has("text"),
        "image" | "audio" => has("data") && has("mimeType"),
        "resource_link" => has("uri") && has("name"),
        "resource" => members
            .get("resource")
            .is_some_and(|inner| inner["uri"].is_string() && has_data(inner)),
        other => {
            let other = quoted(other);
            return Block::text(format!(
                "[a block of the kind {other}, which jig does not know]"
            ));
        }
    };
    if !is_whole {
        let kind = quoted(kind);
        return Block::text(format!(
            "[the server sent a block of the kind {kind} that is not whole]"
        ));
    }
    let is_plain = kind == "text" && members.len() == 2;
    match members.get_mut("text") {
        // An empty text counts as none (as our tools mean it), and a server's is passed on.
        Some(Value::String(text)) if is_plain && !text.is_empty() => {
            Block::text(std::mem::take(text))
        }
        _ => Block::Foreign(Value::Object(members)),
    }
}

/// Whether a resource holds either text or bytes.
fn has_data(inner: &Value) -> bool {
    inner["text"].is_string() != inner["blob"].is_string()
}

impl Block {
    /// The bytes of a block that a model or a person reads: text, also that of resources, and JSON.
    pub fn text_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.text.len(),
            Self::Resource(Resource { data, .. }) => match data {
                ResourceData::Text(text) => text.len(),
                ResourceData::Blob(_) => 0,
            },
            Self::Question(question) => question.text.len(),
            Self::Foreign(block) => weigh(block, WeighedPart::Text),
            Self::Structured(value) => weigh(value, WeighedPart::All),
            Self::Meta(meta) => meta
                .iter()
                .map(|(key, value)| key.len() + weigh(value, WeighedPart::All))
                .sum(),
        }
    }

    /// The bytes of binary data in a block, as base64.
    pub fn binary_bytes(&self) -> usize {
        match self {
            Self::Resource(Resource {
                data: ResourceData::Blob(base64),
                ..
            }) => base64.len(),
            Self::Foreign(block) => binary(block).map_or(0, |(data, _)| data.len()),
            _ => 0,
        }
    }

    /// What stands for a block that is left out, in words.
    pub fn in_words(&self) -> String {
        match self {
            Self::Foreign(block) => {
                let mut words = String::new();
                write_foreign(&mut words, block);
                words
            }
            other => Content::from(vec![other.clone()]).to_text(),
        }
    }
}

/// The text of a foreign block, which can be cut: that of a text block or of a resource.
pub(crate) fn text(block: &Value) -> Option<&str> {
    match block["type"].as_str()? {
        "text" => block["text"].as_str(),
        "resource" => block["resource"]["text"].as_str(),
        _ => None,
    }
}

/// The binary data of a foreign block, as base64, and its MIME type.
fn binary(block: &Value) -> Option<(&str, Option<&str>)> {
    match block["type"].as_str()? {
        "image" | "audio" => Some((block["data"].as_str()?, block["mimeType"].as_str())),
        "resource" => {
            let inner = &block["resource"];
            Some((inner["blob"].as_str()?, inner["mimeType"].as_str()))
        }
        _ => None,
    }
}

/// Writes what a person or a model without eyes is told of a foreign block.
pub(crate) fn write_foreign(out: &mut String, block: &Value) {
    let kind = block["type"].as_str().unwrap_or_default();
    let word = |value: &Value| value.as_str().map(quoted_plain).unwrap_or_default();
    // Writing to a string cannot fail.
    let _ = match (kind, binary(block)) {
        ("text", _) => {
            out.push_str(text(block).unwrap_or_default());
            Ok(())
        }
        ("resource", None) => {
            let inner = &block["resource"];
            let mime_type = inner["mimeType"].as_str();
            crate::render::write_fenced_as(out, text(block).unwrap_or_default(), mime_type);
            Ok(())
        }
        (_, Some((data, mime_type))) => {
            let bytes = decoded_bytes(data);
            let mime_type = mime_type.map_or_else(|| "binary".to_owned(), quoted_plain);
            match kind {
                "resource" => {
                    let uri = word(&block["resource"]["uri"]);
                    write!(out, "[{uri}: {mime_type}, {bytes} bytes]")
                }
                kind => write!(out, "[{kind}: {mime_type}, {bytes} bytes]"),
            }
        }
        ("resource_link", None) => {
            let (name, uri) = (word(&block["name"]), word(&block["uri"]));
            write!(out, "[link: {name}, {uri}]")
        }
        (kind, None) => write!(out, "[{}]", quoted_plain(kind)),
    };
}

/// How many bytes base64 stands for.
pub(crate) fn decoded_bytes(base64: &str) -> usize {
    let padding = base64
        .bytes()
        .rev()
        .take_while(|byte| *byte == b'=')
        .count();
    (base64.len() / 4 * 3).saturating_sub(padding)
}

/// A word of a server on one line and of a bounded length, so that nothing in it looks like our own.
fn quoted_plain(word: &str) -> String {
    let is_plain = |c: &char| !is_deceptive(*c) && !matches!(c, '[' | ']');
    word.chars().filter(is_plain).take(MAX_WORD).collect()
}

#[derive(Clone, Copy, PartialEq)]
enum WeighedPart {
    /// All of it.
    All,
    /// All but binary data.
    Text,
}

/// About how many bytes a value takes as JSON. It allocates nothing.
fn weigh(value: &Value, part: WeighedPart) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 4,
        Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(all) => 2 + all.iter().map(|one| weigh(one, part) + 1).sum::<usize>(),
        Value::Object(members) => {
            let one = |(key, value): (&String, &Value)| match part {
                WeighedPart::Text if is_binary(members, key) => 0,
                part => key.len() + 4 + weigh(value, part),
            };
            2 + members.iter().map(one).sum::<usize>()
        }
    }
}

/// Whether a member holds the base64 of a block.
fn is_binary(members: &Map<String, Value>, key: &str) -> bool {
    match key {
        "data" => members
            .get("type")
            .is_some_and(|kind| kind == "image" || kind == "audio"),
        "blob" => members.contains_key("uri"),
        _ => false,
    }
}

fn visit_block(block: &mut Block, change: &mut dyn FnMut(&mut String)) {
    match block {
        Block::Text(text) => {
            change(&mut text.text);
            text.annotations
                .iter_mut()
                .for_each(|value| visit(value, change));
        }
        Block::Resource(resource) => {
            change(&mut resource.uri);
            if let ResourceData::Text(text) = &mut resource.data {
                change(text);
            }
            let words = [
                &mut resource.formatted,
                &mut resource.name,
                &mut resource.title,
                &mut resource.description,
            ];
            words.into_iter().flatten().for_each(change);
        }
        Block::Question(question) => {
            change(&mut question.text);
            question.context.iter_mut().for_each(change);
        }
        Block::Foreign(value) | Block::Structured(value) => visit(value, change),
        Block::Meta(meta) => visit_members(meta, change),
    }
}

fn visit(value: &mut Value, change: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(all) => all.iter_mut().for_each(|one| visit(one, change)),
        Value::Object(members) => visit_members(members, change),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn visit_members(members: &mut Map<String, Value>, change: &mut dyn FnMut(&mut String)) {
    let binary: Vec<bool> = members.keys().map(|key| is_binary(members, key)).collect();
    let whole = std::mem::take(members);
    for ((mut key, mut value), is_binary) in whole.into_iter().zip(binary) {
        change(&mut key);
        if !is_binary {
            visit(&mut value, change);
        }
        members.insert(key, value);
    }
}

/// The most characters of a server's word in a note of ours.
const MAX_WORD: usize = 200;

#[cfg(test)]
mod tests;
