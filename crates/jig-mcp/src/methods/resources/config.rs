//! The configuration in force, as text.

use jig_config::Config;
use jig_proto::{ToolAction, visible_words};

use crate::client::servers::ServerState;
use crate::configuration::reload::ReloadState;
use crate::shared::{ServedConfig, SharedServer};

/// What is in force, and what is not yet: files, tools and whether somebody is asked before they run. Never the values of options.
pub(super) fn shown(shared: &SharedServer) -> String {
    let served = shared.current();
    let workspace = shared.loader.workspace();
    let mut text = format!("workspace: {workspace}\n");
    text.push_str("\nFiles of the configuration, the later ones win:\n");
    for file in &served.config.files {
        // Where a person keeps files elsewhere is not a model's business.
        let name = match file.path.strip_prefix(&workspace) {
            Ok(inside) => inside.as_str(),
            Err(_) => "outside the workspace",
        };
        let found = if file.found { "" } else { ", not there" };
        text.push_str(&format!("  {name} ({}{found})\n", file.layer.name()));
    }
    text.push_str("\nTools:\n");
    tools(&mut text, &served.config);
    for problem in &served.catalogue().problems {
        text.push_str(&format!("  left out: {problem}\n"));
    }
    text.push_str(&servers(shared, &served));
    text.push_str(&not_in_force(&shared.reload.state()));
    text
}

/// The MCP servers behind this one: which run, which wait for a person, which failed and why.
fn servers(shared: &SharedServer, served: &ServedConfig) -> String {
    let Some(servers) = shared.servers.as_ref() else {
        return String::new();
    };
    let asked = shared.asked();
    let problems = match &served.gathered {
        Some(gathered) => gathered.problems().clone(),
        None => Vec::new(),
    };
    let mut text = String::new();
    for status in servers.status() {
        let name = &status.name;
        let accept = match asked.get(name) {
            Some(question) => format!("`jig approve {question}` or `jig servers accept {name}`"),
            None => format!("`jig servers accept {name}`"),
        };
        let mut how = match &status.state {
            ServerState::Off => "off".to_owned(),
            ServerState::Idle => "starts with the next call".to_owned(),
            ServerState::Starting => "starting".to_owned(),
            ServerState::Running => "running".to_owned(),
            ServerState::Failed { why, .. } => format!("failed: {why}"),
            ServerState::Waits => format!("not started before a person accepts it: {accept}"),
        };
        if let Some(tools) = status.tools {
            how.push_str(&format!(", {tools} tools"));
        }
        if status.held > 0 && status.state != ServerState::Waits {
            let held = status.held;
            how.push_str(&format!(
                ", {held} of them new or changed and not accepted yet: {accept}"
            ));
        }
        let problem = problems.iter().find(|(server, _)| server == name);
        if let (Some((_, why)), false) =
            (problem, matches!(status.state, ServerState::Failed { .. }))
        {
            how.push_str(&format!("; its tools are not known: {why}"));
        }
        text.push_str(&format!("  {name}: {}\n", visible_words(&how)));
    }
    match text.is_empty() {
        true => text,
        false => format!("\nMCP servers whose tools are served here:\n{text}"),
    }
}

/// What stands in the files and is not in force.
fn not_in_force(state: &ReloadState) -> String {
    let ReloadState { held, broken } = state;
    let mut text = String::new();
    if let Some((question, changes)) = held {
        text.push_str(&format!(
            "\nThe files have changed in a way that allows more. That is not in force before a person accepts it, \
             with `jig approve {question}`:\n"
        ));
        for change in changes {
            text.push_str(&format!("  {change}\n"));
        }
    }
    if let Some(why) = broken {
        text.push_str("\nThe files have changed and do not load; what was in force stays so:\n");
        // What is wrong and where, without the lines themselves: they may hold what a model is not to know.
        let is_safe = |line: &&str| {
            let line = line.trim_start();
            line.starts_with("error") || line.starts_with("-->")
        };
        for line in why.lines().filter(is_safe) {
            text.push_str(&format!("  {}\n", line.trim_end()));
        }
    }
    text
}

fn tools(text: &mut String, config: &Config) {
    for tool in config.tools.values() {
        let how = match (tool.enable.on, jig_engine::not_offered(config, tool)) {
            (false, _) => "off",
            // Whoever declared one of a server wants to know why it is not there.
            (true, Some(why)) if tool.on_server().is_some() => why,
            (true, Some(_)) => "off",
            (true, None) => tool.run.of(ToolAction::Spawn).name(),
        };
        text.push_str(&format!(
            "  {}: {how} ({})\n",
            tool.name,
            tool.declared_at()
        ));
    }
}

#[cfg(test)]
mod tests;
