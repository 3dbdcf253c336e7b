//! What goes over the wire: JSON-RPC 2.0, read as plain JSON.

use jig_proto::json::{self, JsonError, JsonLimits};
use jig_proto::{Block, Content, ToolError, visible_words};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::client::json_object::StrictObject;
use crate::text_prefix::cut;

/// A message of a server.
#[derive(Debug)]
pub(super) enum ServerMessage {
    /// The answer to a request of ours; without its number if the server could not tell which.
    Answer {
        /// The number of the request.
        id: Option<u64>,
        /// What it says.
        answer: Result<UpstreamResult, ServerErrorReply>,
    },
    /// It wants something of us.
    Request {
        /// What the answer must name: text or a number.
        id: Value,
        /// What it wants.
        method: String,
        /// How it wants it.
        params: Value,
    },
    /// It says something.
    Notification {
        /// What it is about.
        method: String,
        /// What it says.
        params: Value,
    },
}

/// What a server answers.
pub(super) type UpstreamAnswer = Result<Value, ServerErrorReply>;

/// The result in an answer.
#[derive(Debug, PartialEq)]
pub(crate) enum UpstreamResult {
    /// Any JSON.
    Json(Value),
    /// The result of a call that is nothing but blocks of text.
    Texts(Vec<String>),
}

impl UpstreamResult {
    /// The result as JSON.
    pub(crate) fn into_value(self) -> Value {
        match self {
            Self::Json(value) => value,
            Self::Texts(texts) => {
                let texts = texts.into_iter();
                let blocks = texts.map(|text| json!({"type": "text", "text": text}));
                json!({"content": blocks.collect::<Vec<Value>>()})
            }
        }
    }

    /// The result of a call as content.
    ///
    /// # Errors
    ///
    /// If the server says that the tool failed.
    pub(crate) fn into_content(self) -> Result<Content, ToolError> {
        match self {
            Self::Json(value) => Content::from_mcp(value),
            Self::Texts(texts) => Ok(texts.into_iter().map(Block::text).collect()),
        }
    }
}

/// The error that a server answers with.
#[derive(Debug, Clone)]
pub(super) struct ServerErrorReply {
    /// What kind of error.
    pub(super) code: i64,
    /// In words, printable and not long.
    pub(super) message: String,
    /// What belongs to it.
    pub(super) data: Value,
}

impl ServerMessage {
    /// What `value` says; nothing if it is no message.
    pub(super) fn of(value: Value) -> Option<Self> {
        let Value::Object(mut members) = value else {
            return None;
        };
        if members.get("jsonrpc").and_then(Value::as_str) != Some(VERSION) {
            return None;
        }
        let id = members.remove("id").filter(|id| !id.is_null());
        if let Some(Value::String(method)) = members.remove("method") {
            let params = members.remove("params").unwrap_or_default();
            return match id {
                Some(id) if id.is_string() || id.is_number() => {
                    Some(Self::Request { id, method, params })
                }
                Some(_) => None,
                None => Some(Self::Notification { method, params }),
            };
        }
        let id = match id {
            // Some servers make text of every number.
            Some(Value::String(text)) => text.parse().ok(),
            Some(number) => number.as_u64(),
            None => None,
        };
        let answer = match (members.remove("result"), members.remove("error")) {
            (Some(result), None) => Ok(UpstreamResult::Json(result)),
            (None, Some(error)) => Err(ServerErrorReply::of(error)),
            _ => return None,
        };
        Some(Self::Answer { id, answer })
    }
}

impl ServerErrorReply {
    /// What stands for an error that was said by a status of HTTP alone.
    pub(super) fn status(status: u16) -> Self {
        Self {
            code: METHOD_NOT_FOUND,
            message: format!("HTTP status {status}"),
            data: Value::Null,
        }
    }

    fn of(error: Value) -> Self {
        let code = error.get("code").and_then(Value::as_i64);
        let message = error.get("message").and_then(Value::as_str);
        Self {
            code: code.unwrap_or_default(),
            message: words(message.unwrap_or("it does not say why")),
            data: error.get("data").cloned().unwrap_or_default(),
        }
    }
}

/// Words of a server, as they may stand in a line of ours.
pub(super) fn words(text: &str) -> String {
    some_words(text, LONGEST_WORDS)
}

/// The same, with not more than `limit` bytes of the text. No word is cut in two: it may be a secret, of which nobody
/// would find the half.
pub(super) fn some_words(text: &str, limit: usize) -> String {
    let ends = |c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>');
    let shown = match cut(text, limit) {
        all if all.len() == text.len() => all,
        part => &part[..part.rfind(ends).unwrap_or(0)],
    };
    let mut line = visible_words(shown);
    if shown.len() < text.len() {
        line.push('…');
    }
    line
}

