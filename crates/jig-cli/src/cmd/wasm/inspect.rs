//! `jig wasm inspect`: what a component is, and all that it could ever ask for.
//!
//! Every text comes out of a file that anybody may have written, and is shown as such.

mod abilities;

use camino::Utf8Path;
use jig_project::{CommandEnvironment, component_file};
use jig_proto::{visible_line, visible_lines, visible_words};
use jig_wasm::{ComponentImport, ComponentTool, Inspection, WasmRuntime};
use serde_json::{Map, Value as Json, json};

use self::abilities::Ability;

use crate::args::WasmInspectArgs;
use crate::compile_notice::CompileWatch;
use crate::exit::Done;
use crate::limits;
use crate::output::{BOLD, CYAN, CliOutput, DIM, GREEN, RED};

pub(crate) fn run(args: &WasmInspectArgs, out: &mut CliOutput) -> anyhow::Result<Done> {
    let component = component_file::opened(&args.file)?;
    let runtime = WasmRuntime::new(CommandEnvironment::of_this_process().wasm_settings())?;
    let watch = CompileWatch::over(&runtime);
    let found = runtime.inspect(&component);
    let found = found.map_err(|error| component_file::explained(&error))?;
    // What would not run, or cannot be described, is still worth looking into.
    let told = runtime.prepare(&component);
    let told = told.and_then(|_| runtime.describe(&component));
    drop(watch);
    let (tools, problem) = match told {
        Ok(tools) => (tools.unwrap_or_default(), None),
        Err(error) => (Vec::new(), Some(error.to_string())),
    };
    let seen = InspectedComponent {
        file: &args.file,
        found,
        tools,
        problem,
    };
    match out.is_json() {
        true => out.json(&seen.to_json())?,
        false => out.text(&seen.to_text())?,
    }
    Ok(match seen.problem {
        Some(_) => Done::Bad,
        None => Done::Ok,
    })
}

/// All that is known of a component.
struct InspectedComponent<'a> {
    file: &'a Utf8Path,
    found: Inspection,
    tools: Vec<ComponentTool>,
    /// Why it would not run, with the way out.
    problem: Option<String>,
}

