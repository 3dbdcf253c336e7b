//! Templates in a tool's command: one word in, one word out, whatever the values hold.

use std::sync::{Arc, Mutex, PoisonError};

use jig_proto::Context;
use jig_proto::vfs::ToolInput;
use minijinja::value::ValueKind;
use minijinja::{AutoEscape, Environment, UndefinedBehavior, Value, context};

use crate::shell::{self, BoundScript};

#[cfg(test)]
mod tests;

/// What words are filled in with: `tool`, `context` and `input`.
#[derive(Debug)]
pub(crate) struct Values(Value);

impl Values {
    /// The values of a call. `file` is where the tool finds the call as a file, if it does. A tool that is
    /// spawned finds `spawn` as its action; otherwise it has none.
    pub(crate) fn new(
        input: &ToolInput,
        context: &Context,
        is_spawned: bool,
        file: Option<&str>,
    ) -> Self {
        let tool = context! {
            name => input.name,
            arguments => Value::from_serialize(&input.arguments),
            answers => Value::from_serialize(&input.answers),
            options => Value::from_serialize(&input.options),
        };
        let tool = match is_spawned {
            true => context! { action => "spawn", ..tool },
            false => tool,
        };
        Self(context! {
            tool => tool,
            context => Value::from_serialize(context),
            input => context! { file => file },
        })
    }

    /// Fills a word in. Text comes out as it is, lists and tables as compact JSON, what is missing or null as
    /// nothing: the word is then empty, and still there. JP writes `null` for it (J-006), which programs take for
    /// a file of that name. A value never becomes more than this one word.
    pub(crate) fn fill(&self, word: &str) -> Result<String, TemplateError> {
        let mut environment = environment();
        environment.set_formatter(|out, _, value| out.write_str(&text(value)).map_err(Into::into));
        self.render(&environment, word)
    }

    /// Fills a script in. The values stay apart from its text.
    pub(crate) fn fill_script(&self, script: &str) -> Result<BoundScript, TemplateError> {
        if script.contains(shell::PLACE) {
            return Err(TemplateError {
                word: script.to_owned(),
                reason: "it holds a character that is no text (U+10FFFE)".to_owned(),
            });
        }
        let values = Arc::new(Mutex::new(Vec::new()));
        let mut environment = environment();
        let collected = Arc::clone(&values);
        environment.set_formatter(move |out, _, value| {
            let mut values = collected.lock().unwrap_or_else(PoisonError::into_inner);
            // A block that was captured holds places of its own.
            let value = shell::without_places(&text(value), &values);
            values.push(value);
            out.write_str(&shell::place(values.len()))
                .map_err(Into::into)
        });
        let filled = self.render(&environment, script)?;
        let values = std::mem::take(&mut *values.lock().unwrap_or_else(PoisonError::into_inner));
        Ok(BoundScript::of_places(&filled, values))
    }

    fn render(&self, environment: &Environment<'_>, word: &str) -> Result<String, TemplateError> {
        environment
            .render_str(word, &self.0)
            .map_err(|error| TemplateError {
                word: word.to_owned(),
                reason: error.to_string(),
            })
    }
}

fn environment() -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Chainable);
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    environment.set_fuel(Some(MAX_STEPS));
    environment
}

fn text(value: &Value) -> String {
    match value.kind() {
        ValueKind::Undefined | ValueKind::None => String::new(),
        // As JSON has them, not as Python does.
        ValueKind::Bool | ValueKind::Map | ValueKind::Seq => {
            serde_json::to_string(value).unwrap_or_default()
        }
        _ => value.to_string(),
    }
}

/// A word of a command that is no template, or whose template fails.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{word}`: {reason}")]
pub struct TemplateError {
    /// The word.
    pub word: String,
    /// What is wrong with it.
    pub reason: String,
}

/// How much a template may do. One that loops would otherwise hold the host.
const MAX_STEPS: u64 = 100_000;
