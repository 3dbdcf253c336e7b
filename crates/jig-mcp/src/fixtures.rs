//! What the official conformance suite of the protocol expects to find on a server, by name.
//!
//! Its tools are ordinary tools of jig, declared in [`CONFIG`] and run by [`SCRIPT`] under the same
//! confinement as any other. Resources and prompts that it wants at fixed addresses are a table here. All of
//! that is served only where [`Options::fixtures`](crate::Options::fixtures) says so, and beside nothing of a
//! workspace.

use rmcp::model::{
    ContentBlock, JsonObject, Prompt, PromptArgument, PromptMessage, Resource, ResourceContents,
    ResourceTemplate, Role,
};
use serde_json::{Value, json};

#[cfg(unix)]
pub use crate::client::connection::conformance::visit;

/// The configuration that declares the tools, as the text of a `jig.toml`.
pub const CONFIG: &str = include_str!("fixtures/fixtures.toml");

/// The program of all tools, which is found as [`SCRIPT_NAME`] in the workspace. It needs Python.
pub const SCRIPT: &str = include_str!("fixtures/fixture.py");

/// The name of [`SCRIPT`] in the workspace.
pub const SCRIPT_NAME: &str = "fixture.py";

/// The file of the workspace to which a tool writes what the title of [`TITLED`] shall be. It changes what
/// is listed, and nothing else, so nobody is asked about it.
pub const TITLE_FILE: &str = "title";

/// The tool that gets its title from [`TITLE_FILE`].
pub const TITLED: &str = "greet";

/// The resources that are listed.
pub(crate) fn resources() -> Vec<Resource> {
    let resource = |uri: &str, name: &str, mime_type: &str| {
        Resource::new(uri, name)
            .with_description(format!("A fixture of the conformance suite: {name}."))
            .with_mime_type(mime_type)
    };
    vec![
        resource(STATIC_TEXT, "static text", "text/plain"),
        resource(STATIC_BINARY, "static binary", "image/png"),
        resource(WATCHED, "watched resource", "text/plain"),
    ]
}

/// The templates that are listed.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let template = ResourceTemplate::new("test://template/{id}/data", "template")
        .with_description("A fixture of the conformance suite: its id is part of what it returns.")
        .with_mime_type("application/json");
    vec![template]
}

/// What a resource holds; nothing if there is none at `uri`.
pub(crate) fn read(uri: &str) -> Option<ResourceContents> {
    let contents = match uri {
        STATIC_TEXT => ResourceContents::text("This is the content of a static text.", uri)
            .with_mime_type("text/plain"),
        STATIC_BINARY => ResourceContents::blob(PNG, uri).with_mime_type("image/png"),
        WATCHED => ResourceContents::text("This is watched.", uri).with_mime_type("text/plain"),
        _ => {
            let id = uri
                .strip_prefix("test://template/")?
                .strip_suffix("/data")?;
            let data = json!({"id": id, "data": format!("What belongs to {id}.")});
            ResourceContents::text(data.to_string(), uri).with_mime_type("application/json")
        }
    };
    Some(contents)
}

/// The prompts that are listed.
pub(crate) fn prompts() -> Vec<Prompt> {
    let prompt = |name: &str, arguments: &[&str]| {
        let required = |name: &&str| PromptArgument::new(*name).with_required(true);
        let arguments: Vec<_> = arguments.iter().map(required).collect();
        let arguments = (!arguments.is_empty()).then_some(arguments);
        Prompt::new(name, Some("A fixture of the conformance suite."), arguments)
    };
    vec![
        prompt(SIMPLE, &[]),
        prompt(WITH_ARGUMENTS, &["arg1", "arg2"]),
        prompt(WITH_RESOURCE, &["resourceUri"]),
        prompt(WITH_IMAGE, &[]),
    ]
}

/// The messages of a prompt; nothing if there is none of this name.
pub(crate) fn prompt(name: &str, arguments: &JsonObject) -> Option<Vec<PromptMessage>> {
    let argument = |name: &str| {
        let value = arguments.get(name).and_then(Value::as_str);
        value.unwrap_or_default().to_owned()
    };
    let user = |content| PromptMessage::new(Role::User, content);
    let text = |text: &str| user(ContentBlock::text(text));
    let messages = match name {
        SIMPLE => vec![text("This is a simple prompt.")],
        WITH_ARGUMENTS => {
            let (first, second) = (argument("arg1"), argument("arg2"));
            vec![text(&format!("The arguments are {first} and {second}."))]
        }
        WITH_RESOURCE => {
            let embedded = ResourceContents::text("This is embedded.", argument("resourceUri"))
                .with_mime_type("text/plain");
            vec![
                user(ContentBlock::resource(embedded)),
                text("Please process the resource above."),
            ]
        }
        WITH_IMAGE => vec![
            user(ContentBlock::image(PNG, "image/png")),
            text("Please look at the image above."),
        ],
        _ => return None,
    };
    Some(messages)
}

const STATIC_TEXT: &str = "test://static-text";
const STATIC_BINARY: &str = "test://static-binary";
const WATCHED: &str = "test://watched-resource";

const SIMPLE: &str = "test_simple_prompt";
const WITH_ARGUMENTS: &str = "test_prompt_with_arguments";
const WITH_RESOURCE: &str = "test_prompt_with_embedded_resource";
const WITH_IMAGE: &str = "test_prompt_with_image";

/// One red pixel.
const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC";

#[cfg(test)]
mod tests;
