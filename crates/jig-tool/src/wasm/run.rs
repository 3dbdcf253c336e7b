//! [`run`]: what a component does when it is called.

use jig_proto::{Action, Block, Content, Response, Text, ToolError};
use serde_json::{Map, Value};

use super::Description;
use super::bindings::describing::exports::jig::tool::describe;
use super::bindings::sdk::jp::tool::types::{self, ErrorInfo};
use super::bindings::sdk::{Context, Outcome};
use super::messages::ComponentMessages;
use crate::vfs::{Host, Notification, Transport as _};

/// Does a call with `tool`.
pub fn run(
    context: Context,
    name: String,
    arguments: &str,
    answers: &str,
    tool: fn(&mut Host) -> Result<Content, ToolError>,
) -> Outcome {
    match attempt(context, name, arguments, answers, tool) {
        Ok(content) => succeeded(content),
        Err(error) => Outcome::Error(ErrorInfo {
            message: error.message,
            trace: error.trace,
            transient: error.transient,
        }),
    }
}

fn attempt(
    context: Context,
    name: String,
    arguments: &str,
    answers: &str,
    tool: fn(&mut Host) -> Result<Content, ToolError>,
) -> Result<Content, ToolError> {
    let messages = ComponentMessages::new();
    let mut init = messages
        .init()
        .map_err(|error| ToolError::new(error.to_string()))?;
    // The contract says what is called; `init` adds what the contract has no place for.
    init.tool.name = name;
    init.tool.arguments = object("arguments", arguments)?;
    init.tool.answers = object("answers", answers)?;
    let mut outer_root = None;
    if let Some(told) = &mut init.context {
        outer_root = Some(std::mem::replace(&mut told.root, context.root.into()));
        told.action = match context.action {
            types::Action::Run => Action::Run,
            types::Action::FormatArguments => Action::FormatArguments,
        };
    }
    let mut host = Host::over(init, messages).map_err(|error| ToolError::new(error.to_string()))?;
    if let Some(root) = outer_root {
        host.also_strip(root);
    }
    tool(&mut host)
}

/// The outcome has room for a text. What is more than that is told as a mediated tool tells it.
fn succeeded(content: Content) -> Outcome {
    match content.blocks() {
        [] => return Outcome::Success(String::new()),
        [
            Block::Text(Text {
                text,
                mime_type: None,
                annotations: None,
            }),
        ] => return Outcome::Success(text.clone()),
        _ => {}
    }
    let text = content.to_text();
    let response = Response {
        content,
        ..Response::default()
    };
    // It can't fail, and the text says most of it.
    let _ = ComponentMessages::new().notify(&Notification::Result(&response));
    Outcome::Success(text)
}

fn object(what: &str, json: &str) -> Result<Map<String, Value>, ToolError> {
    serde_json::from_str(json).map_err(|error| ToolError::new(format!("Invalid {what}: {error}")))
}

/// The descriptions, as the contract has them.
pub fn described(describe: fn() -> Vec<Description>) -> Vec<describe::Description> {
    let tools = describe().into_iter();
    let tools = tools.map(|tool| describe::Description {
        name: tool.name,
        description: tool.description,
        parameters: tool.parameters.to_string(),
    });
    tools.collect()
}
