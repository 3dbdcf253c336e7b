//! [`LlmError`]: why there is no answer.

/// Why a model gave no answer.
///
/// Its text is one sentence that a tool and the model behind it may read: it never holds the key, a path of the
/// host or an error number, and what it repeats of a provider's own words is short and without control
/// characters.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LlmError {
    /// The broker has no provider.
    #[error("LLM not available")]
    NotAvailable,
    /// What is left of the quota does not cover the input and one token of an answer. Nothing was sent.
    #[error("quota exceeded: cannot make LLM call")]
    QuotaExceeded,
    /// The request makes no sense. Nothing was sent.
    #[error("{0}")]
    InvalidRequest(String),
    /// The input is larger than one call may send. Nothing was sent.
    #[error("the input has {size} bytes, and one call may send {limit}")]
    TooLarge {
        /// The bytes of all messages.
        size: usize,
        /// What one call may send.
        limit: usize,
    },
    /// The provider said no, after all attempts.
    #[error("the provider answered {status}: {message}")]
    Refused {
        /// The status of HTTP; 200 if the provider took the call and reported an error instead of an answer.
        status: u16,
        /// What it means, or what the provider said.
        message: String,
    },
    /// The provider took too long, or was silent for too long.
    #[error("the provider did not answer in time")]
    Timeout,
    /// There was no connection, or it ended before the provider said anything.
    #[error("the provider cannot be reached: {0}")]
    Unreachable(String),
    /// The answer is not one.
    #[error("the provider's answer cannot be used: {0}")]
    BadAnswer(String),
    /// The call was given up by whoever made it.
    #[error("the LLM call was cancelled")]
    Cancelled,
    /// Everything is refused, because what is done could not be written down.
    #[error("the audit log cannot be written")]
    Unaudited,
}

impl LlmError {
    pub(super) fn bad(why: impl Into<String>) -> Self {
        Self::BadAnswer(why.into())
    }

    /// The word for it in the audit log.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::NotAvailable => "not_available",
            Self::QuotaExceeded => "quota_exceeded",
            Self::InvalidRequest(_) => "invalid_request",
            Self::TooLarge { .. } => "too_large",
            Self::Refused { .. } => "refused",
            Self::Timeout => "timeout",
            Self::Unreachable(_) => "unreachable",
            Self::BadAnswer(_) => "bad_answer",
            Self::Cancelled => "cancelled",
            Self::Unaudited => "unaudited",
        }
    }
}
