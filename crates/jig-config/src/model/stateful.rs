//! What outlives a call: [`NoticeSettings`], and what makes a tool stateful.

use indexmap::IndexMap;
use jig_proto::{Actions, Hint, hint};

use super::parameter::{Parameter, parameters};
use super::{RuntimeKind, ToolName, ToolSource};
use crate::problem::Problem;
use crate::quoting::quote;
use crate::value::{ConfigNode, TableEntry};

/// What the model is told about a running tool without asking (S-082).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NoticeSettings {
    /// That it has ended.
    pub stopped: bool,
    /// That it asks something.
    pub waiting: bool,
}

impl Default for NoticeSettings {
    /// Both.
    fn default() -> Self {
        Self {
            stopped: true,
            waiting: true,
        }
    }
}

impl NoticeSettings {
    /// Reads the checked value of `notices`: a boolean, or a list.
    pub(super) fn read(node: Option<&ConfigNode>) -> Self {
        let Some(node) = node else {
            return Self::default();
        };
        let named = node.texts();
        let has = |word: &str| {
            let named = named
                .iter()
                .any(|one| one.trim_start_matches("state_") == word);
            node.bool().unwrap_or(named)
        };
        Self {
            stopped: has("stopped"),
            waiting: has("waiting"),
        }
    }
}

/// What makes a tool stateful.
#[derive(Debug, Default)]
pub(super) struct Stateful {
    pub(super) actions: Actions,
    /// The tool's own parameters, without those of the protocol.
    pub(super) parameters: IndexMap<String, Parameter>,
    pub(super) terminal: Option<(u16, u16)>,
}

/// Reads `stateful`, `terminal` and `parameters` of one tool, which depend on each other.
pub(super) struct StatefulReader<'a> {
    pub(super) name: &'a ToolName,
    /// The dotted key of the tool.
    pub(super) prefix: &'a str,
    /// Its merged and checked table.
    pub(super) node: &'a ConfigNode,
    pub(super) source: &'a ToolSource,
    pub(super) runtime: RuntimeKind,
}

