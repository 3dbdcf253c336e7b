//! [`LlmSettings`]: which provider is called, and how.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use url::{Host, Url};

use crate::network::address::loopback;

/// Which provider is called, with which models, and how much may be used.
///
/// [`new`](Self::new) lists every default. [`Llm::new`](super::Llm::new) checks all of it once more, so that
/// fields can be set freely in between. The key is in no `Debug` output.
#[derive(Clone)]
pub struct LlmSettings {
    /// The beginning of the provider's URLs, such as `https://api.openai.com/v1`. Requests go to
    /// `BASE/chat/completions` and to nothing else.
    pub base_url: Url,
    /// What goes into the `Authorization` header, as a bearer. Default: as given.
    pub key: Option<String>,
    /// The model of calls at the top level.
    pub model: String,
    /// The model of nested calls. Default: `gpt-4o-mini` if the provider is OpenAI, else `model`.
    pub internal_model: String,
    /// The most tokens of one answer. Default: 4096.
    pub max_tokens: u64,
    /// How the provider calls that limit. Default: `max_tokens`.
    pub token_field: TokenField,
    /// What a token counts. Default: 1 for input, 0.25 for cached input, 4 for output.
    pub weights: Weights,
    /// The same for single models.
    pub model_weights: BTreeMap<String, Weights>,
    /// How many weighted tokens all calls together may use; 0 is unlimited. Default: `None`, no quota, which
    /// limits nothing either.
    pub quota: Option<f64>,
    /// How long making a connection may take. Default: 10 s.
    pub connect_time: Duration,
    /// How long the provider may be silent in the middle of an answer. Default: 30 s.
    pub idle_time: Duration,
    /// How long a call may take, with all attempts. Default: 2 minutes.
    pub total_time: Duration,
    /// How often a call is tried again when the provider is busy or gone. Default: 3.
    pub retries: u32,
    /// How long to wait before the first of them, unless the provider says; each further wait is twice as
    /// long, and all are a little random. Default: 500 ms.
    pub backoff: Duration,
    /// The most input of one call, in bytes. Default: 2 MiB.
    pub input_bytes: usize,
    /// The certificates (DER) that the provider must descend from. Default: those that the machine trusts.
    pub roots: Option<Arc<[Vec<u8>]>>,
}

impl LlmSettings {
    /// Settings with the defaults of everything else. White space around the key is left out, and an empty key
    /// is none.
    pub fn new(
        base_url: Url,
        key: Option<String>,
        model: impl Into<String>,
    ) -> Result<Self, LlmSettingsError> {
        let model = model.into();
        let is_openai = base_url.host_str() == Some(OPENAI_HOST);
        let internal_model = if is_openai {
            OPENAI_INTERNAL_MODEL.to_owned()
        } else {
            model.clone()
        };
        let key = key.map(|key| key.trim().to_owned());
        let settings = Self {
            base_url,
            key: key.filter(|key| !key.is_empty()),
            model,
            internal_model,
            max_tokens: 4096,
            token_field: TokenField::MaxTokens,
            weights: Weights::default(),
            model_weights: BTreeMap::new(),
            quota: None,
            connect_time: Duration::from_secs(10),
            idle_time: Duration::from_secs(30),
            total_time: Duration::from_secs(120),
            retries: 3,
            backoff: Duration::from_millis(500),
            input_bytes: 2 * 1024 * 1024,
            roots: None,
        };
        settings.check()?;
        Ok(settings)
    }

    /// Whether all of it can be used.
    pub(super) fn check(&self) -> Result<(), LlmSettingsError> {
        check_url(&self.base_url)?;
        if let Some(key) = &self.key
            && !key.bytes().all(|byte| byte.is_ascii_graphic())
        {
            return Err(LlmSettingsError::Key);
        }
        for model in [&self.model, &self.internal_model] {
            if model.is_empty() || model.len() > MAX_MODEL || model.contains(char::is_control) {
                return Err(LlmSettingsError::Model);
            }
        }
        if self.max_tokens == 0 || self.max_tokens > MAX_TOKENS {
            return Err(LlmSettingsError::MaxTokens);
        }
        for time in [self.connect_time, self.idle_time, self.total_time] {
            if time.is_zero() || time > MAX_TIME {
                return Err(LlmSettingsError::Time);
            }
        }
        if let Some(quota) = self.quota
            && !(0.0..=MAX_QUOTA).contains(&quota)
        {
            return Err(LlmSettingsError::Quota);
        }
        for weights in self.model_weights.values().chain([&self.weights]) {
            weights.check()?;
        }
        Ok(())
    }

