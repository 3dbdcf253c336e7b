//! How long a component takes to compile, to load and to be called.

mod figures;

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use camino::Utf8Path;
use jig_broker::{Broker, BrokerParts, CancelToken, ProcessSettings, Unapproved};
use jig_files::{DiskFiles, FilesLookup, ProjectFiles};
use jig_policy::{DeclaredAccess, DefaultAccess, Guards, Policy, Workspace};
use jig_proto::vfs::ToolInput;
use jig_proto::{
    Action, Content, Context as ToolContext, ProjectPath, ToolError, ToolState, hint, visible_line,
    visible_lines,
};
use jig_runtime::{Component, Mount, Plan, RunLimits, Runtime as _};
use jig_wasm::{CacheDirs, CodeSource, ComponentTool, Settings, WasmRuntime};
use serde_json::{Map, Value as Json, json};

use crate::component_file;

pub use figures::{BenchFigures, BenchSpread, ratio, time};

/// A measurement of one component.
pub struct Bench<'a> {
    /// The component.
    pub component: Component,
    /// An empty folder for compiled code.
    pub scratch: &'a Path,
    /// Cancelled to give up.
    pub cancel: CancelToken,
    /// Is told what is done now.
    pub say: &'a dyn Fn(&str),
}

/// The calls that are measured.
#[derive(Debug, Clone, Copy)]
pub struct Measured<'a> {
    /// The tool, where the component has several.
    pub tool: Option<&'a str>,
    /// Its arguments as one JSON object, in place of the others.
    pub input: Option<&'a str>,
    /// Its arguments as `name=value`.
    pub arguments: &'a [String],
    /// How many calls there are.
    pub calls: u32,
}

