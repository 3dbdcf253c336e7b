//! Templates in a command, as far as they can be judged before a call fills them in.
//!
//! They are parsed by the engine that fills them in later, so both read them alike.

use std::collections::{BTreeSet, HashSet};

use indexmap::IndexMap;
use jig_proto::{Hint, hint};
use minijinja::{Environment, ErrorKind, UndefinedBehavior};
use serde_json::{Map, Value as Json, json};

use super::Command;
use crate::model::{Input, Parameter};
use crate::quoting::{clean, closest, quote};

/// Whether anything in a word is to be filled in.
pub(crate) fn is_template(word: &str) -> bool {
    ["{{", "{%", "{#"].iter().any(|mark| word.contains(mark))
}

/// Why a word is no template, if it is none.
pub(super) fn syntax_error(word: &str) -> Option<String> {
    if !is_template(word) {
        return None;
    }
    let environment = environment(UndefinedBehavior::Chainable);
    let error = environment.template_from_str(word).err()?;
    Some(in_words(&error))
}

/// What the commands of a tool can be filled in with.
pub(crate) struct TemplateValues<'a> {
    pub(crate) parameters: &'a IndexMap<String, Parameter>,
    pub(crate) options: Map<String, Json>,
    pub(crate) input: Input,
}

/// Something in a template that can never have a value.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// The word.
    pub(crate) word: String,
    /// Why, as it follows the word.
    pub(crate) why: String,
    pub(crate) help: Hint,
}

impl Command {
    /// What of the command's templates can never have a value.
    pub(crate) fn mistakes(&self, known: &TemplateValues<'_>) -> Vec<Mistake> {
        let words = self.words().filter(|word| is_template(word));
        words.filter_map(|word| known.mistake(word)).collect()
    }

    /// The parameters that no word of the command names.
    pub(crate) fn unused<'p>(&self, parameters: &'p IndexMap<String, Parameter>) -> Vec<&'p str> {
        let mut used = HashSet::new();
        for word in self.words().filter(|word| is_template(word)) {
            for variable in variables(word) {
                let mut steps = variable.split('.');
                match (steps.next(), steps.next(), steps.next()) {
                    (Some("tool"), None, _) | (Some("tool"), Some("arguments"), None) => {
                        return Vec::new();
                    }
                    (Some("tool"), Some("arguments"), Some(name)) => {
                        used.insert(name.to_owned());
                    }
                    _ => {}
                }
            }
        }
        let names = parameters.keys().map(String::as_str);
        names.filter(|name| !used.contains(*name)).collect()
    }

    /// The program and its arguments, as they were written.
    pub(crate) fn words(&self) -> impl Iterator<Item = &str> {
        let words = std::iter::once(&self.program).chain(&self.args);
        words.map(String::as_str)
    }
}

