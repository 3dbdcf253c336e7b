//! `jig mcp --check`: starts the server as an agent's client does, talks to it, and reports what an agent sees.

use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use jig_config::Tool;
use jig_engine::not_offered;
use jig_mcp::{AgentTool, AgentView, Era, ServerSelection};
use jig_project::{CommandEnvironment, Project, servers::WorkspaceServers};
use jig_proto::{ToolAction, visible_line, visible_lines};
use serde_json::{Map, json};

use crate::args::GlobalArgs;
use crate::exit::Done;
use crate::output::{BOLD, CliOutput, DIM, GREEN, RED, YELLOW, field, table};

pub(super) fn run(global: &GlobalArgs, out: &mut CliOutput) -> anyhow::Result<Done> {
    let mut project = Project::load(&global.selection())?;
    let env = CommandEnvironment::of_this_process();
    // An agent would not wait for servers that take long: they are asked before.
    let of_servers = of_servers(&mut project, &env)?;
    let older = seen(&project, global, Era::Handshake)?;
    let newer = seen(&project, global, Era::Stateless)?;
    let mut findings = findings(&project, &older, &newer);
    findings.extend(of_servers);
    if out.is_json() {
        out.json(&report(&project, &older, &newer, &findings))?;
    } else {
        out.text(&text(&project, &older, &newer, &findings))?;
    }
    match findings.iter().any(|finding| finding.matters) {
        true => Ok(Done::Bad),
        false => Ok(Done::Ok),
    }
}

/// Something that an agent would stumble over.
struct CheckFinding {
    text: String,
    /// Whether something is wrong, and not just to be known.
    matters: bool,
}

/// Has the project have the tools of its MCP servers; says which of these there is something to say of.
fn of_servers(
    project: &mut Project,
    env: &CommandEnvironment,
) -> anyhow::Result<Vec<CheckFinding>> {
    let mut findings = Vec::new();
    if project.config().servers.is_empty() {
        return Ok(findings);
    }
    let connections = WorkspaceServers::of(project, env)?;
    let offered = connections.offered(ServerSelection::MissingAwaited);
    for name in &offered.waiting {
        let text = format!(
            "the MCP server `{name}` is not started before a person accepts it: `jig servers accept {name}`"
        );
        let matters = false;
        findings.push(CheckFinding { text, matters });
    }
    for server in project.config().servers.values() {
        let told = connections.servers().told(server);
        if server.enable && told.accepted && told.listed_at.is_none() {
            let name = &server.name;
            let text = format!(
                "the MCP server `{name}` could not be asked for its tools: `jig servers refresh {name}` says more"
            );
            let matters = true;
            findings.push(CheckFinding { text, matters });
        }
    }
    connections.give(project, &offered);
    Ok(findings)
}

/// Starts a server, and asks it for all that it has.
fn seen(project: &Project, global: &GlobalArgs, era: Era) -> anyhow::Result<AgentView> {
    let (ours, theirs) = UnixStream::pair().context("cannot make a socket")?;
    let mut server = ServerChild(started(project, global, theirs)?);
    // All files would be a line in the log for each folder.
    let arguments = Map::from_iter([("limit".to_owned(), 1.into())]);
    let seen = jig_mcp::check(ours, era, HARMLESS, arguments);
    // Its side of the socket is closed: it ends by itself.
    let ended = server.end();
    let seen = seen?;
    match ended {
        Some(status) if status.success() => Ok(seen),
        Some(status) => Err(anyhow!("the server ended with {status}")),
        None => Err(anyhow!("the server did not end when its client had gone")),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "it starts itself, as an agent's client would"
)]
fn started(project: &Project, global: &GlobalArgs, stream: UnixStream) -> anyhow::Result<Child> {
    let program = std::env::current_exe().context("cannot tell where jig is")?;
    let input = OwnedFd::from(stream);
    let output = input.try_clone().context("cannot share a socket")?;
    let mut command = Command::new(program);
    command.arg("mcp").arg("-C").arg(project.root.as_str());
    for file in &global.config {
        command.arg("--config").arg(file.as_str());
    }
    for set in &global.set {
        command.arg("--set").arg(set);
    }
    command
        .stdin(Stdio::from(input))
        .stdout(Stdio::from(output));
    command.spawn().context("cannot start `jig mcp`")
}

