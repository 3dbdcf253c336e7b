//! [`widening`]: what one configuration allows that another did not.
//!
//! A server that finds its configuration changed asks this before it obeys: what only narrows takes effect at
//! once, what may widen waits for a person. So everything counts as wider that is not known to be otherwise,
//! and a setting that nobody thought of here must not slip through: whoever adds one to [`Tool`] or
//! [`Config`] is led here by the compiler, because both are taken apart by all their fields.

mod access;
mod run;
mod server;
mod shared;
mod tool;

use std::fmt;

use crate::model::{Config, Tool};
use crate::origin::Origin;
use crate::quoting::quote_whole as quote;

/// One thing that a configuration allows and an earlier one did not, or might not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Widened {
    /// The tool that it is about, or the server by its key, `mcp.servers.NAME`; `None` for what all tools share.
    pub tool: Option<String>,
    /// What is new, as it follows the name of the tool: ``may now read `src` ``.
    pub what: String,
    /// Where it was written, if it was: what was taken away has no place any more.
    pub at: Option<Origin>,
}

/// ``build: may now read `src` (jig.toml:4)``.
impl fmt::Display for Widened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(tool) = &self.tool {
            write!(f, "{tool}: ")?;
        }
        f.write_str(&self.what)?;
        match &self.at {
            Some(at) => write!(f, " ({at})"),
            None => Ok(()),
        }
    }
}

/// What `new` allows that `old` did not, or might: one entry for each change, with the place where it was
/// written. Empty if `new` only narrows, or changes nothing that matters.
///
/// Titles, descriptions, examples, the schema of results, and the order of tools do not matter. Whether the
/// files that tools consist of have changed is not looked at, nor what servers say about their tools: that is held
/// where it is listed.
pub fn widening(old: &Config, new: &Config) -> Vec<Widened> {
    compared(old, new, NewTools::Widen)
}

/// The same for what a file of a workspace says over what holds without it: a new tool widens nothing that a person is
/// asked about before each run, and that has no more than every tool of its runtime.
pub(crate) fn beyond(defaults: &Config, new: &Config) -> Vec<Widened> {
    compared(defaults, new, NewTools::WidenBeyondDefaults)
}

/// When a tool that was not there counts as wider.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NewTools {
    Widen,
    WidenBeyondDefaults,
}

fn compared(old: &Config, new: &Config, new_tools: NewTools) -> Vec<Widened> {
    let mut changes = WideningSearch::default();
    shared::compare(old, new, &mut changes);
    for (name, server) in &new.servers {
        let before = old.servers.get(name).filter(|before| before.enable);
        if server.enable {
            server::compare(
                (old, before.map(AsRef::as_ref)),
                (new, server),
                &mut changes,
            );
        }
    }
    for (name, tool) in &new.tools {
        changes.tool = Some(name.to_string());
        match old.tools.get(name) {
            Some(before) => {
                let mut pair = ToolComparison {
                    old_config: old,
                    new_config: new,
                    old: before,
                    new: tool,
                    changes: &mut changes,
                };
                tool::compare(&mut pair);
                // What it was given while it was off matters only now.
                if tool.enable.on && !before.enable.on {
                    tool::whole(old, new, tool, &mut changes);
                }
            }
            // One that is switched off does nothing until it is switched on, which is the next change.
            None if !tool.enable.on => {}
            None => {
                let mut own = WideningSearch {
                    tool: changes.tool.clone(),
                    found: Vec::new(),
                };
                match new_tools {
                    NewTools::Widen => tool::whole(old, new, tool, &mut own),
                    NewTools::WidenBeyondDefaults => {
                        tool::beyond_defaults(old, new, tool, &mut own);
                    }
                }
                if new_tools == NewTools::Widen || !own.found.is_empty() {
                    let what = format!("is a new tool: {}", tool::started(tool));
                    changes.add(what, Some(tool.declared_at()));
                }
                changes.found.append(&mut own.found);
            }
        }
    }
    changes.found
}

/// What was found so far, and the tool that is looked at.
#[derive(Default)]
struct WideningSearch {
    tool: Option<String>,
    found: Vec<Widened>,
}

impl WideningSearch {
    /// Whether such a thing was found of this tool.
    fn is_told(&self, is_it: impl Fn(&str) -> bool) -> bool {
        let own = self.found.iter().filter(|one| one.tool == self.tool);
        own.into_iter().any(|one| is_it(&one.what))
    }

    fn add(&mut self, what: impl Into<String>, at: Option<&Origin>) {
        let one = Widened {
            tool: self.tool.clone(),
            what: what.into(),
            at: at.cloned(),
        };
        // A tool that is switched on is compared with what it was, and with nothing.
        if !self.found.contains(&one) {
            self.found.push(one);
        }
    }
}

/// A tool before and after.
struct ToolComparison<'a> {
    old_config: &'a Config,
    new_config: &'a Config,
    old: &'a Tool,
    new: &'a Tool,
    changes: &'a mut WideningSearch,
}

impl ToolComparison<'_> {
    fn add(&mut self, what: impl Into<String>, at: Option<&Origin>) {
        self.changes.add(what, at);
    }

    /// Adds a change of what the key says, where it is written now.
    fn add_at(&mut self, key: &str, what: impl Into<String>) {
        let at = self.new.origin(key).cloned();
        self.changes.add(what, at.as_ref());
    }

    /// Adds that a limit is higher than it was; none is the highest.
    fn raised<T: PartialOrd>(&mut self, key: &str, what: &str, old: Option<T>, new: Option<T>) {
        let is_raised = match (old, new) {
            (Some(old), Some(new)) => new > old,
            (Some(_), None) => true,
            (None, _) => false,
        };
        if is_raised {
            self.add_at(key, format!("{what} is higher, or there is none any more"));
        }
    }
}

/// `names` in backticks, with commas.
fn listed<'a>(names: impl IntoIterator<Item = &'a str>) -> String {
    let names: Vec<String> = names.into_iter().map(quote).collect();
    names.join(", ")
}
