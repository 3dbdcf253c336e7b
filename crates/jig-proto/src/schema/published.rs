//! [`published()`]: what model providers are given of a tool.
//!
//! They refuse a whole request for one schema that they don't take, each for other reasons: a root
//! `oneOf` or `anyOf`, `const`, an `enum` without its type, names beyond 64 plain characters. What is
//! published has none of them in what we add, and is the same for all. It says less than
//! [`stateful_schema`]: whoever is called with it validates with that.

use std::fmt;
use std::str::FromStr;

use serde_json::{Map, Value, json};

use super::root::flattened;
use super::{OwnParameters, ROOT_KEYS, SchemaError, own_parameters, stateful_schema};
use crate::fields::quoted;
use crate::{Actions, ToolAction};

/// How the actions of a stateful tool are published.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SchemaForm {
    /// One tool with a parameter `action`, and all others optional. Every provider takes it.
    #[default]
    Flat,
    /// One tool for each action, such as `git_spawn` and `git_fetch`. Every provider takes it.
    Split,
    /// One tool with one variant for each action in a root `oneOf`. The most exact form, for
    /// providers that take it; most don't.
    OneOf,
}

/// One tool as a model provider is given it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Published {
    /// The name, between 1 and 64 letters, digits, `_` and `-`. It is that of the tool if it can be.
    pub name: String,
    /// What the tool does, for a model.
    pub description: String,
    /// The schema of the arguments.
    pub parameters: Map<String, Value>,
    /// The tool that is called.
    pub tool: String,
    /// The action that is meant if its name does not stand among the arguments.
    pub action: Option<ToolAction>,
}

impl Published {
    /// The arguments of the tool, when this was called with `arguments`.
    pub fn arguments(&self, mut arguments: Map<String, Value>) -> Map<String, Value> {
        if let Some(action) = self.action {
            arguments.insert("action".to_owned(), json!(action.name()));
        }
        arguments
    }

    /// The same with parameters that every provider takes, also of a one-shot tool.
    ///
    /// They say less than those of the tool where a choice at the root is left out: whoever is called
    /// validates with the tool's own.
    #[must_use]
    pub fn simplified(mut self) -> Self {
        self.parameters = flattened(&self.parameters);
        let root = &mut self.parameters;
        root.shift_remove("$schema");
        root.insert("type".to_owned(), json!("object"));
        root.entry("properties").or_insert_with(|| json!({}));
        rename_definitions(root);
        each_schema(root, &mut |schema| {
            spell_out(schema);
            simplify(schema);
            let is_list = schema.get("type").is_some_and(|kind| kind == "array");
            // Anything may be in it, which has to be said.
            if is_list && !schema.contains_key("prefixItems") {
                schema.entry("items").or_insert_with(|| json!({}));
            }
        });
        self
    }
}

/// What model providers are given of `tool`, whose own parameters are those of `spawn`.
///
/// For a one-shot tool that is its schema as it is, in every form. Several tools may be published
/// under one name (`git` in the form [`SchemaForm::Split`] and a tool `git_spawn`): whoever publishes
/// them must look.
///
/// # Errors
///
/// As [`stateful_schema`].
pub fn published(
    tool: &str,
    description: &str,
    spawn: &Map<String, Value>,
    actions: Actions,
    form: SchemaForm,
) -> Result<Vec<Published>, SchemaError> {
    let one = |parameters| Published {
        name: name_for_providers(tool, ""),
        description: description.to_owned(),
        parameters,
        tool: tool.to_owned(),
        action: None,
    };
    if actions.is_one_shot() {
        return Ok(vec![one(spawn.clone())]);
    }
    let flattened = match form {
        SchemaForm::OneOf => None,
        SchemaForm::Flat | SchemaForm::Split => Some(flattened(spawn)),
    };
    let spawn = flattened.as_ref().unwrap_or(spawn);
    Ok(match form {
        SchemaForm::OneOf => vec![one(stateful_schema(spawn, actions)?)],
        SchemaForm::Flat => vec![one(flat(spawn, actions)?)],
        SchemaForm::Split => {
            let parts = actions.iter().map(|action| {
                Ok(Published {
                    name: name_for_providers(tool, action.name()),
                    description: split_description(tool, description, action, actions),
                    parameters: split(spawn, action)?,
                    tool: tool.to_owned(),
                    action: Some(action),
                })
            });
            parts.collect::<Result<_, _>>()?
        }
    })
}

