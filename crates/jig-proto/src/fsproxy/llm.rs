//! [`LlmCmd`], a question to a language model, its answer, and what it costs.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::{objects, or_default};

/// The params of `LLMCMD`.
///
/// The model is told the `messages`, then what there is of input, and the `prompt` last.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LlmCmd {
    /// What the model is asked. A command needs this, or `messages`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// A conversation so far.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "objects")]
    pub messages: Vec<LlmMessage>,
    /// Input as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// Handles that are read as input, from where they stand to the end.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "or_default")]
    pub files: Vec<u64>,
    /// Files that are opened, read as input and closed.
    #[serde(skip_serializing_if = "Vec::is_empty", deserialize_with = "or_default")]
    pub paths: Vec<String>,
    /// A handle that is read as input.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdin: Option<u64>,
    /// A handle that the answer is written to; without it, the answer is in the reply.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stdout: Option<u64>,
    /// A handle that is told what went wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr: Option<u64>,
    /// Whether the answer is written to `stdout` while it comes.
    #[serde(skip_serializing_if = "is_false", deserialize_with = "or_default")]
    pub stream: bool,
    /// The most tokens of the answer; the server has limits of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// How free the model is in its choice of words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Whether the client counts itself as top level, which chooses the model; it may leave that to
    /// the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_top_level: Option<bool>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde asks for"
)]
fn is_false(flag: &bool) -> bool {
    !flag
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LlmMessage {
    /// Who says it.
    pub role: LlmRole,
    /// What is said.
    pub content: String,
}

impl LlmMessage {
    /// A message.
    pub fn new(role: LlmRole, content: impl Into<String>) -> Self {
        Self {
            role,
            content: content.into(),
        }
    }
}

/// Who says something in a conversation.
///
/// Exhaustive: these are the ones that the protocol has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LlmRole {
    /// `system`: what holds for the whole conversation.
    System,
    /// `user`: whoever asks.
    User,
    /// `assistant`: the model.
    Assistant,
}

impl LlmRole {
    /// The role as it is written: `system`, `user` or `assistant`.
    pub fn name(self) -> &'static str {
        match self {
            LlmRole::System => "system",
            LlmRole::User => "user",
            LlmRole::Assistant => "assistant",
        }
    }
}

/// As [`LlmRole::name`].
impl fmt::Display for LlmRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The result of `LLMCMD`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LlmReply {
    /// The answer; absent if it went to a handle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// How many bytes of it went to a handle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<u64>,
    /// The model that answered, as it calls itself.
    pub model: String,
    /// Why the answer ended, such as `stop` or `length`.
    pub finish_reason: String,
    /// What the answer cost.
    pub usage: TokenUsage,
    /// What is left.
    pub quota: QuotaReport,
}

/// What one answer cost.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct TokenUsage {
    /// The tokens of what was asked, the cached ones among them.
    pub input_tokens: u64,
    /// Those of them that the provider had in its cache.
    pub cached_tokens: u64,
    /// The tokens of the answer.
    pub output_tokens: u64,
    /// All of them by their weights.
    pub weighted: f64,
}

/// The result of `QUOTA`: what a whole tree of clients has used and may use.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct QuotaReport {
    /// The weighted tokens of all answers.
    pub used: f64,
    /// The weighted tokens that answers under way may still take.
    pub reserved: f64,
    /// The most weighted tokens; 0 if there is no limit.
    pub limit: f64,
    /// What is neither used nor reserved; absent if there is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remaining: Option<f64>,
    /// How much of the limit is used, in percent; absent if there is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
    /// How many answers there were.
    pub calls: u64,
    /// The tokens of what was asked, the cached ones among them.
    pub input_tokens: u64,
    /// Those of them that the provider had in its cache.
    pub cached_tokens: u64,
    /// The tokens of the answers.
    pub output_tokens: u64,
}

impl QuotaReport {
    /// In short: `1250.5/5000 weighted tokens`.
    pub fn status(&self) -> String {
        let used = self.used;
        match self.limit {
            limit if limit <= 0.0 => format!("{used:.1}/unlimited weighted tokens"),
            limit if limit.fract() == 0.0 => format!("{used:.1}/{limit:.0} weighted tokens"),
            limit => format!("{used:.1}/{limit:.1} weighted tokens"),
        }
    }

    /// With what is left: `1250.5/5000 weighted tokens (25.0% used, 3749.5 remaining)`.
    pub fn long_status(&self) -> String {
        match (self.percent, self.remaining) {
            (Some(percent), Some(remaining)) => format!(
                "{} ({percent:.1}% used, {remaining:.1} remaining)",
                self.status()
            ),
            _ => self.status(),
        }
    }
}

#[cfg(test)]
mod tests;
