//! `jig policy`.

use jig_config::{RuntimeKind, Tool};
use jig_policy::{
    CompiledFsRule, CompiledNetRule, Connection, Guards, Policy, ProtectionLevel, Reason,
    SpokenProtocol, Verdict,
};
use jig_project::{CommandEnvironment, Project, servers};
use serde_json::{Value as Json, json};

use super::explain;
use crate::args::{GlobalArgs, PolicyCommand};
use crate::exit::Done;
use crate::output::{BOLD, CliOutput, DIM, indented, table};

pub(crate) fn run(
    command: &PolicyCommand,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    let (PolicyCommand::Show { tool } | PolicyCommand::Explain { tool, .. }) = command;
    let mut project = Project::load_to_answer(&global.selection(), tool)?;
    servers::know(&mut project, tool, &CommandEnvironment::of_this_process())?;
    let workspace = project.workspace()?;
    match command {
        PolicyCommand::Show { tool } => {
            let tool = servers::ruled(&project, tool)?;
            let policy = project.policy(tool, &workspace)?;
            let guards = project.config().guards(tool, &project.root);
            if out.is_json() {
                out.json(&shown_json(tool, &policy, &guards))?;
            } else {
                out.text(&shown(tool, &policy, &guards))?;
            }
            Ok(Done::Ok)
        }
        PolicyCommand::Explain {
            tool,
            exit_code,
            question,
        } => {
            let tool = servers::ruled(&project, tool)?;
            let policy = project.policy(tool, &workspace)?;
            let answer = explain::answer(tool, &policy, &workspace, question)?;
            if out.is_json() {
                out.json(&answer.json())?;
            } else {
                out.text(&answer.text())?;
            }
            let refused = *exit_code && answer.verdict != Verdict::Allow;
            Ok(if refused { Done::Refused } else { Done::Ok })
        }
    }
}

/// All rules of a tool, defaults included, with their origins.
pub(crate) fn shown(tool: &Tool, policy: &Policy, guards: &Guards) -> String {
    let mut text = format!(
        "{BOLD}{}{BOLD:#} {DIM}({} runtime){DIM:#}\n\n",
        tool.name,
        tool.runtime.name()
    );
    text.push_str("Files, relative to the workspace; the deepest rule decides:\n");
    text.push_str(&indented(&fs_table(policy), 2));
    text.push_str("\nNetwork:\n");
    text.push_str(&lines(policy.net_rules(), "nothing", |rule| {
        let hidden = match is_hidden(tool, policy, rule) {
            true => ", in plain HTTP only: under TLS paths and methods cannot be seen",
            false => "",
        };
        (format!("{rule}{hidden}"), rule.origin().to_string())
    }));
    text.push_str("\nVariables of the host's environment:\n");
    text.push_str(&lines(policy.env_rules(), "none", |rule| {
        (rule.to_string(), rule.origin().to_string())
    }));
    text.push_str("\nPrograms:\n");
    let none = if policy.any_command() {
        "any (default of the runtime)"
    } else {
        "none"
    };
    text.push_str(&lines(
        policy.command_rules().unwrap_or_default(),
        none,
        |rule| (rule.to_string(), rule.origin().to_string()),
    ));
    text.push_str("\nWhatever the rules say:\n");
    for guard in guards.groups() {
        let how = match guard.level {
            ProtectionLevel::Never => "never changed",
            ProtectionLevel::Named => "changed only by a rule that names it",
        };
        text.push_str(&format!(
            "  {}: {how} {DIM}({}){DIM:#}\n",
            guard.paths, guard.what
        ));
    }
    let sensitive: Vec<&str> = guards.sensitive.patterns().collect();
    text.push_str(&format!(
        "  sensitive, covered only by a rule that names them: {DIM}{}{DIM:#}\n",
        sensitive.join(" ")
    ));
    text
}

