//! The shapes of the chat-completions protocol, as far as it is used here.
//!
//! Members that nobody needs are ignored, so that a provider may send more; what is used is checked.

use jig_proto::visible_words;
use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::error::LlmError;
use super::quota::LlmTokens;
use super::settings::MAX_TOKENS;

/// The body of a request.
#[derive(Debug, Serialize)]
pub(super) struct ChatRequest<'a> {
    pub(super) model: &'a str,
    pub(super) messages: &'a [ChatMessage],
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) temperature: Option<f64>,
    pub(super) stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) stream_options: Option<StreamOptions>,
}

/// One message of a request.
#[derive(Debug, Serialize)]
pub(super) struct ChatMessage {
    pub(super) role: &'static str,
    pub(super) content: String,
}

/// Asks for the usage at the end of a stream, which is not sent otherwise.
#[derive(Debug, Serialize)]
pub(super) struct StreamOptions {
    pub(super) include_usage: bool,
}

/// An answer in one piece.
#[derive(Debug, Deserialize)]
pub(super) struct Completion {
    pub(super) model: Option<String>,
    pub(super) choices: Option<Vec<ChatChoice>>,
    pub(super) usage: Option<LlmUsage>,
    pub(super) error: Option<ProviderError>,
}

/// One answer of those that were asked for, which is one.
#[derive(Debug, Deserialize)]
pub(super) struct ChatChoice {
    pub(super) message: Option<ChatChoiceMessage>,
    pub(super) finish_reason: Option<String>,
}

/// What the model said.
#[derive(Debug, Deserialize)]
pub(super) struct ChatChoiceMessage {
    pub(super) content: Option<String>,
}

/// One event of an answer that comes in pieces.
#[derive(Debug, Deserialize)]
pub(super) struct Chunk {
    pub(super) model: Option<String>,
    pub(super) choices: Option<Vec<ChunkChoice>>,
    pub(super) usage: Option<LlmUsage>,
    pub(super) error: Option<ProviderError>,
}

/// A piece of one answer.
#[derive(Debug, Deserialize)]
pub(super) struct ChunkChoice {
    #[serde(default)]
    pub(super) index: u64,
    pub(super) delta: Option<ChatChoiceMessage>,
    pub(super) finish_reason: Option<String>,
}

/// What a call cost, as the provider says it.
#[derive(Debug, Deserialize)]
pub(super) struct LlmUsage {
    prompt_tokens: Option<Number>,
    completion_tokens: Option<Number>,
    prompt_tokens_details: Option<UsageDetails>,
}

/// How the input was read.
#[derive(Debug, Deserialize)]
pub(super) struct UsageDetails {
    cached_tokens: Option<Number>,
}

impl LlmUsage {
    /// The numbers, if they can be true: whole, not negative, not absurd, and no more of the input cached than
    /// there is.
    pub(super) fn tokens(&self) -> Result<LlmTokens, LlmError> {
        let impossible = || LlmError::bad("the usage that it reports is impossible");
        let count = |number: Option<&Number>| {
            let count = number.and_then(Number::as_u64);
            count.filter(|count| *count <= MAX_TOKENS)
        };
        let details = self.prompt_tokens_details.as_ref();
        let cached = match details.and_then(|details| details.cached_tokens.as_ref()) {
            None => Some(0),
            some => count(some),
        };
        let tokens = LlmTokens {
            input: count(self.prompt_tokens.as_ref()).ok_or_else(impossible)?,
            cached: cached.ok_or_else(impossible)?,
            output: count(self.completion_tokens.as_ref()).ok_or_else(impossible)?,
        };
        if tokens.cached > tokens.input {
            return Err(impossible());
        }
        Ok(tokens)
    }
}

/// What a provider says instead of an answer: an object with a message or, from some, only the message.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum ProviderError {
    Object { message: Option<String> },
    Text(String),
}

impl ProviderError {
    /// The message as it came: neither short nor without secrets.
    pub(super) fn into_message(self) -> String {
        match self {
            Self::Object { message } => message.unwrap_or_default(),
            Self::Text(text) => text,
        }
    }
}

/// The body of a refusal.
#[derive(Debug, Deserialize)]
pub(super) struct ProviderErrorBody {
    pub(super) error: ProviderError,
}

/// A text of the provider on one line, without what a terminal would obey, and not longer than `limit` bytes.
///
/// Secrets must be out of it before: half of one could not be found any more.
pub(super) fn short(text: &str, limit: usize) -> String {
    let text = &text[..text.floor_char_boundary(2 * limit)];
    let mut text = visible_words(text.trim());
    text.truncate(text.floor_char_boundary(limit));
    text.trim_end().to_owned()
}

#[cfg(test)]
mod tests;