    /// The URL that requests go to.
    pub(super) fn endpoint(&self) -> Url {
        let mut url = self.base_url.clone();
        let path = url.path().trim_end_matches('/');
        url.set_path(&format!("{path}/chat/completions"));
        url
    }
}

/// Without the key.
impl fmt::Debug for LlmSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LlmSettings")
            .field("base_url", &self.base_url.as_str())
            .field("has_key", &self.key.is_some())
            .field("model", &self.model)
            .field("internal_model", &self.internal_model)
            .field("quota", &self.quota)
            .finish_non_exhaustive()
    }
}

/// What a provider calls the limit of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum TokenField {
    /// `max_tokens`, which nearly all providers know.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`, which newer models of OpenAI want.
    MaxCompletionTokens,
}

/// What a token counts, in weighted tokens.
///
/// Counting is exact to a millionth: each weight is rounded to that once, and never again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Of input that the provider had to read.
    pub input: f64,
    /// Of input that the provider had in its cache.
    pub cached: f64,
    /// Of output.
    pub output: f64,
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            input: 1.0,
            cached: 0.25,
            output: 4.0,
        }
    }
}

impl Weights {
    fn check(&self) -> Result<(), LlmSettingsError> {
        let fits = |weight: &f64| *weight == 0.0 || (MIN_WEIGHT..=MAX_WEIGHT).contains(weight);
        if [self.input, self.cached, self.output].iter().all(fits) {
            return Ok(());
        }
        Err(LlmSettingsError::Weights)
    }
}

/// What is wrong with the settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LlmSettingsError {
    /// The URL is not one of the web.
    #[error("the URL of the provider must begin with `https://`, or `http://` on this machine")]
    Scheme,
    /// The key would go over the network for all to read.
    #[error(
        "the URL of the provider has `http://` and is not on this machine: the key and all that is sent could be read on the way"
    )]
    Plain,
    /// The URL holds more than a place.
    #[error(
        "the URL of the provider must not hold credentials, a query or a fragment: the key is set by itself"
    )]
    Extra,
    /// The key cannot be sent.
    #[error("the key of the provider holds characters that no key has")]
    Key,
    /// The name of a model cannot be one.
    #[error("the name of a model must have 1 to 256 characters")]
    Model,
    /// The limit of an answer cannot be one.
    #[error("`max_tokens` must be from 1 to 100,000,000")]
    MaxTokens,
    /// A time cannot be waited for.
    #[error("the times of a call must be longer than 0 and at most a day")]
    Time,
    /// The quota cannot be counted.
    #[error("the quota must be from 0 (unlimited) to 1,000,000,000,000,000 weighted tokens")]
    Quota,
    /// A weight cannot be counted with.
    #[error("a weight must be 0, or from 0.000001 to 1,000,000")]
    Weights,
}

fn check_url(url: &Url) -> Result<(), LlmSettingsError> {
    let extra = !url.username().is_empty()
        || url.password().is_some()
        || url.query().is_some()
        || url.fragment().is_some();
    if extra {
        return Err(LlmSettingsError::Extra);
    }
    let is_local = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.to_canonical().is_loopback(),
        Some(Host::Domain(name)) => loopback(name).is_some(),
        None => return Err(LlmSettingsError::Scheme),
    };
    match url.scheme() {
        "https" => Ok(()),
        "http" if is_local => Ok(()),
        "http" => Err(LlmSettingsError::Plain),
        _ => Err(LlmSettingsError::Scheme),
    }
}

const OPENAI_HOST: &str = "api.openai.com";

const OPENAI_INTERNAL_MODEL: &str = "gpt-4o-mini";

/// The longest name of a model, asked for or answered.
pub(super) const MAX_MODEL: usize = 256;

/// More tokens than this in one call are no truth: a provider could otherwise use a quota up, or overflow a
/// sum, with one number.
pub(super) const MAX_TOKENS: u64 = 100_000_000;

/// The longest time of a call. A clock cannot be set ahead by any time.
const MAX_TIME: Duration = Duration::from_secs(24 * 60 * 60);

const MAX_QUOTA: f64 = 1e15;

const MIN_WEIGHT: f64 = 1e-6;

const MAX_WEIGHT: f64 = 1e6;

#[cfg(test)]
mod tests;
