//! [`Catalogue`]: the tools as a client lists them.

use std::collections::HashMap;
use std::sync::Arc;

use jig_engine::{CallError, Engine};
use jig_proto::{Published, SchemaForm, StateName};
use rmcp::model::{ErrorData, JsonObject, ListToolsResult, Tool};
use serde_json::{Value, json};

use crate::methods::annotations::annotations;
use crate::methods::pages::page;

/// The tools of one configuration, as a client lists them: made once, in the order of the configuration.
pub(crate) struct Catalogue {
    /// The tools.
    pub(crate) tools: Vec<Tool>,
    /// The position of a tool, and what jig calls it, by its published name.
    by_name: HashMap<String, (usize, String)>,
    /// What could not be published, and why.
    pub(crate) problems: Vec<String>,
}

impl Catalogue {
    /// What is published of the tools that are switched on.
    ///
    /// A tool whose parameters cannot be published is left out, and told among the
    /// [`problems`](Self::problems): the others are there all the same.
    pub(crate) fn of(engine: &Engine) -> Self {
        let (published, problems) = published(engine);
        let mut tools = Vec::with_capacity(published.len());
        let mut by_name = HashMap::with_capacity(published.len());
        for one in published.into_iter().map(Published::simplified) {
            by_name.insert(one.name.clone(), (tools.len(), one.tool.clone()));
            tools.push(listed(engine, one));
        }
        Self {
            tools,
            by_name,
            problems,
        }
    }

    /// What jig calls the tool that is published under this name.
    pub(crate) fn find(&self, published: &str) -> Option<&str> {
        self.by_name.get(published).map(|(_, tool)| tool.as_str())
    }

    /// The tool that is published under this name.
    pub(crate) fn tool(&self, published: &str) -> Option<&Tool> {
        let (position, _) = self.by_name.get(published)?;
        self.tools.get(*position)
    }

    /// One page of the tools.
    ///
    /// # Errors
    ///
    /// If the cursor is none of ours.
    pub(crate) fn list(&self, cursor: Option<&str>) -> Result<ListToolsResult, ErrorData> {
        let (tools, next_cursor) = page(&self.tools, cursor)?;
        Ok(ListToolsResult {
            next_cursor,
            ..ListToolsResult::with_all_items(tools)
        })
    }
}

/// All tools in the flat form; if one of them cannot be published, the others, and why.
fn published(engine: &Engine) -> (Vec<Published>, Vec<String>) {
    match engine.published(SchemaForm::Flat) {
        Ok(all) => (all, Vec::new()),
        Err(error) => {
            let tools = engine.config().tools.values();
            let mut all: Vec<Published> = Vec::new();
            let mut problems = vec![error.to_string()];
            for tool in tools.filter(|tool| tool.enable.on) {
                if jig_engine::not_offered(engine.config(), tool).is_some() {
                    continue;
                }
                match engine.published_tool(tool, SchemaForm::Flat) {
                    Ok(of_tool) => {
                        for one in of_tool {
                            // Without numbers for doubles: the first one keeps the name.
                            if all.iter().all(|other| other.name != one.name) {
                                all.push(one);
                            }
                        }
                    }
                    Err(error) => note(&mut problems, &error),
                }
            }
            (all, problems)
        }
    }
}

fn note(problems: &mut Vec<String>, error: &CallError) {
    let text = error.to_string();
    if !problems.contains(&text) {
        problems.push(text);
    }
}

/// One tool as a client lists it.
fn listed(engine: &Engine, published: Published) -> Tool {
    let Published {
        name,
        description,
        parameters,
        tool,
        ..
    } = published;
    let about = (!description.is_empty()).then(|| description.into());
    let mut listed = Tool::new_with_raw(name, about, Arc::new(parameters));
    let Some(tool) = engine.config().tool(&tool) else {
        return listed;
    };
    let described = engine.described(tool);
    let tool = described.as_deref().unwrap_or(tool);
    if let Some(title) = &tool.title {
        listed = listed.with_title(title);
    }
    if let Some(output) = output_schema(engine, tool) {
        listed = listed.with_raw_output_schema(Arc::new(output));
    }
    listed.with_annotations(annotations(tool.title.as_deref(), engine.effects(tool)))
}

/// The schema of what a result holds beside its text.
///
/// A stateful tool reports where it stands. If it also declares what its result looks like, no one schema is
/// true of all its calls, and there is none.
///
/// One that a server declares is passed on if it is the schema of an object, which clients insist on, and can be
/// used.
fn output_schema(engine: &Engine, tool: &jig_config::Tool) -> Option<JsonObject> {
    let is_object = |schema: &Value| schema["type"] == "object";
    if tool.on_server().is_some()
        && let Some(declared) = &tool.output
        && !(is_object(declared) && engine.is_output_usable(tool))
    {
        return None;
    }
    match (&tool.output, tool.actions.is_one_shot()) {
        (Some(Value::Object(declared)), true) => Some(declared.clone()),
        (None, false) => report_schema(),
        _ => None,
    }
}

/// The schema of a report of a handle. A call that runs to its end has no handle, and so no `id`.
fn report_schema() -> Option<JsonObject> {
    let states = [StateName::Running, StateName::Waiting, StateName::Stopped];
    let schema = json!({
        "type": "object",
        "properties": {
            "id": { "type": "string", "description": "The handle." },
            "state": { "type": "string", "enum": states },
            "content": { "type": "string", "description": "What is new in the output." },
            "question": { "type": "object", "description": "What a waiting tool wants to know." },
            "result": { "type": "string", "description": "What a stopped tool returned." },
            "error": { "type": "object", "description": "Why a stopped tool failed." },
            "seq": { "type": "integer", "description": "How far the output has been shown." },
            "cut": { "type": "object", "description": "What is missing in the output." },
            "terminal": { "type": "object", "description": "The screen of a tool on a terminal." },
            "exit_code": { "type": "integer" },
        },
        "required": ["state"],
    });
    match schema {
        Value::Object(schema) => Some(schema),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
