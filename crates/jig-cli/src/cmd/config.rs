//! `jig config`.

use jig_project::{Project, locate};
use serde_json::{Value as Json, json};

use crate::args::{ConfigCommand, GlobalArgs};
use crate::exit::Done;
use crate::output::{CliOutput, GREEN, YELLOW};

pub(crate) fn run(
    command: &ConfigCommand,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    match command {
        ConfigCommand::Check { deny_warnings } => check(*deny_warnings, global, out),
        ConfigCommand::Show { origin, tool } => show(*origin, tool.as_deref(), global, out),
        ConfigCommand::Schema => {
            out.json(&jig_config::json_schema())?;
            Ok(Done::Ok)
        }
    }
}

fn check(deny_warnings: bool, global: &GlobalArgs, out: &mut CliOutput) -> anyhow::Result<Done> {
    let project = Project::load_and_lint(&global.selection())?;
    let warnings = &project.loaded.warnings;
    // What a tool cannot be called with for now, for what stands in the workspace.
    let has_errors = warnings
        .iter()
        .any(|problem| problem.severity() == jig_config::Severity::Error);
    let config = project.config();
    let files = project.files();
    let others = locate::other_files(&project.root);
    if out.is_json() {
        let problems: Vec<Json> = warnings.iter().map(jig_config::Problem::to_json).collect();
        out.json(&json!({
            "valid": !has_errors,
            "workspace": project.root,
            "files": files.iter().map(|(file, _)| file).collect::<Vec<_>>(),
            "other_files": others,
            "tools": config.tools.len(),
            "servers": config.servers.len(),
            "problems": problems,
        }))?;
    } else {
        out.warnings(warnings);
        let own = files.iter().filter(|(_, is_extended)| !is_extended);
        let own: Vec<&str> = own.map(|(file, _)| file.as_str()).collect();
        let extended = match files.len() - own.len() {
            0 => String::new(),
            1 => " and 1 file that is extended".to_owned(),
            more => format!(" and {more} files that are extended"),
        };
        let files = match own.as_slice() {
            [] => format!("no configuration file in `{}`", project.root),
            own => format!("{}{extended}", own.join(", ")),
        };
        for other in others {
            out.note(&format!("jig: {other}"));
        }
        let tools = config.tools.len();
        // Their tools are those that they tell, which nobody asks for here.
        let servers = match config.servers.len() {
            0 => String::new(),
            1 => ", 1 MCP server".to_owned(),
            servers => format!(", {servers} MCP servers"),
        };
        let valid = match has_errors {
            true => format!("{YELLOW}not valid{YELLOW:#}"),
            false => format!("{GREEN}valid{GREEN:#}"),
        };
        let mut text = format!("{valid}: {files}; {tools} tools{servers}\n");
        if !warnings.is_empty() {
            text = format!(
                "{text}{YELLOW}{} to look at{YELLOW:#}\n",
                counted(warnings.len())
            );
        }
        out.text(&text)?;
    }
    let bad = has_errors || (deny_warnings && !warnings.is_empty());
    Ok(if bad { Done::BadConfig } else { Done::Ok })
}

fn counted(warnings: usize) -> String {
    match warnings {
        1 => "1 warning".to_owned(),
        more => format!("{more} warnings"),
    }
}

fn show(
    origin: bool,
    tool: Option<&str>,
    global: &GlobalArgs,
    out: &mut CliOutput,
) -> anyhow::Result<Done> {
    let mut project = Project::load(&global.selection())?;
    if let Some(name) = tool {
        let name = project.tool(name)?.name.clone();
        project
            .loaded
            .config
            .tools
            .retain(|other, _| *other == name);
    }
    if out.is_json() {
        out.json(&jig_config::show_json(project.config(), origin))?;
    } else {
        out.text(&jig_config::show(project.config(), origin))?;
    }
    Ok(Done::Ok)
}