impl Bench<'_> {
    /// Compiles, loads and calls it, on the workspace at `root`.
    pub fn measured(&self, args: &Measured<'_>, root: &Utf8Path) -> anyhow::Result<BenchFigures> {
        let cold = self.cold()?;
        let (runtime, disk) = self.loaded()?;
        let told = runtime.describe(&self.component);
        let told = told.map_err(|error| component_file::explained(&error))?;
        let input = input(args, told.as_deref())?;
        let plan = plan(&self.component, input, root)?;
        let first = self.first(&runtime, &plan)?;
        let calls = self.calls(&runtime, &plan, args.calls)?;
        let (instantiate, memory) = self.instances(&runtime)?;
        Ok(BenchFigures {
            cold: BenchSpread::of(cold),
            disk: BenchSpread::of(disk),
            first,
            noise: figures::noise(&calls),
            calls: BenchSpread::of(calls),
            instantiate: BenchSpread::of(instantiate),
            memory,
        })
    }

    /// A runtime whose compiled code goes to a folder of that name.
    fn runtime(&self, name: &str) -> anyhow::Result<WasmRuntime> {
        let mut settings = Settings::default();
        settings.cache = Some(CacheDirs {
            code: self.scratch.join(name).join("code"),
            key: self.scratch.join(name).join("key"),
        });
        Ok(WasmRuntime::new(settings)?)
    }

    /// Has the component made ready, and says how long it took.
    fn prepared(&self, runtime: &WasmRuntime, expected: CodeSource) -> anyhow::Result<Duration> {
        self.look_at_signals()?;
        let began = Instant::now();
        let prepared = runtime.prepare(&self.component);
        let took = began.elapsed();
        let from = prepared
            .map_err(|error| component_file::explained(&error))?
            .from;
        if from != expected {
            bail!(
                "the component was {from:?} where it should be {expected:?}: nothing was measured"
            );
        }
        Ok(took)
    }

    /// From the bytes to machine code, with nothing kept from before. Compiling a large component takes many
    /// seconds: that is done once.
    fn cold(&self) -> anyhow::Result<Vec<Duration>> {
        let mut times = Vec::new();
        for number in 0..COLD_RUNS {
            (self.say)("compiling");
            let runtime = self.runtime(&format!("cold-{number}"))?;
            times.push(self.prepared(&runtime, CodeSource::Compiled)?);
            if times.iter().sum::<Duration>() > ENOUGH {
                break;
            }
        }
        Ok(times)
    }

    /// From compiled code on the disk, as another process of jig would find it. Also a runtime that has it.
    fn loaded(&self) -> anyhow::Result<(WasmRuntime, Vec<Duration>)> {
        (self.say)("loading");
        let mut times = Vec::new();
        loop {
            // The first one that compiled has left its code behind.
            let runtime = self.runtime("cold-0")?;
            times.push(self.prepared(&runtime, CodeSource::Disk)?);
            if times.len() == DISK_RUNS {
                return Ok((runtime, times));
            }
        }
    }

    /// The first call, which must succeed: how fast something fails is no figure that anybody wants.
    fn first(&self, runtime: &WasmRuntime, plan: &Plan) -> anyhow::Result<Duration> {
        (self.say)("calling");
        let (took, result) = self.call(runtime, plan.clone())?;
        match result {
            Ok(_) => Ok(took),
            Err(error) => {
                let hint = hint!(
                    "give the arguments that it needs as NAME=VALUE or with --input; here it may \
                            only read the workspace"
                );
                let causes = error.trace.iter().map(|cause| visible_lines(cause));
                let causes = causes.collect::<Vec<_>>().join("; ");
                let message = match causes.as_str() {
                    "" => visible_lines(&error.message),
                    causes => format!("{} ({causes})", visible_lines(&error.message)),
                };
                Err(anyhow!(hint)
                    .context(message)
                    .context("the tool fails, and is not measured"))
            }
        }
    }

    fn calls(
        &self,
        runtime: &WasmRuntime,
        plan: &Plan,
        count: u32,
    ) -> anyhow::Result<Vec<Duration>> {
        for _ in 0..count.min(WARM_UP) {
            // One that fails from now on is told of below.
            let _ = self.call(runtime, plan.clone())?;
        }
        let mut times = Vec::with_capacity(count as usize);
        let mut told = Instant::now();
        for number in 0..count {
            if told.elapsed() > EVERY {
                told = Instant::now();
                (self.say)(&format!("calling, {number} of {count}"));
            }
            let (took, result) = self.call(runtime, plan.clone())?;
            if let Err(error) = result {
                let message = visible_lines(&error.message);
                return Err(anyhow!(message).context(format!("call {} failed", number + 2)));
            }
            times.push(took);
        }
        Ok(times)
    }

    /// One call, from its start to its end. Nobody answers a question.
    fn call(
        &self,
        runtime: &WasmRuntime,
        plan: Plan,
    ) -> anyhow::Result<(Duration, Result<Content, ToolError>)> {
        self.look_at_signals()?;
        let began = Instant::now();
        let session = runtime.start(plan)?;
        let mut update = session.state();
        loop {
            match update.state {
                ToolState::Stopped { result, .. } => return Ok((began.elapsed(), result)),
                ToolState::Waiting { .. } => {
                    // If it has stopped meanwhile, that is what comes next.
                    let _ = session.decline(update.number, Unapproved::Unavailable);
                }
                ToolState::Running { .. } => {}
            }
            // A session that is dropped is ended.
            self.look_at_signals()?;
            update = session.wait(update.number, Some(EVERY));
        }
    }

    /// What making an instance takes, and the memory that one begins with.
    fn instances(&self, runtime: &WasmRuntime) -> anyhow::Result<(Vec<Duration>, u64)> {
        let (mut times, mut memory) = (Vec::new(), 0);
        for _ in 0..INSTANCES {
            self.look_at_signals()?;
            let cost = runtime.instance(&self.component);
            let cost = cost.map_err(|error| component_file::explained(&error))?;
            times.push(cost.instantiate);
            memory = cost.memory;
        }
        Ok((times, memory))
    }

    fn look_at_signals(&self) -> anyhow::Result<()> {
        match self.cancel.is_cancelled() {
            false => Ok(()),
            true => bail!("interrupted"),
        }
    }
}

