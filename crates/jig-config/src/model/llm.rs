//! [`LlmConfig`]: the LLM that processes behind a file proxy may ask.
//!
//! Where a key is sent, and which, is for the person to say whose key it is: no file of a workspace says so.
//! What a workspace says about the quota can only make it smaller than that person's own.

use std::collections::BTreeMap;
use std::time::Duration;

use jig_proto::{Hint, hint};
use serde_json::Value as Json;
use url::{Host, Url};

use crate::origin::{Layer, Origin};
use crate::problem::Problem;
use crate::quoting::quote;
use crate::shape::quantity::Amount;
use crate::shape::{TextComplaint, keys};
use crate::value::{ConfigNode, TableEntry};

/// The LLM that processes behind a file proxy may ask: `[llm]`, with every setting resolved.
#[derive(Debug, Clone)]
pub struct LlmConfig {
    /// The provider. `https`, or `http` on this machine; without a name, password, query or fragment.
    pub base_url: Url,
    /// Where the key is.
    pub key: LlmKey,
    /// The model that is asked at the top level.
    pub model: String,
    /// The model that nested processes ask.
    pub internal_model: String,
    /// The most tokens of one answer.
    pub max_tokens: u64,
    /// How the provider calls that.
    pub token_field: LlmTokenField,
    /// What tokens count towards the quota.
    pub weights: LlmWeights,
    /// The same for single models, by name.
    pub model_weights: BTreeMap<String, LlmWeights>,
    /// How many weighted tokens one tree of processes may use; 0 is no limit. `None` if there is no quota
    /// to ask about.
    pub quota: Option<f64>,
    /// How long one call may take.
    pub timeout: Duration,
    /// How long the provider may say nothing.
    pub idle_timeout: Duration,
    /// How often a call is tried again.
    pub retries: u32,
    pub(crate) values: ConfigNode,
}

impl LlmConfig {
    /// Where the value at a dotted path below `[llm]` was written: `model`, `weights.input`.
    ///
    /// `None` for what nobody wrote: the default applies.
    pub fn origin(&self, path: &str) -> Option<&Origin> {
        let steps: Vec<&str> = path.split('.').collect();
        self.values.find(&steps).map(|node| &node.origin)
    }

    /// Where the table was first written.
    pub fn declared_at(&self) -> &Origin {
        &self.values.origin
    }

    /// What holds although nobody wrote it, as it could be written.
    pub(crate) fn defaults(&self) -> Vec<(&'static str, Json)> {
        let mut defaults = vec![
            ("base_url", self.base_url.as_str().into()),
            ("key_env", self.key.variable().into()),
            ("internal_model", self.internal_model.as_str().into()),
            ("max_tokens", self.max_tokens.into()),
            ("token_field", self.token_field.name().into()),
            ("timeout", seconds(self.timeout).into()),
            ("idle_timeout", seconds(self.idle_timeout).into()),
            ("retries", self.retries.into()),
        ];
        defaults.retain(|(name, _)| self.values.get(name).is_none());
        defaults
    }

    /// Reads the merged table; `None` if it is incomplete, which is then a problem.
    pub(crate) fn read(node: &ConfigNode, errors: &mut Vec<Problem>) -> Option<Self> {
        let text = |key: &str| node.get(key).and_then(ConfigNode::text).map(str::to_owned);
        let Some(model) = text("model") else {
            errors.push(no_model(node));
            return None;
        };
        let base_url = text("base_url").unwrap_or_else(|| DEFAULT_BASE_URL.to_owned());
        let base_url = parse_base_url(&base_url).ok()?;
        let is_default = base_url.host_str() == Some(DEFAULT_HOST);
        let weights = LlmWeights::default().changed_by(node.get("weights"));
        let models = node.get("models").and_then(ConfigNode::table);
        let model_weights = models.into_iter().flatten().map(|(name, entry)| {
            let weights = weights.changed_by(entry.node.get("weights"));
            (name.clone(), weights)
        });
        let count = |key: &str| node.get(key).and_then(ConfigNode::int);
        let time = |key: &str| match keys::LLM.amount(node, key) {
            Some(Amount::Of(milliseconds)) => Some(Duration::from_millis(milliseconds)),
            _ => None,
        };
        Some(Self {
            key: match text("key_env") {
                Some(name) if name.is_empty() => LlmKey::None,
                Some(name) => LlmKey::Variable(name),
                // The key of one provider is not for another.
                None if is_default => LlmKey::Variable(DEFAULT_KEY_ENV.to_owned()),
                None => LlmKey::None,
            },
            internal_model: text("internal_model").unwrap_or_else(|| match is_default {
                true => DEFAULT_INTERNAL_MODEL.to_owned(),
                false => model.clone(),
            }),
            base_url,
            model,
            max_tokens: count("max_tokens")
                .and_then(|count| u64::try_from(count).ok())
                .unwrap_or(DEFAULT_MAX_TOKENS),
            token_field: text("token_field")
                .and_then(|word| LlmTokenField::parse(&word))
                .unwrap_or(LlmTokenField::MaxTokens),
            model_weights: model_weights.collect(),
            weights,
            quota: node.get("quota").and_then(|node| node.value.number()),
            timeout: time("timeout").unwrap_or(DEFAULT_TIMEOUT),
            idle_timeout: time("idle_timeout").unwrap_or(DEFAULT_IDLE_TIMEOUT),
            retries: count("retries")
                .and_then(|count| u32::try_from(count).ok())
                .unwrap_or(DEFAULT_RETRIES),
            values: node.clone(),
        })
    }
}

