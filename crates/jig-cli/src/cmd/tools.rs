//! `jig tools`.

use std::collections::HashMap;

use camino::Utf8PathBuf;
use jig_config::{Layer, Parameter, RunMode, RuntimeKind, Tool};
use jig_engine::not_offered;
use jig_policy::{DiskLookup, EnvUse, Policy, Workspace};
use jig_project::shell_word;
use jig_project::{
    CommandEnvironment, Project, engines, locate,
    servers::{self, HeldTools, is_of_server, server_of},
};
use jig_proto::{SchemaForm, ToolAction, visible_line, visible_lines, visible_words};
use serde_json::{Value as Json, json};

use super::{call, policy};
use crate::args::{ActionsForm, GlobalArgs};
use crate::exit::Done;
use crate::limits;
use crate::output::{BOLD, CliOutput, DIM, field, indented, table};
use crate::prompt::Unattended;

pub(crate) fn run(
    name: Option<&str>,
    schema: Option<ActionsForm>,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    let mut project = Project::load(&global.selection())?;
    let env = CommandEnvironment::of_this_process();
    let (_ending, remarks) = match name {
        Some(name) => {
            let ending = servers::find(&mut project, name, &env, &mut Unattended)?;
            (ending, Vec::new())
        }
        None => servers::all(&mut project, &env)?,
    };
    let form = schema.map(|form| match form {
        ActionsForm::Flat => SchemaForm::Flat,
        ActionsForm::Split => SchemaForm::Split,
        ActionsForm::Oneof => SchemaForm::OneOf,
    });
    match (form, name) {
        (Some(form), name) => schemas(&project, name, form, out)?,
        (None, Some(name)) => one(&project, name, out)?,
        (None, None) => all(&project, out)?,
    }
    for remark in remarks {
        out.note(&remark);
    }
    if form.is_none() && !out.is_json() {
        let named = |tool: &str| name.is_none_or(|name| name == tool);
        tell_mistakes(&project, &env, named, out);
    }
    Ok(Done::Ok)
}

/// Says which commands will probably not do what was meant, and which files do not count.
pub(super) fn tell_mistakes(
    project: &Project,
    env: &CommandEnvironment,
    is_meant: impl Fn(&str) -> bool,
    out: &mut CliOutput,
) {
    let search_path = env.search_path().unwrap_or_default();
    let search_path = std::env::split_paths(&search_path);
    let search_path = search_path.filter_map(|folder| Utf8PathBuf::from_path_buf(folder).ok());
    let search_path: Vec<Utf8PathBuf> = search_path.filter(|folder| folder.is_absolute()).collect();
    let config = project.config();
    for tool in config
        .tools
        .values()
        .filter(|tool| is_meant(tool.name.as_str()))
    {
        for warning in config.command_warnings_of(tool, &search_path) {
            out.note(&format!(
                "jig: {}\nhint: {}",
                warning.message(),
                warning.help()
            ));
        }
    }
    if !config
        .files
        .iter()
        .any(|file| file.found && file.layer == Layer::Workspace)
    {
        for other in locate::other_files(&project.root) {
            out.note(&format!("jig: {other}"));
        }
    }
}

/// What a tool may do, in a few words, or that a rule of it cannot be used for now.
fn may(project: &Project, tool: &Tool, workspace: &Workspace<DiskLookup>) -> String {
    match project.policy(tool, workspace) {
        Ok(policy) => summary(&policy),
        Err(_) => "nothing: `jig config check` says why".to_owned(),
    }
}

