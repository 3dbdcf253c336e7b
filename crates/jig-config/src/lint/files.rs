//! Rules on files: repeated, redundant, misspelt, or opening what they should not.

use jig_policy::{Capability, DeclaredFsRule, FileCapabilities, Guards, ProtectionLevel};
use jig_proto::{Hint, ProjectPath, hint};

use crate::loading::files;
use crate::loading::sources::Sources;
use crate::model::{Config, RulePlace, Tool};
use crate::problem::Problem;
use crate::quoting::{closest, quote};

/// A rule with its path in normal form and its place.
struct LintedRule<'a> {
    rule: &'a DeclaredFsRule,
    path: ProjectPath,
    place: &'a RulePlace,
}

impl LintedRule<'_> {
    fn grants(&self) -> FileCapabilities {
        self.rule.capabilities
    }

    fn warn(&self, message: String, help: Hint) -> Problem {
        Problem::warning(message, help)
            .at(&self.place.origin, "")
            .key(self.place.key.clone())
    }
}

pub(super) fn lint(sources: &Sources, config: &Config, tool: &Tool, warnings: &mut Vec<Problem>) {
    if tool.access.fs.is_empty() {
        return;
    }
    let rules: Vec<LintedRule<'_>> = tool
        .access
        .fs
        .iter()
        .zip(&tool.places.fs)
        .filter_map(|(rule, place)| {
            let relative = rule.path.strip_prefix(sources.workspace.as_str());
            let relative = relative.map_or(rule.path.as_str(), |rest| rest.trim_start_matches('/'));
            let path = if relative.is_empty() { "." } else { relative };
            Some(LintedRule {
                rule,
                path: ProjectPath::normalize(path).ok()?,
                place,
            })
        })
        .collect();
    let guards = config.guards(tool, &sources.workspace);
    for (index, rule) in rules.iter().enumerate() {
        if let Some(later) = rules[index + 1..]
            .iter()
            .find(|later| later.path == rule.path)
        {
            warnings.push(never_applies(rule, later));
            continue;
        }
        warnings.extend(redundant(rule, &rules, &guards));
        warnings.extend(sensitive(rule, &guards));
        warnings.extend(protected(rule, &guards));
        warnings.extend(misspelt(rule, sources));
    }
    warnings.extend(history(tool, &rules, sources));
}

fn never_applies(rule: &LintedRule<'_>, later: &LintedRule<'_>) -> Problem {
    rule.warn(
        format!(
            "this rule on {} never applies: a later one is on the same path",
            quote(&rule.rule.path)
        ),
        hint!("remove it, or put what both grant into one rule"),
    )
    .and(&later.place.origin, "this one decides")
}

/// The rule that would decide if this one were not there.
fn next_broader<'a>(path: &ProjectPath, rules: &'a [LintedRule<'a>]) -> Option<&'a LintedRule<'a>> {
    let above = |rule: &&LintedRule<'_>| rule.path != *path && path.starts_with(&rule.path);
    // On equal depth the last one decides, which `max_by_key` returns.
    rules
        .iter()
        .filter(above)
        .max_by_key(|rule| rule.path.depth())
}

fn redundant(rule: &LintedRule<'_>, rules: &[LintedRule<'_>], guards: &Guards) -> Option<Problem> {
    let broader = next_broader(&rule.path, rules)?;
    // A rule that names what is guarded grants more than the same words on a broader path.
    let guarded = guards.sensitive.find(&rule.path).is_some()
        || guards.protection(&rule.path).is_some()
        || guards
            .protected
            .iter()
            .any(|guard| guard.path.starts_with(&rule.path));
    if broader.grants() != rule.grants() || guarded {
        return None;
    }
    let problem = rule.warn(
        format!(
            "this rule on {} changes nothing: the one on {} grants the same ({})",
            quote(&rule.rule.path),
            quote(&broader.rule.path),
            rule.grants()
        ),
        hint!("remove it, or change what it grants"),
    );
    Some(problem.and(&broader.place.origin, "the broader rule"))
}

fn sensitive(rule: &LintedRule<'_>, guards: &Guards) -> Option<Problem> {
    let found = guards.sensitive.find(&rule.path)?;
    if rule.grants().is_empty() {
        return None;
    }
    Some(rule.warn(
        format!(
            "this rule gives the tool {} on {}, which is on the list of sensitive paths (`{}`)",
            rule.grants(),
            quote(&rule.rule.path),
            found.pattern
        ),
        hint!("remove the rule unless the tool needs exactly this file"),
    ))
}

fn protected(rule: &LintedRule<'_>, guards: &Guards) -> Option<Problem> {
    let changes = rule.grants() & FileCapabilities::WRITE;
    if changes.is_empty() {
        return None;
    }
    let (guard, _) = guards.protection(&rule.path)?;
    let path = quote(&rule.rule.path);
    Some(match guard.level {
        ProtectionLevel::Never => rule.warn(
            format!(
                "this rule on {path} has no effect on changes: it is {}, which no tool may change",
                guard.what
            ),
            hint!("remove `write`, `create`, `update` and `delete` from the rule"),
        ),
        ProtectionLevel::Named => rule.warn(
            format!(
                "this rule lets the tool change {}: with that it can {}",
                guard.what,
                match jig_policy::Protected::is_of_git(&guard.what) {
                    true => "have them run outside its sandbox, when you use git",
                    false => "widen what tools may do",
                }
            ),
            hint!("remove the rule unless changing it is the tool's purpose"),
        ),
    })
}

/// A path that does not exist may be meant for later; one that is nearly another is a slip.
fn misspelt(rule: &LintedRule<'_>, sources: &Sources) -> Option<Problem> {
    let full = rule.path.under(&sources.workspace);
    let (parent, name) = (rule.path.parent()?, rule.path.file_name()?);
    if files::exists(&full) {
        return None;
    }
    let names = files::names_in(&parent.under(&sources.workspace));
    let meant = closest(name, names.iter().map(String::as_str))?;
    let meant = match parent.is_root() {
        true => meant.to_owned(),
        false => format!("{parent}/{meant}"),
    };
    Some(rule.warn(
        format!(
            "this rule is on {}, which does not exist",
            quote(&rule.rule.path)
        ),
        hint!("did you mean {}?", quote(&meant)),
    ))
}

/// A denied file can often still be read from the history that git keeps.
fn history(tool: &Tool, rules: &[LintedRule<'_>], sources: &Sources) -> Option<Problem> {
    let git = ProjectPath::normalize(".git").ok()?;
    let hidden = rules.iter().find(|rule| {
        !rule.grants().has(Capability::Read) && !rule.path.is_root() && !rule.path.starts_with(&git)
    })?;
    let covers = |rule: &&LintedRule<'_>| git.starts_with(&rule.path);
    let decides = rules
        .iter()
        .filter(covers)
        .max_by_key(|rule| rule.path.depth())?;
    if !decides.grants().has(Capability::Read) || !files::exists(&git.under(&sources.workspace)) {
        return None;
    }
    let problem = hidden.warn(
        format!(
            "{} can't be read directly, but `.git` can, and its history may hold the contents",
            quote(&hidden.rule.path)
        ),
        hint!(
            "if it was ever committed, also add a rule with `path = \".git\"` alone to `{}`",
            tool.name
        ),
    );
    Some(problem.and(&decides.place.origin, "makes `.git` readable"))
}