impl TemplateValues<'_> {
    fn mistake(&self, word: &str) -> Option<Mistake> {
        if let Some((why, help)) = self.unknown_function(word) {
            return Some(Mistake {
                word: word.to_owned(),
                why,
                help,
            });
        }
        let unknown = variables(word);
        let (why, help) = unknown.iter().find_map(|name| self.unknown(name))?;
        // What is given a default, or asked whether it is there, may be missing.
        self.needs_it(word).then(|| Mistake {
            word: word.to_owned(),
            why,
            help,
        })
    }

    /// Why a variable can never have a value, and what to do.
    fn unknown(&self, variable: &str) -> Option<(String, Hint)> {
        let steps: Vec<&str> = variable.split('.').collect();
        match steps.as_slice() {
            ["tool", "arguments", name, below @ ..] => self.unknown_argument(name, below),
            ["tool", member, ..] => self.unknown_member("tool", member, &TOOL),
            ["context", member, ..] => self.unknown_member("context", member, &CONTEXT),
            ["input", "file", ..] if self.input != Input::File => Some((
                "`input.file` has no value: the tool does not get its call as a file".to_owned(),
                hint!("write `input = \"file\"`"),
            )),
            ["input", member, ..] => self.unknown_member("input", member, &INPUT),
            ["tool" | "context" | "input"] => None,
            [root, ..] => {
                let is_parameter = self.parameters.contains_key(*root);
                let help = match closest(root, ROOTS) {
                    _ if is_parameter => {
                        hint!("write `{{{{tool.arguments.{}}}}}`", clean(root))
                    }
                    Some(meant) => hint!("did you mean `{meant}`?"),
                    None => hint!(
                        "write `tool.arguments.NAME` for an argument of the call; `tool`, `context` and `input` are \
                         all that there is"
                    ),
                };
                Some((format!("there is no {}", quote(root)), help))
            }
            [] => None,
        }
    }

    fn unknown_argument(&self, name: &str, below: &[&str]) -> Option<(String, Hint)> {
        let mut known = self.parameters;
        let mut path = "tool.arguments".to_owned();
        for step in std::iter::once(&name).chain(below) {
            if let Some(parameter) = known.get(*step) {
                path = format!("{path}.{step}");
                known = &parameter.properties;
                // What an object without declared properties holds is not known.
                if known.is_empty() {
                    return None;
                }
                continue;
            }
            let help = match closest(step, known.keys().map(String::as_str)) {
                Some(meant) => hint!("did you mean `{{{{{}.{}}}}}`?", clean(&path), clean(meant)),
                None if path == "tool.arguments" => hint!(
                    "declare it, `parameters.{} = {{ type = \"string\" }}`, or remove the template",
                    clean(&crate::quoting::key(step))
                ),
                None => hint!("declare it below `properties`, or remove the template"),
            };
            let what = match path.as_str() {
                "tool.arguments" => "the tool has no parameter".to_owned(),
                path => format!("{} has no", quote(path)),
            };
            return Some((format!("{what} {}", quote(step)), help));
        }
        None
    }

    fn unknown_member(
        &self,
        of: &str,
        member: &str,
        known: &[&'static str],
    ) -> Option<(String, Hint)> {
        if known.contains(&member) {
            return None;
        }
        let is_parameter = of == "tool" && self.parameters.contains_key(member);
        let members: Vec<String> = known.iter().map(|one| format!("`{of}.{one}`")).collect();
        let help = match closest(member, known.iter().copied()) {
            _ if is_parameter => hint!("write `{{{{tool.arguments.{}}}}}`", clean(member)),
            Some(meant) => hint!("did you mean `{{{{{of}.{meant}}}}}`?"),
            None => hint!("there is {}", members.join(", ")),
        };
        Some((format!("`{of}` has no {}", quote(member)), help))
    }

    /// Whether a word can't be filled in without what it names.
    fn needs_it(&self, word: &str) -> bool {
        let names = self.parameters.keys();
        let arguments: Map<String, Json> = names.map(|name| (name.clone(), json!("x"))).collect();
        let input = match self.input {
            Input::File => json!({ "file": "x" }),
            _ => json!({}),
        };
        let values = json!({
            "tool": {
                "name": "x", "arguments": arguments, "answers": {}, "options": self.options,
                "action": "spawn",
            },
            "context": {
                "action": "run", "root": "x", "access": {}, "workspace_id": "x",
                "conversation_id": "x",
            },
            "input": input,
        });
        let rendered = environment(UndefinedBehavior::Strict).render_str(word, &values);
        rendered.is_err()
    }

    /// A filter, a test or a function that does not exist, as far as an empty call meets it.
    fn unknown_function(&self, word: &str) -> Option<(String, Hint)> {
        let environment = environment(UndefinedBehavior::Chainable);
        let error = environment.render_str(word, ()).err()?;
        match error.kind() {
            ErrorKind::UnknownFilter | ErrorKind::UnknownTest | ErrorKind::UnknownFunction => {
                Some((
                    in_words(&error),
                    hint!(
                        "correct its name; `default('')`, `tojson`, `join(' ')`, `lower` and `trim` are among those \
                         that there are"
                    ),
                ))
            }
            _ => None,
        }
    }
}

/// The variables of a template, dotted, sorted.
fn variables(word: &str) -> BTreeSet<String> {
    let environment = environment(UndefinedBehavior::Chainable);
    let Ok(template) = environment.template_from_str(word) else {
        return BTreeSet::new();
    };
    let found = template.undeclared_variables(true);
    // Functions of the engine, such as `range`, are no variables.
    let globals: HashSet<String> = environment
        .globals()
        .map(|(name, _)| name.to_owned())
        .collect();
    let is_ours = |name: &String| !globals.contains(name);
    found.into_iter().filter(is_ours).collect()
}

fn environment(undefined: UndefinedBehavior) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(undefined);
    environment.set_fuel(Some(MOST_STEPS));
    environment
}

/// What the engine says, without the name that it gives to a template without one.
fn in_words(error: &minijinja::Error) -> String {
    match error.detail() {
        Some(detail) => detail.to_owned(),
        None => error.kind().to_string(),
    }
}

/// How much a template may do while it is looked at.
const MOST_STEPS: u64 = 10_000;

/// The values that a template can name.
const ROOTS: [&str; 3] = ["tool", "context", "input"];

const TOOL: [&str; 5] = ["name", "arguments", "answers", "options", "action"];

const CONTEXT: [&str; 5] = [
    "action",
    "root",
    "access",
    "workspace_id",
    "conversation_id",
];

const INPUT: [&str; 1] = ["file"];

#[cfg(test)]
mod tests;
