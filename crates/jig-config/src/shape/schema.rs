//! The JSON Schema of a file, for editors.

use serde_json::{Map as Object, Value as Json, json};

use crate::shape::quantity::Quantity;
use crate::shape::{
    ListMerge, ListShape, MapShape, ROOT, ShapeWord, TableShape, ValueShape, WRAPPED,
};

/// The JSON Schema (draft 2020-12) of a file of configuration.
///
/// It is made from the same table that files are checked against. It can't express everything: a
/// file that it accepts may still fail to load, a file that it refuses always does.
pub fn json_schema() -> Json {
    let mut definitions = Object::new();
    let root = schema_of(&ROOT, &mut definitions);
    definitions.sort_keys();
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "jig",
        "description": "Configuration of jig: tools, and what each may read, write, run and reach.",
        "$ref": root["$ref"],
        "$defs": definitions,
    })
}

fn schema_of(shape: &ValueShape, definitions: &mut Object<String, Json>) -> Json {
    match shape {
        ValueShape::Bool => json!({ "type": "boolean" }),
        ValueShape::Int { min, max } => {
            json!({ "type": "integer", "minimum": min, "maximum": max })
        }
        ValueShape::Number { min, max } => {
            json!({ "type": "number", "minimum": min, "maximum": max })
        }
        ValueShape::Text(rule) => match rule.pattern {
            Some(pattern) => json!({ "type": "string", "pattern": pattern }),
            None => json!({ "type": "string" }),
        },
        ValueShape::Word(words) => schema_of_words(words),
        ValueShape::Quantity(quantity) => schema_of_quantity(quantity),
        ValueShape::List(list) => schema_of_list(list, definitions),
        ValueShape::Table(table) => reference(table, definitions),
        ValueShape::Map(map) => schema_of_map(map, definitions),
        ValueShape::Free => json!({}),
        ValueShape::FreeTable | ValueShape::Whole => json!({ "type": "object" }),
        ValueShape::Any(shapes) => {
            let all: Vec<Json> = shapes
                .iter()
                .map(|one| schema_of(one, definitions))
                .collect();
            json!({ "anyOf": all })
        }
    }
}

fn schema_of_words(words: &[ShapeWord]) -> Json {
    let names: Vec<&str> = words.iter().map(|word| word.name).collect();
    let docs: Vec<String> = words
        .iter()
        .map(|word| format!("`{}`: {}", word.name, word.doc))
        .collect();
    json!({ "type": "string", "enum": names, "description": docs.join("\n") })
}

fn schema_of_quantity(quantity: &Quantity) -> Json {
    let (min, max) = quantity.bounds();
    let mut ways = vec![json!({ "type": "integer", "minimum": min, "maximum": max })];
    if let Some(pattern) = quantity.pattern() {
        ways.push(json!({ "type": "string", "pattern": pattern }));
    }
    if quantity.liftable {
        ways.push(json!({ "type": "boolean" }));
    }
    json!({ "anyOf": ways })
}

fn schema_of_list(list: &ListShape, definitions: &mut Object<String, Json>) -> Json {
    let plain = json!({ "type": "array", "items": schema_of(&list.item, definitions) });
    if list.merge == ListMerge::Replace {
        return plain;
    }
    let mut wrapped = schema_of_table(&WRAPPED, definitions);
    wrapped["properties"]["value"]["type"] = plain["type"].clone();
    wrapped["properties"]["value"]["items"] = plain["items"].clone();
    json!({ "anyOf": [plain, wrapped] })
}

fn schema_of_map(map: &MapShape, definitions: &mut Object<String, Json>) -> Json {
    let mut schema = json!({
        "type": "object",
        "additionalProperties": schema_of(&map.value, definitions),
    });
    if let Some(pattern) = map.name.pattern {
        schema["propertyNames"] = json!({ "pattern": pattern });
    }
    for (name, shape) in map.special {
        schema["properties"][*name] = schema_of(shape, definitions);
    }
    schema
}

/// A table is defined once and referred to, because tables contain each other.
fn reference(table: &TableShape, definitions: &mut Object<String, Json>) -> Json {
    let name = definition_name(table.what);
    if !definitions.contains_key(&name) {
        definitions.insert(name.clone(), Json::Null);
        let schema = schema_of_table(table, definitions);
        definitions.insert(name.clone(), schema);
    }
    json!({ "$ref": format!("#/$defs/{name}") })
}

/// "a rule on files" is `rule_on_files`.
fn definition_name(what: &str) -> String {
    let noun = what.split_once(' ').map_or(what, |(_, noun)| noun);
    noun.replace(' ', "_")
}

fn schema_of_table(table: &TableShape, definitions: &mut Object<String, Json>) -> Json {
    let mut properties = Object::new();
    for key in table.keys {
        let mut schema = schema_of(&key.shape, definitions);
        let words = schema.get("description").and_then(Json::as_str);
        let description = match words {
            Some(words) => format!("{}\n\n{words}", key.doc),
            None => key.doc.to_owned(),
        };
        schema["description"] = description.into();
        if let Some(default) = key.default {
            // The table holds valid JSON, which a test proves.
            schema["default"] = serde_json::from_str(default).unwrap_or_default();
        }
        properties.insert(key.name.to_owned(), schema);
    }
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    });
    let required: Vec<&str> = table
        .keys
        .iter()
        .filter(|key| key.required)
        .map(|key| key.name)
        .collect();
    if !required.is_empty() {
        schema["required"] = required.into();
    }
    schema
}
