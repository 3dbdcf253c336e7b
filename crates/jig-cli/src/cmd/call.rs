//! `jig call`: run one tool, here and now.

use std::io::{IsTerminal, Read};
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use jig_broker::HostEnv;
use jig_config::{ParameterType, Tool};
use jig_engine::{Asker, Call, CallError, Engine};
use jig_files::DiskFiles;
use jig_proto::{Content, ToolError};
use serde_json::{Map, Value as Json, json};

use crate::args::{CallArgs, Global};
use crate::audit;
use crate::diff;
use crate::exit::Done;
use crate::highlight;
use crate::interrupt;
use crate::output::{Output, printable};
use crate::prompt::{Terminal, Unattended};
use crate::trace::TraceFile;
use crate::workspace::Project;

pub(crate) fn run(args: &CallArgs, global: &Global, out: &mut Output) -> anyhow::Result<Done> {
    let project = Project::load(global)?;
    let tool = project.tool(&args.tool)?;
    let arguments = arguments(tool, args)?;
    // What a read file is called tells how its code is shown.
    let file = arguments
        .get("path")
        .and_then(Json::as_str)
        .unwrap_or_default()
        .to_owned();
    let is_code = tool.implementation() == Some("fs_read_file");
    let mut call = Call::new(tool.name.as_str(), Json::Object(arguments));
    call.answers = pairs(&args.answer)?
        .into_iter()
        .map(|(id, text)| (id, loose(&text)))
        .collect();
    if let Some(path) = &args.trace {
        call.tracer = Some(Arc::new(TraceFile::create(path)?));
    }
    call.cancel = Some(interrupt::token()?);
    let engine = engine(&project, out)?;
    let mut asker = asker(args);
    match engine.call(call, asker.as_mut()) {
        Ok(content) => {
            shown(&content, is_code.then_some(file.as_str()), out)?;
            Ok(Done::Ok)
        }
        Err(CallError::Tool(error)) => {
            failed(&error, out)?;
            Ok(Done::Bad)
        }
        Err(CallError::NobodyToAsk(tool)) => {
            let hint =
                format!("hint: call it with --yes, or set tools.{tool}.run = \"unattended\"");
            Err(anyhow!(hint).context(CallError::NobodyToAsk(tool)))
        }
        Err(error @ CallError::Arguments { .. }) => {
            let hint = format!("hint: `jig tools {}` lists the parameters", tool.name);
            Err(anyhow!(hint).context(error))
        }
        Err(error) => Err(error.into()),
    }
}

/// The engine for the tools of a workspace on disk.
pub(crate) fn engine(project: &Project, out: &mut Output) -> anyhow::Result<Engine> {
    let files = DiskFiles::open(&project.root)
        .with_context(|| format!("cannot open the workspace `{}`", project.root))?;
    let config = Arc::new(project.config().clone());
    let mut engine = Engine::new(config, Arc::new(files));
    engine.env = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect::<HostEnv>();
    engine.program = std::env::current_exe().ok();
    engine.confine.home = audit::path_in("HOME").map(Into::into);
    engine.confine.state = audit::state().map(Into::into);
    match audit::sink(&project.root) {
        Ok(sink) => engine.audit = sink,
        Err(reason) => out.note(&format!("note: {reason}")),
    }
    Ok(engine)
}

fn asker(args: &CallArgs) -> Box<dyn Asker> {
    match Terminal::open(args.yes, !args.no_interaction) {
        Some(terminal) => Box::new(terminal),
        None => Box::new(Unattended),
    }
}

/// `key=value…`, or one JSON object.
fn arguments(tool: &Tool, args: &CallArgs) -> anyhow::Result<Map<String, Json>> {
    let mut arguments = match args.args.as_deref() {
        None => Map::new(),
        Some("-") => {
            let mut text = String::new();
            let limit = MAX_STDIN as u64 + 1;
            std::io::stdin()
                .take(limit)
                .read_to_string(&mut text)
                .context("cannot read stdin")?;
            if text.len() > MAX_STDIN {
                bail!(
                    "the arguments on stdin are larger than {} MiB",
                    MAX_STDIN / 1024 / 1024
                );
            }
            object(&text)?
        }
        Some(text) => object(text)?,
    };
    for (name, text) in pairs(&args.arguments)? {
        let declared = tool.parameters.get(&name);
        let is = |kind| declared.is_some_and(|parameter| parameter.types == [kind]);
        let is_list = is(ParameterType::Array);
        match arguments.get_mut(&name) {
            Some(Json::Array(items)) if is_list => items.push(Json::String(text)),
            // One word for a list is a list of one, unless it is JSON.
            _ if is_list && !text.trim_start().starts_with('[') => {
                arguments.insert(name, json!([text]));
            }
            _ => {
                arguments.insert(name, Json::String(text));
            }
        }
    }
    Ok(arguments)
}

fn object(text: &str) -> anyhow::Result<Map<String, Json>> {
    let limits = jig_proto::json::Limits::MESSAGE;
    match jig_proto::json::value(text.as_bytes(), &limits) {
        Ok(Json::Object(object)) => Ok(object),
        Ok(_) => bail!("the arguments must be one JSON object"),
        Err(error) => Err(anyhow!(error).context("the arguments are not JSON")),
    }
}

fn pairs(texts: &[String]) -> anyhow::Result<Vec<(String, String)>> {
    let pair = |text: &String| match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => {
            let hint = "hint: write name=value, or all of them as one object with --args";
            Err(anyhow!(hint).context(format!("`{text}` is not an argument")))
        }
    };
    texts.iter().map(pair).collect()
}

/// JSON where it is JSON, else text: an answer has no declared type.
fn loose(text: &str) -> Json {
    let limits = jig_proto::json::Limits::SHORT;
    jig_proto::json::value(text.as_bytes(), &limits)
        .unwrap_or_else(|_| Json::String(text.to_owned()))
}

/// Shows a result; code in colour if it is that of `file`.
fn shown(content: &Content, file: Option<&str>, out: &mut Output) -> anyhow::Result<()> {
    if out.is_json() {
        return out.json(&json!({ "content": content.blocks(), "isError": false }));
    }
    let mut text = content.to_text();
    if !text.ends_with('\n') {
        text.push('\n');
    }
    if !std::io::stdout().is_terminal() {
        return out.raw(&text);
    }
    // What a tool prints must not steer the terminal.
    let text = printable(&text);
    out.text(&match file {
        Some(file) => highlight::coloured(file, &text),
        None => diff::coloured(&text),
    })
}

fn failed(error: &ToolError, out: &mut Output) -> anyhow::Result<()> {
    if out.is_json() {
        return out.json(&json!({ "error": error, "isError": true }));
    }
    let causes = error.trace.iter().map(|cause| printable(cause));
    out.error(&printable(&error.message), causes);
    Ok(())
}

/// As much as a message of a tool may hold.
const MAX_STDIN: usize = 16 * 1024 * 1024;
