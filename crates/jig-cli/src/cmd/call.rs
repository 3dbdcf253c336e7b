//! `jig call`: run one tool, here and now.

use std::io::{IsTerminal, Read};
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use jig_config::{ParameterType, Tool};
use jig_engine::{Asker, Call, CallError, Engine};
use jig_project::{CommandEnvironment, Project, audit_log, engines, servers, shell_word};
use jig_proto::{Content, ToolError, hint, visible_line, visible_lines};
use jig_runtime::HandleError;
use serde_json::{Map, Value as Json, json};

use super::tools;
use crate::args::{CallArgs, GlobalArgs};
#[cfg(feature = "wasm-tools")]
use crate::compile_notice::CompileWatch;
use crate::diff;
use crate::exit::Done;
use crate::highlight;
use crate::interrupt;
use crate::output::CliOutput;
use crate::prompt::{PromptTerminal, Unattended};
use crate::report;
use crate::trace_file::TraceFile;

pub(crate) fn run(
    args: &CallArgs,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    let mut project = Project::load(&global.selection())?;
    let mut asker = asker(args.yes, args.no_interaction);
    let env = CommandEnvironment::of_this_process();
    let _ending = servers::find(&mut project, &args.tool, &env, asker.as_mut())?;
    let tool = project.tool(&args.tool)?;
    let engine = engine(&project)?;
    #[cfg(feature = "wasm-tools")]
    let _watch = watched(&engine, tool)?;
    let tool = &*engine
        .described(tool)
        .map_err(|error| explained(error, tool))?;
    let given = TypedArguments {
        pairs: &args.arguments,
        object: args.args.as_deref(),
    };
    let arguments = arguments(tool, &given)?;
    // What a read file is called tells how its code is shown.
    let file = arguments
        .get("path")
        .and_then(Json::as_str)
        .unwrap_or_default()
        .to_owned();
    let is_code = tool.implementation() == Some("fs_read_file");
    let mut call = Call::new(tool.name.as_str(), Json::Object(arguments));
    call.answers = answers(&args.answer)?;
    if let Some(path) = &args.trace {
        call.tracer = Some(Arc::new(TraceFile::create(path)?));
    }
    let tokens = interrupt::tokens()?;
    call.cancel = Some(tokens.cancel);
    call.kill = Some(tokens.kill);
    match engine.call(call, asker.as_mut()) {
        Ok(reply) => {
            shown(&reply.into_content(), is_code.then_some(file.as_str()), out)?;
            if engine.handles.counts().live > 0 {
                // The turn of a call is this process.
                out.note(&format!(
                    "jig: what a call spawns ends with it; `jig spawn {}` starts a tool that goes on",
                    tool.name
                ));
                engine.end_turn();
            }
            Ok(Done::Ok)
        }
        Err(CallError::Tool(error)) => {
            failed(&error, out)?;
            if !out.is_json() {
                tools::tell_mistakes(&project, &env, |name| name == tool.name.as_str(), out);
            }
            Ok(Done::Bad)
        }
        Err(error) => Err(explained(error, tool)),
    }
}

/// Why a call came to nothing, with the way out.
pub(crate) fn explained(error: CallError, tool: &Tool) -> anyhow::Error {
    let hint = match &error {
        CallError::NobodyToAsk(name) => match tool.on_server() {
            None => hint!("call it with --yes, or set tools.{name}.run = \"unattended\""),
            Some((server, at)) => hint!(
                "call it with --yes, or set mcp.servers.{server}.run = \"unattended\"; for this tool alone, \
                 `run` beside source = \"mcp.{server}.{at}\" in a table [tools.NAME]"
            ),
        },
        CallError::Arguments { errors, .. } => {
            let missing = &errors.missing;
            let hint = match !missing.is_empty() && missing.len() == errors.problems.len() {
                true => hint!(
                    "add {}; `jig tools {}` lists the parameters",
                    placeholders(missing),
                    tool.name
                ),
                false => hint!("`jig tools {}` lists the parameters", tool.name),
            };
            return anyhow!(hint).context(format!("Invalid arguments: {errors}"));
        }
        CallError::Log { .. } => audit_log::no_log(),
        CallError::Handle(HandleError::Unknown(_)) => {
            hint!(
                "a call knows only what it spawned itself; `jig fetch`, `jig apply` and `jig abort` reach \
             what `jig spawn` started"
            )
        }
        _ => return error.into(),
    };
    anyhow!(hint).context(error)
}

/// Arguments without their values, as they are written after the name of a tool.
fn placeholders(names: &[String]) -> String {
    let word = |name: &String| format!("{}=…", visible_line(&shell_word(name)));
    let words = names.iter().map(word);
    words.collect::<Vec<String>>().join(" ")
}

/// The engine for the tools of a workspace, with what counts for this process.
pub(crate) fn engine(project: &Project) -> anyhow::Result<Engine> {
    engines::for_a_person(project, &CommandEnvironment::of_this_process())
}

/// Somebody who says why it takes so long, if the tool is a component.
#[cfg(feature = "wasm-tools")]
fn watched(engine: &Engine, tool: &Tool) -> anyhow::Result<Option<CompileWatch>> {
    if tool.runtime != jig_config::RuntimeKind::Wasm {
        return Ok(None);
    }
    Ok(Some(CompileWatch::over(engine.components()?)))
}

