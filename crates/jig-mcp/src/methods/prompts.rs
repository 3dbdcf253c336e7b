//! Prompts: one for each topic of the knowledge base.

use jig_config::Topic;
use rmcp::model::{
    ErrorData, GetPromptRequestParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument,
    PromptMessage, Role,
};
use serde_json::Value;

use crate::caller::Caller;
use crate::fixtures;
use crate::methods::{knowledge, pages};
use crate::shared::SharedServer;

/// One page of the prompts.
///
/// # Errors
///
/// If the cursor is none of ours.
pub(crate) fn list(
    shared: &SharedServer,
    cursor: Option<&str>,
) -> Result<ListPromptsResult, ErrorData> {
    let served = shared.current();
    let mut all = match shared.options.fixtures {
        true => fixtures::prompts(),
        false => Vec::new(),
    };
    all.extend(knowledge::topics(&served.config).into_iter().map(of_topic));
    let (prompts, next_cursor) = pages::page(&all, cursor)?;
    Ok(ListPromptsResult {
        next_cursor,
        ..ListPromptsResult::with_all_items(prompts)
    })
}

/// The text of a prompt: the subjects of its topic, or those that the argument names, in full. It may take a
/// while: they are read by a tool.
///
/// # Errors
///
/// If there is no such prompt, its argument does not fit, or the subject cannot be read.
pub(crate) fn get(
    shared: &SharedServer,
    caller: &Caller,
    asked: GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let arguments = asked.arguments.unwrap_or_default();
    if shared.options.fixtures
        && let Some(messages) = fixtures::prompt(&asked.name, &arguments)
    {
        return Ok(GetPromptResult::new(messages));
    }
    let engine = caller.engine(shared);
    let topic = knowledge::topic(engine.config(), &asked.name);
    let topic = topic.ok_or_else(|| invalid("there is no such prompt"))?;
    let subject = match arguments.get(SUBJECT) {
        None | Some(Value::Null) => None,
        Some(Value::String(subject)) => Some(subject.as_str()),
        Some(_) => return Err(invalid("`subject` must be a string")),
    };
    let subject = subject.filter(|subject| !subject.is_empty());
    let text = knowledge::learned(&engine, topic, subject);
    let text = text.map_err(|error| invalid(&error.to_string()))?;
    let result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
    Ok(result.with_description(about(topic)))
}

fn of_topic(topic: &Topic) -> Prompt {
    let subject = PromptArgument::new(SUBJECT)
        .with_description(
            "What to load, by its name or a pattern; without it, a list of what there is.",
        )
        .with_required(false);
    Prompt::new(&topic.id, Some(about(topic)), Some(vec![subject])).with_title(topic.title())
}

fn about(topic: &Topic) -> String {
    let said = topic.introduction.as_ref().or(topic.description.as_ref());
    match said {
        Some(said) => said.clone(),
        None => format!("What the project has written down about {}.", topic.title()),
    }
}

fn invalid(why: &str) -> ErrorData {
    ErrorData::invalid_params(why.to_owned(), None)
}

/// The argument of every prompt.
pub(crate) const SUBJECT: &str = "subject";

#[cfg(test)]
mod tests;