fn all(project: &Project, out: &mut CliOutput) -> anyhow::Result<()> {
    let workspace = project.workspace()?;
    let mut rows = Vec::new();
    let mut objects = Vec::new();
    // All tools of a server may do the same.
    let mut of_servers: HashMap<&str, String> = HashMap::new();
    let held = HeldTools::of(project, None);
    let any_served = project.config().tools.values().any(is_of_server);
    for tool in project.config().tools.values() {
        let may = match server_of(tool) {
            None => may(project, tool, &workspace),
            Some(server) => match of_servers.get(server) {
                Some(may) => may.clone(),
                None => {
                    let may = match servers::rules(project, tool) {
                        Some(rules) => may(project, rules, &workspace),
                        None => ELSEWHERE.to_owned(),
                    };
                    of_servers.insert(server, may.clone());
                    may
                }
            },
        };
        objects.push(json!({
            "name": tool.name.as_str(),
            "source": tool.source.to_string(),
            "runtime": tool.runtime.name(),
            "enabled": tool.enable.on,
            "not_offered": not_offered(project.config(), tool),
            "run": tool.run.spawn.to_json(),
            "summary": tool.summary,
            "may": may,
            "definition": definition_json(tool, &held),
            "origin": tool.declared_at().to_string(),
        }));
        let is_there = tool.enable.on && not_offered(project.config(), tool).is_none();
        let run = match is_there && (!is_of_server(tool) || tool.definition.is_some()) {
            true if held.now(tool).is_some() => "held",
            true => tool.run.spawn.name(),
            false => "off",
        };
        let mut row = vec![
            tool.name.to_string(),
            tool.runtime.name().to_owned(),
            run.to_owned(),
            may,
        ];
        if any_served {
            row.insert(1, from(tool));
        }
        rows.push(row);
    }
    if out.is_json() {
        return out.json(&Json::Array(objects));
    }
    let mut header = vec!["TOOL", "RUNTIME", "RUN", "MAY"];
    if any_served {
        header.insert(1, "FROM");
    }
    out.text(&table(&header, &rows))
}

/// Where a tool comes from, in a word.
fn from(tool: &Tool) -> String {
    match server_of(tool) {
        Some(server) => format!("mcp.{server}"),
        None => tool.source.kind().to_owned(),
    }
}

fn definition_json(tool: &Tool, held: &HeldTools) -> Json {
    let definition = tool.definition.as_deref();
    definition.map_or(Json::Null, |definition| {
        json!({
            "name": definition.name,
            "hash": definition.hash(),
            "held": held.now(tool),
        })
    })
}

