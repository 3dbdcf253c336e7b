//! [`RunModes`]: whether somebody is asked before a tool runs, also by what it is called with.

mod condition;
mod read;

use std::fmt;

use jig_proto::ToolAction;
use serde_json::{Map, Value as Json};

use super::settings::RunMode;
use crate::origin::Origin;

use condition::ConditionMatch;
pub(crate) use condition::parse_pointer;
pub use condition::{PathMeaning, RunCondition, RunTest};
pub(super) use read::RunReader;

/// Whether somebody is asked before a tool runs, for each action (S-080).
#[derive(Debug, Clone, PartialEq)]
pub struct RunModes {
    /// Before it is started, or called without an action.
    pub spawn: RunRules,
    /// Before the model gets its state and output.
    pub fetch: RunRules,
    /// Before input, or an answer, reaches it.
    pub apply: RunRules,
    /// Before it is stopped.
    pub abort: RunRules,
}

impl RunModes {
    /// This mode for starting the tool; whatever is done with a tool that runs is done at once.
    pub fn of_spawn(mode: RunMode) -> Self {
        let at_once = RunRules::Always(RunMode::Unattended);
        Self {
            spawn: RunRules::Always(mode),
            fetch: at_once.clone(),
            apply: at_once.clone(),
            abort: at_once,
        }
    }

    /// What decides about one action. A call without an action has what `spawn` has.
    pub fn of(&self, action: ToolAction) -> &RunRules {
        match action {
            ToolAction::Spawn => &self.spawn,
            ToolAction::Fetch => &self.fetch,
            ToolAction::Apply => &self.apply,
            ToolAction::Abort => &self.abort,
        }
    }

    /// The mode of a call.
    ///
    /// `arguments` are the tool's own, with the defaults of missing ones put in, for `spawn` and a plain
    /// call; for the other actions they are those of the command: `id`, and `input` of `apply`.
    ///
    /// Paths are taken as they are written. Where there is a workspace, links in it count, too:
    /// [`decide_in`](Self::decide_in).
    pub fn decide(&self, action: ToolAction, arguments: &Map<String, Json>) -> RunDecision {
        self.of(action).decide(arguments)
    }

    /// The same in a workspace, of which `leads` says where a text leads that may be a path: one that a link
    /// carries past a rule is not taken for what it is called.
    pub fn decide_in(
        &self,
        action: ToolAction,
        arguments: &Map<String, Json>,
        leads: &dyn Fn(&str) -> PathMeaning,
    ) -> RunDecision {
        self.of(action).decide_in(arguments, leads)
    }
}

/// `ask`, or `ask, apply: ask` where an action on a running tool is not done at once.
impl fmt::Display for RunModes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.spawn)?;
        for action in [ToolAction::Fetch, ToolAction::Apply, ToolAction::Abort] {
            let rules = self.of(action);
            if !rules.is_always(RunMode::Unattended) {
                write!(f, ", {action}: {rules}")?;
            }
        }
        Ok(())
    }
}

/// What was decided about one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RunDecision {
    /// Whether somebody is asked.
    pub mode: RunMode,
    /// Which rule of the list says so, counted from 0. `None` where the mode is the same for every call, and
    /// where no rule matches.
    pub rule: Option<usize>,
}

/// What decides about one action of a tool.
#[derive(Debug, Clone, PartialEq)]
// Exhaustive: whoever shows or compares them must know both.
pub enum RunRules {
    /// Every call alike.
    Always(RunMode),
    /// The first rule that matches the arguments; somebody is asked where none does.
    ByArguments(Vec<RunRule>),
}

impl RunRules {
    /// The mode of a call with these arguments.
    ///
    /// The first rule that matches decides. Where it cannot be told whether a rule is meant, because an
    /// argument is a path that leaves the workspace, for instance, the stricter of both ways holds: no
    /// spelling of an argument gets around a rule, whether that rule allows or refuses.
    pub fn decide(&self, arguments: &Map<String, Json>) -> RunDecision {
        self.decide_in(arguments, &|_| PathMeaning::AsWritten)
    }