fn flat(spawn: &Map<String, Value>, actions: Actions) -> Result<Map<String, Value>, SchemaError> {
    let own = own_parameters(spawn)?;
    let mut properties = Map::new();
    let names: Vec<&str> = actions.iter().map(ToolAction::name).collect();
    let protocol = json!({
        "type": "string",
        "enum": names,
        "description": flat_description(&own, actions),
    });
    properties.insert("action".to_owned(), protocol);
    properties.extend(own.properties);
    let described = json!({"type": "string", "description": ID_OF_ANY});
    properties.insert("id".to_owned(), described);
    if actions.has(ToolAction::Apply) {
        // A parameter of the tool may have the name, too: then it is either.
        let schema = match properties.shift_remove("input") {
            None => input_schema(),
            Some(own) => json!({"anyOf": [own, input_schema()]}),
        };
        properties.insert("input".to_owned(), schema);
    }
    if actions.has(ToolAction::Fetch) || actions.has(ToolAction::Apply) {
        for (name, schema) in fetch_properties() {
            // An option that nobody needs gives way to a parameter of the tool.
            properties.entry(name).or_insert(schema);
        }
    }
    // Without `action` the tool runs to its end.
    Ok(assembled(spawn, properties, Vec::new()))
}

fn split(
    spawn: &Map<String, Value>,
    action: ToolAction,
) -> Result<Map<String, Value>, SchemaError> {
    let own = own_parameters(spawn)?;
    if action == ToolAction::Spawn {
        let mut properties = own.properties;
        let described = json!({"type": "string", "description": ID_TO_CHOOSE});
        properties.insert("id".to_owned(), described);
        return Ok(assembled(spawn, properties, own.required.to_vec()));
    }
    let mut properties = Map::new();
    let described = json!({"type": "string", "description": ID_TO_NAME});
    properties.insert("id".to_owned(), described);
    let mut required = vec![json!("id")];
    if action == ToolAction::Apply {
        properties.insert("input".to_owned(), input_schema());
        required.push(json!("input"));
    }
    if action != ToolAction::Abort {
        properties.extend(fetch_properties());
    }
    Ok(assembled(&Map::new(), properties, required))
}

/// An object with these properties, and of `spawn` what they may refer to.
///
/// Its other keywords stay out: with parameters that are there for one action only, most would be
/// wrong, and providers don't take most of them.
fn assembled(
    spawn: &Map<String, Value>,
    properties: Map<String, Value>,
    required: Vec<Value>,
) -> Map<String, Value> {
    let mut root = Map::new();
    root.insert("type".to_owned(), json!("object"));
    for key in ROOT_KEYS {
        if let Some(value) = spawn.get(key).filter(|_| key != "$schema") {
            root.insert(key.to_owned(), value.clone());
        }
    }
    root.insert("properties".to_owned(), Value::Object(properties));
    if !required.is_empty() {
        root.insert("required".to_owned(), Value::Array(required));
    }
    if spawn.get("additionalProperties") == Some(&Value::Bool(false)) {
        root.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    rename_definitions(&mut root);
    each_schema(&mut root, &mut simplify);
    root
}

/// Writes a schema as every provider takes it, with the same meaning; not those within it.
fn simplify(schema: &mut Map<String, Value>) {
    if let Some(only) = schema.shift_remove("const") {
        schema.insert("enum".to_owned(), Value::Array(vec![only]));
    }
    let is_text = |words: &Value| {
        let words = words.as_array();
        words.is_some_and(|words| words.iter().all(Value::is_string))
    };
    if !schema.contains_key("type") && schema.get("enum").is_some_and(is_text) {
        schema.insert("type".to_owned(), json!("string"));
    }
    split_types(schema);
}

/// Writes what may be anything, or nothing, as an empty schema: providers don't take `true` and `false`.
fn spell_out(schema: &mut Map<String, Value>) {
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        let odd = properties.values_mut().filter(|one| !one.is_object());
        odd.for_each(|one| *one = json!({}));
    }
    for key in ["items", "not"] {
        if schema.get(key).is_some_and(|one| !one.is_object()) {
            schema.shift_remove(key);
        }
    }
}