/// A call of the component on the workspace: it may read, and nothing else.
fn plan(component: &Component, input: ToolInput, root: &Utf8Path) -> anyhow::Result<Plan> {
    let files = DiskFiles::open(root).with_context(|| format!("cannot open `{root}`"))?;
    let files: Arc<dyn ProjectFiles> = Arc::new(files);
    let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(&files)));
    let policy = Policy::compile(
        &DeclaredAccess::default(),
        DefaultAccess::READ_ONLY,
        &Guards::of_workspace(),
        &workspace,
    )?;
    let context = ToolContext::new(MOUNT, Action::Run).with_access(policy.to_wire());
    let broker = Broker::new(BrokerParts {
        process: ProcessSettings::minimal(Path::new("/nonexistent")),
        ..BrokerParts::new(input.name.as_str(), "bench", files, Arc::new(policy))
    });
    let mut component = component.clone();
    component.mounts = vec![Mount {
        guest: MOUNT.to_owned(),
        path: ProjectPath::root(),
        writable: false,
    }];
    Ok(Plan {
        component: Some(component),
        limits: RunLimits {
            time: Some(LONGEST_CALL),
            ..RunLimits::default()
        },
        ..Plan::new(input, context, broker)
    })
}

/// The name of the tool, and the arguments as its own description types them.
fn input(args: &Measured<'_>, told: Option<&[ComponentTool]>) -> anyhow::Result<ToolInput> {
    let told = told.unwrap_or_default();
    let description = match args.tool {
        Some(name) => told.iter().find(|one| one.name == name),
        None => told.first(),
    };
    if let ([_, _, ..], None) = (told, args.tool) {
        let names: Vec<String> = told.iter().map(|one| visible_line(&one.name)).collect();
        let hint = hint!("name one with --tool: {}", names.join(", "));
        return Err(anyhow!(hint).context("the component has several tools"));
    }
    let name = args.tool.or(description.map(|one| one.name.as_str()));
    let arguments = match args.input {
        Some(text) => match serde_json::from_str(text) {
            Ok(Json::Object(arguments)) => arguments,
            _ => bail!("--input must be one JSON object"),
        },
        None => arguments(args.arguments, description)?,
    };
    Ok(ToolInput {
        name: name.unwrap_or("bench").to_owned(),
        arguments,
        ..ToolInput::default()
    })
}

fn arguments(
    pairs: &[String],
    description: Option<&ComponentTool>,
) -> anyhow::Result<Map<String, Json>> {
    let kind = |name: &str| {
        let properties = description?.parameters.get("properties")?;
        properties.get(name)?.get("type")?.as_str()
    };
    let mut arguments = Map::new();
    for pair in pairs {
        let Some((name, text)) = pair.split_once('=').filter(|(name, _)| !name.is_empty()) else {
            let hint = hint!("write name=value, or all of them as one object with --input");
            return Err(anyhow!(hint).context(format!("`{pair}` is not an argument")));
        };
        let text = Json::String(text.to_owned());
        let value = match (kind(name), &text) {
            (Some("string" | "array"), _) => text,
            // Without a declared type, what is JSON is meant so.
            (_, Json::String(text)) => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
            _ => text,
        };
        let is_list = kind(name) == Some("array");
        match arguments.get_mut(name) {
            Some(Json::Array(items)) => items.push(value),
            Some(before) => *before = json!([before.take(), value]),
            None if is_list => {
                arguments.insert(name.to_owned(), json!([value]));
            }
            None => {
                arguments.insert(name.to_owned(), value);
            }
        }
    }
    Ok(arguments)
}

/// Where a local component sees the workspace (W-024).
const MOUNT: &str = "/workspace";

/// How often it is compiled, unless that takes long.
const COLD_RUNS: usize = 3;
const ENOUGH: Duration = Duration::from_secs(2);

const DISK_RUNS: usize = 11;
const INSTANCES: usize = 101;

/// Calls before the first that counts.
const WARM_UP: u32 = 20;

/// How often it is told how far things are.
const EVERY: Duration = Duration::from_millis(100);

/// A call that takes longer is ended: it would be measured for hours.
const LONGEST_CALL: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests;
