//! Reading `run`: a word, a list of rules, or a table with one of both for each action.

use indexmap::IndexMap;
use jig_proto::{Hint, ToolAction, hint};

use super::condition::{index, parse_pointer};
use super::{NO_MATCH, RunCondition, RunMode, RunModes, RunRule, RunRules, RunTest};
use crate::model::{Parameter, ParameterType, ToolName};
use crate::origin::Origin;
use crate::problem::Problem;
use crate::quoting::{clean, closest, quote};
use crate::shape::either;
use crate::value::{ConfigNode, TableEntry, TomlValueKind};

/// Reads the checked value of `run` of one tool, with the checks that a table of keys can't make.
pub(in crate::model) struct RunReader<'a> {
    pub(in crate::model) name: &'a ToolName,
    /// The dotted key of the tool.
    pub(in crate::model) prefix: &'a str,
    /// The arguments that a call may have; `None` if only the tool knows.
    pub(in crate::model) parameters: Option<&'a IndexMap<String, Parameter>>,
    /// Where the rules that all tools share name their arguments: a tool need not have those.
    pub(in crate::model) shared: &'a [Origin],
}

impl RunReader<'_> {
    pub(in crate::model) fn read(
        &self,
        node: Option<&ConfigNode>,
        errors: &mut Vec<Problem>,
    ) -> RunModes {
        let mut rules =
            |action: ToolAction, node: Option<&ConfigNode>, otherwise: RunMode| match node {
                Some(node) if node.kind() == TomlValueKind::List => {
                    self.list(action, node, errors);
                    RunRules::ByArguments(rules_of(node))
                }
                node => {
                    let word = node.and_then(ConfigNode::text).and_then(RunMode::parse);
                    RunRules::Always(word.unwrap_or(otherwise))
                }
            };
        let Some(table) = node.filter(|node| node.kind() == TomlValueKind::Table) else {
            return RunModes {
                spawn: rules(ToolAction::Spawn, node, NO_MATCH),
                ..RunModes::of_spawn(NO_MATCH)
            };
        };
        let mut of = |action: ToolAction, otherwise: RunMode| {
            rules(action, table.get(action.name()), otherwise)
        };
        RunModes {
            spawn: of(ToolAction::Spawn, NO_MATCH),
            fetch: of(ToolAction::Fetch, RunMode::Unattended),
            apply: of(ToolAction::Apply, RunMode::Unattended),
            abort: of(ToolAction::Abort, RunMode::Unattended),
        }
    }

    /// What is wrong with a list of rules.
    fn list(&self, action: ToolAction, node: &ConfigNode, errors: &mut Vec<Problem>) {
        let items = node.list().unwrap_or_default();
        if items.is_empty() {
            let problem = self.problem(
                &node.origin,
                "has an empty list of run rules".to_owned(),
                hint!(
                    "write `run = \"ask\"`, or at least one rule: `run = [{{ mode = \"ask\" }}]`"
                ),
            );
            errors.push(problem);
        }
        let mut last: Option<&ConfigNode> = None;
        for item in items {
            if let Some(last) = last {
                let problem = self.problem(
                    &item.origin,
                    "has a run rule that is never reached: the one before it matches every call"
                        .to_owned(),
                    hint!(
                        "move the rule without a condition to the end, or remove the one behind it"
                    ),
                );
                errors.push(problem.and(&last.origin, "this matches every call"));
                break;
            }
            let before = errors.len();
            let own = self.condition(action, item, true, errors);
            let all = item.get("all");
            for part in all.and_then(ConfigNode::list).unwrap_or_default() {
                self.condition(action, part, false, errors);
            }
            if let Some(all) = all.filter(|all| all.list().is_some_and(<[ConfigNode]>::is_empty)) {
                errors.push(self.problem(
                    &all.origin,
                    "has a run rule with an empty list `all`".to_owned(),
                    hint!(
                        "remove `all`, or write the conditions: `all = [{{ arg = \"/path\", prefix = \"src/\" }}]`"
                    ),
                ));
            }
            if errors.len() == before && !own && all.is_none() {
                last = Some(item);
            }
        }
    }

    /// What is wrong with one condition; returns whether there is one.
    fn condition(
        &self,
        action: ToolAction,
        node: &ConfigNode,
        may_be_none: bool,
        errors: &mut Vec<Problem>,
    ) -> bool {
        let tests: Vec<(&str, &TableEntry)> = TESTS
            .iter()
            .filter_map(|name| Some((*name, node.entry(name)?)))
            .collect();
        let arg = node.entry("arg");
        match (arg, tests.as_slice()) {
            (None, []) if may_be_none => return false,
            (None, []) => errors.push(self.problem(
                &node.origin,
                "has a condition without `arg`".to_owned(),
                hint!(
                    "say which argument it is about, and what it must be: `{{ arg = \"/path\", prefix = \"src/\" }}`"
                ),
            )),
            (None, [(name, test), ..]) => errors.push(self.problem(
                &test.key,
                format!("has a run rule with `{name}`, and no `arg` that says of which argument"),
                hint!("add the argument, such as `arg = \"/path\"`"),
            )),
            (Some(arg), []) => errors.push(self.problem(
                &arg.node.origin,
                "has a run rule about an argument that does not say what the argument must be"
                    .to_owned(),
                hint!("add {}", either(&TESTS.map(|name| format!("`{name}`")))),
            )),
            (Some(_), [(first, one), (second, other), ..]) => {
                let problem = self.problem(
                    &other.key,
                    format!("has a run rule with both `{first}` and `{second}` of one argument"),
                    hint!(
                        "keep one of the two; where both must hold, write `all = [{{ arg = …, … }}, {{ arg = …, … }}]`"
                    ),
                );
                errors.push(problem.and(&one.key, "the other"));
            }
            (Some(arg), [(name, _)]) => errors.extend(self.argument(action, arg, name)),
        }
        true
    }

    /// What is wrong with the argument that a condition is about: a rule about one that no call has, and that
    /// should have kept a call from running, would silently be no rule at all.
    fn argument(&self, action: ToolAction, arg: &TableEntry, test: &str) -> Option<Problem> {
        if self.shared.contains(&arg.node.origin) {
            return None;
        }
        let pointer = arg.node.text().unwrap_or_default();
        let steps = parse_pointer(pointer).ok()?;
        let (first, rest) = steps.split_first()?;
        let unknown = |what: String, names: Vec<&str>| {
            let listed = names.iter().map(|name| format!("`/{}`", clean(name)));
            let listed: Vec<String> = listed.collect();
            let help = match (closest(first, names.iter().copied()), listed.is_empty()) {
                (Some(meant), _) => hint!("did you mean `/{}`?", clean(meant)),
                (None, false) => hint!("write {}", either(&listed)),
                (None, true) => hint!("remove the rule: it has no arguments"),
            };
            self.problem(&arg.node.origin, what, help)
        };
        let of_command: &[&str] = match action {
            ToolAction::Spawn => &[],
            ToolAction::Apply => &["input", "id"],
            ToolAction::Fetch | ToolAction::Abort => &["id"],
        };
        if action != ToolAction::Spawn {
            return (!of_command.contains(&first.as_str())).then(|| {
                let what = format!(
                    "has a run rule about {}, which is no argument of `{action}`",
                    quote(pointer)
                );
                unknown(what, of_command.to_vec())
            });
        }
        let parameters = self.parameters?;
        let Some(parameter) = parameters.get(first) else {
            let what = format!(
                "has a run rule about {}, which is none of its parameters",
                quote(pointer)
            );
            return Some(unknown(
                what,
                parameters.keys().map(String::as_str).collect(),
            ));
        };
        match find(parameter, rest) {
            PointerTarget::Nothing => Some(self.problem(
                &arg.node.origin,
                format!(
                    "has a run rule about {}, and its parameter {} has nothing there",
                    quote(pointer),
                    quote(first)
                ),
                hint!(
                    "correct it after what `parameters` declares; an item of a list is a number, such as `/paths/0`"
                ),
            )),
            PointerTarget::Parameter(found) if test == "prefix" && !may_be_text(found) => {
                Some(self.problem(
                    &arg.node.origin,
                    format!(
                        "has a run rule with a prefix of {}, which is never a text",
                        quote(pointer)
                    ),
                    hint!("write `equals` or `one_of`"),
                ))
            }
            _ => None,
        }
    }

    fn problem(&self, at: &Origin, what: String, help: Hint) -> Problem {
        Problem::error(format!("{} {what}", quote(self.name.as_str())), help)
            .at(at, "")
            .key(format!("{}.run", self.prefix))
    }
}