fn one(project: &Project, name: &str, out: &mut CliOutput) -> anyhow::Result<()> {
    let tool = project.tool(name)?;
    // The rules of a tool on a server are those of the server's program.
    let ruled = match is_of_server(tool) {
        true => servers::rules(project, tool),
        false => Some(tool),
    };
    let policy = match ruled {
        Some(ruled) => {
            let policy = project.policy(ruled, &project.workspace()?)?;
            Some((ruled, policy, project.config().guards(ruled, &project.root)))
        }
        None => None,
    };
    let held = HeldTools::of(project, server_of(tool));
    // What a component says about itself. One that cannot say it is shown as it was declared, with the reason.
    let engine = engines::without_log(project, &CommandEnvironment::of_this_process())?;
    let described = engine.described(tool);
    if let Err(error) = &described {
        out.note(&format!("jig: {error}"));
    }
    let tool = described.as_deref().unwrap_or(tool);
    if out.is_json() {
        return out.json(&json!({
            "name": tool.name.as_str(),
            "source": tool.source.to_string(),
            "runtime": tool.runtime.name(),
            "enabled": tool.enable.on,
            "not_offered": not_offered(project.config(), tool),
            "run": tool.run.spawn.to_json(),
            "result": tool.result.name(),
            "format": tool.format.name(),
            "title": tool.title,
            "summary": tool.summary,
            "description": tool.description,
            "input_schema": tool.input_schema(),
            "output_schema": tool.output,
            "stateful": stateful_json(tool),
            "options": tool.options,
            "origin": tool.declared_at().to_string(),
            "definition": definition_json(tool, &held),
            "policy": policy.as_ref().map(|(tool, policy, guards)| policy::shown_json(tool, policy, guards)),
            "sandbox": sandbox_json(tool),
            "repeatable": tool.repeatable,
            "overlay": tool.overlay.map(|mode| mode.name()),
        }));
    }
    let mut text = format!("{BOLD}{}{BOLD:#}", tool.name);
    if let Some(summary) = &tool.summary {
        text.push_str(&format!("  {}", visible_words(summary)));
    }
    text.push('\n');
    if let Some(title) = &tool.title {
        text.push_str(&field("title", visible_line(title)));
    }
    // A server chooses the names and the words of its tools: they must not steer the terminal.
    text.push_str(&field("source", visible_line(&tool.source.to_string())));
    text.push_str(&field("runtime", tool.runtime.name()));
    if let Some(command) = &tool.command {
        text.push_str(&field("command", command_line(command)));
    }
    if let Some(wasm) = &tool.wasm {
        text.push_str(&field("wasm", wasm));
    }
    if let Some(definition) = &tool.definition {
        text.push_str(&field("hash", definition.hash()));
    }
    if let (Some(now), Some(server)) = (held.now(tool), server_of(tool)) {
        let how = format!("its server says something else now: `jig servers accept {server}`");
        text.push_str(&field("held", how));
        text.push_str(&field("", now));
    }
    let not_offered = not_offered(project.config(), tool);
    let enabled = match (tool.enable.on, not_offered) {
        (false, _) => "no".to_owned(),
        _ if is_of_server(tool) && tool.definition.is_none() => {
            "not offered: its server does not have it".to_owned()
        }
        (true, None) => "yes".to_owned(),
        (true, Some(why)) => format!("not offered: {why}"),
    };
    text.push_str(&field("enabled", enabled));
    text.push_str(&field("run", run_modes(tool)));
    text.push_str(&stateful(tool));
    text.push_str(&field("result", tool.result.name()));
    if let Some(output) = &tool.output {
        text.push_str(&field("output", visible_lines(&returned(output))));
    }
    if let Some(overlay) = tool.overlay {
        text.push_str(&field("overlay", overlay));
    }
    if tool.repeatable {
        text.push_str(&field("repeatable", "yes"));
    }
    text.push_str(&field("declared", tool.declared_at()));
    if is_program(tool) {
        text.push_str(&sandbox(tool));
    }
    if let Some(description) = &tool.description {
        text.push_str(&format!("\n{}\n", visible_lines(description.trim_end())));
    }
    text.push_str(&parameters(tool));
    match &policy {
        Some((tool, policy, guards)) => {
            text.push_str(match tool.is_server() {
                true => "\nWhat its server may do:\n",
                false => "\nWhat it may do:\n",
            });
            text.push_str(&indented(&policy::shown(tool, policy, guards), 2));
        }
        None => text.push_str(&format!(
            "\nIts server {ELSEWHERE}: no rule of this machine holds it.\n"
        )),
    }
    out.text(&text)
}

/// Whether somebody is asked before it runs; for other actions only where that is not as usual.
fn run_modes(tool: &Tool) -> String {
    let mut text = tool.run.spawn.to_string();
    for action in tool.actions.iter().filter(|one| *one != ToolAction::Spawn) {
        let rules = tool.run.of(action);
        if !rules.is_always(RunMode::Unattended) {
            text.push_str(&format!(", {action}: {rules}"));
        }
    }
    text
}

/// The names that an object which the tool returns has; those that it may lack with a question mark.
fn returned(schema: &Json) -> String {
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let names = schema["properties"].as_object().into_iter().flatten();
    let names: Vec<String> = names
        .map(|(name, _)| match is_required(name) {
            true => name.clone(),
            false => format!("{name}?"),
        })
        .collect();
    match names.is_empty() {
        true => "an object of JSON".to_owned(),
        false => format!("an object of JSON: {}", names.join(", ")),
    }
}

