//! `jig spawn`: start a tool that goes on running when this command has ended.

use anyhow::Context;
use jig_engine::Call;
use jig_project::{CommandEnvironment, Project, locate, servers};
use jig_proto::{HandleId, StateName, ToolAction, hint};
use jig_station::client::StationClient;
use jig_station::protocol::{HandleResult, SpawnOrder, SpawnResult, StationRequest};
use serde_json::Value as Json;

use crate::args::{GlobalArgs, SpawnArgs};
use crate::cmd::call::{self, TypedArguments};
use crate::exit::Done;
use crate::output::CliOutput;
use crate::report;

pub(crate) fn run(
    args: &SpawnArgs,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    let id = args.id.as_deref().map(str::parse::<HandleId>).transpose()?;
    let mut project = Project::load(&global.selection())?;
    let mut asker = call::asker(args.yes, args.no_interaction);
    let env = CommandEnvironment::of_this_process();
    let _ending = servers::find(&mut project, &args.tool, &env, asker.as_mut())?;
    let tool = project.tool(&args.tool)?;
    let arguments = call::arguments(
        tool,
        &TypedArguments {
            pairs: &args.arguments,
            object: args.args.as_deref(),
        },
    )?;
    let mut call = Call::new(tool.name.as_str(), Json::Object(arguments));
    call.answers = call::answers(&args.answer)?;
    let engine = call::engine(&project)?;
    // The person is here: what they agree to is what the station runs.
    let call = engine
        .agree(&call, asker.as_mut())
        .map_err(|error| call::explained(error, tool))?;
    let current = locate::current()?;
    let order = SpawnOrder {
        tool: call.tool,
        arguments: call.arguments,
        answers: call.answers,
        id,
        config: global
            .config
            .iter()
            .map(|file| current.join(file))
            .collect(),
        set: global.set.clone(),
        env: match global.trust {
            true => env.clone().trusting(),
            false => env.clone(),
        },
    };
    let request = StationRequest::Spawn(Box::new(order));
    let told: HandleResult = StationClient::ask_or_start(&project.root, &env, &request)?;
    let spawned: SpawnResult =
        serde_json::from_value(told.value).context("the station's answer has another form")?;
    for warning in &spawned.warnings {
        out.note(warning);
    }
    let report = report::StationReport::of(spawned.report.clone())?.report;
    let told = HandleResult {
        value: spawned.report,
        ..told
    };
    let done = report::show(told, out)?;
    if !out.is_json() && report.state.status() == StateName::Running {
        let id = &report.id;
        let input = match tool.actions.has(ToolAction::Apply) {
            true => format!("`jig apply {id} --line TEXT` types into it, "),
            false => String::new(),
        };
        out.note(&hint!(
            "`jig fetch {id}` shows what comes next, {input}`jig attach {id}` shows it live, `jig \
             abort {id}` ends it"
        ).to_string());
    }
    Ok(done)
}
