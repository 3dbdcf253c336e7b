//! What a model answered, out of what the provider sent (F-095).

use super::chat_completions::{Chunk, Completion};
use super::error::LlmError;
use super::quota::LlmTokens;

/// A whole answer that was found valid; its text was handed over before.
///
/// These are the provider's words as they came: neither short nor without secrets.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LlmAnswer {
    /// The model that answered.
    pub(super) model: Option<String>,
    /// Why it stopped.
    pub(super) finish_reason: Option<String>,
}

/// What came of an answer, and what it cost: that may be known also if the answer is no good.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LlmAnswerOutcome {
    pub(super) result: Result<LlmAnswer, LlmError>,
    /// `None` if the provider did not say.
    pub(super) tokens: Option<LlmTokens>,
}

impl LlmAnswerOutcome {
    pub(super) fn unknown(error: LlmError) -> Self {
        Self {
            result: Err(error),
            tokens: None,
        }
    }
}

/// Reads an answer in one piece, and hands its text over if it is valid.
pub(super) fn whole(body: &[u8], on_text: &mut impl FnMut(String)) -> LlmAnswerOutcome {
    let completion: Completion = match serde_json::from_slice(body) {
        Ok(completion) => completion,
        Err(_) => {
            return LlmAnswerOutcome::unknown(LlmError::bad("it is not the JSON of an answer"));
        }
    };
    if let Some(complaint) = completion.error {
        return LlmAnswerOutcome::unknown(complained(complaint.into_message()));
    }
    let tokens = match completion.usage.map(|usage| usage.tokens()).transpose() {
        Ok(tokens) => tokens,
        Err(error) => return LlmAnswerOutcome::unknown(error),
    };
    let choice = completion.choices.unwrap_or_default().into_iter().next();
    let result = match choice {
        None => Err(LlmError::bad(NO_CHOICE)),
        Some(choice) => match choice.message.and_then(|said| said.content) {
            None => Err(LlmError::bad(NO_TEXT)),
            Some(content) if content.len() > MAX_CONTENT => Err(LlmError::bad(TOO_LONG)),
            Some(content) => {
                on_text(content);
                Ok(LlmAnswer {
                    model: completion.model,
                    finish_reason: choice.finish_reason,
                })
            }
        },
    };
    LlmAnswerOutcome { result, tokens }
}

/// Puts together an answer that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct LlmAnswerPieces {
    length: usize,
    has_choice: bool,
    has_text: bool,
    model: Option<String>,
    finish_reason: Option<String>,
    tokens: Option<LlmTokens>,
    done: bool,
}

impl LlmAnswerPieces {
    /// Takes the data of one event, and gives the text that it adds.
    pub(super) fn add(&mut self, data: &str) -> Result<Option<String>, LlmError> {
        if self.done {
            return Ok(None);
        }
        if data.trim() == "[DONE]" {
            self.done = true;
            return Ok(None);
        }
        let chunk: Chunk = serde_json::from_str(data)
            .map_err(|_| LlmError::bad("an event of its stream is not the JSON of an answer"))?;
        if let Some(complaint) = chunk.error {
            return Err(complained(complaint.into_message()));
        }
        if let Some(usage) = chunk.usage {
            self.tokens = Some(usage.tokens()?);
        }
        self.model = self.model.take().or(chunk.model);
        let mut choices = chunk.choices.unwrap_or_default().into_iter();
        let Some(choice) = choices.find(|choice| choice.index == 0) else {
            return Ok(None);
        };
        self.has_choice = true;
        if choice.finish_reason.is_some() {
            self.finish_reason = choice.finish_reason;
        }
        let Some(text) = choice.delta.and_then(|said| said.content) else {
            return Ok(None);
        };
        self.has_text = true;
        self.length = self.length.saturating_add(text.len());
        if self.length > MAX_CONTENT {
            return Err(LlmError::bad(TOO_LONG));
        }
        Ok(Some(text).filter(|text| !text.is_empty()))
    }

    /// Whether nothing more is expected.
    pub(super) fn is_done(&self) -> bool {
        self.done
    }

    /// The answer, if the stream came to its end: it said `[DONE]`, or at least why the model stopped.
    pub(super) fn finish(self) -> LlmAnswerOutcome {
        let is_whole = self.done || self.finish_reason.is_some();
        let result = if !is_whole {
            // A usage that came before is not that of the whole.
            return LlmAnswerOutcome::unknown(LlmError::bad("its stream ended too early"));
        } else if !self.has_choice {
            Err(LlmError::bad(NO_CHOICE))
        } else if !self.has_text {
            Err(LlmError::bad(NO_TEXT))
        } else {
            Ok(LlmAnswer {
                model: self.model,
                finish_reason: self.finish_reason,
            })
        };
        LlmAnswerOutcome {
            result,
            tokens: self.tokens,
        }
    }
}

/// An error that came where an answer was due.
fn complained(message: String) -> LlmError {
    LlmError::Refused {
        status: 200,
        message,
    }
}

const NO_CHOICE: &str = "it has no choice";

const NO_TEXT: &str = "it has no text";

const TOO_LONG: &str = "its text is too long";

/// The longest text. A model that does not stop, or a server that plays one, would otherwise fill the memory of
/// the host.
const MAX_CONTENT: usize = 4 * 1024 * 1024;

#[cfg(test)]
mod tests;
