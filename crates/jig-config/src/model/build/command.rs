//! The command of a tool, and the mistakes that people make in one.

use indexmap::IndexMap;
use jig_proto::{Hint, hint};

use super::ToolBuilder;
use crate::model::command::{Syntax, TemplateValues, shell_syntax};
use crate::model::{Command, CommandSyntaxError, Input, Parameter};
use crate::problem::Problem;
use crate::quoting::{clean, quote};
use crate::show::basic_string;
use crate::value::{ConfigNode, TableEntry};

impl ToolBuilder<'_> {
    /// A command that is a list of words.
    pub(super) fn command_of_words(&mut self, entry: &TableEntry) -> Option<Command> {
        let mut words = entry.node.texts().into_iter();
        let command = Command {
            program: words.next().unwrap_or_default(),
            args: words.collect(),
            shell: false,
        };
        self.can_run(entry, &command);
        Some(command)
    }

    /// Refuses what could never run.
    pub(super) fn can_run(&mut self, entry: &TableEntry, command: &Command) {
        if let Err(error) = command.check() {
            let problem = Problem::error(
                format!(
                    "the command of {} can't run: {error}",
                    quote(self.name.as_str())
                ),
                command_help(&error),
            );
            let key = format!("{}.command", self.prefix);
            self.errors.push(problem.at(&entry.key, "").key(key));
        }
    }

    /// Refuses a line that only a shell could read: its operators would be arguments.
    pub(super) fn no_shell(&mut self, entry: &TableEntry, line: &str) {
        let Some(Syntax::Operator(operator)) = shell_syntax(line) else {
            return;
        };
        let problem = Problem::error(
            format!(
                "no shell reads the command of {}, so {} would be an argument",
                quote(self.name.as_str()),
                quote(&operator)
            ),
            hint!(
                "to have `sh -c` run it, write `command = {{ program = {}, shell = true }}`; to mean the word itself, \
                 put it in quotes: `'{}'`",
                clean(&basic_string(line)),
                clean(&operator)
            ),
        );
        let key = format!("{}.command", self.prefix);
        self.errors
            .push(problem.at(&entry.node.origin, "").key(key));
    }

    /// Refuses templates that can never be filled in.
    pub(super) fn templates(
        &mut self,
        command: &Command,
        parameters: &IndexMap<String, Parameter>,
    ) {
        let Some(entry) = self.node.entry("command") else {
            return;
        };
        if entry.node.is_built_in() {
            return;
        }
        let options = self.node.get("options");
        let known = TemplateValues {
            parameters,
            options: options.map(ConfigNode::to_json_map).unwrap_or_default(),
            input: self.word("input", Input::parse).unwrap_or(Input::Argv),
        };
        for mistake in command.mistakes(&known) {
            let problem = Problem::error(
                format!(
                    "{} in the command of {} can never be filled in: {}",
                    quote(&mistake.word),
                    quote(self.name.as_str()),
                    mistake.why
                ),
                mistake.help.clone(),
            );
            let key = format!("{}.command", self.prefix);
            self.errors
                .push(problem.at(&entry.node.origin, "").key(key));
        }
    }
}

/// What to do about a command that can't run.
fn command_help(error: &CommandSyntaxError) -> Hint {
    match error {
        CommandSyntaxError::Arithmetic(_) => {
            hint!("hand the value over in `args` to a script that first checks that it is a number")
        }
        CommandSyntaxError::Empty => hint!("name the program"),
        CommandSyntaxError::Nul => hint!("remove it"),
        _ => {
            hint!(
                "close every `{{{{` with `}}}}` in the same word; for braces that are no template write `{{{{ '{{{{' \
                 }}}}`"
            )
        }
    }
}
