//! Rules that work, but probably not as they were meant.
//!
//! Every warning goes away when its help is followed; a note is there to be known. Nothing here
//! changes what is loaded.

mod commands;
mod enforcement;
mod files;
mod hosts;
mod llm;
mod prefixes;
mod program_files;
mod topics;

use jig_proto::{ToolAction, hint};

use crate::loading::sources::Sources;
use crate::model::{Config, Tool};
use crate::problem::Problem;
use crate::quoting::quote;
use crate::show::basic_string;

pub use program_files::ProgramMistake;

/// Looks at the rules of every tool.
pub(crate) fn lint(sources: &Sources, config: &Config, warnings: &mut Vec<Problem>) {
    let mut seen = Vec::new();
    for tool in config.confined() {
        if tool.declares_rules() {
            crate::policy::lint_links(sources, config, tool, warnings);
        }
        prefixes::lint(sources, tool, &mut seen, warnings);
        files::lint(sources, config, tool, warnings);
        hosts::lint(tool, warnings);
        empty_lists(tool, warnings);
        programs(tool, warnings);
        enforcement::lint(tool, warnings);
        terminal(tool, warnings);
    }
    warnings.extend(config.command_warnings(&sources.search_path));
    commands::styles(config, warnings);
    commands::folder_of_jp(config, warnings);
    topics::lint(sources, config, warnings);
    llm::lint(config, warnings);
    crate::system_paths::lint(sources, config, warnings);
}

/// A list without rules declares nothing (G-005), which may surprise whoever meant "nothing".
fn empty_lists(tool: &Tool, warnings: &mut Vec<Problem>) {
    let deny_all = [
        ("fs", "[{ path = \".\" }]"),
        ("net", ""),
        ("env", "[{ name = \"*\" }]"),
    ];
    for (list, deny) in deny_all {
        let Some(node) = tool.values.find(&["access", list]) else {
            continue;
        };
        if node.list().is_none_or(|items| !items.is_empty()) {
            continue;
        }
        let help = if deny.is_empty() {
            hint!("remove `{list}`: nothing is reachable by default")
        } else {
            hint!("to allow nothing write `{list} = {deny}`, else remove `{list}`")
        };
        let message = format!(
            "`access.{list}` of `{}` is empty, so the default of the runtime `{}` holds",
            tool.name, tool.runtime
        );
        warnings.push(
            Problem::warning(message, help)
                .at(&node.origin, "")
                .key(format!("{}.access.{list}", tool.table())),
        );
    }
}

/// A program with a space in its name is nearly always a program with its arguments.
fn programs(tool: &Tool, warnings: &mut Vec<Problem>) {
    let rules = tool
        .access
        .commands
        .iter()
        .flatten()
        .zip(&tool.places.commands);
    for (rule, place) in rules.filter(|(rule, _)| rule.program.contains(' ')) {
        let mut words = rule.program.split_whitespace().map(basic_string);
        let program = words.next().unwrap_or_default();
        let mut args: Vec<String> = words.collect();
        args.push("\"**\"".to_owned());
        let help = hint!(
            "for a program with arguments write `commands.{program}.args = [[{}]]`",
            args.join(", ")
        );
        warnings.push(
            Problem::warning(
                format!(
                    "{} is taken as the name of one program, with the space",
                    quote(&rule.program)
                ),
                help,
            )
            .at(&place.origin, "")
            .key(place.key.clone()),
        );
    }
}

/// A terminal is nearly always for a program that somebody types into.
fn terminal(tool: &Tool, warnings: &mut Vec<Problem>) {
    let (Some(_), Some(node)) = (tool.terminal, tool.values.get("terminal")) else {
        return;
    };
    if !tool.actions.has(ToolAction::Apply) {
        let problem = Problem::note(
            format!(
                "nobody can type into the terminal of `{}`: it has no action `apply`",
                tool.name
            ),
            hint!("write `stateful = true` if it is to be given input while it runs"),
        );
        let key = format!("{}.terminal", tool.table());
        warnings.push(problem.at(&node.origin, "").key(key));
    }
}
