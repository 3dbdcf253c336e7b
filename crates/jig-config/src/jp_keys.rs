//! What only JP understands in a file that was written for it: every such key is named, and none is an error.

use jig_proto::hint;

use crate::origin::Origin;
use crate::problem::Problem;
use crate::quoting::dotted;
use crate::shape::{ROOT, ValueShape};
use crate::value::{ConfigNode, Value};

/// A key that means nothing here.
#[derive(Debug)]
pub(crate) struct IgnoredKey {
    /// Its name in messages, the same for the same key of several tools.
    key: String,
    why: &'static str,
    origin: Origin,
}

/// Takes the keys that are JP's out of the tree of a file.
pub(crate) fn take_out(node: &mut ConfigNode, ignored: &mut Vec<IgnoredKey>) {
    foreign_keys(&ROOT, node, &mut Vec::new(), ignored);
    for name in JPS_OWN {
        if let Value::Table(entries) = &mut node.value
            && let Some(entry) = entries.shift_remove(name)
        {
            ignored.push(IgnoredKey {
                key: name.to_owned(),
                why: "in a file of JP it is how JP asks models and servers",
                origin: entry.key,
            });
        }
    }
    for path in [&["conversation", "tools"][..], &["tools"]] {
        if let Some(tools) = find_mut(node, path)
            && let Value::Table(tools) = &mut tools.value
        {
            for (_, tool) in tools.iter_mut() {
                of_tool(&mut tool.node, ignored);
            }
        }
    }
}

/// One warning for each key, wherever it stands.
pub(crate) fn warnings(ignored: Vec<IgnoredKey>) -> Vec<Problem> {
    let mut warnings = Vec::new();
    let mut named: Vec<&str> = Vec::new();
    for one in &ignored {
        if named.contains(&one.key.as_str()) {
            continue;
        }
        named.push(&one.key);
        let places = ignored.iter().filter(|other| other.key == one.key).count();
        let more = match places {
            1 => String::new(),
            2 => ", here and in one more place".to_owned(),
            more => format!(", here and in {} more places", more - 1),
        };
        let warning = Problem::warning(
            format!(
                "{} has no effect{more}: {}",
                crate::quoting::quote(&one.key),
                one.why
            ),
            hint!("keep it if JP reads this file, otherwise remove it"),
        );
        warnings.push(warning.at(&one.origin, "").key(one.key.clone()));
    }
    warnings
}

/// Drops what stands outside the tools and is not ours, down to `conversation`.
fn foreign_keys(
    shape: &ValueShape,
    node: &mut ConfigNode,
    path: &mut Vec<String>,
    ignored: &mut Vec<IgnoredKey>,
) {
    let (ValueShape::Table(table), Value::Table(entries)) = (shape, &mut node.value) else {
        return;
    };
    entries.retain(|name, entry| {
        let is_ours = table.key(name).is_some();
        if !is_ours {
            path.push(name.clone());
            ignored.push(IgnoredKey {
                key: dotted(path),
                why: "it is a setting of JP",
                origin: entry.key.clone(),
            });
            path.pop();
        }
        is_ours
    });
    for (name, entry) in entries {
        if let Some(key) = table.key(name) {
            path.push(name.clone());
            foreign_keys(&key.shape, &mut entry.node, path, ignored);
            path.pop();
        }
    }
}

/// What JP knows of a tool, and jig does not.
fn of_tool(tool: &mut ConfigNode, ignored: &mut Vec<IgnoredKey>) {
    let Value::Table(entries) = &mut tool.value else {
        return;
    };
    for (name, why) in OF_TOOLS {
        if let Some(entry) = entries.shift_remove(*name) {
            ignored.push(IgnoredKey {
                key: (*name).to_owned(),
                why,
                origin: entry.key,
            });
        }
    }
    let Some(questions) = entries.get_mut("questions") else {
        return;
    };
    let Value::Table(questions) = &mut questions.node.value else {
        return;
    };
    for (_, question) in questions.iter_mut() {
        let Some(target) = find_mut(&mut question.node, &["target"]) else {
            continue;
        };
        // The settings of the model that answers: the assistant does.
        if let Value::Table(_) = &target.value {
            ignored.push(IgnoredKey {
                key: "questions.ID.target".to_owned(),
                why: "the assistant answers, and which model that is, is for JP to say",
                origin: target.origin.clone(),
            });
            target.value = Value::Text("assistant".to_owned());
        }
    }
}

fn find_mut<'a>(node: &'a mut ConfigNode, path: &[&str]) -> Option<&'a mut ConfigNode> {
    path.iter()
        .try_fold(node, |node, step| match &mut node.value {
            Value::Table(entries) => entries.get_mut(*step).map(|entry| &mut entry.node),
            _ => None,
        })
}

/// In a file of JP this is how JP asks models, and the servers that it asks for tools.
const JPS_OWN: [&str; 3] = ["llm", "log", "mcp"];

/// What JP says about a tool that has no meaning here, and why.
const OF_TOOLS: &[(&str, &str)] = &[(
    "cancellation_response",
    "jig has its own words for a call that was cancelled",
)];
