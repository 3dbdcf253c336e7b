//! `output`: the JSON Schema that the result of a tool must fit.
//!
//! It is published to clients and models, which know a part of JSON Schema each. So it is checked here for
//! being a schema at all: a slip in it would let everything pass, or nothing.

use jig_proto::{Hint, hint};

use crate::problem::Problem;
use crate::quoting::{closest, key as written_key, quote};
use crate::shape::either;
use crate::value::{ConfigNode, TomlValueKind, Value};

/// Reports what is wrong with the schema that stands at `key`.
pub(super) fn check(node: &ConfigNode, key: &str, errors: &mut Vec<Problem>) {
    let before = errors.len();
    let mut checker = OutputSchemaChecker { errors };
    checker.schema(node, key, 0);
    if checker.errors.len() > before {
        return;
    }
    if node.get("type").and_then(ConfigNode::text) != Some("object") {
        let at = node.get("type").unwrap_or(node);
        let problem = Problem::error(
            "the `output` of a tool describes an object, and this schema does not",
            hint!("write `type = \"object\"`, with what it holds in `properties`"),
        );
        errors.push(problem.at(&at.origin, "").key(key));
    }
}

struct OutputSchemaChecker<'a> {
    errors: &'a mut Vec<Problem>,
}

/// What the value of a keyword must be.
#[derive(Clone, Copy)]
enum Keyword {
    Type,
    /// A text.
    Text,
    /// A reference to a definition of the same schema.
    Reference,
    Bool,
    /// Not negative, and whole.
    Count,
    Number,
    /// Any values in a list that is not empty.
    Values,
    /// Different names.
    Names,
    Schema,
    /// A list of schemas that is not empty.
    Schemas,
    /// Schemas by name.
    Named,
    Any,
}

impl Keyword {
    /// A value that fits.
    fn example(self) -> &'static str {
        match self {
            Keyword::Type => "\"object\"",
            Keyword::Text => "\"…\"",
            Keyword::Reference => "\"#/$defs/NAME\"",
            Keyword::Bool => "true",
            Keyword::Count | Keyword::Number => "1",
            Keyword::Values => "[1, 2]",
            Keyword::Names => "[\"NAME\"]",
            Keyword::Schema => "{ type = \"string\" }",
            Keyword::Schemas => "[{ type = \"string\" }]",
            Keyword::Named => "{ NAME = { type = \"string\" } }",
            Keyword::Any => "…",
        }
    }
}

impl OutputSchemaChecker<'_> {
    fn schema(&mut self, node: &ConfigNode, key: &str, depth: usize) {
        // `true` and `false` are schemas below the root.
        if depth > 0 && node.bool().is_some() {
            return;
        }
        let Some(entries) = node.table() else {
            let what = format!("a schema is a table, and this is {}", node.kind().noun());
            self.problem(node, key, what, hint!("write `{{ type = \"…\" }}`"));
            return;
        };
        if depth > DEEPEST {
            let what = "the schema is nested too deeply".to_owned();
            self.problem(node, key, what, hint!("use fewer levels"));
            return;
        }
        for (name, entry) in entries {
            let below = format!("{key}.{}", written_key(name));
            match KEYWORDS.iter().find(|(known, _)| known == name) {
                Some((_, keyword)) => self.keyword(name, *keyword, &entry.node, &below, depth),
                None => {
                    let known = KEYWORDS.iter().map(|(known, _)| *known);
                    let help = match closest(name, known) {
                        Some(meant) => hint!("did you mean `{meant}`?"),
                        None => hint!("remove it; what an object holds stands in `properties`"),
                    };
                    let what = format!("{} is no keyword of a schema that jig checks", quote(name));
                    let problem = Problem::error(what, help);
                    self.errors.push(problem.at(&entry.key, "").key(below));
                }
            }
        }
    }

    fn keyword(
        &mut self,
        name: &str,
        keyword: Keyword,
        node: &ConfigNode,
        key: &str,
        depth: usize,
    ) {
        let (fits, expected) = match keyword {
            Keyword::Type => (is_type(node), "the name of a type, or a list of them"),
            Keyword::Text => (node.text().is_some(), "a string"),
            Keyword::Reference => (
                node.text().is_some_and(|text| text.starts_with("#/$defs/")),
                "a reference into its own `$defs`: nothing is fetched from elsewhere",
            ),
            Keyword::Bool => (node.bool().is_some(), "`true` or `false`"),
            Keyword::Count => (
                node.int().is_some_and(|number| number >= 0),
                "a number, not below 0",
            ),
            Keyword::Number => (node.value.number().is_some_and(f64::is_finite), "a number"),
            Keyword::Values => (
                node.list().is_some_and(|items| !items.is_empty()),
                "a list of the values that are allowed",
            ),
            Keyword::Names => (
                node.list()
                    .is_some_and(|items| items.iter().all(|item| item.text().is_some())),
                "a list of names",
            ),
            Keyword::Schema => {
                self.schema(node, key, depth + 1);
                return;
            }
            Keyword::Schemas => match node.list() {
                Some(items) if !items.is_empty() => {
                    for (index, item) in items.iter().enumerate() {
                        self.schema(item, &format!("{key}[{index}]"), depth + 1);
                    }
                    return;
                }
                _ => (false, "a list of schemas"),
            },
            Keyword::Named => match node.table() {
                Some(entries) => {
                    for (name, entry) in entries {
                        let below = format!("{key}.{}", written_key(name));
                        self.schema(&entry.node, &below, depth + 1);
                    }
                    return;
                }
                None => (false, "a table with a schema for each name"),
            },
            Keyword::Any => (true, ""),
        };
        if !fits {
            let what = format!("`{name}` of a schema must be {expected}");
            let help = match keyword {
                Keyword::Type => {
                    let names = TYPES.map(|name| format!("`\"{name}\"`"));
                    hint!("write {}", either(&names))
                }
                other => hint!("write `{} = {}`", written_key(name), other.example()),
            };
            self.problem(node, key, what, help);
        } else if let Some(part) = not_json(node) {
            let what = format!("`{name}` holds {}, which JSON cannot", part.kind().noun());
            self.problem(part, key, what, hint!("write a string or a number instead"));
        }
    }

    fn problem(&mut self, at: &ConfigNode, key: &str, what: String, help: Hint) {
        let problem = Problem::error(what, help).at(&at.origin, "").key(key);
        self.errors.push(problem);
    }
}