/// Calls `change` for a schema, and then for those within it.
fn each_schema(schema: &mut Map<String, Value>, change: &mut dyn FnMut(&mut Map<String, Value>)) {
    change(schema);
    for (key, value) in schema {
        match (key.as_str(), value) {
            (
                "properties" | "$defs" | "definitions" | "patternProperties",
                Value::Object(named),
            ) => {
                let schemas = named.values_mut().filter_map(Value::as_object_mut);
                schemas.for_each(|one| each_schema(one, change));
            }
            ("items" | "additionalProperties" | "not", Value::Object(inner)) => {
                each_schema(inner, change);
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(list)) => {
                let schemas = list.iter_mut().filter_map(Value::as_object_mut);
                schemas.for_each(|one| each_schema(one, change));
            }
            _ => {}
        }
    }
}

/// Gives definitions the newer of the two names of their place. Where both are in use for different
/// things, they stay.
fn rename_definitions(root: &mut Map<String, Value>) {
    let Some(Value::Object(older)) = root.get("definitions") else {
        return;
    };
    let older = older.clone();
    let place = root.entry("$defs").or_insert_with(|| json!({}));
    let Value::Object(newer) = place else { return };
    if older.keys().any(|name| newer.contains_key(name)) {
        return;
    }
    newer.extend(older);
    root.shift_remove("definitions");
    each_schema(root, &mut |schema| {
        if let Some(Value::String(reference)) = schema.get_mut("$ref")
            && let Some(name) = reference.strip_prefix("#/definitions/")
        {
            *reference = format!("#/$defs/{name}");
        }
    });
}

/// Writes a list of types as a choice of schemas.
fn split_types(schema: &mut Map<String, Value>) {
    let is_one_of_many = |key: &&str| schema.contains_key(*key);
    if CHOICES.iter().any(is_one_of_many) {
        return;
    }
    let Some(Value::Array(types)) = schema.get("type") else {
        return;
    };
    let types = types.clone();
    if let [only] = types.as_slice() {
        schema.insert("type".to_owned(), only.clone());
        return;
    }
    let mut rest = std::mem::take(schema);
    rest.shift_remove("type");
    let variants = types.into_iter().map(|one| {
        if one == "null" {
            return json!({"type": one});
        }
        let mut variant = rest.clone();
        variant.insert("type".to_owned(), one);
        rest.retain(|key, _| !ANNOTATIONS.contains(&key.as_str()));
        Value::Object(variant)
    });
    let variants = variants.collect();
    schema.insert("anyOf".to_owned(), variants);
}

/// Whatever a tool takes, with the forms that a program takes spelled out. A provider wants the type
/// of every value, the members of every object, and nothing beside `anyOf`.
fn input_schema() -> Value {
    json!({"anyOf": [
        {
            "type": "string",
            "description": "For a program: text, typed as it is, without a line end. For a question: the answer.",
        },
        {"type": "boolean", "description": "The answer to a yes/no question."},
        {"type": "number"},
        {
            "type": "object",
            "description": "For a program: one of these.",
            "properties": {
                "line": {"type": "string", "description": "Text, and then enter."},
                "keys": {
                    "type": "array",
                    "items": {"type": "string"},
                    "description": "Keys to press, such as ctrl-c, up, enter, tab, esc, f5.",
                },
                "end": {"type": "boolean", "description": "true: there is no more input."},
            },
        },
    ]})
}

fn fetch_properties() -> Map<String, Value> {
    let mut properties = super::fetch_properties();
    let texts = [
        (
            "view",
            "Which output to show: new (what came since the last look; the default), screen (what a person would see now), all (all that is kept).",
        ),
        (
            "after_seq",
            "Show what came after this `seq` of an earlier answer, not after the last look.",
        ),
        ("max_bytes", "The most output to show."),
        (
            "wait_ms",
            "How long to wait for new output, a question or the end, if there is none yet.",
        ),
    ];
    for (name, text) in texts {
        if let Some(Value::Object(schema)) = properties.get_mut(name) {
            schema.insert("description".to_owned(), json!(text));
        }
    }
    properties
}

