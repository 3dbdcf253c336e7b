//! Makes descriptions of the tools of what the built-in configuration declares: there is one place where a
//! parameter is described. That both come to the same schema is checked where both can be seen.

use std::path::Path;
use std::{env, fs};

use serde_json::{Map, Value, json};

const DECLARED: &str = "../../crates/jig-config/src/built-in.toml";

fn main() {
    println!("cargo::rerun-if-changed={DECLARED}");
    println!("cargo::rerun-if-changed=build.rs");
    let declared = fs::read_to_string(DECLARED).expect("the built-in configuration is there");
    let declared: Value = toml::from_str(&declared).expect("the built-in configuration is TOML");
    let tools = declared["tools"].as_object().expect("it declares tools");
    let files = tools.iter().filter(|(name, _)| name.starts_with("fs_"));
    let described = files.map(|(name, tool)| {
        let description = tool["description"].as_str().unwrap_or_default();
        let schema = object(&tool["parameters"]).to_string();
        format!("    ({name:?}, {description:?}, {schema:?}),\n")
    });
    let described: String = described.collect();
    let code = format!("const DESCRIBED: &[(&str, &str, &str)] = &[\n{described}];\n");
    let out = env::var("OUT_DIR").expect("cargo says where to write");
    fs::write(Path::new(&out).join("described.rs"), code).expect("it can be written");
}

/// The summary of a parameter and its description, as one text.
fn described(declared: &Value) -> Option<String> {
    let text = |key: &str| declared[key].as_str();
    match (text("summary"), text("description")) {
        (Some(summary), Some(description)) => Some(format!("{summary}\n\n{description}")),
        (one, other) => one.or(other).map(str::to_owned),
    }
}

/// The schema of an object with these properties and no others.
fn object(parameters: &Value) -> Value {
    let parameters = parameters.as_object().cloned().unwrap_or_default();
    let required = parameters.iter().filter(|(_, one)| one["required"] == true);
    let required: Vec<&String> = required.map(|(name, _)| name).collect();
    let properties = parameters
        .iter()
        .map(|(name, one)| (name.clone(), schema(one)));
    let properties: Map<String, Value> = properties.collect();
    let mut object = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    object["additionalProperties"] = false.into();
    object
}

/// The schema of a parameter.
fn schema(parameter: &Value) -> Value {
    let mut schema = Map::new();
    for key in ["type", "enum", "default", "examples"] {
        if let Some(value) = parameter.get(key) {
            schema.insert(key.to_owned(), value.clone());
        }
    }
    if let Some(description) = described(parameter) {
        schema.insert("description".to_owned(), description.into());
    }
    if let Some(items) = parameter.get("items") {
        schema.insert("items".to_owned(), self::schema(items));
    }
    if let Some(properties) = parameter.get("properties")
        && let Value::Object(object) = object(properties)
    {
        for (key, value) in object {
            schema.entry(key).or_insert(value);
        }
    }
    Value::Object(schema)
}
