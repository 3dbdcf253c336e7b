//! What a component says of its own tools, if it does: `jig:tool/describe`.
//!
//! It is asked once for each version, in a store that reaches nothing, and the answer is kept.

use std::sync::Arc;
use std::time::Duration;

use jig_broker::{Broker, BrokerParts};
use jig_files::{FilesLookup, NullFiles, ProjectFiles};
use jig_policy::{DeclaredAccess, DefaultAccess, Guards, Policy, Workspace};
use jig_proto::json::JsonLimits;
use jig_proto::vfs::ToolInput;
use jig_proto::{Action, Content, Context};
use jig_proto::{is_deceptive, visible_line};
use jig_runtime::{InProcess, Plan, in_this_thread};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wasmtime::component::{Component, ComponentExportIndex, ComponentType, Lift};

use crate::ComponentError;
use crate::components::CompiledComponent;
use crate::engine::WasmMachine;
use crate::guest::CallStart;
use crate::{outcome, run, text};

#[cfg(test)]
mod tests;

/// A tool, as the component that has it describes it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ComponentTool {
    /// The name by which the component knows the tool.
    pub name: String,
    /// What the tool is for, as a model reads it.
    pub description: String,
    /// The JSON Schema of its arguments: an object.
    pub parameters: Map<String, Value>,
}

/// Where in a component the function is that describes it.
pub(crate) struct DescribeIndex(ComponentExportIndex);

impl DescribeIndex {
    pub(crate) fn of(component: &Component) -> Option<Self> {
        let interface = component.get_export_index(None, INTERFACE)?;
        let function = component.get_export_index(Some(&interface), "describe")?;
        Some(Self(function))
    }
}

/// The record of the interface.
#[derive(Debug, ComponentType, Lift)]
#[component(record)]
struct GuestDescription {
    name: String,
    description: String,
    parameters: String,
}

/// Asks a component what its tools are.
///
/// # Errors
///
/// If it fails, or what it says is no description.
pub(crate) fn describe(
    machine: &WasmMachine,
    ready: &CompiledComponent,
) -> Result<Vec<ComponentTool>, ComponentError> {
    alone(|door| ask(machine, ready, door))?.and_then(read)
}

/// Runs something with a door that leads nowhere.
///
/// # Errors
///
/// If there is no such door.
pub(crate) fn alone<T>(work: impl FnOnce(InProcess) -> T) -> Result<T, ComponentError> {
    let failed = |why: String| ComponentError::Instantiate(why);
    let mut came = None;
    let ended = in_this_thread(plan().map_err(failed)?, |door| {
        came = Some(work(door));
        Ok(Content::EMPTY)
    });
    let why = || ended.map_or_else(|error| error.message, |content| content.to_text());
    came.ok_or_else(|| failed(why()))
}

/// A call that may do nothing.
pub(crate) fn plan() -> Result<Plan, String> {
    let files: Arc<dyn ProjectFiles> = Arc::new(NullFiles);
    let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(&files)));
    let policy = Policy::compile(
        &DeclaredAccess::default(),
        DefaultAccess::NOTHING,
        &Guards::default(),
        &workspace,
    );
    let policy = Arc::new(policy.map_err(|error| format!("{error:?}"))?);
    let broker = Broker::new(BrokerParts::new(NAME, NAME, files, policy));
    let input = ToolInput {
        name: NAME.to_owned(),
        ..ToolInput::default()
    };
    let mut plan = Plan::new(input, Context::new("/", Action::Run), broker);
    plan.limits.time = Some(TIME);
    plan.limits.tree.memory = Some(MEMORY);
    Ok(plan)
}

fn ask(
    machine: &WasmMachine,
    ready: &CompiledComponent,
    door: InProcess,
) -> Result<Vec<GuestDescription>, ComponentError> {
    let Some(DescribeIndex(index)) = &ready.describe else {
        return Ok(Vec::new());
    };
    let pre = ready.pre.as_ref().map_err(Clone::clone)?;
    let began = CallStart::now(&door);
    let mut store = run::store(&machine.engine, door, began);
    let _ticking = machine.ticker.tick();
    let instance = pre.instance_pre().instantiate(&mut store);
    let instance = instance.map_err(|error| outcome::not_started(&error))?;
    let function = instance.get_typed_func::<(), (Vec<GuestDescription>,)>(&mut store, index);
    let function =
        function.map_err(|error| ComponentError::Describe(text::short(&format!("{error:#}"))))?;
    let said = function.call(&mut store, ());
    let (said,) = said.map_err(|error| outcome::trapped(&error))?;
    Ok(said)
}

fn read(said: Vec<GuestDescription>) -> Result<Vec<ComponentTool>, ComponentError> {
    let wrong = |why: String| Err(ComponentError::Describe(why));
    if said.len() > MAX_TOOLS {
        return wrong(format!(
            "it has {} tools, and {MAX_TOOLS} are the most",
            said.len()
        ));
    }
    let sizes = said
        .iter()
        .map(|one| one.name.len() + one.description.len() + one.parameters.len());
    let size: usize = sizes.sum();
    if size > MAX_ALL {
        return wrong(format!(
            "it says {size} bytes all in all, and {MAX_ALL} are the most"
        ));
    }
    let mut read: Vec<ComponentTool> = Vec::with_capacity(said.len());
    for one in said {
        if one.name.is_empty() || one.name.len() > MAX_NAME {
            return wrong(format!("a name must have 1 to {MAX_NAME} bytes"));
        }
        if one.name.contains(is_deceptive) {
            let name = visible_line(&one.name);
            return wrong(format!("the name `{name}` cannot be shown"));
        }
        let name = one.name;
        if read.iter().any(|other| other.name == name) {
            return wrong(format!("`{name}` is there twice"));
        }
        if one.description.len() > MAX_DESCRIPTION {
            let why = format!("the text of `{name}` has more than {MAX_DESCRIPTION} bytes");
            return wrong(why);
        }
        let parameters = match jig_proto::json::value(one.parameters.as_bytes(), &PARAMETERS) {
            Ok(Value::Object(parameters)) => parameters,
            Ok(_) => return wrong(format!("the parameters of `{name}` are no JSON object")),
            Err(error) => {
                return wrong(format!("the parameters of `{name}` are no JSON: {error}"));
            }
        };
        read.push(ComponentTool {
            name,
            description: text::plain(&one.description),
            parameters,
        });
    }
    Ok(read)
}

/// The interface that a component exports which describes itself.
pub(crate) const INTERFACE: &str = "jig:tool/describe@0.1.0";

/// Who asks, in messages.
const NAME: &str = "describe";

/// How long a component may take to describe itself.
const TIME: Duration = Duration::from_secs(5);

/// How much memory it may take for that.
const MEMORY: u64 = 256 << 20;

/// The most tools of one component.
const MAX_TOOLS: usize = 256;

/// The longest name.
const MAX_NAME: usize = 128;

/// The longest text about a tool: a model reads it with each turn.
const MAX_DESCRIPTION: usize = 64 << 10;

/// The most that a component says of all its tools: it is kept for every component of a process.
const MAX_ALL: usize = 1 << 20;

/// What a schema may be.
const PARAMETERS: JsonLimits = JsonLimits::for_bytes(256 << 10);
