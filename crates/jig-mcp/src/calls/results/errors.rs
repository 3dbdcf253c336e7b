//! Why a call came to nothing, in words.

use std::error::Error as _;

use jig_engine::CallError;
use jig_proto::ToolError;
use serde_json::Value;

/// What the model is told: what went wrong, why, what was refused and which rule would allow it.
///
/// A result says by itself that it is an error, so it is text and not the JSON that other callers get.
pub(super) fn text(error: &CallError) -> String {
    match error {
        CallError::Tool(error) => of_tool(error),
        // Why a program is not there is for whoever wrote the configuration, who may see only this.
        CallError::Start { .. } | CallError::Template { .. } => {
            let mut text = error.to_string();
            let mut cause = error.source();
            while let Some(one) = cause {
                add(&mut text, &one.to_string());
                cause = one.source();
            }
            if let CallError::Start {
                hint: Some(hint), ..
            } = error
            {
                add(&mut text, &hint.to_string());
            }
            text
        }
        error => error.to_string(),
    }
}

fn of_tool(error: &ToolError) -> String {
    let mut text = printed(&error.message).unwrap_or_else(|| error.message.clone());
    add(&mut text, &known(error));
    text
}

/// What is known of an error besides its message.
pub(super) fn known(error: &ToolError) -> String {
    let mut text = String::new();
    for cause in &error.trace {
        add(&mut text, cause);
    }
    for denial in &error.denials {
        add(&mut text, &format!("denied: {denial}"));
    }
    if error.transient {
        add(&mut text, "It may pass: try again.");
    }
    text
}

/// What a program printed that failed, from the JSON in which such an error is told (J-014).
fn printed(message: &str) -> Option<String> {
    if !message.starts_with('{') {
        return None;
    }
    let Ok(Value::Object(told)) = serde_json::from_str(message) else {
        return None;
    };
    let part = |key: &str| told.get(key).and_then(Value::as_str);
    let (said, errors, output) = (part("message")?, part("stderr")?, part("stdout")?);
    if told.len() != 3 {
        return None;
    }
    let mut text = said.to_owned();
    for (name, printed) in [("stderr", errors), ("stdout", output)] {
        if !printed.is_empty() {
            add(&mut text, &format!("{name}:"));
            add(&mut text, printed);
        }
    }
    Some(text)
}

/// Adds text on a line of its own.
fn add(text: &mut String, more: &str) {
    if more.is_empty() {
        return;
    }
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text.push_str(more);
}