/// Where the key for a provider is.
#[derive(Debug, Clone, PartialEq, Eq)]
// Exhaustive: whoever asks a provider must have an answer to each.
pub enum LlmKey {
    /// The provider needs none.
    None,
    /// In a variable of the host.
    Variable(String),
}

impl LlmKey {
    /// What `key_env` says: the name of the variable, or nothing.
    pub fn variable(&self) -> &str {
        match self {
            LlmKey::None => "",
            LlmKey::Variable(name) => name,
        }
    }
}

/// How a provider calls the most tokens of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
// Exhaustive: whoever asks a provider must have an answer to each.
pub enum LlmTokenField {
    /// `max_tokens`.
    MaxTokens,
    /// `max_completion_tokens`.
    MaxCompletionTokens,
}

impl LlmTokenField {
    /// The word, as in configuration and in requests.
    pub fn name(self) -> &'static str {
        match self {
            LlmTokenField::MaxTokens => "max_tokens",
            LlmTokenField::MaxCompletionTokens => "max_completion_tokens",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        let all = [LlmTokenField::MaxTokens, LlmTokenField::MaxCompletionTokens];
        all.into_iter().find(|field| field.name() == word)
    }
}

/// What tokens count towards the quota, by their kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LlmWeights {
    /// A token of the input.
    pub input: f64,
    /// A token of the input that the provider had kept.
    pub cached: f64,
    /// A token of the answer.
    pub output: f64,
}

impl Default for LlmWeights {
    fn default() -> Self {
        Self {
            input: 1.0,
            cached: 0.25,
            output: 4.0,
        }
    }
}

impl LlmWeights {
    /// With what a checked table says otherwise.
    fn changed_by(self, node: Option<&ConfigNode>) -> Self {
        let weight = |key: &str| node?.get(key)?.value.number();
        Self {
            input: weight("input").unwrap_or(self.input),
            cached: weight("cached").unwrap_or(self.cached),
            output: weight("output").unwrap_or(self.output),
        }
    }
}

fn seconds(time: Duration) -> String {
    format!("{}s", time.as_secs())
}

/// What is wrong with `[llm]` in one layer, beyond its shape.
pub(crate) fn check_layer(layer: &ConfigNode, problems: &mut Vec<Problem>) {
    let Some(node) = layer.get("llm") else {
        return;
    };
    for (name, check) in CHECKED_APART {
        let Some(entry) = node.entry(name) else {
            continue;
        };
        if entry.key.layer() == Layer::Workspace {
            problems.push(not_in_a_workspace(name, entry));
            continue;
        }
        let text = entry.node.text();
        if let Some(Err(complaint)) = text.map(check) {
            let message = format!("this is no valid `{name}`: {}", complaint.reason);
            let problem = Problem::error(message, complaint.help);
            let problem = problem
                .at(&entry.node.origin, "")
                .key(format!("llm.{name}"));
            problems.push(problem.without_text());
        }
    }
}

/// What a workspace must not change of a quota that the person who runs jig has set.
///
/// The quota is what protects that person from what a workspace has a model do, and weights are the other
/// half of it.
pub(crate) fn check_quota(layers: &[ConfigNode], problems: &mut Vec<Problem>) {
    let tables = || layers.iter().filter_map(|layer| layer.get("llm"));
    let is_workspace = |node: &&ConfigNode| node.origin.layer() == Layer::Workspace;
    let mut own = tables()
        .filter(|node| !is_workspace(node))
        .filter_map(|node| node.get("quota"));
    let Some(first) = own.next() else {
        return;
    };
    // Above the workspace, what is written there does not count.
    let below = Some(first).filter(|own| own.origin.layer() < Layer::Workspace);
    let limit = below.and_then(|own| own.value.number()).unwrap_or(0.0);
    let raises = |entry: &&TableEntry| {
        let wanted = entry.node.value.number().unwrap_or(0.0);
        limit != 0.0 && (wanted == 0.0 || wanted > limit)
    };
    for node in tables().filter(is_workspace) {
        let refused = |name: &str, entry: &TableEntry, why: &str, help: Hint| {
            Problem::error(why, help)
                .at(&entry.key, "")
                .and(&first.origin, "your own quota")
                .key(format!("llm.{name}"))
        };
        problems.extend(node.entry("quota").filter(raises).map(|entry| {
            refused(
                "quota",
                entry,
                "a file of the workspace cannot raise the quota that your own file sets: whoever writes \
                 the project's files would spend your tokens",
                hint!("remove it, or lower it; to allow more, raise `quota` in your own file"),
            )
        }));
        for name in ["weights", "models"] {
            problems.extend(node.entry(name).map(|entry| {
                refused(
                    name,
                    entry,
                    "a file of the workspace cannot say what tokens count towards a quota that you set: \
                     whoever writes the project's files would spend your tokens",
                    hint!("move it into your own file"),
                )
            }));
        }
    }
}

