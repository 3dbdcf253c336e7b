//! One question on its way: from the messages to what was counted.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use jig_proto::fsproxy::QuotaReport;

use super::answer::{LlmAnswer, LlmAnswerOutcome};
use super::chat_completions::{self, ChatMessage, ChatRequest, StreamOptions};
use super::exchange::{Attempt, LlmExchange};
use super::quota::Reservation;
use super::scrubbed_text::LlmOutput;
use super::settings::{LlmSettings, MAX_MODEL, TokenField};
use super::{Chat, ChatReply, Llm, LlmError, PER_MESSAGE, retry};
use crate::audit::{AuditDecision, AuditEntry};
use crate::broker::BrokerCore;
use crate::cancel::CancelToken;

/// One question on its way.
pub(super) struct LlmCall<'a> {
    inner: &'a BrokerCore,
    settings: &'a LlmSettings,
    pub(super) model: &'a str,
    /// The conversation without secrets.
    messages: Vec<ChatMessage>,
    chat: &'a Chat,
    time: Timestamp,
    start: Instant,
}

impl<'a> LlmCall<'a> {
    pub(super) fn new(inner: &'a BrokerCore, llm: &'a Llm, chat: &'a Chat) -> Self {
        let messages = chat.messages.iter().map(|message| ChatMessage {
            role: message.role.name(),
            content: inner.secrets.scrub_text(message.content.clone()),
        });
        Self {
            inner,
            settings: &llm.0.settings,
            model: llm.model(chat.is_top_level),
            messages: messages.collect(),
            chat,
            time: Timestamp::now(),
            start: Instant::now(),
        }
    }

    /// More tokens than the input can have: none is shorter than a byte.
    pub(super) fn most_input(&self) -> u64 {
        let bytes = |message: &ChatMessage| message.content.len() + PER_MESSAGE;
        let bytes: usize = self.messages.iter().map(bytes).sum();
        u64::try_from(bytes + PER_MESSAGE).unwrap_or(u64::MAX)
    }

    fn body(&self, tokens: u64) -> Result<Vec<u8>, LlmError> {
        let field = self.settings.token_field;
        let request = ChatRequest {
            model: self.model,
            messages: &self.messages,
            max_tokens: (field == TokenField::MaxTokens).then_some(tokens),
            max_completion_tokens: (field == TokenField::MaxCompletionTokens).then_some(tokens),
            temperature: self.chat.temperature,
            stream: self.chat.stream,
            stream_options: self.chat.stream.then_some(StreamOptions {
                include_usage: true,
            }),
        };
        let unfit = |_| LlmError::InvalidRequest("the messages cannot be written".to_owned());
        serde_json::to_vec(&request).map_err(unfit)
    }

    /// Makes attempts until one counts. The reservation is for all of them.
    pub(super) fn run(
        &self,
        reservation: Reservation,
        cancel: &CancelToken,
        on_text: &mut dyn FnMut(&str),
    ) -> Result<ChatReply, LlmError> {
        let body = match self.body(reservation.max_tokens()) {
            Ok(body) => body,
            Err(error) => {
                reservation.give_back();
                return Err(error);
            }
        };
        let exchange = LlmExchange {
            settings: self.settings,
            resolver: &self.inner.http.resolver,
            body: &body,
            deadline: self.start + self.settings.total_time,
            cancel,
        };
        let mut heard = LlmOutput::new(self.inner, self.chat.stream, on_text);
        let mut may_be_processed = false;
        let mut failed = 0;
        let error = loop {
            let (error, again, wait) = match exchange.attempt(&mut |text| heard.push(text)) {
                Attempt::Answered(answered) => return self.finish(answered, reservation, heard),
                Attempt::NotSent { error, again } => (error, again, None),
                Attempt::Unanswered { error, again } => {
                    may_be_processed = true;
                    (error, again, None)
                }
                Attempt::Rejected { error, again, wait } => (error, again, wait),
            };
            let wait = wait.unwrap_or_else(|| retry::backoff(self.settings.backoff, failed));
            let in_time = wait <= retry::MAX_TOLD_WAIT
                && Instant::now() + wait + MIN_ATTEMPT < exchange.deadline;
            // Nothing was delivered if there is another attempt: text comes only from a provider that took the call.
            if !again || failed == self.settings.retries || !in_time {
                break error;
            }
            if !retry::pause(wait, cancel) {
                break LlmError::Cancelled;
            }
            failed += 1;
        };
        if may_be_processed {
            let _ = reservation.forfeit();
        } else {
            reservation.give_back();
        }
        Err(self.fit(error))
    }

