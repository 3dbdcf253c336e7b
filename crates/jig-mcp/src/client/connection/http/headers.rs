//! What a request of the newer era says in its headers, so that nobody on the way has to read its body: the
//! method, the name, and the arguments that the tool's schema marks with `x-mcp-header`.

use http::{HeaderMap, HeaderName, HeaderValue};
use jig_config::Definition;
use serde_json::{Map, Value};

/// The headers for a request. `definition` is that of the tool that is called.
pub(in crate::client::connection) fn of(
    method: &str,
    params: &Map<String, Value>,
    definition: Option<&Definition>,
) -> HeaderMap {
    let mut headers = HeaderMap::new();
    insert(&mut headers, "mcp-method", method);
    let name = match method {
        "tools/call" => params.get("name"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => params.get("taskId"),
        _ => None,
    };
    if let Some(name) = name.and_then(Value::as_str) {
        insert(&mut headers, "mcp-name", name);
    }
    if method == "tools/call"
        && let Some(definition) = definition
        && let Some(arguments) = params.get("arguments")
    {
        let mut marked = Vec::new();
        collect(&definition.input, &mut Vec::new(), &mut marked);
        for mark in marked {
            let argument = mark
                .path
                .iter()
                .try_fold(arguments, |value, name| value.get(name));
            let text = match argument {
                Some(Value::String(text)) => text.clone(),
                Some(Value::Bool(value)) => value.to_string(),
                Some(Value::Number(number)) => number.to_string(),
                // What is not there, or null, is not said.
                _ => continue,
            };
            if let Some(name) = mark.header.as_str() {
                insert(&mut headers, &format!("mcp-param-{name}"), &text);
            }
        }
    }
    headers
}

/// Whether a schema marks arguments at all.
pub(in crate::client::connection) fn has_annotations(schema: &Value) -> bool {
    let mut marked = Vec::new();
    collect(schema, &mut Vec::new(), &mut marked);
    !marked.is_empty()
}

/// Whether the marks of a schema can be followed.
///
/// # Errors
///
/// What is wrong with them: such a tool must not be called.
pub(in crate::client::connection) fn check(schema: &Value) -> Result<(), String> {
    if schema.get(MARK).is_some() || is_marked_elsewhere(schema, true) {
        return Err(format!("`{MARK}` stands where no argument is described"));
    }
    let mut marked = Vec::new();
    collect(schema, &mut Vec::new(), &mut marked);
    let mut names: Vec<String> = Vec::new();
    for mark in marked {
        let at = mark.path.join(".");
        let name = mark.header.as_str().filter(|name| is_token(name));
        let Some(name) = name else {
            return Err(format!("`{MARK}` of `{at}` is no name of a header"));
        };
        let name = name.to_ascii_lowercase();
        if names.contains(&name) {
            return Err(format!("`{MARK}` has `{name}` twice"));
        }
        names.push(name);
        let kind = mark.schema.get("type").and_then(Value::as_str);
        if !matches!(kind, Some("string" | "integer" | "boolean")) {
            return Err(format!(
                "`{MARK}` of `{at}` is on something that no header can hold"
            ));
        }
    }
    Ok(())
}

/// An argument that is said in a header.
struct HeaderArgument<'a> {
    path: Vec<&'a str>,
    schema: &'a Value,
    header: &'a Value,
}

/// Finds the arguments that are marked. A definition is not deeper than its reader allows.
fn collect<'a>(schema: &'a Value, path: &mut Vec<&'a str>, marked: &mut Vec<HeaderArgument<'a>>) {
    let properties = schema.get("properties").and_then(Value::as_object);
    for (name, schema) in properties.into_iter().flatten() {
        path.push(name);
        if let Some(header) = schema.get(MARK) {
            marked.push(HeaderArgument {
                path: path.clone(),
                schema,
                header,
            });
        }
        collect(schema, path, marked);
        path.pop();
    }
}

/// Whether there is a mark that does not stand on an argument. `is_argument`: `schema` is the whole, or that of
/// an argument.
fn is_marked_elsewhere(schema: &Value, is_argument: bool) -> bool {
    match schema {
        Value::Object(members) => members.iter().any(|(name, member)| match name.as_str() {
            MARK => !is_argument,
            // Names of arguments, not keywords.
            "properties" | "$defs" | "definitions" | "dependentSchemas" | "patternProperties" => {
                let are_arguments = is_argument && name == "properties";
                let members = member.as_object().into_iter().flatten();
                let mut members = members.map(|(_, schema)| schema);
                members.any(|schema| is_marked_elsewhere(schema, are_arguments))
            }
            // Values, not schemas.
            "default" | "const" | "enum" | "examples" => false,
            _ => is_marked_elsewhere(member, false),
        }),
        Value::Array(items) => items.iter().any(|item| is_marked_elsewhere(item, false)),
        _ => false,
    }
}

fn insert(headers: &mut HeaderMap, name: &str, value: &str) {
    let name = HeaderName::from_bytes(name.as_bytes());
    let value = HeaderValue::from_str(&encoded(value));
    if let (Ok(name), Ok(value)) = (name, value) {
        headers.insert(name, value);
    }
}

/// A value as a header can hold it.
fn encoded(value: &str) -> String {
    let is_plain = value.bytes().all(|byte| matches!(byte, 0x20..=0x7e));
    let is_trimmed = value.trim_matches([' ', '\t']).len() == value.len();
    let looks_encoded = value.starts_with("=?base64?") && value.ends_with("?=");
    if is_plain && is_trimmed && !looks_encoded {
        return value.to_owned();
    }
    let text = base64_simd::STANDARD.encode_to_string(value.as_bytes());
    format!("=?base64?{text}?=")
}

/// Whether this can be a part of the name of a header (RFC 9110, 5.6.2).
fn is_token(name: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !name.is_empty() && name.bytes().all(is_token)
}

const MARK: &str = "x-mcp-header";

#[cfg(test)]
mod tests;
