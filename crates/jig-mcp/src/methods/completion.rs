//! What the arguments of prompts and templates can be.

use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo, ErrorData, Reference};

use crate::caller::Caller;
use crate::fixtures;
use crate::methods::{knowledge, prompts, resources};
use crate::shared::SharedServer;

/// The values that an argument can have, those first that begin with what is typed. It may take a while:
/// subjects are listed by a tool.
///
/// # Errors
///
/// If there is no such prompt or template.
pub(crate) fn complete(
    shared: &SharedServer,
    caller: &Caller,
    asked: CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let served = shared.current();
    let argument = asked.argument.name.as_str();
    let topics = || {
        let topics = knowledge::topics(&served.config).into_iter();
        topics.map(|topic| topic.id.clone()).collect::<Vec<_>>()
    };
    let values = match &asked.r#ref {
        Reference::Prompt(prompt) => {
            let engine = caller.engine(shared);
            match knowledge::topic(engine.config(), &prompt.name) {
                Some(topic) if argument == prompts::SUBJECT => knowledge::subjects(&engine, topic),
                Some(_) => Vec::new(),
                None if is_fixture(shared, &prompt.name) => Vec::new(),
                None => return Err(ErrorData::invalid_params("there is no such prompt", None)),
            }
        }
        Reference::Resource(template) => match (template.uri.as_str(), argument) {
            (resources::POLICY_TEMPLATE, "name") => {
                let catalogue = served.catalogue();
                let names = catalogue.tools.iter();
                names
                    .map(|tool| catalogue.find(&tool.name).unwrap_or(&tool.name).to_owned())
                    .collect()
            }
            (resources::TOPIC_TEMPLATE, "topic") => topics(),
            // An id of an output is not for guessing.
            (
                resources::POLICY_TEMPLATE | resources::TOPIC_TEMPLATE | resources::OUTPUT_TEMPLATE,
                _,
            ) => Vec::new(),
            _ if shared.options.fixtures => Vec::new(),
            _ => return Err(ErrorData::invalid_params("there is no such template", None)),
        },
        _ => Vec::new(),
    };
    Ok(CompleteResult::new(matching(values, &asked.argument.value)))
}

fn is_fixture(shared: &SharedServer, prompt: &str) -> bool {
    shared.options.fixtures && fixtures::prompts().iter().any(|one| one.name == prompt)
}

/// At most 100 of the values that hold `typed`, whatever the case of its letters: first those that begin with
/// it.
fn matching(values: Vec<String>, typed: &str) -> CompletionInfo {
    let typed = typed.to_lowercase();
    let (first, others): (Vec<String>, Vec<String>) = values
        .into_iter()
        .filter(|value| value.to_lowercase().contains(&typed))
        .partition(|value| value.to_lowercase().starts_with(&typed));
    let total = first.len() + others.len();
    let mut info = CompletionInfo::default();
    info.values = first
        .into_iter()
        .chain(others)
        .take(CompletionInfo::MAX_VALUES)
        .collect();
    info.has_more = Some(total > info.values.len());
    info.total = u32::try_from(total).ok();
    info
}

#[cfg(test)]
mod tests;
