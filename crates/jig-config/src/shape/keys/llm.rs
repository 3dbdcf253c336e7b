//! The LLM that processes behind a file proxy may ask.

use crate::shape::quantity::{AmountUnit, HOUR, Quantity, SECOND};
use crate::shape::text::{BASE_URL, KEY_ENV, MODEL};
use crate::shape::{MapShape, ShapeWord, TableKey, TableShape, ValueShape, key};

/// `[llm]`.
pub(crate) static LLM: TableShape = TableShape {
    what: "the LLM",
    keys: &[
        key!(
            "base_url",
            ValueShape::Text(&BASE_URL),
            "The provider: a URL below which `chat/completions` is found. Not in a file of a workspace.",
            default = "\"https://api.openai.com/v1\""
        ),
        key!(
            "key_env",
            ValueShape::Text(&KEY_ENV),
            "The variable of the host that holds the key; empty for a provider that needs none. If nothing is said, `OPENAI_API_KEY` for the default provider and none for others. Not in a file of a workspace."
        ),
        key!(
            "model",
            ValueShape::Text(&MODEL),
            "The model that is asked at the top level. It is needed."
        ),
        key!(
            "internal_model",
            ValueShape::Text(&MODEL),
            "The model that nested processes ask. If nothing is said, `gpt-4o-mini` of the default provider, and `model` of others."
        ),
        key!(
            "max_tokens",
            ValueShape::Int {
                min: 1,
                max: MOST_TOKENS,
            },
            "The most tokens of one answer.",
            default = "4096"
        ),
        key!(
            "token_field",
            ValueShape::Word(&[
                ShapeWord {
                    name: "max_tokens",
                    doc: "What most providers know.",
                },
                ShapeWord {
                    name: "max_completion_tokens",
                    doc: "What newer models of OpenAI insist on.",
                },
            ]),
            "The field of a request in which the provider expects the most tokens of an answer.",
            default = "\"max_tokens\""
        ),
        key!(
            "quota",
            ValueShape::Number {
                min: 0.0,
                max: MOST_QUOTA,
            },
            "How many weighted tokens one tree of processes may use; 0 means that they are counted without a limit. If nothing is said, nothing is limited and nothing is told about it."
        ),
        key!(
            "timeout",
            ValueShape::Quantity(&LONG),
            "How long one call may take, with all its retries.",
            default = "\"2m\""
        ),
        key!(
            "idle_timeout",
            ValueShape::Quantity(&LONG),
            "How long the provider may be silent in the middle of an answer.",
            default = "\"30s\""
        ),
        key!(
            "retries",
            ValueShape::Int { min: 0, max: 10 },
            "How often a call is tried again when the provider is busy or cannot be reached.",
            default = "3"
        ),
        WEIGHTS,
        key!(
            "models",
            ValueShape::Map(&MODELS),
            "What differs for single models, by name."
        ),
    ],
    foreign: &[
        ("api_key", NO_KEY),
        ("apikey", NO_KEY),
        ("apiKey", NO_KEY),
        ("key", NO_KEY),
        ("token", NO_KEY),
        ("secret", NO_KEY),
        ("password", NO_KEY),
        ("api_key_env", "write `key_env`"),
        ("env_key", "write `key_env`"),
        ("url", "write `base_url`"),
        ("api_base", "write `base_url`"),
        ("base", "write `base_url`"),
        ("endpoint", "write `base_url`"),
        (
            "provider",
            "write `base_url`: any provider that speaks OpenAI's chat completions will do",
        ),
        ("internalModel", "write `internal_model`"),
        ("nested_model", "write `internal_model`"),
        ("small_model", "write `internal_model`"),
        ("limit", "write `quota`"),
        ("token_limit", "write `quota`"),
        (
            "max_completion_tokens",
            "write `max_tokens`, and `token_field = \"max_completion_tokens\"`",
        ),
        ("weight", "write `weights`"),
        ("max_retries", "write `retries`"),
        (
            "temperature",
            "whoever asks the model says how; there is no default to set",
        ),
        (
            "enable",
            "leave the table out, or don't pass `--llm`: nothing else uses it",
        ),
    ],
    short: None,
};

const WEIGHTS: TableKey = key!(
    "weights",
    ValueShape::Table(&TableShape {
        what: "the weights of tokens",
        keys: &[
            key!(
                "input",
                WEIGHT,
                "What a token of the input counts.",
                default = "1.0"
            ),
            key!(
                "cached",
                WEIGHT,
                "What a token of the input counts that the provider had kept.",
                default = "0.25"
            ),
            key!(
                "output",
                WEIGHT,
                "What a token of the answer counts.",
                default = "4.0"
            ),
        ],
        foreign: &[
            ("prompt", "write `input`"),
            ("cache", "write `cached`"),
            ("cached_input", "write `cached`"),
            ("completion", "write `output`"),
        ],
        short: None,
    }),
    "What tokens count towards the quota, by their kind."
);

const WEIGHT: ValueShape = ValueShape::Number {
    min: 0.0,
    max: MOST_WEIGHT,
};

static MODELS: MapShape = MapShape {
    what: "a model",
    name: &MODEL,
    value: ValueShape::Table(&TableShape {
        what: "a model of the LLM",
        keys: &[WEIGHTS],
        foreign: &[
            ("weight", "write `weights`"),
            ("input", "write `weights = { input = 1.0 }`"),
            ("cached", "write `weights = { cached = 0.25 }`"),
            ("output", "write `weights = { output = 4.0 }`"),
        ],
        short: None,
    }),
    special: &[],
};

static LONG: Quantity = Quantity {
    unit: AmountUnit::Time,
    min: SECOND,
    max: HOUR,
    liftable: false,
};

/// Whoever writes a key into a file sends it wherever that file goes.
const NO_KEY: &str = "write `key_env = \"NAME\"`: the name of a variable that holds the key; the key \
                      itself never stands in a file";

/// More than any model writes in one answer.
const MOST_TOKENS: i64 = 10_000_000;

/// Far from where adding up such numbers would lose tokens.
const MOST_QUOTA: f64 = 1e12;

/// A token of the dearest model counts less against one of the cheapest.
const MOST_WEIGHT: f64 = 1_000.0;