/// Whether the rule is on a path that a program's connections hide, so that they are refused.
fn is_hidden(tool: &Tool, policy: &Policy, rule: &CompiledNetRule) -> bool {
    let refused = |port: u16| {
        let tls = Connection {
            host: &rule.example_host(),
            port,
            speaks: SpokenProtocol::Tls,
        };
        matches!(policy.decide_connection(&tls).reason, Reason::PathUnderTls)
    };
    tool.runtime == RuntimeKind::Stdio && rule.looks_at_requests() && rule.ports().any(refused)
}

fn fs_table(policy: &Policy) -> String {
    let rows: Vec<Vec<String>> = policy
        .fs_rules()
        .iter()
        .map(|rule| {
            vec![
                fs_path(rule),
                rule.capabilities().to_string(),
                rule.origin().to_string(),
            ]
        })
        .collect();
    table(&["PATH", "GRANTS", "ORIGIN"], &rows)
}

/// The path, with what it leads to where that is another one.
fn fs_path(rule: &CompiledFsRule) -> String {
    let canonical = rule.path().to_string();
    match rule
        .written()
        .trim_start_matches("./")
        .trim_end_matches('/')
    {
        written if written == canonical || written.is_empty() => canonical,
        written => format!("{written} -> {canonical}"),
    }
}

fn lines<R>(rules: &[R], none: &str, line: impl Fn(&R) -> (String, String)) -> String {
    if rules.is_empty() {
        return format!("  {none}\n");
    }
    let lines = rules.iter().map(|rule| {
        let (text, origin) = line(rule);
        format!("  {text} {DIM}({origin}){DIM:#}\n")
    });
    lines.collect()
}

/// The same for programs.
pub(crate) fn shown_json(tool: &Tool, policy: &Policy, guards: &Guards) -> Json {
    let fs: Vec<Json> = policy
        .fs_rules()
        .iter()
        .map(|rule| {
            let granted: Vec<&str> = rule.capabilities().iter().map(|one| one.name()).collect();
            json!({
                "path": rule.written(),
                "canonical": rule.path().to_string(),
                "grants": granted,
                "origin": rule.origin().to_string(),
                "default": rule.is_default(),
            })
        })
        .collect();
    let net: Vec<Json> = policy
        .net_rules()
        .iter()
        .map(|rule| {
            json!({
                "host": rule.host(),
                "scheme": rule.declared().scheme,
                "port": rule.declared().port,
                "path_prefix": rule.declared().path_prefix,
                "methods": rule.declared().methods,
                "allow": rule.allow(),
                "hidden_under_tls": is_hidden(tool, policy, rule),
                "origin": rule.origin().to_string(),
            })
        })
        .collect();
    let env: Vec<Json> = policy
        .env_rules()
        .iter()
        .map(|rule| {
            json!({
                "name": rule.declared().name,
                "read": rule.declared().read,
                "header": rule.declared().header,
                "origin": rule.origin().to_string(),
            })
        })
        .collect();
    let commands = policy.command_rules().map(|rules| {
        let rules = rules.iter().map(|rule| {
            json!({
                "program": rule.declared().program,
                "args": rule.declared().args,
                "envs": rule.envs(),
                "origin": rule.origin().to_string(),
            })
        });
        rules.collect::<Vec<Json>>()
    });
    let protected: Vec<Json> = guards
        .groups()
        .into_iter()
        .flat_map(|guard| {
            let never = guard.level == ProtectionLevel::Never;
            let paths: Vec<String> = guard.paths.split(' ').map(str::to_owned).collect();
            let line = move |path| json!({ "path": path, "never": never, "what": guard.what });
            paths.into_iter().map(line)
        })
        .collect();
    json!({
        "tool": tool.name.as_str(),
        "runtime": tool.runtime.name(),
        "fs": fs,
        "net": net,
        "env": env,
        "commands": commands,
        "any_command": policy.any_command(),
        "on_uncovered": tool.on_uncovered.name(),
        "protected": protected,
        "sensitive": guards.sensitive.patterns().collect::<Vec<_>>(),
    })
}
