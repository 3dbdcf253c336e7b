//! Commands that load, and will probably not do what was meant.

use camino::Utf8PathBuf;
use jig_proto::{Hint, hint};

use crate::loading::files::{self, ConfigPathKind};
use crate::model::{Config, Input, RuntimeKind, Syntax, Tool, is_template, shell_syntax};
use crate::problem::Problem;
use crate::quoting::{clean, quote};
use crate::show::basic_string;
use crate::value::ConfigNode;

impl Config {
    /// What to do about a tool whose program could not be started, as far as its file tells.
    pub fn start_hint(&self, tool: &Tool) -> Option<Hint> {
        let command = tool.command.as_ref()?;
        if let Some(mistake) = command.program_mistake(&self.workspace, &[]) {
            return Some(mistake.help);
        }
        let is_name = !command.program.contains('/') && !is_template(&command.program);
        let in_workspace =
            files::found(&self.workspace.join(&command.program)) == ConfigPathKind::File;
        match (is_name && !command.shell, in_workspace) {
            (true, true) => Some(hint!(
                "for the file of the workspace write `./{}` in `command`",
                clean(&command.program)
            )),
            (true, false) => Some(hint!(
                "install the program, correct its name in `command`, or name it by its path"
            )),
            (false, _) => None,
        }
    }

    /// The tools whose commands will probably not do what was meant: a program that is not there or may not be run,
    /// syntax of a shell that nothing reads, parameters that reach no program.
    ///
    /// Programs are looked for in `search_path`, unless that is empty. Nothing is decided by it.
    pub fn command_warnings(&self, search_path: &[Utf8PathBuf]) -> Vec<Problem> {
        let tools = self.tools.values().filter(|tool| tool.enable.on);
        tools
            .flat_map(|tool| self.command_warnings_of(tool, search_path))
            .collect()
    }

    /// The same for one tool.
    pub fn command_warnings_of(&self, tool: &Tool, search_path: &[Utf8PathBuf]) -> Vec<Problem> {
        let mut warnings = Vec::new();
        lint(self, tool, search_path, &mut warnings);
        warnings
    }
}

fn lint(config: &Config, tool: &Tool, search_path: &[Utf8PathBuf], warnings: &mut Vec<Problem>) {
    let (Some(command), Some(node)) = (&tool.command, tool.values.get("command")) else {
        return;
    };
    if node.is_built_in() || tool.is_server() {
        return;
    }
    let warn = |message: String, help: Hint| {
        let key = format!("{}.command", tool.table());
        Problem::warning(message, help)
            .at(&node.origin, "")
            .key(key)
    };
    let name = quote(tool.name.as_str());
    // Whoever does not say where programs are does not ask about this machine.
    let mistake = match search_path {
        [] => None,
        search_path => command.program_mistake(&config.workspace, search_path),
    };
    if let Some(mistake) = mistake {
        let message = format!("{name} can't be started: {}", mistake.message);
        warnings.push(warn(message, mistake.help));
    }
    if let Some(Syntax::Expansion(word)) = node.text().and_then(shell_syntax) {
        let line = node.text().unwrap_or_default();
        let message = format!(
            "no shell reads the command of {name}, so {} reaches the program as it is",
            quote(&word)
        );
        let help = hint!(
            "to have `sh -c` read it, write `command = {{ program = {}, shell = true }}`; to mean the word itself, \
             put it in single quotes",
            clean(&basic_string(line))
        );
        warnings.push(warn(message, help));
    }
    if let Some(script) = filled_script(tool) {
        let message = format!(
            "a shell reads what is filled into the script of {name} as code, whoever calls the tool"
        );
        let help = hint!(
            "write `command = {{ program = {}, shell = true }}`: values then stay values",
            clean(&basic_string(script))
        );
        warnings.push(warn(message, help));
    }
    let is_told = tool.runtime == RuntimeKind::Stdio && tool.input == Input::Argv;
    // A tool of ours with another command keeps the parameters that ours has.
    let declared = tool.values.get("parameters");
    let is_told = is_told && !declared.is_some_and(ConfigNode::is_built_in);
    let unused = command.unused(&tool.parameters);
    if is_told && !unused.is_empty() {
        let names: Vec<String> = unused.iter().map(|name| quote(name)).collect();
        let (what, never) = match names.len() {
            1 => ("the parameter", "never reaches"),
            _ => ("the parameters", "never reach"),
        };
        let first = unused.first().copied().unwrap_or_default();
        let template = match first
            .chars()
            .all(|one| one.is_ascii_alphanumeric() || one == '_')
        {
            true => format!("{{{{tool.arguments.{first}}}}}"),
            false => format!("{{{{tool.arguments['{}']}}}}", clean(first)),
        };
        let message = format!("{what} {} of {name} {never} the program", names.join(", "));
        let help = hint!(
            "add `{template}` to `command`, or write `input = \"stdin\"` to hand the whole call over there, as JSON"
        );
        warnings.push(warn(message, help));
    }
}

/// The script of `sh -c SCRIPT` if something is filled into it.
fn filled_script(tool: &Tool) -> Option<&str> {
    let command = tool.command.as_ref().filter(|command| !command.shell)?;
    let program = command.program.rsplit('/').next()?;
    if !["sh", "bash", "dash", "zsh", "ksh"].contains(&program) {
        return None;
    }
    let at = command
        .args
        .iter()
        .position(|word| word.starts_with('-') && !word.starts_with("--") && word.ends_with('c'))?;
    let script = command.args.get(at + 1)?;
    is_template(script).then_some(script)
}

/// Settings of tools that only JP understands.
pub(super) fn styles(config: &Config, warnings: &mut Vec<Problem>) {
    let styled = config.tools.values().filter_map(|tool| {
        let entry = tool.values.entry("style")?;
        (!entry.node.is_built_in() && !tool.style.is_empty()).then_some((tool, entry))
    });
    let mut styled = styled.peekable();
    let Some((tool, entry)) = styled.peek() else {
        return;
    };
    let (name, origin) = (quote(tool.name.as_str()), entry.key.clone());
    let key = format!("{}.style", tool.table());
    let more = match styled.count() {
        1 => String::new(),
        2 => " and of one more tool".to_owned(),
        count => format!(" and of {} more tools", count - 1),
    };
    let problem = Problem::warning(
        format!("`style` of {name}{more} does nothing here: it is how JP displays a tool"),
        hint!("keep it if JP reads this file, otherwise remove it"),
    );
    warnings.push(problem.at(&origin, "").key(key));
}

/// Where JP looks for more files than jig does.
pub(super) fn folder_of_jp(config: &Config, warnings: &mut Vec<Problem>) {
    let folder = config.workspace.join(".jp/config.d");
    let is_extended = config
        .folders
        .iter()
        .any(|other| folder.starts_with(&other.path));
    if is_extended || !files::is_directory(&folder) {
        return;
    }
    let problem = Problem::warning(
        "the files in `.jp/config.d` are not loaded: JP extends them by itself, jig does not",
        hint!("write `extends = [\"config.d/**/*.toml\"]` in `.jp/config.toml`"),
    );
    warnings.push(problem.in_file(".jp/config.d"));
}