/// A server that was started. It does not outlive us.
struct ServerChild(Child);

impl ServerChild {
    /// Waits for its end.
    fn end(&mut self) -> Option<std::process::ExitStatus> {
        let deadline = Instant::now() + ENDS;
        while Instant::now() < deadline {
            if let Ok(Some(status)) = self.0.try_wait() {
                return Some(status);
            }
            thread::sleep(LOOK_AGAIN);
        }
        None
    }
}

impl Drop for ServerChild {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn findings(project: &Project, older: &AgentView, newer: &AgentView) -> Vec<CheckFinding> {
    let mut findings = Vec::new();
    let mut found = |matters, text: String| findings.push(CheckFinding { text, matters });
    if older.tools != newer.tools {
        let text = "the tools differ between the versions of the protocol";
        found(true, text.to_owned());
    }
    if newer.tools.is_empty() {
        let text = "there is no tool: `jig tools` shows which are switched off";
        found(true, text.to_owned());
    }
    for tool in &newer.tools {
        let name = &tool.name;
        if tool
            .description
            .as_deref()
            .is_none_or(|text| text.trim().is_empty())
        {
            let declared = project.config().tools.keys();
            let mut declared = declared.filter(|declared| declared.as_str() == name);
            let remedy = declared.next().map_or_else(String::new, |name| {
                format!("; add `description = \"…\"` to `[tools.{name}]`")
            });
            found(
                true,
                format!(
                    "`{name}` has no description: an agent does not know what it is for{remedy}"
                ),
            );
        }
        if !tool.takes_object {
            found(true, format!("the arguments of `{name}` are not an object"));
        }
        if name.len() > LONGEST_NAME {
            found(
                true,
                format!(
                    "`{name}` is longer than the {LONGEST_NAME} characters that providers allow"
                ),
            );
        }
    }
    let is_served = |tool: &Tool| newer.tools.iter().any(|seen| belongs(seen, tool));
    let declared = project.config().tools.values();
    let is_offered = |tool: &Tool| not_offered(project.config(), tool).is_none();
    for tool in declared.filter(|tool| tool.enable.on && is_offered(tool) && !is_served(tool)) {
        let name = &tool.name;
        let text = format!("`{name}` is switched on, but not served: `jig tools {name}` says more");
        found(true, text);
    }
    for seen in [older, newer] {
        if let Some(error) = seen.call.as_ref().and_then(|call| call.error.as_deref()) {
            let first = error.lines().next().unwrap_or_default();
            let text = format!("a call of `{HARMLESS}` failed: {}", visible_lines(first));
            found(true, text);
            break;
        }
    }
    if newer.tools.len() > MANY {
        let text = format!(
            "{} tools are many: agents choose worse among more than {MANY}, and each costs tokens",
            newer.tools.len()
        );
        found(false, text);
    }
    findings
}

/// Whether what was seen is this tool, or one of its actions.
fn belongs(seen: &AgentTool, tool: &Tool) -> bool {
    let rest = seen.name.strip_prefix(tool.name.as_str());
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
}

/// When a tool runs without asking, in a word.
fn runs(project: &Project, seen: &AgentTool) -> String {
    let tools = project.config().tools.values();
    let tool = tools
        .filter(|tool| belongs(seen, tool))
        .max_by_key(|tool| tool.name.as_str().len());
    tool.map_or_else(String::new, |tool| {
        tool.run.of(ToolAction::Spawn).name().to_owned()
    })
}

fn can(tool: &AgentTool) -> String {
    let words = [
        (tool.read_only, "reads"),
        (!tool.read_only && !tool.destructive, "adds"),
        (tool.destructive, "changes"),
        (tool.open_world, "reaches outside"),
    ];
    let words = words.iter().filter(|(is, _)| *is).map(|(_, word)| *word);
    words.collect::<Vec<_>>().join(", ")
}

fn text(
    project: &Project,
    older: &AgentView,
    newer: &AgentView,
    findings: &[CheckFinding],
) -> String {
    let mut text = format!("{BOLD}{}{BOLD:#}\n", visible_line(&newer.server));
    text.push_str(&field("workspace", visible_line(project.root.as_str())));
    let protocols = format!("{}, {}", newer.protocol, older.protocol);
    text.push_str(&field("protocol", visible_lines(&protocols)));
    text.push_str(&field("questions", QUESTIONS));
    if let Some(call) = &newer.call {
        let time = Duration::from_micros(call.micros);
        let how = match call.error {
            None => format!("`{}` answered in {time:.1?}", call.tool),
            Some(_) => format!("`{}` failed", call.tool),
        };
        text.push_str(&field("a call", how));
    }
    text.push('\n');
    let rows: Vec<Vec<String>> = newer
        .tools
        .iter()
        .map(|tool| {
            let description = tool.title.as_deref().or(tool.description.as_deref());
            let first = description.and_then(|text| text.lines().next());
            vec![
                visible_line(&tool.name),
                runs(project, tool),
                can(tool),
                shortened(&visible_lines(first.unwrap_or_default())),
            ]
        })
        .collect();
    text.push_str(&table(&["TOOL", "RUNS", "CAN", "WHAT"], &rows));
    let lists = [
        ("resources", &newer.resources),
        ("templates", &newer.templates),
        ("prompts", &newer.prompts),
    ];
    text.push('\n');
    for (label, list) in lists.iter().filter(|(_, list)| !list.is_empty()) {
        text.push_str(&field(label, shortened(&visible_lines(&list.join(" ")))));
    }
    text.push('\n');
    for finding in findings {
        let style = match finding.matters {
            true => RED,
            false => YELLOW,
        };
        text.push_str(&format!(
            "{style}!{style:#} {}\n",
            visible_lines(&finding.text)
        ));
    }
    if findings.is_empty() {
        text.push_str(&format!(
            "{GREEN}✓{GREEN:#} no problems found; {DIM}`jig setup` connects an agent{DIM:#}\n"
        ));
    }
    text
}

/// Not more than a line shows.
fn shortened(text: &str) -> String {
    if text.chars().count() <= WIDTH {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(WIDTH - 1).collect();
    short.push('…');
    short
}

fn report(
    project: &Project,
    older: &AgentView,
    newer: &AgentView,
    findings: &[CheckFinding],
) -> serde_json::Value {
    let tools = newer.tools.iter().map(|tool| {
        let mut value = json!(tool);
        value["run"] = json!(runs(project, tool));
        value
    });
    let findings = findings
        .iter()
        .map(|finding| json!({ "text": finding.text, "matters": finding.matters }));
    json!({
        "server": newer.server,
        "workspace": project.root,
        "protocols": [newer.protocol, older.protocol],
        "tools": tools.collect::<Vec<_>>(),
        "resources": newer.resources,
        "templates": newer.templates,
        "prompts": newer.prompts,
        "call": newer.call,
        "findings": findings.collect::<Vec<_>>(),
    })
}

/// A tool that changes nothing, and is there without any configuration.
const HARMLESS: &str = "fs_list_files";

/// How questions reach somebody.
const QUESTIONS: &str = "by the agent's client, if it can show them (elicitation); else with `jig approve`; else denied";

/// How many tools agents can still tell apart, as their makers say.
const MANY: usize = 40;

/// What all model providers allow.
const LONGEST_NAME: usize = 64;

/// How much of a text is shown.
const WIDTH: usize = 60;

/// How long a server may take to end.
const ENDS: Duration = Duration::from_secs(10);

const LOOK_AGAIN: Duration = Duration::from_millis(5);