/// What a pointer finds in a declared parameter.
enum PointerTarget<'a> {
    Parameter(&'a Parameter),
    /// Nothing is declared about what lies there.
    Anything,
    Nothing,
}

fn find<'a>(mut parameter: &'a Parameter, steps: &[String]) -> PointerTarget<'a> {
    for step in steps {
        let is = |kind| parameter.types.is_empty() || parameter.types.contains(&kind);
        let property = parameter.properties.get(step);
        let item = index(step).filter(|_| is(ParameterType::Array));
        parameter = match (property, item, &parameter.items) {
            (Some(property), ..) => property,
            (None, Some(_), Some(items)) => items,
            (None, Some(_), None) => return PointerTarget::Anything,
            // Unknown properties are refused where some are declared.
            (None, None, _) if is(ParameterType::Object) && parameter.properties.is_empty() => {
                return PointerTarget::Anything;
            }
            _ => return PointerTarget::Nothing,
        };
    }
    PointerTarget::Parameter(parameter)
}

/// Whether a value can be a text, or a list of texts.
fn may_be_text(parameter: &Parameter) -> bool {
    let types = &parameter.types;
    types.is_empty()
        || types.contains(&ParameterType::String)
        || types.contains(&ParameterType::Array)
            && parameter.items.as_deref().is_none_or(may_be_text)
}