    /// The same in a workspace, of which `leads` says where a text leads that may be a path.
    pub fn decide_in(
        &self,
        arguments: &Map<String, Json>,
        leads: &dyn Fn(&str) -> PathMeaning,
    ) -> RunDecision {
        let rules = match self {
            RunRules::Always(mode) => {
                return RunDecision {
                    mode: *mode,
                    rule: None,
                };
            }
            RunRules::ByArguments(rules) => rules,
        };
        let mut strictest: Option<RunDecision> = None;
        let mut decided = RunDecision {
            mode: NO_MATCH,
            rule: None,
        };
        for (index, rule) in rules.iter().enumerate() {
            let this = RunDecision {
                mode: rule.mode,
                rule: Some(index),
            };
            match rule.matches(arguments, leads) {
                ConditionMatch::No => {}
                ConditionMatch::Yes => {
                    decided = this;
                    break;
                }
                ConditionMatch::Unclear => {
                    let stricter =
                        |other: RunDecision| this.mode.strictness() > other.mode.strictness();
                    if strictest.is_none_or(stricter) {
                        strictest = Some(this);
                    }
                }
            }
        }
        match strictest {
            Some(other) if other.mode.strictness() > decided.mode.strictness() => other,
            _ => decided,
        }
    }

    /// Whether every call has this mode, whatever its arguments.
    pub fn is_always(&self, mode: RunMode) -> bool {
        match self {
            RunRules::Always(other) => *other == mode,
            RunRules::ByArguments(rules) => {
                let is_last = rules.iter().any(|rule| rule.conditions.is_empty());
                rules.iter().all(|rule| rule.mode == mode) && (is_last || mode == NO_MATCH)
            }
        }
    }

    /// The rules, in their order; none where every call is alike.
    pub fn rules(&self) -> &[RunRule] {
        match self {
            RunRules::Always(_) => &[],
            RunRules::ByArguments(rules) => rules,
        }
    }

    /// The form of configuration: the word, or the list of rules.
    pub fn to_json(&self) -> Json {
        match self {
            RunRules::Always(mode) => mode.name().into(),
            RunRules::ByArguments(rules) => rules.iter().map(RunRule::to_json).collect(),
        }
    }

    /// The mode as one word for lists: `by arguments` where it depends on them.
    pub fn name(&self) -> &'static str {
        match self {
            RunRules::Always(mode) => mode.name(),
            RunRules::ByArguments(_) => "by arguments",
        }
    }
}

/// The word, or each rule after the other: ``unattended if `path` begins with "src/", else ask``.
impl fmt::Display for RunRules {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rules = match self {
            RunRules::Always(mode) => return f.write_str(mode.name()),
            RunRules::ByArguments(rules) => rules,
        };
        for rule in rules {
            match rule.conditions.is_empty() {
                false => write!(f, "{rule}, else ")?,
                true => return write!(f, "{rule}"),
            }
        }
        f.write_str(NO_MATCH.name())
    }
}

/// One rule of `run`.
#[derive(Debug, Clone)]
pub struct RunRule {
    /// What must all hold; a rule without any is for every call.
    pub conditions: Vec<RunCondition>,
    /// The mode of a call that it matches.
    pub mode: RunMode,
    pub(crate) origin: Origin,
}

impl RunRule {
    /// Where the rule was written.
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    fn to_json(&self) -> Json {
        let mut rule = match self.conditions.as_slice() {
            [] => Map::new(),
            [one] => one.to_json(),
            many => {
                let all = many.iter().map(|one| Json::Object(one.to_json()));
                Map::from_iter([("all".to_owned(), all.collect())])
            }
        };
        rule.insert("mode".to_owned(), self.mode.name().into());
        Json::Object(rule)
    }

    fn matches(
        &self,
        arguments: &Map<String, Json>,
        leads: &dyn Fn(&str) -> PathMeaning,
    ) -> ConditionMatch {
        let conditions = self.conditions.iter();
        let found = conditions.map(|one| one.matches(arguments, leads));
        found.fold(ConditionMatch::Yes, ConditionMatch::and)
    }
}

/// Two rules are equal when they say the same, wherever they were written.
impl PartialEq for RunRule {
    fn eq(&self, other: &Self) -> bool {
        self.mode == other.mode && self.conditions == other.conditions
    }
}

/// ``unattended if `path` begins with "src/"``.
impl fmt::Display for RunRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.mode.name())?;
        for (index, condition) in self.conditions.iter().enumerate() {
            let word = if index == 0 { "if" } else { "and" };
            write!(f, " {word} {condition}")?;
        }
        Ok(())
    }
}

impl RunMode {
    /// How much stands before a call: nothing, a person, a wall.
    pub(crate) fn strictness(self) -> u8 {
        match self {
            RunMode::Unattended => 0,
            RunMode::Ask | RunMode::Edit => 1,
            RunMode::Skip => 2,
        }
    }
}

/// What holds for a call that no rule matches.
pub(crate) const NO_MATCH: RunMode = RunMode::Ask;

#[cfg(test)]
mod tests;