/// The protocol, in as many sentences as there are actions.
fn flat_description(own: &OwnParameters<'_>, actions: Actions) -> String {
    let required: Vec<String> = own
        .required
        .iter()
        .filter_map(Value::as_str)
        .map(|name| format!("`{name}`"))
        .collect();
    let needs = match required.as_slice() {
        [] => String::new(),
        names => format!(" Starting it needs {}.", names.join(", ")),
    };
    let sentences = actions.iter().map(|action| match action {
        ToolAction::Spawn => {
            "spawn: start the tool with its parameters, and get its `id` and first output."
                .to_owned()
        }
        ToolAction::Fetch => "fetch: get the state and the new output of `id`.".to_owned(),
        ToolAction::Apply => {
            "apply: send `input` to `id`, or answer its question, and get what comes of it."
                .to_owned()
        }
        ToolAction::Abort => "abort: stop `id`.".to_owned(),
    });
    let sentences: Vec<String> = sentences.collect();
    format!(
        "What to do; without it, the tool runs to its end.{needs} {}",
        sentences.join(" ")
    )
}

fn split_description(
    tool: &str,
    description: &str,
    action: ToolAction,
    actions: Actions,
) -> String {
    let name = |action: ToolAction| format!("`{}`", name_for_providers(tool, action.name()));
    let spawn = name(ToolAction::Spawn);
    match action {
        ToolAction::Spawn => {
            let others: Vec<String> = actions.iter().skip(1).map(name).collect();
            let go_on = match others.as_slice() {
                [] => String::new(),
                names => format!(" Go on with {}.", names.join(", ")),
            };
            let about = "Starts the tool, and returns its `id` and first output.";
            let description = description.trim_end();
            let space = if description.is_empty() { "" } else { "\n\n" };
            format!("{description}{space}{about}{go_on}")
        }
        ToolAction::Fetch => {
            format!("Returns the state and the new output of what {spawn} started.")
        }
        ToolAction::Apply => format!(
            "Sends input to what {spawn} started, or answers its question, and returns what comes of it."
        ),
        ToolAction::Abort => format!("Stops what {spawn} started."),
    }
}

/// `tool`, or `tool_suffix`, as every provider takes it.
///
/// What must be changed for that gets a mark of the whole name at its end, so that two tools don't
/// become one.
fn name_for_providers(tool: &str, suffix: &str) -> String {
    let suffix = match suffix {
        "" => String::new(),
        suffix => format!("_{suffix}"),
    };
    let is_plain = |one: char| one.is_ascii_alphanumeric() || matches!(one, '_' | '-');
    let room = MAX_NAME - suffix.len();
    if !tool.is_empty() && tool.len() <= room && tool.chars().all(is_plain) {
        return format!("{tool}{suffix}");
    }
    let mark = format!("_{:08x}", fnv(tool.as_bytes()));
    let plain = tool
        .chars()
        .map(|one| if is_plain(one) { one } else { '_' });
    let start: String = plain.take(room - mark.len()).collect();
    format!("{start}{mark}{suffix}")
}

/// FNV-1a: nobody gains by two names with one mark, which would only be refused.
fn fnv(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

impl SchemaForm {
    /// All of them.
    pub const ALL: [SchemaForm; 3] = [Self::Flat, Self::Split, Self::OneOf];

    /// The name, as in a configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flat => "flat",
            Self::Split => "split",
            Self::OneOf => "oneof",
        }
    }
}

impl fmt::Display for SchemaForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SchemaForm {
    type Err = SchemaFormError;

    fn from_str(name: &str) -> Result<Self, SchemaFormError> {
        Self::ALL
            .into_iter()
            .find(|form| form.name() == name)
            .ok_or_else(|| SchemaFormError { name: quoted(name) })
    }
}

/// There is no [`SchemaForm`] of this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{name} is not a form of schemas (there are `flat`, `split` and `oneof`)")]
pub struct SchemaFormError {
    name: String,
}

const ID_OF_ANY: &str = "Which running tool: the `id` that spawn returned. Needed by all but spawn, \
    where it is a name that you may choose.";
const ID_TO_NAME: &str = "Which running tool: the `id` that it was started with or got.";
const ID_TO_CHOOSE: &str = "A name of your choice for the running tool; without it, it gets one.";

/// What says which values there are besides their types.
const CHOICES: [&str; 5] = ["enum", "anyOf", "oneOf", "allOf", "$ref"];

/// What tells people about a value, and need be told only once.
const ANNOTATIONS: [&str; 4] = ["title", "description", "default", "examples"];

/// The longest name that every provider takes.
const MAX_NAME: usize = 64;

#[cfg(test)]
mod tests;
