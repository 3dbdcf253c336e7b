//! What the official conformance suite of the protocol wants a client to do.
//!
//! Each of its client scenarios starts a server and watches who comes. This connects as jig connects to any
//! server, lists the tools and calls them, agrees to whatever it is asked, and ends.

use std::time::Duration;

use jig_config::Definition;
use serde_json::{Map, Value, json};

use super::{
    CallEvent, ElicitationAnswer, Upstream, UpstreamCall, UpstreamError, UpstreamLimits,
    UpstreamResult,
};

/// Does what a client does at `url`. `calls` are those that the scenario wants, as `[{name, arguments}]`; without
/// them, every tool is called once.
///
/// # Errors
///
/// What failed, in words. Some scenarios expect that.
pub fn visit(url: &str, calls: Option<&Value>) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let visited = runtime.block_on(visited(url, calls));
    // What still hears the server would wait for ever.
    runtime.shutdown_background();
    visited.map_err(|error| error.to_string())
}

async fn visited(url: &str, calls: Option<&Value>) -> Result<(), UpstreamError> {
    let limits = UpstreamLimits {
        start: LIMIT,
        era: None,
    };
    let upstream = Upstream::over_http(url, &[], &limits).await?;
    let listed = upstream.definitions(None).await?;
    let wanted: Vec<(String, Map<String, Value>)> = match calls.and_then(Value::as_array) {
        Some(calls) => calls.iter().filter_map(wanted).collect(),
        None => {
            let tools = &listed.definitions;
            let call = |tool: &std::sync::Arc<Definition>| {
                let others = tools.iter().find(|other| other.name != tool.name);
                let schema = others.map(|other| &other.input);
                (tool.name.clone(), arguments(&tool.input, schema))
            };
            tools.iter().map(call).collect()
        }
    };
    for (name, arguments) in wanted {
        match call(&upstream, name, arguments).await {
            // Some scenarios only look at what was sent.
            Ok(_) | Err(UpstreamError::Refused { .. }) => {}
            Err(error) => return Err(error),
        }
    }
    upstream.close().await;
    Ok(())
}

async fn call(
    upstream: &Upstream,
    name: String,
    arguments: Map<String, Value>,
) -> Result<UpstreamResult, UpstreamError> {
    let (events, mut happened) = tokio::sync::mpsc::unbounded_channel();
    let answer_all = async {
        while let Some(event) = happened.recv().await {
            if let CallEvent::Ask { question, answer } = event {
                let given = question
                    .default
                    .unwrap_or_else(|| agreeing(&question.schema));
                // The call may have ended.
                let _ = answer.send(ElicitationAnswer::Given(given));
            }
        }
        std::future::pending().await
    };
    let call = upstream.call(UpstreamCall {
        name,
        arguments,
        caller: 0,
        events,
    });
    tokio::select! {
        result = call => result,
        never = answer_all => never,
    }
}

/// A call as a scenario wants it.
fn wanted(call: &Value) -> Option<(String, Map<String, Value>)> {
    let name = call.get("name")?.as_str()?.to_owned();
    let arguments = call.get("arguments").and_then(Value::as_object).cloned();
    Some((name, arguments.unwrap_or_default()))
}

/// Something for every argument. One that is called `schema` gets the schema of another tool, as it came.
fn arguments(input: &Value, schema: Option<&Value>) -> Map<String, Value> {
    let properties = input.get("properties").and_then(Value::as_object);
    let properties = properties.into_iter().flatten();
    let filled = properties.map(|(name, property)| {
        let value = match schema {
            Some(schema) if name == "schema" => schema.clone(),
            _ => agreeing(property),
        };
        (name.clone(), value)
    });
    filled.collect()
}

fn agreeing(schema: &Value) -> Value {
    match schema.get("type").and_then(Value::as_str) {
        Some("boolean") => json!(true),
        Some("integer" | "number") => json!(1),
        Some("object") => json!({}),
        Some("array") => json!([]),
        _ => match schema.pointer("/enum/0") {
            Some(first) => first.clone(),
            None => json!("something"),
        },
    }
}

const LIMIT: Duration = Duration::from_secs(20);