impl StatefulReader<'_> {
    pub(super) fn read(&self, errors: &mut Vec<Problem>) -> Stateful {
        let mut parameters = parameters(self.node.get("parameters"));
        let by_parameter = parameters.get("action").and_then(actions_of);
        let actions = self.actions(by_parameter, errors);
        if !actions.is_one_shot() {
            // Written by hand, the protocol's own parameters are no arguments of the tool.
            if by_parameter.is_some() {
                parameters.shift_remove("action");
                parameters.shift_remove("id");
            }
            self.refuse_reserved(&parameters, errors);
        }
        Stateful {
            actions,
            parameters,
            terminal: self.terminal(errors),
        }
    }

    /// The declared actions; without a declaration those that a parameter `action` offers.
    fn actions(&self, by_parameter: Option<Actions>, errors: &mut Vec<Problem>) -> Actions {
        let Some(entry) = self.node.entry("stateful") else {
            // An argument of a server's tool has to reach the server.
            let ours = !matches!(self.source, ToolSource::Mcp { .. });
            return by_parameter.filter(|_| ours).unwrap_or(Actions::NONE);
        };
        match entry.node.bool() {
            Some(false) => return Actions::NONE,
            Some(true) => return by_parameter.unwrap_or(Actions::ALL),
            None => {}
        }
        let names = entry.node.texts();
        let actions = match Actions::from_names(names.iter().map(String::as_str)) {
            Ok(actions) if actions.is_one_shot() => {
                errors.push(self.problem(
                    "stateful",
                    &entry.node,
                    "has an empty list of actions".to_owned(),
                    hint!("write `stateful = false`, or the actions that it has"),
                ));
                return Actions::NONE;
            }
            Ok(actions) => actions,
            // The names have been checked: `spawn` is missing.
            Err(_) => {
                let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
                errors.push(self.problem(
                    "stateful",
                    &entry.node,
                    "has actions, but not `spawn`, so that nothing could start it".to_owned(),
                    hint!("write `stateful = [\"spawn\", {}]`", names.join(", ")),
                ));
                return Actions::NONE;
            }
        };
        if let Some(other) = by_parameter.filter(|other| *other != actions)
            && let Some(parameter) = self.parameter("action")
        {
            let problem = self.problem(
                "stateful",
                &entry.node,
                format!("has two lists of actions: {actions} here, and {other} in a parameter"),
                hint!("remove the parameter `action`, which a stateful tool has by itself"),
            );
            errors.push(problem.and(&parameter.key, "the other list"));
        }
        actions
    }

    /// The protocol uses two names, and a parameter of that name would never reach the tool.
    fn refuse_reserved(&self, parameters: &IndexMap<String, Parameter>, errors: &mut Vec<Problem>) {
        let reserved = [
            ("action", "tells a stateful tool what to do"),
            ("id", "names the handle of a stateful tool"),
        ];
        for (name, what) in reserved {
            let (true, Some(entry)) = (parameters.contains_key(name), self.parameter(name)) else {
                continue;
            };
            let problem = Problem::error(
                format!(
                    "{} has a parameter `{name}`, but this argument {what}",
                    quote(self.name.as_str())
                ),
                hint!("give the parameter another name, or write `stateful = false`"),
            )
            .at(&entry.key, "")
            .key(format!("{}.parameters.{name}", self.prefix));
            errors.push(match self.node.entry("stateful") {
                Some(stateful) => problem.and(&stateful.key, "stateful by this"),
                None => problem,
            });
        }
    }

    fn terminal(&self, errors: &mut Vec<Problem>) -> Option<(u16, u16)> {
        let entry = self.node.entry("terminal")?;
        if entry.node.bool() == Some(false) {
            return None;
        }
        if self.runtime != RuntimeKind::Stdio {
            let why = match self.runtime {
                RuntimeKind::Mcp => "it runs on a server".to_owned(),
                RuntimeKind::Builtin => "its code is part of jig".to_owned(),
                other => format!("a tool of runtime `{other}` talks to jig by a protocol"),
            };
            let problem = self.problem(
                "terminal",
                &entry.node,
                format!("can't have a terminal: {why}"),
                hint!("write `terminal = false`; it is for tools of runtime `stdio`"),
            );
            errors.push(match self.node.get("runtime") {
                Some(runtime) => problem.and(&runtime.origin, "the runtime"),
                None => problem,
            });
            return None;
        }
        if let Some(input) = self.node.entry("input")
            && input.node.text() == Some("stdin")
        {
            let problem = self.problem(
                "terminal",
                &entry.node,
                "gets its call on standard input, which is its terminal, where it would be echoed \
                 and cut off"
                    .to_owned(),
                hint!("write `input = \"file\"`, or `input = \"argv\"`"),
            );
            errors.push(problem.and(&input.node.origin, "the call"));
        }
        let side = |key: &str, default: u16| {
            let written = entry.node.get(key).and_then(ConfigNode::int);
            written
                .and_then(|side| side.try_into().ok())
                .unwrap_or(default)
        };
        Some((side("rows", ROWS), side("cols", COLS)))
    }

    fn parameter(&self, name: &str) -> Option<&TableEntry> {
        self.node.get("parameters")?.entry(name)
    }

    fn problem(&self, key: &str, at: &ConfigNode, what: String, help: Hint) -> Problem {
        Problem::error(format!("{} {what}", quote(self.name.as_str())), help)
            .at(&at.origin, "")
            .key(format!("{}.{key}", self.prefix))
    }
}

/// The actions that a parameter offers, if it is the `action` of the protocol: a choice among its four,
/// `spawn` among them (S-056). Any other is the tool's own.
fn actions_of(parameter: &Parameter) -> Option<Actions> {
    let names: Option<Vec<&str>> = parameter
        .values
        .iter()
        .map(|value| value.as_str())
        .collect();
    let actions = Actions::from_names(names?).ok()?;
    (!actions.is_one_shot()).then_some(actions)
}

/// The size of a terminal when nobody says, as programs expect it.
const ROWS: u16 = 24;
const COLS: u16 = 80;

#[cfg(test)]
mod tests;
