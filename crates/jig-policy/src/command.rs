//! Rules on programs, compiled.

use std::collections::HashMap;
use std::fmt;

use crate::decision::{Decision, Reason, Rule};
use crate::lookup::Lookup;
use crate::policy::{RuleError, RuleErrorKind, RuleKind};
use crate::resolve::{ResolveError, ResolvedPath, Workspace};
use crate::rules::{DeclaredCommandRule, RuleOrigin};

/// A program as a request names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandProgram {
    /// A name to be found on the search path.
    Name(String),
    /// A file of the workspace, which also needs the `execute` capability.
    File(ResolvedPath),
}

impl CommandProgram {
    /// Reads a program: one with a slash is a file of the workspace, another is a name.
    pub fn parse<L: Lookup>(
        text: &str,
        workspace: &Workspace<L>,
    ) -> Result<Self, ProgramNameError> {
        if text.is_empty() || text.contains('\0') || matches!(text, "." | "..") {
            return Err(ProgramNameError::Name(text.replace('\0', "\\0")));
        }
        if text.contains('/') {
            return Ok(Self::File(
                workspace.resolve(text).map_err(ProgramNameError::Path)?,
            ));
        }
        Ok(Self::Name(text.to_owned()))
    }

    /// The key under which rules are found: a name, or a canonical path with `./` before it.
    pub(crate) fn key(&self) -> String {
        match self {
            CommandProgram::Name(name) => name.clone(),
            CommandProgram::File(file) => format!("./{}", file.path()),
        }
    }
}

impl fmt::Display for CommandProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key())
    }
}

/// Why a text names no program.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramNameError {
    /// Not a name that a program can have.
    #[error("`{0}` is not the name of a program")]
    Name(String),
    /// A path that is not inside the workspace.
    #[error(transparent)]
    Path(ResolveError),
}

/// A rule with its program in normal form.
#[derive(Debug, Clone)]
pub struct CompiledCommandRule {
    pub(crate) declared: DeclaredCommandRule,
    program: CommandProgram,
}

impl CompiledCommandRule {
    /// The program.
    pub fn program(&self) -> &CommandProgram {
        &self.program
    }

    /// The variables that a run may be given.
    pub fn envs(&self) -> &[String] {
        &self.declared.envs
    }

    /// Where it was declared.
    pub fn origin(&self) -> &RuleOrigin {
        &self.declared.origin
    }

    /// The rule as it was declared.
    pub fn declared(&self) -> &DeclaredCommandRule {
        &self.declared
    }

    /// Whether the rule allows these arguments.
    pub fn allows(&self, args: &[String]) -> bool {
        let Some(lists) = &self.declared.args else {
            return true;
        };
        lists.iter().any(|list| match list.split_last() {
            Some((last, head)) if last == ANY_REST => args.starts_with(head),
            _ => args == list.as_slice(),
        })
    }
}

impl fmt::Display for CompiledCommandRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "run `{}`", self.declared.program)?;
        match &self.declared.args {
            None => f.write_str(" with any arguments"),
            Some(lists) if lists.is_empty() => f.write_str(" with no argument list"),
            Some(lists) => {
                f.write_str(" with ")?;
                for (number, list) in lists.iter().enumerate() {
                    if number > 0 {
                        f.write_str(" or ")?;
                    }
                    write!(f, "`{}`", list.join(" "))?;
                }
                Ok(())
            }
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct CommandTable {
    rules: Vec<CompiledCommandRule>,
    by_program: HashMap<String, u32>,
    /// Nothing is declared, and the default allows any program.
    any: bool,
    declared: bool,
}

impl CommandTable {
    pub(crate) fn compile<L: Lookup>(
        declared: Option<&[DeclaredCommandRule]>,
        any: bool,
        workspace: &Workspace<L>,
        errors: &mut Vec<RuleError>,
    ) -> Self {
        let mut table = Self {
            rules: Vec::new(),
            by_program: HashMap::new(),
            any: any && declared.is_none(),
            declared: declared.is_some(),
        };
        for (index, rule) in declared.unwrap_or_default().iter().enumerate() {
            match compile_rule(rule, workspace) {
                Ok(compiled) => {
                    let number = table.rules.len() as u32;
                    table.by_program.insert(compiled.program.key(), number);
                    table.rules.push(compiled);
                }
                Err(error) => errors.push(RuleError {
                    resource: RuleKind::Commands,
                    index,
                    origin: rule.origin.clone(),
                    kind: RuleErrorKind::Command(error),
                }),
            }
        }
        table
    }

    pub(crate) fn rules(&self) -> &[CompiledCommandRule] {
        &self.rules
    }

    pub(crate) fn is_declared(&self) -> bool {
        self.declared
    }

    pub(crate) fn allows_any(&self) -> bool {
        self.any
    }

    pub(crate) fn decide(&self, program: &CommandProgram, args: &[String]) -> Decision<'_> {
        if self.any {
            return Decision {
                verdict: crate::Verdict::Allow,
                reason: Reason::Granted,
                rule: None,
            };
        }
        if !self.declared {
            return Decision::uncovered(Reason::DefaultWithholds(RuleKind::Commands), None);
        }
        let number = self.by_program.get(&program.key());
        match number.and_then(|number| self.rules.get(*number as usize)) {
            None => Decision::uncovered(Reason::NoRule, None),
            Some(rule) if rule.allows(args) => Decision::allow(Rule::Command(rule)),
            Some(rule) => Decision::deny(Reason::Arguments, Some(Rule::Command(rule))),
        }
    }
}

fn compile_rule<L: Lookup>(
    rule: &DeclaredCommandRule,
    workspace: &Workspace<L>,
) -> Result<CompiledCommandRule, CommandRuleError> {
    let program =
        CommandProgram::parse(&rule.program, workspace).map_err(CommandRuleError::Program)?;
    for list in rule.args.iter().flatten() {
        let early = list.iter().rev().skip(1).any(|arg| arg == ANY_REST);
        if early {
            return Err(CommandRuleError::RestInside(list.join(" ")));
        }
    }
    for name in &rule.envs {
        if name.contains('*') {
            return Err(CommandRuleError::EnvPattern(name.clone()));
        }
        crate::env::check_name(name).map_err(CommandRuleError::Env)?;
    }
    Ok(CompiledCommandRule {
        declared: rule.clone(),
        program,
    })
}

/// Why a command rule cannot be compiled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandRuleError {
    /// The program is none.
    #[error(transparent)]
    Program(ProgramNameError),
    /// `**` before the end of an argument list.
    #[error("`**` may only stand at the end of an argument list: `{0}`")]
    RestInside(String),
    /// A pattern where only names are.
    #[error("`envs` holds exact names, not patterns: `{0}`")]
    EnvPattern(String),
    /// A name that no variable has.
    #[error(transparent)]
    Env(crate::env::EnvNameError),
}

/// At the end of an argument list: any further arguments.
const ANY_REST: &str = "**";

#[cfg(test)]
mod tests;
