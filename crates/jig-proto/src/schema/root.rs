//! [`flattened`]: the schema of an object whose properties stand at its root.
//!
//! Servers write their schemas as they like: the parameters may stand behind a reference, or in the variants of a
//! choice. Model providers take neither at the root.

use serde_json::{Map, Value, json};

/// The schema with all properties that it speaks of at its root, and those required that always are.
///
/// It says less than the schema did: which of them go together is lost. References and choices at the root are
/// used up; whatever cannot be part of a schema of an object is left out.
pub(super) fn flattened(root: &Map<String, Value>) -> Map<String, Value> {
    let mut flat = root.clone();
    flat.retain(|key, _| !USED_UP.contains(&key.as_str()));
    let gathered = SchemaMembers::of(root, root, 0, &mut { MOST_SCHEMAS });
    let is_said = |key: &str| root.contains_key(key);
    if is_said("properties") || !gathered.properties.is_empty() {
        let properties = Value::Object(gathered.properties);
        flat.insert("properties".to_owned(), properties);
    }
    flat.shift_remove("required");
    if !gathered.required.is_empty() {
        flat.insert("required".to_owned(), json!(gathered.required));
    }
    flat
}

/// What a schema says about the members of an object.
#[derive(Default)]
struct SchemaMembers {
    properties: Map<String, Value>,
    /// Those that are there in any case.
    required: Vec<String>,
}

impl SchemaMembers {
    /// `left` is how many schemas may still be looked at.
    fn of(
        root: &Map<String, Value>,
        schema: &Map<String, Value>,
        depth: usize,
        left: &mut usize,
    ) -> Self {
        let mut all = Self::default();
        if let Some(Value::Object(own)) = schema.get("properties") {
            own.iter().for_each(|(name, one)| all.add(name, one));
        }
        if let Some(Value::Array(own)) = schema.get("required") {
            own.iter()
                .filter_map(Value::as_str)
                .for_each(|name| all.require(name));
        }
        // A schema that leads to itself adds nothing new.
        if depth >= DEEPEST {
            return all;
        }
        let mut of = |value: &Value| {
            let schema = value.as_object()?;
            *left = left.checked_sub(1)?;
            Some(Self::of(root, schema, depth + 1, left))
        };
        if let Some(target) = schema.get("$ref").and_then(|to| target(root, to))
            && let Some(other) = of(target)
        {
            all.and(other);
        }
        for key in ["allOf", "anyOf", "oneOf"] {
            let Some(Value::Array(parts)) = schema.get(key) else {
                continue;
            };
            let parts = parts.iter().filter_map(&mut of);
            match key {
                "allOf" => parts.for_each(|part| all.and(part)),
                _ => all.and(Self::either(parts)),
            }
        }
        all
    }

    /// What holds if one of these does.
    fn either(parts: impl Iterator<Item = Self>) -> Self {
        let mut either: Option<Self> = None;
        for part in parts {
            match &mut either {
                None => either = Some(part),
                Some(either) => {
                    either.required.retain(|name| part.required.contains(name));
                    part.properties
                        .iter()
                        .for_each(|(name, one)| either.add(name, one));
                }
            }
        }
        either.unwrap_or_default()
    }

    fn and(&mut self, other: Self) {
        other
            .properties
            .iter()
            .for_each(|(name, one)| self.add(name, one));
        other.required.iter().for_each(|name| self.require(name));
    }

    fn require(&mut self, name: &str) {
        if !self.required.iter().any(|known| known == name) && self.required.len() < MOST_PROPERTIES
        {
            self.required.push(name.to_owned());
        }
    }

    /// Adds a property; one that is there in another form as well may have either.
    fn add(&mut self, name: &str, schema: &Value) {
        let full = self.properties.len() >= MOST_PROPERTIES;
        match self.properties.get_mut(name) {
            None if full => {}
            None => {
                self.properties.insert(name.to_owned(), schema.clone());
            }
            Some(known) if known == schema => {}
            Some(known) => {
                let (known_values, more) = (values(known), values(schema));
                if let (Some(mut all), Some(more)) = (known_values, more) {
                    all.extend(
                        more.into_iter()
                            .filter(|one| !all.contains(one))
                            .collect::<Vec<_>>(),
                    );
                    *known = json!({ "enum": all });
                    return;
                }
                let mut forms = forms(known.take());
                if forms.len() < MOST_FORMS && !forms.contains(schema) {
                    forms.push(schema.clone());
                }
                *known = json!({ "anyOf": forms });
            }
        }
    }
}

/// The forms that a schema says something may have, if that is all that it says; else itself.
fn forms(schema: Value) -> Vec<Value> {
    match schema {
        Value::Object(mut choice)
            if choice.len() == 1 && choice.get("anyOf").is_some_and(Value::is_array) =>
        {
            match choice.remove("anyOf") {
                Some(Value::Array(forms)) => forms,
                _ => Vec::new(),
            }
        }
        other => vec![other],
    }
}

/// The values of a property that says nothing but those, as what tells the variants of a choice apart does.
fn values(schema: &Value) -> Option<Vec<Value>> {
    let members = schema.as_object()?;
    let says = |key: &String| {
        matches!(
            key.as_str(),
            "const" | "enum" | "type" | "description" | "title"
        )
    };
    if !members.keys().all(says) {
        return None;
    }
    match (members.get("const"), members.get("enum")) {
        (Some(one), None) => Some(vec![one.clone()]),
        (None, Some(Value::Array(all))) => Some(all.clone()),
        _ => None,
    }
}

/// What a reference within the schema leads to.
fn target<'r>(root: &'r Map<String, Value>, reference: &Value) -> Option<&'r Value> {
    let mut steps = reference.as_str()?.strip_prefix("#/")?.split('/');
    let name = |step: &str| step.replace("~1", "/").replace("~0", "~");
    let first = root.get(&name(steps.next()?))?;
    steps.try_fold(first, |at, step| at.get(name(step)))
}

/// What is used up at the root, or has no meaning there.
const USED_UP: [&str; 5] = ["enum", "anyOf", "oneOf", "allOf", "$ref"];

/// How many references and choices may lie in each other. A schema can lead to itself.
const DEEPEST: usize = 8;

/// How many schemas are looked at: a few choices that refer to each other stand for any number of them.
const MOST_SCHEMAS: usize = 1000;

/// How many forms one property may have.
const MOST_FORMS: usize = 32;

/// How many properties a tool may have. A model reads all of them.
const MOST_PROPERTIES: usize = 512;

#[cfg(test)]
mod tests;