    /// The end of a call that the provider took.
    fn finish(
        &self,
        answered: LlmAnswerOutcome,
        reservation: Reservation,
        heard: LlmOutput<'_>,
    ) -> Result<ChatReply, LlmError> {
        let usage = match answered.tokens {
            Some(tokens) => reservation.settle(tokens),
            None => reservation.forfeit(),
        };
        let content = heard.finish();
        let LlmAnswer {
            model,
            finish_reason,
            ..
        } = answered.result.map_err(|error| self.fit(error))?;
        Ok(ChatReply {
            content,
            model: self.said(model.unwrap_or_default(), MAX_MODEL, self.model),
            finish_reason: self.said(finish_reason.unwrap_or_default(), MAX_REASON, "unknown"),
            usage,
        })
    }

    /// The error with the provider's words made fit to be repeated.
    fn fit(&self, error: LlmError) -> LlmError {
        match error {
            LlmError::Refused { status, message } => LlmError::Refused {
                status,
                message: self.said(message, MAX_MESSAGE, "it gives no reason"),
            },
            other => other,
        }
    }

    /// Words of the provider: without secrets, short, on one line. `otherwise` if nothing is left of them.
    fn said(&self, text: String, limit: usize, otherwise: &str) -> String {
        let text = chat_completions::short(&self.inner.secrets.scrub_text(text), limit);
        if text.is_empty() {
            return otherwise.to_owned();
        }
        text
    }

    pub(super) fn record(&self, result: &Result<ChatReply, LlmError>) {
        let outcome = match result {
            Ok(reply) => {
                let usage = &reply.usage;
                let (input, cached) = (usage.input_tokens, usage.cached_tokens);
                let output = usage.output_tokens;
                format!("ok: {input} input tokens ({cached} cached), {output} output tokens")
            }
            Err(error) => error.name().to_owned(),
        };
        let entry = self.entry(
            AuditDecision::Allow,
            "the provider is configured".to_owned(),
        );
        self.inner.audit(AuditEntry {
            outcome: Some(outcome),
            duration_us: Some(micros(self.start.elapsed())),
            ..entry
        });
    }

    pub(super) fn refuse(&self, quota: &QuotaReport) {
        let reason = format!(
            "the quota does not cover the call: {}, {} reserved",
            quota.status(),
            quota.reserved
        );
        self.inner.audit(self.entry(AuditDecision::Deny, reason));
    }

    fn entry(&self, decision: AuditDecision, reason: String) -> AuditEntry {
        let host = self.settings.base_url.host_str().unwrap_or_default();
        AuditEntry {
            time: self.time,
            tool: self.inner.tool.clone(),
            call: self.inner.call.clone(),
            handle: self.inner.handle.clone(),
            operation: "llm.chat".to_owned(),
            target: format!("{} at {host}", self.model),
            decision,
            reason,
            rule: None,
            origin: None,
            hint: None,
            outcome: None,
            duration_us: None,
        }
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

/// The longest message of a provider that is repeated. It chooses the text, and it goes to a tool.
const MAX_MESSAGE: usize = 300;

/// The longest reason for stopping; real ones are single words.
const MAX_REASON: usize = 64;

/// The shortest time that is worth another attempt.
const MIN_ATTEMPT: Duration = Duration::from_millis(10);
