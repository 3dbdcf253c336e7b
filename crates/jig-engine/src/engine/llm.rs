//! [`Engine::llm`]: the provider of models that the configuration names, with its key.

use jig_broker::{HostEnv, Llm, LlmSettings, LlmSettingsError, TokenField, Weights};
use jig_config::{LlmConfig, LlmKey, LlmTokenField, LlmWeights};
use jig_proto::hint;

use crate::engine::Engine;

/// Why there is no model to ask, although the configuration names one.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LlmSetupError {
    /// There is no key for the provider.
    #[error(
        "there is no key for `{provider}`: the variable `{variable}` is {}\n{}",
        if *.is_empty { "empty" } else { "not set" },
        hint!(
            "set `{variable}` where jig is started, or have `llm.key_env` name another variable; `key_env = \"\"` \
             is for a provider that needs no key"
        )
    )]
    NoKey {
        /// The provider's URL.
        provider: String,
        /// The variable that should hold the key.
        variable: String,
        /// Whether the variable is there, and empty.
        is_empty: bool,
    },
    /// The variable holds something that cannot be sent as a key.
    #[error(
        "the variable `{0}` holds characters that no key has\n{hint}",
        hint = hint!("set it to the key alone, on one line")
    )]
    NotAKey(String),
    /// The settings are none that a provider can be asked with.
    #[error("the settings of the LLM cannot be used")]
    Settings(#[from] LlmSettingsError),
}

impl Engine {
    /// The models that the configuration names, with a quota of which nothing is used yet. `None` if it
    /// names none.
    ///
    /// Each call makes another one: one is meant for a whole tree of clients, which share its quota. The key
    /// is taken from [`env`](Self::env), and stays in what is returned.
    ///
    /// # Errors
    ///
    /// If the variable that should hold the key has none.
    pub fn llm(&self) -> Result<Option<Llm>, LlmSetupError> {
        let Some(config) = &self.config.llm else {
            return Ok(None);
        };
        let key = key(config, &self.env)?;
        let mut settings = LlmSettings::new(config.base_url.clone(), key, config.model.as_str())?;
        settings.internal_model = config.internal_model.clone();
        settings.max_tokens = config.max_tokens;
        settings.token_field = match config.token_field {
            LlmTokenField::MaxTokens => TokenField::MaxTokens,
            LlmTokenField::MaxCompletionTokens => TokenField::MaxCompletionTokens,
        };
        settings.weights = weights(config.weights);
        let models = config.model_weights.iter();
        settings.model_weights = models
            .map(|(name, own)| (name.clone(), weights(*own)))
            .collect();
        settings.quota = config.quota;
        settings.idle_time = config.idle_timeout;
        settings.total_time = config.timeout;
        settings.retries = config.retries;
        settings.roots = self.http.roots.clone();
        Ok(Some(Llm::new(settings)?))
    }
}

fn key(config: &LlmConfig, env: &HostEnv) -> Result<Option<String>, LlmSetupError> {
    let LlmKey::Variable(variable) = &config.key else {
        return Ok(None);
    };
    let value = env.get(variable);
    let key = value.map(str::trim).filter(|key| !key.is_empty());
    let key = key.ok_or_else(|| LlmSetupError::NoKey {
        provider: config.base_url.to_string(),
        variable: variable.clone(),
        is_empty: value.is_some(),
    })?;
    if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(LlmSetupError::NotAKey(variable.clone()));
    }
    Ok(Some(key.to_owned()))
}

fn weights(weights: LlmWeights) -> Weights {
    Weights {
        input: weights.input,
        cached: weights.cached,
        output: weights.output,
    }
}

#[cfg(test)]
mod tests;
