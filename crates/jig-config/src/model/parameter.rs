//! [`Parameter`]: one argument of a tool, and the JSON Schema made from it.

use indexmap::IndexMap;
use serde_json::{Map, Value as Json, json};

use crate::value::ConfigNode;

/// One parameter of a tool, or a part of one (J-024).
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Parameter {
    /// The types that a value may have; any type if empty.
    pub types: Vec<ParameterType>,
    /// The values that are allowed; any if empty.
    pub values: Vec<Json>,
    /// The value when the caller gives none.
    pub default: Option<Json>,
    /// Whether the caller must give one.
    pub required: bool,
    /// One line about it.
    pub summary: Option<String>,
    /// What the model is told about it.
    pub description: Option<String>,
    /// Examples of values.
    pub examples: Vec<Json>,
    /// What the items of an array look like.
    pub items: Option<Box<Parameter>>,
    /// What the properties of an object look like.
    pub properties: IndexMap<String, Parameter>,
    /// What else the schema of a tool that describes itself says about it. It is published as it is; only
    /// the tool checks it.
    pub keywords: Map<String, Json>,
}

/// The JSON types.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParameterType {
    /// Text.
    String,
    /// A number with or without a fraction.
    Number,
    /// A number without a fraction.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// A list.
    Array,
    /// A table.
    Object,
    /// Nothing.
    Null,
}

impl ParameterType {
    /// The name, as in JSON Schema.
    pub fn name(self) -> &'static str {
        match self {
            ParameterType::String => "string",
            ParameterType::Number => "number",
            ParameterType::Integer => "integer",
            ParameterType::Boolean => "boolean",
            ParameterType::Array => "array",
            ParameterType::Object => "object",
            ParameterType::Null => "null",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        [
            Self::String,
            Self::Number,
            Self::Integer,
            Self::Boolean,
            Self::Array,
            Self::Object,
            Self::Null,
        ]
        .into_iter()
        .find(|one| one.name() == name)
    }
}

impl Parameter {
    /// Reads a checked table.
    pub(super) fn from_node(node: &ConfigNode) -> Self {
        let text = |key: &str| node.get(key).and_then(ConfigNode::text).map(str::to_owned);
        let types = match node.get("type") {
            Some(one) if one.text().is_some() => vec![one.text().unwrap_or_default().to_owned()],
            Some(list) => list.texts(),
            None => Vec::new(),
        };
        let values = |key: &str| match node.get(key) {
            Some(list) => match list.list() {
                Some(items) => items.iter().map(ConfigNode::to_json).collect(),
                None => vec![list.to_json()],
            },
            None => Vec::new(),
        };
        Self {
            types: types
                .iter()
                .filter_map(|name| ParameterType::parse(name))
                .collect(),
            values: values("enum"),
            default: node.get("default").map(ConfigNode::to_json),
            required: node
                .get("required")
                .and_then(ConfigNode::bool)
                .unwrap_or(false),
            summary: text("summary"),
            description: text("description"),
            examples: values("examples"),
            items: node
                .get("items")
                .map(|items| Box::new(Self::from_node(items))),
            properties: parameters(node.get("properties")),
            keywords: Map::new(),
        }
    }

    /// The parameters that the JSON Schema of a tool's arguments describes; `None` if it is not the schema of
    /// an object.
    ///
    /// The schema comes from the tool: it is read as far as jig can check it, and the rest is kept in
    /// [`keywords`](Self::keywords).
    pub fn from_schema(schema: &Map<String, Json>) -> Option<IndexMap<String, Parameter>> {
        if schema.get("type").is_some_and(|kind| kind != "object") {
            return None;
        }
        let described = Self::described(schema, DEEPEST);
        Some(described.properties)
    }

