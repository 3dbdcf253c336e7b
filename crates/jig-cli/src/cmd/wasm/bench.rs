//! `jig wasm bench`: how long a component takes to compile, to load and to be called.

mod figures;

use std::io::{self, IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use camino::Utf8Path;
use jig_broker::{Broker, BrokerParts, CancelToken, ProcessSettings, Unapproved};
use jig_files::{DiskFiles, FilesLookup, ProjectFiles};
use jig_policy::{Access, DefaultAccess, Guards, Policy, Workspace};
use jig_project::locate;
use jig_proto::vfs::ToolInput;
use jig_proto::{
    Action, Content, Context as ToolContext, ProjectPath, ToolError, ToolState, hint, visible_line,
    visible_lines,
};
use jig_runtime::{Component, Mount, Plan, RunLimits, Runtime as _};
use jig_wasm::{CacheDirs, Description, Loaded, Settings, WasmRuntime};
use serde_json::{Map, Value as Json, json};

use self::figures::{Figures, Spread};
use super::file;
use crate::args::{Global, WasmBenchArgs};
use crate::exit::Done;
use crate::interrupt;
use crate::limits;
use crate::output::{BOLD, DIM, Output, YELLOW, field};

pub(crate) fn run(args: &WasmBenchArgs, global: &Global, out: &mut Output) -> anyhow::Result<Done> {
    let component = file::opened(&args.file)?;
    let root = locate::root(global.workspace.as_deref())?;
    // The cache of this command alone: a measurement changes nothing of the user's.
    let scratch = tempfile::Builder::new()
        .prefix("jig-bench-")
        .tempdir()
        .context("cannot make a folder for compiled code")?;
    let bench = Bench {
        component,
        scratch: scratch.path(),
        cancel: interrupt::tokens()?.cancel,
        progress: Progress::new(),
    };
    let figures = bench.measured(args, &root)?;
    bench.progress.clear();
    match out.is_json() {
        true => out.json(&figures.to_json())?,
        false => out.text(&shown(&args.file, &figures))?,
    }
    Ok(Done::Ok)
}

struct Bench<'a> {
    component: Component,
    scratch: &'a Path,
    cancel: CancelToken,
    progress: Progress,
}

