//! [`WasmRuntime`]: the runtime of tools that are components.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jig_proto::vfs::ToolInput;
use jig_proto::{Action, Content, ToolError};
use jig_runtime::{
    Component, InProcess, Plan, Runtime, Session, StartError, in_process, in_this_thread,
};

use crate::cache::{CacheDirs, ComponentCache};
use crate::components::{CodeSource, CompiledComponent, Components, LoadingComponent};
use crate::describe::{self, ComponentTool};
use crate::engine::{EngineError, WasmMachine};
use crate::guest::CallStart;
use crate::inspect::{self, Inspection};
use crate::{ComponentError, outcome, run};

/// Runs tools that are Wasm components, inside this process.
///
/// Cheap to clone: clones share the components that are compiled. All runtimes of a process share one engine.
#[derive(Clone)]
pub struct WasmRuntime {
    components: Arc<Components>,
}

/// What a [`WasmRuntime`] is made of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Settings {
    /// Where compiled code is kept for other processes. Default: nowhere.
    pub cache: Option<CacheDirs>,
}

/// What it took to get a component ready.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ComponentPreparation {
    /// Where its code came from.
    pub from: CodeSource,
    /// How long that took.
    pub took: Duration,
    /// Why its code could not be kept for other processes, if it should have been.
    pub not_kept: Option<String>,
}

/// What one instance of a component costs before it has done anything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct InstanceCost {
    /// How long it took to make it.
    pub instantiate: Duration,
    /// How many bytes its memories have together.
    pub memory: u64,
    /// How long it took to drop it.
    pub drop: Duration,
}

impl WasmRuntime {
    /// A runtime.
    ///
    /// # Errors
    ///
    /// If this machine can run no Wasm.
    pub fn new(settings: Settings) -> Result<Self, EngineError> {
        let machine = WasmMachine::shared()?;
        let cache = settings.cache.map(ComponentCache::new);
        let components = Arc::new(Components::new(machine, cache));
        Ok(Self { components })
    }

    /// Compiles a component, or loads what was compiled before, ahead of its calls.
    ///
    /// # Errors
    ///
    /// If it cannot be compiled, or could not run as a tool.
    pub fn prepare(&self, component: &Component) -> Result<ComponentPreparation, ComponentError> {
        let start = Instant::now();
        let (ready, from) = self.ready(component)?;
        ready.pre.as_ref().map_err(Clone::clone)?;
        Ok(ComponentPreparation {
            from,
            took: start.elapsed(),
            not_kept: ready.not_kept.clone(),
        })
    }

    /// Whether a call would start without compiling.
    pub fn is_ready(&self, component: &Component) -> bool {
        self.components.is_ready(component)
    }

    /// What is being compiled or loaded at this moment, for whoever tells people why they wait.
    pub fn compiling(&self) -> Vec<LoadingComponent> {
        self.components.compiling()
    }

    /// What a component says of its tools; `None` if it does not describe itself. It is asked once for each
    /// version of it, with no access to anything.
    ///
    /// # Errors
    ///
    /// If it cannot run, or describes what is no tool.
    pub fn describe(
        &self,
        component: &Component,
    ) -> Result<Option<Vec<ComponentTool>>, ComponentError> {
        let (hash, _) = self.components.identify(component)?;
        if let Some(known) = self.components.description(&hash) {
            return Ok(known);
        }
        let (ready, _) = self.ready(component)?;
        let described = match ready.describe {
            Some(_) => Some(describe::describe(self.components.machine(), &ready)?),
            None => None,
        };
        self.components.keep_description(ready.hash, &described);
        Ok(described)
    }

    /// What can be known of a component without running it.
    ///
    /// # Errors
    ///
    /// If it cannot be compiled. One that could not run can be inspected.
    pub fn inspect(&self, component: &Component) -> Result<Inspection, ComponentError> {
        let (ready, _) = self.ready(component)?;
        Ok(inspect::inspect(&ready))
    }

    /// What one instance of a component costs. It is made and dropped, with no access to anything.
    ///
    /// # Errors
    ///
    /// If it cannot run.
    pub fn instance(&self, component: &Component) -> Result<InstanceCost, ComponentError> {
        let (ready, _) = self.ready(component)?;
        describe::alone(|door| cost(self.components.machine(), &ready, door))?
    }

    /// Does a call on the thread of the caller, who waits for it: nothing is handed from thread to thread.
    ///
    /// Nobody watches it: what no rule covers is refused, a question of the tool finds nobody who answers it,
    /// and only its limits end it.
    ///
    /// # Errors
    ///
    /// As the tool ends, or if it has no component that can run.
    pub fn run_here(&self, plan: Plan) -> Result<Content, ToolError> {
        in_this_thread(plan, |door| call(&self.components, door))
    }

    /// The arguments of a call as the component shows them to a person, on the thread of the caller and with no
    /// access to anything: one that does not know this action must not do the call instead.
    ///
    /// # Errors
    ///
    /// As the component ends.
    pub fn format_arguments(
        &self,
        component: Component,
        input: ToolInput,
        time: Duration,
    ) -> Result<Content, ToolError> {
        let mut plan = describe::plan().map_err(ToolError::new)?;
        plan.name.clone_from(&input.name);
        plan.input = input;
        plan.context.action = Action::FormatArguments;
        plan.limits.time = Some(time);
        plan.component = Some(Component {
            mounts: Vec::new(),
            ..component
        });
        self.run_here(plan)
    }

    fn ready(
        &self,
        component: &Component,
    ) -> Result<(Arc<CompiledComponent>, CodeSource), ComponentError> {
        self.components.get(component, || false)
    }
}

impl Runtime for WasmRuntime {
    fn start(&self, plan: Plan) -> Result<Session, StartError> {
        if plan.component.is_none() {
            return Err(StartError::NoCommand);
        }
        let components = Arc::clone(&self.components);
        in_process(plan, move |door| call(&components, door))
    }
}

impl fmt::Debug for WasmRuntime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WasmRuntime")
    }
}

/// Does the call of a door, on its thread.
fn call(components: &Arc<Components>, mut door: InProcess) -> Result<Content, ToolError> {
    let told = |error: &ComponentError| ToolError::new(error.to_string());
    let Some(component) = door.plan().component.clone() else {
        return Err(ToolError::new("the tool has no component"));
    };
    let ready = components.get(&component, || door.give_up());
    let (ready, _) = ready.map_err(|error| told(&error))?;
    let pre = ready.pre.as_ref().map_err(told)?;
    run::call(components.machine(), pre, door)
}

fn cost(
    machine: &WasmMachine,
    ready: &CompiledComponent,
    door: InProcess,
) -> Result<InstanceCost, ComponentError> {
    let pre = ready.pre.as_ref().map_err(Clone::clone)?;
    let start = Instant::now();
    let began = CallStart::now(&door);
    let mut store = run::store(&machine.engine, door, began);
    let _ticking = machine.ticker.tick();
    let made = pre.instantiate(&mut store);
    made.map_err(|error| outcome::not_started(&error))?;
    let instantiate = start.elapsed();
    let memory = store.data().meter.memory();
    let start = Instant::now();
    drop(store);
    Ok(InstanceCost {
        instantiate,
        memory,
        drop: start.elapsed(),
    })
}