/// The rules of a checked list. What is wrong with one has been reported, and it then counts for nothing.
fn rules_of(node: &ConfigNode) -> Vec<RunRule> {
    let items = node.list().unwrap_or_default();
    let rule = |node: &ConfigNode| {
        let all = node
            .get("all")
            .and_then(ConfigNode::list)
            .unwrap_or_default();
        let conditions = condition_of(node).into_iter();
        Some(RunRule {
            conditions: conditions
                .chain(all.iter().filter_map(condition_of))
                .collect(),
            mode: node
                .get("mode")
                .and_then(ConfigNode::text)
                .and_then(RunMode::parse)?,
            origin: node.origin.clone(),
        })
    };
    items.iter().filter_map(rule).collect()
}

fn condition_of(node: &ConfigNode) -> Option<RunCondition> {
    let steps = parse_pointer(node.get("arg")?.text()?).ok()?;
    let prefix = node.get("prefix").and_then(ConfigNode::text);
    let test = if let Some(prefix) = prefix {
        RunTest::Prefix(prefix.to_owned())
    } else if let Some(value) = node.get("equals") {
        RunTest::Equals(value.to_json())
    } else if let Some(values) = node.get("one_of").and_then(ConfigNode::list) {
        RunTest::OneOf(values.iter().map(ConfigNode::to_json).collect())
    } else {
        RunTest::Present(node.get("present").and_then(ConfigNode::bool)?)
    };
    Some(RunCondition::new(steps, test))
}

/// The keys that say what an argument must be.
const TESTS: [&str; 4] = ["equals", "prefix", "one_of", "present"];