impl InspectedComponent<'_> {
    /// The contract by which it is called, with its version.
    fn contract(&self) -> Option<&str> {
        let names = self.found.imports.iter().map(|import| &*import.interface);
        let mut names = names.chain(self.found.exports.iter().map(|export| &**export));
        let types = names.find(|name| name.starts_with("jp:tool/types@"));
        match types {
            Some(_) => types,
            None => self.found.is_tool.then_some("jp:tool"),
        }
    }

    fn to_json(&self) -> Json {
        let import = |import: &ComponentImport| {
            json!({
                "interface": import.interface,
                "functions": import.functions,
                "provided": import.provided,
            })
        };
        let tool = |tool: &ComponentTool| {
            json!({
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.parameters,
            })
        };
        json!({
            "file": self.file,
            "size": self.found.size,
            "runs": self.problem.is_none(),
            "problem": self.problem,
            "contract": self.contract().map(version),
            "describes": self.found.describes,
            "tools": self.tools.iter().map(tool).collect::<Vec<_>>(),
            "could_ask_for": abilities::abilities(&self.found)
                .filter(|(_, could)| *could)
                .map(|(ability, _)| ability.name)
                .collect::<Vec<_>>(),
            "never": abilities::abilities(&self.found)
                .filter(|(_, could)| !*could)
                .map(|(ability, _)| ability.name)
                .collect::<Vec<_>>(),
            "imports": self.found.imports.iter().map(import).collect::<Vec<_>>(),
            "exports": self.found.exports,
        })
    }

    fn to_text(&self) -> String {
        let mut text = self.head();
        for tool in &self.tools {
            text.push_str(&described(tool));
        }
        text.push_str(&format!("\n{BOLD}could ask for{BOLD:#}\n"));
        let could: Vec<&Ability> = abilities::abilities(&self.found)
            .filter_map(|(ability, could)| could.then_some(ability))
            .collect();
        for ability in &could {
            text.push_str(&format!("  {}: {}\n", ability.what, ability.how));
        }
        if could.is_empty() {
            text.push_str("  nothing: it computes, and returns what comes of it\n");
        }
        text.push_str(&format!("\n{BOLD}can never{BOLD:#}\n"));
        for (ability, _) in abilities::abilities(&self.found).filter(|(_, could)| !could) {
            text.push_str(&format!("  {}\n", ability.never));
        }
        for never in abilities::NEVER {
            text.push_str(&format!("  {never}\n"));
        }
        text.push_str(&self.interfaces());
        text
    }

    fn head(&self) -> String {
        let (file, size) = (
            visible_line(self.file.as_str()),
            limits::size(self.found.size),
        );
        let mut text = format!("{BOLD}{file}{BOLD:#} {DIM}{size}{DIM:#}\n");
        let contract = self.contract().map(|one| visible_lines(&version(one)));
        match (&self.problem, contract) {
            (None, Some(contract)) => text.push_str(&format!(
                "{GREEN}runs{GREEN:#} as a tool of the contract {contract}\n"
            )),
            (None, None) => text.push_str(&format!("{GREEN}runs{GREEN:#} as a tool\n")),
            (Some(problem), _) => {
                let problem =
                    visible_lines(problem).replace("\nhint: ", &format!("\n{DIM}hint:{DIM:#} "));
                text.push_str(&format!("{RED}would not run:{RED:#} {problem}\n"));
            }
        }
        if self.problem.is_none() && self.tools.is_empty() {
            text.push_str(&format!(
                "{DIM}It does not describe its tools: their parameters stand in jig.toml.{DIM:#}\n"
            ));
        }
        text
    }

    fn interfaces(&self) -> String {
        let mut text = format!("\n{BOLD}imports{BOLD:#}\n");
        if self.found.imports.is_empty() {
            text.push_str("  nothing\n");
        }
        for import in &self.found.imports {
            let (name, count) = (visible_line(&import.interface), import.functions.len());
            let noun = if count == 1 { "function" } else { "functions" };
            match import.provided {
                // Types alone, which are nobody's to refuse.
                true if count == 0 => text.push_str(&format!("  {name}\n")),
                true => text.push_str(&format!("  {name} {DIM}{count} {noun}{DIM:#}\n")),
                false => {
                    let names = visible_line(&import.functions.join(", "));
                    text.push_str(&format!(
                        "  {name} {RED}jig has no such interface{RED:#} {DIM}{names}{DIM:#}\n"
                    ));
                }
            }
        }
        text.push_str(&format!("\n{BOLD}exports{BOLD:#}\n"));
        for export in &self.found.exports {
            text.push_str(&format!("  {}\n", visible_line(export)));
        }
        text
    }
}

/// A tool as its component describes it: each parameter on a line.
fn described(tool: &ComponentTool) -> String {
    let (name, about) = (visible_line(&tool.name), one_line(&tool.description));
    let mut text = format!("\n{CYAN}{name}{CYAN:#}  {about}\n");
    let empty = Map::new();
    let properties = tool.parameters.get("properties").and_then(Json::as_object);
    let required = tool.parameters.get("required").and_then(Json::as_array);
    for (name, schema) in properties.unwrap_or(&empty) {
        let is_required = required.is_some_and(|names| names.iter().any(|one| one == name));
        let kind = match schema.get("type") {
            Some(Json::String(kind)) => kind.clone(),
            Some(kinds) => kinds.to_string(),
            None => "anything".to_owned(),
        };
        let about = schema.get("description").and_then(Json::as_str);
        text.push_str(&format!(
            "  {} {DIM}{}{}{DIM:#}  {}\n",
            one_line(name),
            one_line(&kind),
            if is_required { ", required" } else { "" },
            one_line(about.unwrap_or_default()),
        ));
    }
    text
}

/// Text of a component on one line of ours, and not more than a person reads.
fn one_line(text: &str) -> String {
    let text = visible_words(text);
    match text.char_indices().nth(MOST_LETTERS) {
        Some((end, _)) => format!("{} …", &text[..end]),
        None => text,
    }
}

/// `jp:tool@0.1.0` out of `jp:tool/types@0.1.0`.
fn version(interface: &str) -> String {
    interface.replacen("/types", "", 1)
}

const MOST_LETTERS: usize = 200;