    fn described(schema: &Map<String, Json>, depth: usize) -> Self {
        let text = |key: &str| schema.get(key).and_then(Json::as_str).map(str::to_owned);
        let list = |key: &str| schema.get(key).and_then(Json::as_array).cloned();
        let types = match schema.get("type") {
            Some(Json::Array(many)) => many.clone(),
            Some(one) => vec![one.clone()],
            None => Vec::new(),
        };
        let types = types.iter().filter_map(Json::as_str);
        let mut parameter = Self {
            types: types.filter_map(ParameterType::parse).collect(),
            values: list("enum").unwrap_or_default(),
            default: schema.get("default").cloned(),
            description: text("description"),
            examples: list("examples").unwrap_or_default(),
            ..Self::default()
        };
        let mut known = vec!["type", "enum", "default", "description", "examples"];
        // What lies deeper than anybody writes it is published and not looked into.
        if let Some(depth) = depth.checked_sub(1) {
            if let Some(Json::Object(items)) = schema.get("items") {
                parameter.items = Some(Box::new(Self::described(items, depth)));
                known.push("items");
            }
            if let Some(Json::Object(properties)) = schema.get("properties") {
                let required = list("required").unwrap_or_default();
                let properties = properties.iter().map(|(name, schema)| {
                    let empty = Map::new();
                    let schema = schema.as_object().unwrap_or(&empty);
                    let mut property = Self::described(schema, depth);
                    property.required = required.iter().any(|one| one == name.as_str());
                    (name.clone(), property)
                });
                parameter.properties = properties.collect();
                known.extend(["properties", "required", "additionalProperties"]);
            }
        }
        let others = schema
            .iter()
            .filter(|(key, _)| !known.contains(&key.as_str()));
        parameter.keywords = others
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        parameter
    }

    /// The JSON Schema of a value.
    pub fn schema(&self) -> Json {
        let mut schema = Map::new();
        match self.types.as_slice() {
            [] => {}
            [one] => {
                schema.insert("type".to_owned(), one.name().into());
            }
            many => {
                let names = many.iter().map(|one| Json::from(one.name())).collect();
                schema.insert("type".to_owned(), names);
            }
        }
        let description = match (&self.summary, &self.description) {
            (Some(summary), Some(description)) => Some(format!("{summary}\n\n{description}")),
            (summary, description) => summary.clone().or_else(|| description.clone()),
        };
        if let Some(description) = description {
            schema.insert("description".to_owned(), description.into());
        }
        if !self.values.is_empty() {
            schema.insert("enum".to_owned(), self.values.clone().into());
        }
        if let Some(default) = &self.default {
            schema.insert("default".to_owned(), default.clone());
        }
        if !self.examples.is_empty() {
            schema.insert("examples".to_owned(), self.examples.clone().into());
        }
        if let Some(items) = &self.items {
            schema.insert("items".to_owned(), items.schema());
        }
        if !self.properties.is_empty() {
            let Json::Object(object) = input_schema(&self.properties) else {
                return Json::Object(schema);
            };
            for (key, value) in object {
                schema.entry(key).or_insert(value);
            }
        }
        for (key, value) in &self.keywords {
            schema.entry(key).or_insert_with(|| value.clone());
        }
        Json::Object(schema)
    }
}

/// Reads a checked table of parameters.
pub(super) fn parameters(node: Option<&ConfigNode>) -> IndexMap<String, Parameter> {
    let entries = node.and_then(ConfigNode::table).into_iter().flatten();
    entries
        .map(|(name, entry)| (name.clone(), Parameter::from_node(&entry.node)))
        .collect()
}

/// The schema of an object with these properties and no others.
pub(super) fn input_schema(parameters: &IndexMap<String, Parameter>) -> Json {
    let properties: Map<String, Json> = parameters
        .iter()
        .map(|(name, parameter)| (name.clone(), parameter.schema()))
        .collect();
    let required: Vec<&str> = parameters
        .iter()
        .filter(|(_, parameter)| parameter.required)
        .map(|(name, _)| name.as_str())
        .collect();
    let mut schema = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema["additionalProperties"] = false.into();
    schema
}

/// The schema that a server gives its tool, with what is declared about its parameters laid over it. A parameter
/// that the server does not know is left out: it would refuse it.
pub(super) fn described_schema(described: &Json, declared: &IndexMap<String, Parameter>) -> Json {
    let mut schema = described.clone();
    let mut required = Vec::new();
    let properties = schema.get_mut("properties").and_then(Json::as_object_mut);
    if let Some(properties) = properties {
        for (name, parameter) in declared {
            let (Some(place), Json::Object(keys)) = (properties.get_mut(name), parameter.schema())
            else {
                continue;
            };
            match place {
                Json::Object(place) => place.extend(keys),
                other => *other = Json::Object(keys),
            }
            if parameter.required {
                required.push(Json::from(name.as_str()));
            }
        }
    }
    if !required.is_empty() && schema.is_object() {
        let list = &mut schema["required"];
        match list.as_array_mut() {
            Some(list) => {
                required.retain(|name| !list.contains(name));
                list.extend(required);
            }
            None => *list = required.into(),
        }
    }
    schema
}

/// How deep the schema of a tool that describes itself is looked into.
const DEEPEST: usize = 16;

#[cfg(test)]
mod tests;
