//! Rules on hosts and variables: repeated or redundant.

use jig_policy::{DeclaredEnvRule, DeclaredNetRule, is_loader_prefix, is_loader_variable};
use jig_proto::hint;

use crate::model::{RulePlace, Tool};
use crate::problem::Problem;
use crate::quoting::quote;

pub(super) fn lint(tool: &Tool, warnings: &mut Vec<Problem>) {
    hosts(tool, warnings);
    opens_every_host(tool, warnings);
    variables(tool, warnings);
}

fn hosts(tool: &Tool, warnings: &mut Vec<Problem>) {
    let rules: Vec<(&DeclaredNetRule, &RulePlace)> =
        tool.access.net.iter().zip(&tool.places.net).collect();
    for (index, (rule, place)) in rules.iter().enumerate() {
        let later = rules[index + 1..]
            .iter()
            .find(|(later, _)| same_target(rule, later) && same_requests(rule, later));
        if let Some((_, other)) = later {
            warnings.push(never_applies("host", &rule.host, place, other));
            continue;
        }
        let broader = rules.iter().find(|(broader, _)| {
            same_target(rule, broader) && !looks_inside(broader) && looks_inside(rule)
        });
        // Only a rule between the two could make this one matter.
        let between = rules.iter().any(|(other, _)| {
            same_target(rule, other) && looks_inside(other) && other.allow != rule.allow
        });
        if let Some((_, other)) =
            broader.filter(|(broader, _)| broader.allow == rule.allow && !between)
        {
            warnings.push(changes_nothing("host", &rule.host, place, other));
        }
    }
}

/// A rule on all hosts lets a tool send what it reads to anybody.
fn opens_every_host(tool: &Tool, warnings: &mut Vec<Problem>) {
    let mut rules = tool.access.net.iter().zip(&tool.places.net);
    let Some((_, place)) = rules.find(|(rule, _)| rule.host == "*" && rule.allow) else {
        return;
    };
    let problem = Problem::warning(
        format!(
            "`{}` may send what it reads to any public host: this rule is on `*`",
            tool.name
        ),
        hint!("name the hosts that it needs, or all names below one as `*.example.com`"),
    );
    warnings.push(problem.at(&place.origin, "").key(place.key.clone()));
}

fn looks_inside(rule: &DeclaredNetRule) -> bool {
    rule.path_prefix.is_some() || rule.methods.is_some()
}

fn same_requests(one: &DeclaredNetRule, other: &DeclaredNetRule) -> bool {
    one.path_prefix == other.path_prefix && one.methods == other.methods
}

fn same_target(one: &DeclaredNetRule, other: &DeclaredNetRule) -> bool {
    one.host.eq_ignore_ascii_case(&other.host)
        && one.scheme == other.scheme
        && one.port == other.port
}

fn variables(tool: &Tool, warnings: &mut Vec<Problem>) {
    let rules: Vec<(&DeclaredEnvRule, &RulePlace)> =
        tool.access.env.iter().zip(&tool.places.env).collect();
    for (index, (rule, place)) in rules.iter().enumerate() {
        let later = rules[index + 1..]
            .iter()
            .find(|(later, _)| later.name == rule.name);
        if let Some((_, other)) = later {
            warnings.push(never_applies("variable", &rule.name, place, other));
            continue;
        }
        let literal = rule.name.trim_end_matches('*');
        let exact = literal == rule.name;
        if !exact && rule.read && is_loader_prefix(literal) {
            warnings.push(gives_nothing(&rule.name, place));
            continue;
        }
        // What makes programs run code is granted by its exact name only, which is no repetition.
        if exact && rule.read && is_loader_variable(literal) {
            continue;
        }
        let broader = rules
            .iter()
            .filter(|(broader, _)| broader.name != rule.name)
            .filter_map(|(broader, place)| Some((broader.name.strip_suffix('*')?, broader, place)))
            .filter(|(prefix, ..)| literal.starts_with(prefix))
            .max_by_key(|(prefix, ..)| prefix.len());
        if let Some((_, broader, other)) = broader
            && (broader.read, broader.header) == (rule.read, rule.header)
        {
            warnings.push(changes_nothing("variable", &rule.name, place, other));
        }
    }
}

fn gives_nothing(name: &str, place: &RulePlace) -> Problem {
    Problem::warning(
        format!(
            "this rule on {} gives the tool nothing: such variables make programs run code, so only \
             rules with their exact names grant them",
            quote(name)
        ),
        hint!("write one rule for each variable that the tool needs, with its whole name"),
    )
    .at(&place.origin, "")
    .key(place.key.clone())
}

fn never_applies(what: &str, name: &str, place: &RulePlace, other: &RulePlace) -> Problem {
    Problem::warning(
        format!(
            "this rule on {} never applies: a later one is on the same {what}",
            quote(name)
        ),
        hint!("remove it, or put what both grant into one rule"),
    )
    .at(&place.origin, "")
    .and(&other.origin, "this one decides")
    .key(place.key.clone())
}

fn changes_nothing(what: &str, name: &str, place: &RulePlace, other: &RulePlace) -> Problem {
    Problem::warning(
        format!(
            "this rule on {} changes nothing: a broader one on the same {what} says the same",
            quote(name)
        ),
        hint!("remove it, or change what it grants"),
    )
    .at(&place.origin, "")
    .and(&other.origin, "the broader rule")
    .key(place.key.clone())
}