/// A request of ours, as a line without its end.
pub(super) fn request(id: u64, method: &str, params: &impl Serialize) -> Vec<u8> {
    #[derive(Serialize)]
    struct UpstreamRequest<'a, P> {
        jsonrpc: &'static str,
        id: u64,
        method: &'a str,
        params: &'a P,
    }
    bytes(&UpstreamRequest {
        jsonrpc: VERSION,
        id,
        method,
        params,
    })
}

/// Something that we say.
pub(super) fn notification(method: &str, params: &Map<String, Value>) -> Vec<u8> {
    #[derive(Serialize)]
    struct UpstreamNotification<'a> {
        jsonrpc: &'static str,
        method: &'a str,
        #[serde(skip_serializing_if = "Map::is_empty")]
        params: &'a Map<String, Value>,
    }
    bytes(&UpstreamNotification {
        jsonrpc: VERSION,
        method,
        params,
    })
}

/// What we answer.
pub(super) fn reply(id: &Value, answer: &UpstreamReply) -> Vec<u8> {
    #[derive(Serialize)]
    struct RpcAnswer<'a> {
        jsonrpc: &'static str,
        id: &'a Value,
        #[serde(flatten)]
        answer: &'a UpstreamReply,
    }
    bytes(&RpcAnswer {
        jsonrpc: VERSION,
        id,
        answer,
    })
}

/// What we answer to a server.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum UpstreamReply {
    /// What it wanted.
    Result(Value),
    /// Why not.
    Error {
        /// What kind of error.
        code: i64,
        /// In words.
        message: String,
    },
}

impl UpstreamReply {
    /// The answer to what we do not offer.
    pub(super) fn no_such_method(method: &str) -> Self {
        Self::Error {
            code: METHOD_NOT_FOUND,
            message: format!("`{}` is not offered", words(method)),
        }
    }
}

/// Everything that is written here is text, numbers and JSON, which always can be.
fn bytes(message: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(message).unwrap_or_default()
}

/// Reads the JSON of a server, within bounds.
///
/// # Errors
///
/// What is wrong with it.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, JsonError> {
    // Schemas are deep.
    let limits = JsonLimits::MESSAGE.with_depth(JsonLimits::MAX_DEPTH);
    json::value(bytes, &limits)
}

/// The answer to a call that is nothing but text, as most are: it is read in one go, and nothing is made of it that
/// is taken apart again. Whatever is said besides is for [`parse`] to read.
pub(super) fn texts(line: &[u8]) -> Option<ServerMessage> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct ToolResultLine<'l> {
        jsonrpc: &'l str,
        id: u64,
        #[serde(borrow)]
        result: StrictObject<PlainToolResult<'l>>,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    struct PlainToolResult<'l> {
        #[serde(borrow)]
        content: Vec<StrictObject<UpstreamText<'l>>>,
        #[serde(default)]
        is_error: bool,
    }
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct UpstreamText<'l> {
        r#type: &'l str,
        text: String,
    }
    // What is none of these is read twice.
    if line.len() > LONGEST_TEXTS {
        return None;
    }
    let StrictObject(ToolResultLine {
        jsonrpc,
        id,
        result: StrictObject(PlainToolResult { content, is_error }),
    }) = serde_json::from_slice(line).ok()?;
    let is_plain = |StrictObject(block): &StrictObject<UpstreamText<'_>>| {
        block.r#type == "text" && !block.text.is_empty()
    };
    if jsonrpc != VERSION
        || is_error
        || content.len() > Content::MAX_BLOCKS
        || !content.iter().all(is_plain)
    {
        return None;
    }
    let texts = content.into_iter().map(|StrictObject(block)| block.text);
    Some(ServerMessage::Answer {
        id: Some(id),
        answer: Ok(UpstreamResult::Texts(texts.collect())),
    })
}

/// How big a value is as JSON, nearly: without what has to be escaped.
pub(super) fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 4,
        Value::Number(_) => 8,
        Value::String(text) => text.len() + 2,
        Value::Array(items) => 2 + items.iter().map(|item| weight(item) + 1).sum::<usize>(),
        Value::Object(members) => {
            let members = members.iter();
            2 + members
                .map(|(name, member)| name.len() + 4 + weight(member))
                .sum::<usize>()
        }
    }
}

const VERSION: &str = "2.0";

pub(super) const METHOD_NOT_FOUND: i64 = -32601;
pub(super) const INVALID_PARAMS: i64 = -32602;
/// The server does not speak the version of a request; its `data` names those that it does.
pub(super) const UNSUPPORTED_VERSION: i64 = -32022;

/// How long a message may be. It has to be kept before it can be read.
pub(super) const LONGEST: usize = JsonLimits::MESSAGE.bytes;

/// The longest answer that is looked at as nothing but text.
const LONGEST_TEXTS: usize = 64 << 10;

/// How many bytes of a server's words stand in an error.
const LONGEST_WORDS: usize = 1000;

#[cfg(test)]
mod tests;