/// What is wrong with a text of one key.
type KeyCheck = fn(&str) -> Result<(), TextComplaint>;

/// The keys whose values no message repeats, each with its check.
const CHECKED_APART: [(&str, KeyCheck); 2] = [
    ("base_url", |text| parse_base_url(text).map(drop)),
    ("key_env", check_key_env),
];

fn not_in_a_workspace(name: &str, entry: &TableEntry) -> Problem {
    let what = match name {
        "base_url" => "where your key is sent",
        _ => "which of your variables is sent as a key",
    };
    Problem::error(
        format!(
            "`{name}` cannot stand in a file of the workspace: whoever writes the project's files would \
             choose {what}"
        ),
        hint!(
            "move it into your own file, `~/.config/jig/config.toml`, or pass `--config FILE` or `--set llm.{name}=…`"
        ),
    )
    .at(&entry.key, "")
    .key(format!("llm.{name}"))
    .without_text()
}

fn no_model(node: &ConfigNode) -> Problem {
    Problem::error(
        "the LLM has no `model`, so nothing can be asked",
        hint!("add `model = \"…\"` to `[llm]`: the name of a model, as the provider has it"),
    )
    .at(&node.origin, "")
    .key("llm.model")
}

/// The URL of a provider. What is said about a text that is none does not repeat it.
fn parse_base_url(text: &str) -> Result<Url, TextComplaint> {
    let help = hint!("write a URL such as `\"https://api.openai.com/v1\"`");
    let url = Url::parse(text).map_err(|error| TextComplaint::new(error, help.clone()))?;
    let Some(host) = url.host() else {
        return Err(TextComplaint::new("it names no host", help));
    };
    match url.scheme() {
        "https" => {}
        "http" if is_this_machine(&host) => {}
        "http" => {
            return Err(TextComplaint::new(
                "over `http` everybody on the way could read the key and the texts",
                hint!(
                    "write `https`; `http` is for this machine alone, such as `\"http://127.0.0.1:8080/v1\"`"
                ),
            ));
        }
        scheme => {
            let reason = format!("{} is no way to ask a model", quote(scheme));
            return Err(TextComplaint::new(reason, help));
        }
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(TextComplaint::new(
            "it holds a name or a password",
            hint!("leave that out, and put the key into a variable that `key_env` names"),
        ));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(TextComplaint::new(
            "a path is added to it, so that it can have neither `?` nor `#`",
            hint!("end it before that"),
        ));
    }
    Ok(url)
}

/// Whether only this machine is reached. `localhost` is, and what is below it: no resolver may say otherwise
/// (RFC 6761).
fn is_this_machine(host: &Host<&str>) -> bool {
    match host {
        Host::Domain(name) => {
            let name = name.strip_suffix('.').unwrap_or(name);
            name == "localhost" || name.ends_with(".localhost")
        }
        Host::Ipv4(address) => address.is_loopback(),
        Host::Ipv6(address) => address.is_loopback(),
    }
}

/// The name of a variable, or nothing. What is said about a text that is none does not repeat it.
fn check_key_env(text: &str) -> Result<(), TextComplaint> {
    let help = hint!(
        "write the name of a variable, such as `\"OPENAI_API_KEY\"`, and set that variable to the key where jig is \
         started; `\"\"` if the provider needs no key"
    );
    let mut bytes = text.bytes();
    let is_name = match bytes.next() {
        None => return Ok(()),
        Some(first) => {
            (first.is_ascii_alphabetic() || first == b'_')
                && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        }
    };
    // The names of variables are short, and none begins as the keys of many providers do.
    if !is_name || text.len() > MAX_KEY_ENV || text.starts_with("sk_") {
        return Err(TextComplaint::new("it is not the name of a variable", help));
    }
    Ok(())
}

/// The provider that everything here is made after.
const DEFAULT_BASE_URL: &str = "https://api.openai.com/v1";

/// Its machine: whatever else is there belongs to the same provider.
const DEFAULT_HOST: &str = "api.openai.com";

/// Where the key for it usually is.
const DEFAULT_KEY_ENV: &str = "OPENAI_API_KEY";

/// A small model of it (F-072).
const DEFAULT_INTERNAL_MODEL: &str = "gpt-4o-mini";

const DEFAULT_MAX_TOKENS: u64 = 4096;
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(120);
const DEFAULT_IDLE_TIMEOUT: Duration = Duration::from_secs(30);
const DEFAULT_RETRIES: u32 = 3;

/// The longest name of a variable: keys are longer.
const MAX_KEY_ENV: usize = 64;