fn is_type(node: &ConfigNode) -> bool {
    let is_name = |node: &ConfigNode| node.text().is_some_and(|name| TYPES.contains(&name));
    match node.list() {
        Some(items) => !items.is_empty() && items.iter().all(is_name),
        None => is_name(node),
    }
}

/// A part that has no form in JSON: a date, an infinity.
fn not_json(node: &ConfigNode) -> Option<&ConfigNode> {
    match &node.value {
        Value::Float(value) => (!value.is_finite()).then_some(node),
        Value::List(items) => items.iter().find_map(not_json),
        Value::Table(entries) => entries.values().find_map(|entry| not_json(&entry.node)),
        _ => (node.kind() == TomlValueKind::Date).then_some(node),
    }
}

const TYPES: [&str; 7] = [
    "string", "number", "integer", "boolean", "array", "object", "null",
];

/// What of JSON Schema (draft 2020-12) a result is checked against. What changes the meaning of references,
/// and what looks outside the schema, is left out.
const KEYWORDS: [(&str, Keyword); 44] = [
    ("type", Keyword::Type),
    ("title", Keyword::Text),
    ("description", Keyword::Text),
    ("$comment", Keyword::Text),
    ("$schema", Keyword::Text),
    ("$ref", Keyword::Reference),
    ("$defs", Keyword::Named),
    ("enum", Keyword::Values),
    ("const", Keyword::Any),
    ("default", Keyword::Any),
    ("examples", Keyword::Values),
    ("deprecated", Keyword::Bool),
    ("readOnly", Keyword::Bool),
    ("writeOnly", Keyword::Bool),
    ("properties", Keyword::Named),
    ("patternProperties", Keyword::Named),
    ("additionalProperties", Keyword::Schema),
    ("propertyNames", Keyword::Schema),
    ("required", Keyword::Names),
    ("minProperties", Keyword::Count),
    ("maxProperties", Keyword::Count),
    ("dependentSchemas", Keyword::Named),
    ("items", Keyword::Schema),
    ("prefixItems", Keyword::Schemas),
    ("contains", Keyword::Schema),
    ("minItems", Keyword::Count),
    ("maxItems", Keyword::Count),
    ("uniqueItems", Keyword::Bool),
    ("minLength", Keyword::Count),
    ("maxLength", Keyword::Count),
    ("pattern", Keyword::Text),
    ("format", Keyword::Text),
    ("minimum", Keyword::Number),
    ("maximum", Keyword::Number),
    ("exclusiveMinimum", Keyword::Number),
    ("exclusiveMaximum", Keyword::Number),
    ("multipleOf", Keyword::Number),
    ("allOf", Keyword::Schemas),
    ("anyOf", Keyword::Schemas),
    ("oneOf", Keyword::Schemas),
    ("not", Keyword::Schema),
    ("if", Keyword::Schema),
    ("then", Keyword::Schema),
    ("else", Keyword::Schema),
];

/// How deep schemas may lie in each other. Whoever checks a result walks down as far.
const DEEPEST: usize = 32;
