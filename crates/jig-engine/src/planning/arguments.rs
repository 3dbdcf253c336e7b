//! The arguments of a call: coerced, completed with defaults, and checked against the parameters.

use std::fmt;

use indexmap::IndexMap;
use jig_config::{Parameter, ParameterType};
use jig_proto::visible_line;
use serde_json::{Map, Value};

/// Brings arguments into the form that the tool's parameters describe.
///
/// A string that holds JSON of the declared type, as models like to send it, becomes that value.
/// Missing ones with a default are filled in, also inside of objects. What then does not fit is
/// reported, all of it, each with the name of the argument.
pub(crate) fn complete(
    given: Map<String, Value>,
    parameters: &IndexMap<String, Parameter>,
) -> Result<Map<String, Value>, ArgumentErrors> {
    let mut problems = Vec::new();
    let completed = object(given, parameters, "", &mut problems);
    if problems.is_empty() {
        return Ok(completed);
    }
    let is_missing = |(name, parameter): &(&String, &Parameter)| {
        parameter.required && !completed.contains_key(*name)
    };
    let missing = parameters.iter().filter(is_missing);
    let missing = missing.map(|(name, _)| name.clone()).collect();
    Err(ArgumentErrors { problems, missing })
}

fn object(
    mut given: Map<String, Value>,
    parameters: &IndexMap<String, Parameter>,
    path: &str,
    errors: &mut Vec<String>,
) -> Map<String, Value> {
    let mut completed = Map::new();
    for (name, parameter) in parameters {
        let at = join(path, name);
        // Clients in a strict mode send every parameter, and `null` for what they leave out.
        let value = given.remove(name);
        match value.filter(|value| !(value.is_null() && may_be_left_out(parameter))) {
            Some(value) => {
                completed.insert(name.clone(), one(value, parameter, &at, errors));
            }
            None => match &parameter.default {
                Some(default) => {
                    // A default of an object may leave out what its properties have defaults for.
                    let default = one(default.clone(), parameter, &at, &mut Vec::new());
                    completed.insert(name.clone(), default);
                }
                None if parameter.required => {
                    errors.push(format!("`{at}` is missing{}", about(parameter)))
                }
                None => {}
            },
        }
    }
    for name in given.keys() {
        let known: Vec<String> = parameters
            .keys()
            .map(|known| format!("`{known}`"))
            .collect();
        let known = match known.as_slice() {
            [] => "there are none".to_owned(),
            known => format!("there is {}", known.join(", ")),
        };
        let name = visible_line(name);
        errors.push(format!("`{}` is not known; {known}", join(path, &name)));
    }
    completed
}

/// Whether `null` can only mean that it is not there.
fn may_be_left_out(parameter: &Parameter) -> bool {
    let types = &parameter.types;
    !parameter.required && !types.is_empty() && !types.contains(&ParameterType::Null)
}

fn one(value: Value, parameter: &Parameter, at: &str, errors: &mut Vec<String>) -> Value {
    let value = coerce(value, &parameter.types);
    if !parameter.types.is_empty() && !parameter.types.iter().any(|kind| is_a(&value, *kind)) {
        let wanted: Vec<&str> = parameter.types.iter().map(|kind| kind.name()).collect();
        errors.push(format!(
            "`{at}` must be {}, not {}",
            wanted.join(" or "),
            kind_of(&value)
        ));
        return value;
    }
    if !parameter.values.is_empty() && !parameter.values.contains(&value) {
        let allowed: Vec<String> = parameter.values.iter().map(ToString::to_string).collect();
        errors.push(format!("`{at}` must be one of {}", allowed.join(", ")));
        return value;
    }
    match value {
        Value::Object(members) if !parameter.properties.is_empty() => {
            Value::Object(object(members, &parameter.properties, at, errors))
        }
        Value::Array(items) => match &parameter.items {
            Some(parameter) => {
                let items = items.into_iter().enumerate();
                let items = items
                    .map(|(index, item)| one(item, parameter, &format!("{at}[{index}]"), errors));
                Value::Array(items.collect())
            }
            None => Value::Array(items),
        },
        value => value,
    }
}

/// A string that should be something else, and is JSON of that, is that.
fn coerce(value: Value, types: &[ParameterType]) -> Value {
    let Value::String(text) = &value else {
        return value;
    };
    if types.is_empty() || types.contains(&ParameterType::String) {
        return value;
    }
    let read = jig_proto::json::value(text.as_bytes(), &jig_proto::json::JsonLimits::MESSAGE);
    match read {
        Ok(read) if types.iter().any(|kind| is_a(&read, *kind)) => read,
        _ => value,
    }
}

fn is_a(value: &Value, kind: ParameterType) -> bool {
    match kind {
        ParameterType::String => value.is_string(),
        ParameterType::Number => value.is_number(),
        // 3.0 is an integer to JSON Schema.
        ParameterType::Integer => {
            value.is_i64()
                || value.is_u64()
                || value.as_f64().is_some_and(|number| number.fract() == 0.0)
        }
        ParameterType::Boolean => value.is_boolean(),
        ParameterType::Array => value.is_array(),
        ParameterType::Object => value.is_object(),
        ParameterType::Null => value.is_null(),
    }
}

pub(crate) fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn about(parameter: &Parameter) -> String {
    let about = parameter
        .summary
        .as_ref()
        .or(parameter.description.as_ref());
    about
        .map(|about| format!(" ({})", about.trim_end_matches('.')))
        .unwrap_or_default()
}

fn join(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}

/// Every argument of a call that does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgumentErrors {
    /// In words.
    pub problems: Vec<String>,
    /// The parameters that have to be given and were not.
    pub missing: Vec<String>,
}

impl fmt::Display for ArgumentErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.problems.join("; "))
    }
}

#[cfg(test)]
mod tests;
