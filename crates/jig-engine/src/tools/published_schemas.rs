//! What a model provider is told about the tools.

use jig_config::Tool;
use jig_proto::{Published, SchemaForm, published};
use serde_json::Value;

use crate::calls::call::CallError;
use crate::engine::Engine;
use crate::tools::knowledge::{not_offered, topics_summary};

impl Engine {
    /// The tools that are switched on, in the form in which a model provider takes their schemas.
    ///
    /// `await` is among them only if a tool is stateful, and `learn` only if there is a topic: there is nothing
    /// to wait for, or to learn, otherwise. A
    /// published name is unique: of two tools that would have the same one, the later gets a number.
    ///
    /// # Errors
    ///
    /// If the parameters of a stateful tool use a name that the protocol needs.
    pub fn published(&self, form: SchemaForm) -> Result<Vec<Published>, CallError> {
        let tools = self.config.tools.values().filter(|tool| tool.enable.on);
        let tools: Vec<&Tool> = tools.collect();
        let is_stateful = |tool: &&Tool| !tool.actions.is_one_shot();
        let waits = tools.iter().any(is_stateful);
        let mut all: Vec<Published> = Vec::new();
        for tool in tools {
            let is_idle = !waits && crate::engine::is_await(tool);
            if !is_idle && not_offered(&self.config, tool).is_none() {
                all.extend(self.published_tool(tool, form)?);
            }
        }
        for at in 0..all.len() {
            let name = all[at].name.clone();
            let is_taken = |name: &str| all[..at].iter().any(|other| other.name == name);
            if !is_taken(&name) {
                continue;
            }
            // Names have at most 64 characters.
            let short: String = name.chars().take(60).collect();
            let free = (2..).map(|number| format!("{short}_{number}"));
            if let Some(free) = free.into_iter().find(|name| !is_taken(name)) {
                all[at].name = free;
            }
        }
        Ok(all)
    }

    /// One tool in the form in which a model provider takes its schema.
    ///
    /// # Errors
    ///
    /// As [`published`](Self::published).
    pub fn published_tool(
        &self,
        tool: &Tool,
        form: SchemaForm,
    ) -> Result<Vec<Published>, CallError> {
        // A component that cannot be asked about itself is published as the configuration has it: its call
        // says what is wrong.
        let described = self.described(tool);
        let tool = described.as_deref().unwrap_or(tool);
        let Value::Object(own) = tool.input_schema() else {
            return Ok(Vec::new());
        };
        let about = tool.description.as_deref().or(tool.summary.as_deref());
        let mut about = about.unwrap_or_default().to_owned();
        if let Some(topics) = topics_summary(&self.config, tool) {
            about.push_str("\n\n");
            about.push_str(&topics);
        }
        let published = published(tool.name.as_str(), &about, &own, tool.actions, form);
        published.map_err(|error| CallError::Schema {
            tool: tool.name.to_string(),
            error,
        })
    }
}