/// What can be done with it between calls.
fn stateful(tool: &Tool) -> String {
    let mut text = String::new();
    if !tool.actions.is_one_shot() {
        text.push_str(&field("actions", tool.actions));
        let notices = [
            ("stopped", tool.notices.stopped),
            ("waiting", tool.notices.waiting),
        ];
        let told: Vec<&str> = notices
            .iter()
            .filter(|one| one.1)
            .map(|one| one.0)
            .collect();
        let told = match told.is_empty() {
            true => "none".to_owned(),
            false => told.join(", "),
        };
        text.push_str(&field("notices", told));
    }
    if let Some((rows, cols)) = tool.terminal {
        text.push_str(&field("terminal", format!("{rows} rows, {cols} columns")));
    }
    text
}

fn stateful_json(tool: &Tool) -> Json {
    let actions: Vec<&str> = tool.actions.iter().map(ToolAction::name).collect();
    let modes = tool.actions.iter().map(|action| {
        let mode = tool.run.of(action).to_json();
        (action.name().to_owned(), mode)
    });
    let terminal = tool.terminal;
    json!({
        "actions": actions,
        "run": modes.collect::<serde_json::Map<_, _>>(),
        "notices": { "stopped": tool.notices.stopped, "waiting": tool.notices.waiting },
        "terminal": terminal.map(|(rows, cols)| json!({ "rows": rows, "cols": cols })),
    })
}

/// What a model provider is given: of one tool, or of all.
fn schemas(
    project: &Project,
    name: Option<&str>,
    form: SchemaForm,
    out: &mut CliOutput,
) -> anyhow::Result<()> {
    let engine = engines::without_log(project, &CommandEnvironment::of_this_process())?;
    let published = match name {
        Some(name) => engine.published_tool(project.tool(name)?, form)?,
        None => engine.published(form)?,
    };
    let published = published.into_iter().map(|one| {
        json!({
            "name": one.name,
            "description": one.description,
            "parameters": one.parameters,
        })
    });
    // It is for programs in any case.
    out.json(&Json::Array(published.collect()))
}

/// Whether it is a process that the operating system confines.
fn is_program(tool: &Tool) -> bool {
    matches!(tool.runtime, RuntimeKind::Stdio | RuntimeKind::Vfs)
}

fn sandbox(tool: &Tool) -> String {
    let sandbox = &tool.sandbox;
    let mut text = field("enforce", sandbox.enforce);
    if !sandbox.presets.is_empty() {
        let names: Vec<&str> = sandbox.presets.iter().map(|one| one.name()).collect();
        text.push_str(&field("presets", names.join(" ")));
    }
    for path in &sandbox.system {
        let change = if path.write { ", may be changed" } else { "" };
        text.push_str(&field("system", format!("{}{change}", path.path)));
    }
    for (name, on) in [("proxy", sandbox.proxy), ("observe", sandbox.observe)] {
        if on {
            text.push_str(&field(name, "yes"));
        }
    }
    text.push_str(&field("limits", limits::listed(&sandbox.limits)));
    text
}

fn sandbox_json(tool: &Tool) -> Json {
    if !is_program(tool) {
        return Json::Null;
    }
    let sandbox = &tool.sandbox;
    let presets: Vec<&str> = sandbox.presets.iter().map(|one| one.name()).collect();
    let system = sandbox
        .system
        .iter()
        .map(|path| json!({ "path": path.path, "write": path.write, "execute": path.execute }));
    json!({
        "enforce": sandbox.enforce.name(),
        "presets": presets,
        "system": system.collect::<Vec<Json>>(),
        "limits": limits::json(&sandbox.limits),
        "proxy": sandbox.proxy,
        "observe": sandbox.observe,
    })
}

fn parameters(tool: &Tool) -> String {
    let mut rows = match &tool.definition {
        Some(definition) => described_parameters(&definition.input),
        None => Vec::new(),
    };
    let declared = tool.parameters.iter().map(|(name, parameter)| {
        let needed = if parameter.required { "required" } else { "" };
        vec![
            name.clone(),
            types(parameter),
            needed.to_owned(),
            about(parameter),
        ]
    });
    rows.extend(declared);
    if rows.is_empty() {
        return String::new();
    }
    let table = table(&["PARAMETER", "TYPE", "", "ABOUT"], &rows);
    format!("\n{table}")
}

