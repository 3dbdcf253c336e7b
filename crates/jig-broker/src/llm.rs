//! Questions to language models: the only way from a tool to the provider, and the only place that has its key.
//!
//! [`Broker::chat`] sends one conversation to a provider that speaks the chat-completions protocol of OpenAI, and
//! gives the answer. Before anything is sent, the most that the call can cost is taken out of the quota of the
//! [`Llm`], which all clients of one tree share; afterwards what it did cost is counted (F-094). Every call leaves
//! a line in the audit log, with the model, the host and the tokens, and without a word of what was said.
//!
//! It follows no redirect, takes no proxy from the environment, and sends the key to no other place than the
//! configured one (F-093). It does not decide who may ask: its callers do.

mod answer;
mod call;
mod chat_completions;
mod error;
mod exchange;
mod quota;
mod retry;
mod scrubbed_text;
mod settings;

use std::fmt;
use std::sync::Arc;

use jig_proto::fsproxy::{LlmMessage, QuotaReport, TokenUsage};

pub use error::LlmError;
pub use settings::{LlmSettings, LlmSettingsError, TokenField, Weights};

use self::call::LlmCall;
use self::quota::{Quota, TokenRates};
use crate::broker::Broker;
use crate::cancel::CancelToken;

/// A provider, and what may be used of it. Clones are the same one, with the same quota: there is one for each
/// tree of clients.
#[derive(Clone)]
pub struct Llm(Arc<Provider>);

struct Provider {
    settings: LlmSettings,
    quota: Quota,
}

impl Llm {
    /// A provider of which nothing was used yet.
    ///
    /// ```
    /// use jig_broker::{Llm, LlmSettings};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let url = "https://api.openai.com/v1".parse()?;
    /// let mut settings = LlmSettings::new(url, Some("sk-example".to_owned()), "gpt-4o")?;
    /// settings.quota = Some(50_000.0);
    /// let llm = Llm::new(settings)?;
    /// assert_eq!(llm.quota().status(), "0.0/50000 weighted tokens");
    /// # Ok(())
    /// # }
    /// ```
    pub fn new(settings: LlmSettings) -> Result<Self, LlmSettingsError> {
        settings.check()?;
        let quota = Quota::new(settings.quota.unwrap_or(0.0));
        Ok(Self(Arc::new(Provider { settings, quota })))
    }

    /// What was used so far, and what may be. Without a quota it counts all the same.
    pub fn quota(&self) -> QuotaReport {
        self.0.quota.report()
    }

    /// Whether a quota is configured, also an unlimited one (X-31).
    pub fn has_quota(&self) -> bool {
        self.0.settings.quota.is_some()
    }

    /// The model of calls at the top level, or of nested ones (F-072).
    pub fn model(&self, top_level: bool) -> &str {
        match top_level {
            true => &self.0.settings.model,
            false => &self.0.settings.internal_model,
        }
    }

    /// Where the provider is.
    pub fn base_url(&self) -> &str {
        self.0.settings.base_url.as_str()
    }

    /// The most input of one call, in bytes.
    pub fn input_bytes(&self) -> usize {
        self.0.settings.input_bytes
    }

    /// What must not be seen by anybody.
    pub(crate) fn key(&self) -> Option<&str> {
        self.0.settings.key.as_deref()
    }

    fn rates(&self, model: &str) -> TokenRates {
        let settings = &self.0.settings;
        let own = settings.model_weights.get(model);
        TokenRates::from(*own.unwrap_or(&settings.weights))
    }
}

/// Without the key.
impl fmt::Debug for Llm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Llm").field(&self.0.settings).finish()
    }
}

/// A question to a model.
#[derive(Debug, Clone, PartialEq)]
pub struct Chat {
    /// The conversation; at least one message.
    pub messages: Vec<LlmMessage>,
    /// Whether it comes from the top level, which decides about the model (F-072).
    pub is_top_level: bool,
    /// The most tokens of the answer, if less than the settings and the quota allow.
    pub max_tokens: Option<u64>,
    /// How free the model is in its words, from 0 to 2. Default: the provider's.
    pub temperature: Option<f64>,
    /// Whether the text is wanted while it comes.
    pub stream: bool,
}

impl Chat {
    /// A question at the top level, answered in one piece, with the defaults of everything else.
    pub fn new(messages: Vec<LlmMessage>) -> Self {
        Self {
            messages,
            is_top_level: true,
            max_tokens: None,
            temperature: None,
            stream: false,
        }
    }
}

/// The answer of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatReply {
    /// The whole text, without secrets.
    pub content: String,
    /// The model, as the provider calls it.
    pub model: String,
    /// Why the model stopped: `stop`, `length` or what else a provider says; `unknown` if it does not.
    pub finish_reason: String,
    /// What it cost. If the provider does not say, the most that it can have cost.
    pub usage: TokenUsage,
}

impl Broker {
    /// The provider, if there is one.
    pub fn llm(&self) -> Option<&Llm> {
        self.inner.llm.as_ref()
    }

    /// Asks a model. Blocks until there is an answer, the time is over or the call is given up.
    ///
    /// With [`Chat::stream`], `on_text` gets the text while it comes, without secrets; else it is not called. It
    /// may have got a part of an answer also if there is an error in the end: a call is not tried again after
    /// that. Secrets that the messages hold are not sent.
    ///
    /// A call that was cancelled, or whose connection broke, after it was sent counts with the most that it can
    /// have cost: the provider may have done the work. One that the provider refused costs nothing.
    pub fn chat(
        &self,
        chat: &Chat,
        cancel: &CancelToken,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ChatReply, LlmError> {
        let inner = &self.inner;
        let llm = self.llm().ok_or(LlmError::NotAvailable)?;
        if inner.refuses_all() {
            return Err(LlmError::Unaudited);
        }
        check(chat, llm)?;
        if cancel.is_cancelled() {
            return Err(LlmError::Cancelled);
        }
        let call = LlmCall::new(inner, llm, chat);
        let settings = &llm.0.settings;
        let asked = chat.max_tokens.unwrap_or(settings.max_tokens);
        let asked = asked.min(settings.max_tokens);
        let rates = llm.rates(call.model);
        let Some(reservation) = llm.0.quota.reserve(rates, call.most_input(), asked) else {
            call.refuse(&llm.quota());
            return Err(LlmError::QuotaExceeded);
        };
        let result = call.run(reservation, cancel, on_text);
        call.record(&result);
        result
    }
}

fn check(chat: &Chat, llm: &Llm) -> Result<(), LlmError> {
    let invalid = |why: &str| Err(LlmError::InvalidRequest(why.to_owned()));
    if chat.messages.is_empty() {
        return invalid("there is no message");
    }
    if chat.max_tokens == Some(0) {
        return invalid("`max_tokens` must be at least 1");
    }
    let in_range = |degree: &f64| (0.0..=2.0).contains(degree);
    if chat.temperature.is_some_and(|degree| !in_range(&degree)) {
        return invalid("`temperature` must be from 0 to 2");
    }
    let each = chat.messages.iter();
    let size = each.fold(0_usize, |sum, message| {
        sum.saturating_add(message.content.len())
            .saturating_add(PER_MESSAGE)
    });
    let limit = llm.input_bytes();
    if size > limit {
        return Err(LlmError::TooLarge { size, limit });
    }
    Ok(())
}

/// More tokens than stand around a message: its role and its borders, and once those of the answer.
const PER_MESSAGE: usize = 8;
