//! What a client can read beside what tools return: policies, the audit log, knowledge, large outputs.
//!
//! Nothing here says what a model is not to know: options of tools, variables, files are not shown, only what
//! is allowed.

mod config;
mod policy;

use rmcp::model::{
    ErrorData, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use serde_json::json;

use crate::caller::Caller;
use crate::calls::large_outputs;
use crate::fixtures;
use crate::methods::{knowledge, pages, uris};
use crate::shared::SharedServer;

/// What a URI of ours names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ResourceTarget<'u> {
    /// The configuration in force.
    Config,
    /// The end of the caller's audit log.
    Audit,
    /// The policy of a tool.
    Policy(String),
    /// A topic of the knowledge base.
    Topic(String),
    /// A large output, by what follows the prefix.
    Output(&'u str),
}

impl<'u> ResourceTarget<'u> {
    /// What a URI names; nothing if it is none of ours.
    pub(crate) fn of(uri: &'u str) -> Option<Self> {
        if let Some(output) = uri.strip_prefix(large_outputs::PREFIX) {
            return Some(Self::Output(output));
        }
        if let Some(topic) = uri.strip_prefix(KNOWLEDGE) {
            return uris::name(topic).map(Self::Topic);
        }
        if let Some(tool) = uri.strip_prefix(TOOL) {
            let tool = tool.strip_suffix(POLICY)?;
            return uris::name(tool).map(Self::Policy);
        }
        match uri {
            CONFIG => Some(Self::Config),
            AUDIT => Some(Self::Audit),
            _ => None,
        }
    }

    /// Whether a client can be told when it changes. An output never does.
    pub(crate) fn changes(&self) -> bool {
        !matches!(self, Self::Output(_))
    }
}

/// One page of what there is to read.
///
/// # Errors
///
/// If the cursor is none of ours.
pub(crate) fn list(
    shared: &SharedServer,
    caller: &Caller,
    cursor: Option<&str>,
) -> Result<ListResourcesResult, ErrorData> {
    let served = shared.current();
    let mut all = Vec::new();
    if shared.options.fixtures {
        all.extend(fixtures::resources());
    }
    all.push(
        Resource::new(CONFIG, "configuration")
            .with_description("The configuration in force, and what waits for a person's consent.")
            .with_mime_type(PLAIN),
    );
    all.push(
        Resource::new(AUDIT, "audit log")
            .with_description(
                "What the tools asked for in this turn and how it was decided: the last 200 lines.",
            )
            .with_mime_type("application/x-ndjson"),
    );
    for tool in &served.catalogue().tools {
        let name = served.catalogue().find(&tool.name).unwrap_or(&tool.name);
        let about = format!("What {name} may do, rule by rule, with the place of each.");
        all.push(
            Resource::new(policy_uri(name), format!("policy of {name}"))
                .with_description(about)
                .with_mime_type(PLAIN),
        );
    }
    for topic in knowledge::topics(&served.config) {
        let resource = Resource::new(topic_uri(&topic.id), &topic.id)
            .with_title(topic.title())
            .with_mime_type(MARKDOWN);
        all.push(match &topic.introduction {
            Some(introduction) => resource.with_description(introduction),
            None => resource,
        });
    }
    all.extend(caller.outputs.list());
    let (resources, next_cursor) = pages::page(&all, cursor)?;
    Ok(ListResourcesResult {
        next_cursor,
        ..ListResourcesResult::with_all_items(resources)
    })
}

/// The families of what there is to read.
pub(crate) fn templates(shared: &SharedServer) -> ListResourceTemplatesResult {
    let mut all = match shared.options.fixtures {
        true => fixtures::templates(),
        false => Vec::new(),
    };
    all.push(
        ResourceTemplate::new(POLICY_TEMPLATE, "policy of a tool")
            .with_description("What a tool may do, rule by rule, with the place of each.")
            .with_mime_type(PLAIN),
    );
    all.push(
        ResourceTemplate::new(TOPIC_TEMPLATE, "topic")
            .with_description("What the project has written down about a topic.")
            .with_mime_type(MARKDOWN),
    );
    all.push(
        ResourceTemplate::new(OUTPUT_TEMPLATE, "part of a large output")
            .with_description("A large output, whose id is in the link that a result holds; its parts are counted from 1."),
    );
    ListResourceTemplatesResult::with_all_items(all)
}

/// Reads what a URI names. It may take a while: a topic is read by a tool.
///
/// # Errors
///
/// If there is nothing at the URI, or it cannot be read.
pub(crate) fn read(
    shared: &SharedServer,
    caller: &Caller,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let contents = match fixtures::read(uri).filter(|_| shared.options.fixtures) {
        Some(fixture) => Some(fixture),
        None => contents(shared, caller, uri)?,
    };
    let contents = contents.ok_or_else(|| not_found(uri))?;
    Ok(ReadResourceResult::new(vec![contents]))
}

/// Nothing is there to read. Which number that has depends on the client's version of the protocol, and rmcp
/// sees to it.
pub(crate) fn not_found(uri: &str) -> ErrorData {
    let end = uri.floor_char_boundary(MAX_QUOTED);
    let uri = &uri[..end];
    ErrorData::resource_not_found(
        format!("there is no resource `{uri}`"),
        Some(json!({ "uri": uri })),
    )
}

/// Whether there is something at a URI of which a client can be told that it changed.
pub(crate) fn can_change(shared: &SharedServer, uri: &str) -> bool {
    if shared.options.fixtures && fixtures::read(uri).is_some() {
        return true;
    }
    let served = shared.current();
    match ResourceTarget::of(uri) {
        Some(ResourceTarget::Policy(tool)) => served.config.tool(&tool).is_some(),
        Some(ResourceTarget::Topic(topic)) => knowledge::topic(&served.config, &topic).is_some(),
        Some(place) => place.changes(),
        None => false,
    }
}

fn contents(
    shared: &SharedServer,
    caller: &Caller,
    uri: &str,
) -> Result<Option<ResourceContents>, ErrorData> {
    let text =
        |text: String, kind: &str| Some(ResourceContents::text(text, uri).with_mime_type(kind));
    let failed = |error: jig_engine::CallError| ErrorData::internal_error(error.to_string(), None);
    let Some(place) = ResourceTarget::of(uri) else {
        return Ok(None);
    };
    let contents = match place {
        ResourceTarget::Config => text(config::shown(shared), PLAIN),
        ResourceTarget::Audit => text(caller.tail.text(), "application/x-ndjson"),
        ResourceTarget::Policy(name) => {
            let served = shared.current();
            let tool = served.catalogue().find(&name).unwrap_or(&name);
            let tool = served.config.tool(tool).filter(|tool| tool.enable.on);
            let shown = tool.map(|tool| policy::shown(&served.engine, tool));
            shown
                .transpose()
                .map_err(failed)?
                .and_then(|shown| text(shown, PLAIN))
        }
        ResourceTarget::Topic(id) => {
            let engine = caller.engine(shared);
            let topic = knowledge::topic(engine.config(), &id);
            let shown = topic.map(|topic| knowledge::about(&engine, topic));
            shown
                .transpose()
                .map_err(failed)?
                .and_then(|shown| text(shown, MARKDOWN))
        }
        ResourceTarget::Output(path) => caller.outputs.read(path),
    };
    Ok(contents)
}

/// Where the policy of a tool is read.
pub(crate) fn policy_uri(tool: &str) -> String {
    format!("{TOOL}{}{POLICY}", uris::segment(tool))
}

/// Where a topic is read.
pub(crate) fn topic_uri(topic: &str) -> String {
    format!("{KNOWLEDGE}{}", uris::segment(topic))
}

/// The configuration in force.
pub(crate) const CONFIG: &str = "jig://config";

/// The end of the caller's audit log.
pub(crate) const AUDIT: &str = "jig://audit";

/// The families, as clients complete them.
pub(crate) const POLICY_TEMPLATE: &str = "jig://tool/{name}/policy";
pub(crate) const TOPIC_TEMPLATE: &str = "jig://knowledge/{topic}";
pub(crate) const OUTPUT_TEMPLATE: &str = "jig://output/{id}/{part}";

const TOOL: &str = "jig://tool/";
const POLICY: &str = "/policy";
const KNOWLEDGE: &str = "jig://knowledge/";

const PLAIN: &str = "text/plain";
const MARKDOWN: &str = "text/markdown";

/// How much of a URI is repeated in an error.
const MAX_QUOTED: usize = 200;

#[cfg(test)]
mod tests;