impl Bench<'_> {
    fn measured(&self, args: &WasmBenchArgs, root: &Utf8Path) -> anyhow::Result<Figures> {
        let cold = self.cold()?;
        let (runtime, disk) = self.loaded()?;
        let told = runtime.describe(&self.component);
        let told = told.map_err(|error| file::explained(&error))?;
        let input = input(args, told.as_deref())?;
        let plan = plan(&self.component, input, root)?;
        let first = self.first(&runtime, &plan)?;
        let calls = self.calls(&runtime, &plan, args.calls)?;
        let (instantiate, memory) = self.instances(&runtime)?;
        Ok(Figures {
            cold: Spread::of(cold),
            disk: Spread::of(disk),
            first,
            noise: figures::noise(&calls),
            calls: Spread::of(calls),
            instantiate: Spread::of(instantiate),
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
    fn prepared(&self, runtime: &WasmRuntime, expected: Loaded) -> anyhow::Result<Duration> {
        self.look_at_signals()?;
        let began = Instant::now();
        let prepared = runtime.prepare(&self.component);
        let took = began.elapsed();
        let from = prepared.map_err(|error| file::explained(&error))?.from;
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
            self.progress.say("compiling");
            let runtime = self.runtime(&format!("cold-{number}"))?;
            times.push(self.prepared(&runtime, Loaded::Compiled)?);
            if times.iter().sum::<Duration>() > ENOUGH {
                break;
            }
        }
        Ok(times)
    }

    /// From compiled code on the disk, as another process of jig would find it. Also a runtime that has it.
    fn loaded(&self) -> anyhow::Result<(WasmRuntime, Vec<Duration>)> {
        self.progress.say("loading");
        let mut times = Vec::new();
        loop {
            // The first one that compiled has left its code behind.
            let runtime = self.runtime("cold-0")?;
            times.push(self.prepared(&runtime, Loaded::Disk)?);
            if times.len() == DISK_RUNS {
                return Ok((runtime, times));
            }
        }
    }

    /// The first call, which must succeed: how fast something fails is no figure that anybody wants.
    fn first(&self, runtime: &WasmRuntime, plan: &Plan) -> anyhow::Result<Duration> {
        self.progress.say("calling");
        let (took, result) = self.call(runtime, plan.clone())?;
        match result {
            Ok(_) => Ok(took),
            Err(error) => {
                self.progress.clear();
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
                self.progress.say(&format!("calling, {number} of {count}"));
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
            let cost = cost.map_err(|error| file::explained(&error))?;
            times.push(cost.instantiate);
            memory = cost.memory;
        }
        Ok((times, memory))
    }

    fn look_at_signals(&self) -> anyhow::Result<()> {
        match self.cancel.is_cancelled() {
            false => Ok(()),
            true => {
                self.progress.clear();
                bail!("interrupted")
            }
        }
    }
}

/// A call of the component on the workspace: it may read, and nothing else.
fn plan(component: &Component, input: ToolInput, root: &Utf8Path) -> anyhow::Result<Plan> {
    let files = DiskFiles::open(root).with_context(|| format!("cannot open `{root}`"))?;
    let files: Arc<dyn ProjectFiles> = Arc::new(files);
    let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(&files)));
    let policy = Policy::compile(
        &Access::default(),
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
fn input(args: &WasmBenchArgs, told: Option<&[Description]>) -> anyhow::Result<ToolInput> {
    let told = told.unwrap_or_default();
    let description = match &args.tool {
        Some(name) => told.iter().find(|one| one.name == *name),
        None => told.first(),
    };
    if let ([_, _, ..], None) = (told, &args.tool) {
        let names: Vec<String> = told.iter().map(|one| visible_line(&one.name)).collect();
        let hint = hint!("name one with --tool: {}", names.join(", "));
        return Err(anyhow!(hint).context("the component has several tools"));
    }
    let name = args
        .tool
        .as_deref()
        .or(description.map(|one| one.name.as_str()));
    let arguments = match &args.input {
        Some(text) => match serde_json::from_str(text) {
            Ok(Json::Object(arguments)) => arguments,
            _ => bail!("--input must be one JSON object"),
        },
        None => arguments(&args.arguments, description)?,
    };
    Ok(ToolInput {
        name: name.unwrap_or("bench").to_owned(),
        arguments,
        ..ToolInput::default()
    })
}

fn arguments(
    pairs: &[String],
    description: Option<&Description>,
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

fn shown(file: &Utf8Path, figures: &Figures) -> String {
    let time = figures::time;
    let mut text = format!("{BOLD}{}{BOLD:#}\n", visible_line(file.as_str()));
    let (cold, disk, calls) = (&figures.cold, &figures.disk, &figures.calls);
    let mut line = |label: &str, value: String, remark: String| {
        let remark = format!("{DIM}{remark}{DIM:#}");
        text.push_str(&field(label, format_args!("{value:<10}  {remark}")));
    };
    line(
        "compile",
        time(cold.median),
        format!("nothing is kept from before; {}", times(cold.count)),
    );
    line(
        "load",
        time(disk.median),
        format!(
            "compiled code from the disk, as a new process finds it; {}x faster",
            figures::ratio(cold.median, disk.median)
        ),
    );
    line(
        "call",
        time(calls.median),
        format!(
            "the median of {}: start, run, end; 99 % take at most {}",
            times(calls.count),
            time(calls.p99)
        ),
    );
    let share = figures.instantiate.median.as_secs_f64() / calls.median.as_secs_f64();
    line(
        "instance",
        time(figures.instantiate.median),
        format!(
            "of every call, to make a fresh instance: {:.0} %",
            share * 100.0
        ),
    );
    line(
        "memory",
        limits::size(figures.memory),
        "that an instance begins with; given back after the call".to_owned(),
    );
    if figures.noise > NOISY {
        text.push_str(&format!(
            "{YELLOW}note:{YELLOW:#} the medians of ten parts of the run differ by {:.0} %: something else was \
             busy on this machine, and these figures are worth less\n",
            figures.noise * 100.0
        ));
    }
    text
}

fn times(count: usize) -> String {
    match count {
        1 => "one run".to_owned(),
        count => format!("{count} runs"),
    }
}

/// What is done now, on a line of the terminal that is gone afterwards.
struct Progress {
    is_shown: bool,
}

impl Progress {
    fn new() -> Self {
        Self {
            is_shown: io::stderr().is_terminal(),
        }
    }

    fn say(&self, text: &str) {
        if self.is_shown {
            let _ = write!(io::stderr(), "\r\x1b[2K{DIM}{text} …{DIM:#}");
        }
    }

    fn clear(&self) {
        if self.is_shown {
            let _ = write!(io::stderr(), "\r\x1b[2K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
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

/// From here on the difference between parts of one run is told.
const NOISY: f64 = 0.25;

#[cfg(test)]
mod tests;