/// Whoever can be asked.
pub(crate) fn asker(yes: bool, no_interaction: bool) -> Box<dyn Asker> {
    match PromptTerminal::open(yes, !no_interaction) {
        Some(terminal) => Box::new(terminal),
        None => Box::new(Unattended),
    }
}

/// The arguments of a tool, as somebody typed them.
pub(crate) struct TypedArguments<'a> {
    /// `key=value…`
    pub(crate) pairs: &'a [String],
    /// One JSON object, or `-` for standard input.
    pub(crate) object: Option<&'a str>,
}

/// The arguments of a tool.
pub(crate) fn arguments(
    tool: &Tool,
    given: &TypedArguments<'_>,
) -> anyhow::Result<Map<String, Json>> {
    let mut arguments = match given.object {
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
    for (name, text) in pairs(given.pairs)? {
        let declared = tool.parameters.get(&name);
        if declared.is_none()
            && let Some(definition) = &tool.definition
        {
            let schema = &definition.input["properties"][&name];
            take(&mut arguments, name, text, &types_of(schema));
            continue;
        }
        let is = |kind| declared.is_some_and(|parameter| parameter.types == [kind]);
        let is_list = is(ParameterType::Array);
        let types = declared.map_or(&[][..], |parameter| &parameter.types);
        let may_be_list = types.contains(&ParameterType::Array);
        match arguments.get_mut(&name) {
            Some(Json::Array(items)) if may_be_list => items.push(Json::String(text)),
            // What may be one or several is several when it is there again.
            Some(Json::String(first)) if may_be_list && !is_list => {
                let both = json!([std::mem::take(first), text]);
                arguments.insert(name, both);
            }
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

/// An argument whose types a server's schema names. Words of a shell are text: what should be something else, and is
/// JSON of that, is that; one word for a list is a list of one.
fn take(arguments: &mut Map<String, Json>, name: String, text: String, types: &[String]) {
    let has = |kind: &str| types.iter().any(|one| one == kind);
    let fits = |value: &Json| match value {
        Json::Null => has("null"),
        Json::Bool(_) => has("boolean"),
        Json::Number(number) => has("number") || (has("integer") && !number.is_f64()),
        Json::String(_) => has("string"),
        Json::Array(_) => has("array"),
        Json::Object(_) => has("object"),
    };
    let read = match has("string") {
        true => None,
        false => Some(loose(&text)).filter(fits),
    };
    match (arguments.get_mut(&name), read) {
        (Some(Json::Array(items)), None) if has("array") => items.push(Json::String(text)),
        (_, Some(value)) => {
            arguments.insert(name, value);
        }
        (_, None) if has("array") && !has("string") => {
            arguments.insert(name, json!([text]));
        }
        (_, None) => {
            arguments.insert(name, Json::String(text));
        }
    }
}

/// The types that a JSON Schema names, also as those of its alternatives; none, if it says nothing that simple.
pub(crate) fn types_of(schema: &Json) -> Vec<String> {
    let alternatives = ["anyOf", "oneOf"].into_iter();
    let alternatives = alternatives
        .filter_map(|key| schema[key].as_array())
        .flatten();
    let mut types = Vec::new();
    for one in std::iter::once(schema).chain(alternatives) {
        let names: Vec<&str> = match &one["type"] {
            Json::String(name) => vec![name],
            Json::Array(names) => names.iter().filter_map(Json::as_str).collect(),
            _ => Vec::new(),
        };
        for name in names {
            if !types.iter().any(|known| known == name) {
                types.push(name.to_owned());
            }
        }
    }
    types
}

/// Answers that are known in advance.
pub(crate) fn answers(texts: &[String]) -> anyhow::Result<Map<String, Json>> {
    let pairs = pairs(texts)?.into_iter();
    Ok(pairs.map(|(id, text)| (id, loose(&text))).collect())
}

fn object(text: &str) -> anyhow::Result<Map<String, Json>> {
    let limits = jig_proto::json::JsonLimits::MESSAGE;
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
            let hint = hint!("write name=value, or all of them as one object with --args");
            Err(anyhow!(hint).context(format!("`{text}` is not an argument")))
        }
    };
    texts.iter().map(pair).collect()
}

/// JSON where it is JSON, else text: an answer has no declared type.
fn loose(text: &str) -> Json {
    let limits = jig_proto::json::JsonLimits::SHORT;
    jig_proto::json::value(text.as_bytes(), &limits)
        .unwrap_or_else(|_| Json::String(text.to_owned()))
}

/// Shows a result; code in colour if it is that of `file`.
fn shown(content: &Content, file: Option<&str>, out: &mut CliOutput) -> anyhow::Result<()> {
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
    let text = visible_lines(&text);
    out.text(&match file {
        Some(file) => highlight::coloured(file, &text),
        None => diff::coloured(&text),
    })
}

fn failed(error: &ToolError, out: &mut CliOutput) -> anyhow::Result<()> {
    if out.is_json() {
        return out.json(&json!({ "error": error, "isError": true }));
    }
    report::failure(error, out)
}

/// As much as a message of a tool may hold.
const MAX_STDIN: usize = 16 * 1024 * 1024;

#[cfg(test)]
mod tests;