/// The parameters that a server tells of, as far as a table can show them.
fn described_parameters(schema: &Json) -> Vec<Vec<String>> {
    let required = schema["required"].as_array();
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let properties = schema["properties"].as_object().into_iter().flatten();
    let row = |(name, schema): (&String, &Json)| {
        let types = call::types_of(schema);
        let about = schema["description"].as_str().unwrap_or_default();
        let about = about.lines().next().unwrap_or_default();
        let needed = if is_required(name) { "required" } else { "" };
        vec![
            visible_line(name),
            match types.is_empty() {
                true => "any".to_owned(),
                false => visible_line(&types.join(" or ")),
            },
            needed.to_owned(),
            visible_line(about),
        ]
    };
    properties.map(row).collect()
}

fn types(parameter: &Parameter) -> String {
    let names: Vec<&str> = parameter.types.iter().map(|one| one.name()).collect();
    match names.as_slice() {
        [] => "any".to_owned(),
        names => names.join(" or "),
    }
}

fn about(parameter: &Parameter) -> String {
    let about = parameter
        .summary
        .as_ref()
        .or(parameter.description.as_ref());
    let mut text = about.cloned().unwrap_or_default();
    if let Some(default) = &parameter.default {
        text.push_str(&format!(" {DIM}[default: {default}]{DIM:#}"));
    }
    text
}

/// What a policy allows, in a few words.
fn summary(policy: &Policy) -> String {
    let mut parts = Vec::new();
    let granting = policy
        .fs_rules()
        .iter()
        .filter(|rule| !rule.capabilities().is_empty());
    let files: Vec<String> = granting
        .map(|rule| format!("{} {}", rule.capabilities(), rule.path()))
        .collect();
    parts.push(match files.as_slice() {
        [] => "no files".to_owned(),
        files => few(files),
    });
    let hosts: Vec<String> = policy
        .net_rules()
        .iter()
        .filter(|rule| rule.allow())
        .map(|rule| rule.host().to_owned())
        .collect();
    if !hosts.is_empty() {
        parts.push(format!("reach {}", few(&hosts)));
    }
    let variables: Vec<String> = policy
        .env_rules()
        .iter()
        .filter(|rule| rule.grants(EnvUse::Header))
        .map(|rule| format!("${}", rule.declared().name))
        .collect();
    if !variables.is_empty() {
        parts.push(few(&variables));
    }
    if policy.any_command() {
        parts.push("run any program".to_owned());
    }
    let programs: Vec<String> = policy
        .command_rules()
        .unwrap_or_default()
        .iter()
        .map(|rule| rule.declared().program.clone())
        .collect();
    if !programs.is_empty() {
        parts.push(format!("run {}", few(&programs)));
    }
    parts.join("; ")
}

/// The first three, and how many more.
fn few(items: &[String]) -> String {
    let mut text = items.iter().take(3).cloned().collect::<Vec<_>>().join(", ");
    if let Some(more) = items.len().checked_sub(3).filter(|more| *more > 0) {
        text.push_str(&format!(", {more} more"));
    }
    text
}

/// The command as one line; words with spaces in quotes, and templates as they are written.
fn command_line(command: &jig_config::Command) -> String {
    let words = std::iter::once(&command.program).chain(&command.args);
    let words: Vec<String> = words
        .map(|word| match word.contains("{{") {
            true if word.contains(char::is_whitespace) => format!("'{word}'"),
            true => word.clone(),
            false => shell_word(word),
        })
        .collect();
    words.join(" ")
}

/// What is to be said of the rules of a server that is no program here.
const ELSEWHERE: &str = "runs elsewhere";
