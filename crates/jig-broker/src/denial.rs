//! Refusals in the words that a tool gets.
//!
//! A denial teaches: it names what was asked, why it was refused, by which rule, what is granted
//! instead and the smallest rule that would allow it. Nothing of the host is in it: an origin
//! outside the workspace is cut to its file name.

use jig_policy::{Policy, Reason, Refusal, RuleKind, Verdict};
use jig_proto::vfs::{ErrorKind, ErrorReply, Method};
use jig_proto::{Denial, offered_rule};

use jig_proto::visible_line_to;

/// What a refusal needs besides the policy's own words.
pub(crate) struct DenialContext<'a> {
    pub(crate) policy: &'a Policy,
    /// The table of the configuration that holds the rules.
    pub(crate) table: &'a str,
    /// The root of the workspace on the host, which no tool gets to know.
    pub(crate) root: &'a str,
    /// The resource that was asked for.
    pub(crate) resource: RuleKind,
    /// The target as it may be shown.
    pub(crate) target: &'a str,
}

/// The kind of error for a decision that was not an allow.
pub(crate) fn kind_of(verdict: Verdict, reason: &Reason<'_>) -> ErrorKind {
    match reason {
        Reason::Sensitive(_) | Reason::SensitiveBelow(_) => ErrorKind::Sensitive,
        Reason::Protected(_) | Reason::NamedOnly(_) | Reason::ProtectedBelow(_) => {
            ErrorKind::Protected
        }
        _ if verdict == Verdict::Uncovered => ErrorKind::Uncovered,
        _ => ErrorKind::DeniedByRule,
    }
}

/// The answer to a refused request. `path` is the path as the tool wrote it, if it is about one.
pub(crate) fn error_reply(
    kind: ErrorKind,
    refusal: &Refusal,
    around: &DenialContext<'_>,
    path: Option<&str>,
) -> ErrorReply {
    let mut why = format!(
        "{} on `{}`: {}",
        refusal.operation,
        visible_line_to(around.target, MAX_TARGET),
        refusal.why
    );
    let grants = grants(around.policy, around.resource);
    if !grants.is_empty() {
        why.push_str(&format!(" (granted: {})", grants.join(", ")));
    }
    let mut reply = ErrorReply::denied(kind, why)
        .with_wanted(
            refusal.operation,
            visible_line_to(around.target, MAX_TARGET),
        )
        .with_grants(grants);
    if let Some(path) = path {
        reply = reply.with_path(path);
    }
    if let Some(rule) = rule_of(refusal, around.root) {
        reply = reply.with_rule(rule);
    }
    if let Some(suggestion) = &refusal.suggestion {
        reply = reply.with_hint(offered_rule(suggestion.to_toml_in(around.table)));
    }
    reply
}

/// The same refusal, as the result of a call tells it.
pub(crate) fn denial(refusal: &Refusal, around: &DenialContext<'_>) -> Denial {
    let suggestion = refusal.suggestion.as_ref();
    Denial {
        rule: rule_of(refusal, around.root),
        grants: grants(around.policy, around.resource),
        hint: suggestion.map(|suggestion| offered_rule(suggestion.to_toml_in(around.table))),
        ..Denial::new(
            refusal.operation,
            visible_line_to(around.target, MAX_TARGET),
            refusal.why.clone(),
        )
    }
}

/// A refusal that was answered, as the result of a call tells it; `None` if it is none.
pub(crate) fn of_reply(reply: &ErrorReply) -> Option<Denial> {
    let data = &reply.data;
    let (operation, target) = (data.operation.as_ref()?, data.target.as_ref()?);
    if !reply.kind().is_denial() {
        return None;
    }
    // The sentence says also what is told in parts here.
    let said = reply.message.strip_prefix("access denied: ");
    let said = said.unwrap_or(&reply.message);
    let why = said.strip_prefix(&format!("{operation} on `{target}`: "));
    let granted = format!(" (granted: {})", data.grants.join(", "));
    Some(Denial {
        rule: data.rule.clone(),
        grants: data.grants.clone(),
        hint: data.hint.clone(),
        ..Denial::new(
            operation,
            target,
            why.unwrap_or(said).replacen(&granted, "", 1),
        )
    })
}

/// A denial that was found where no single target was judged, completed by what is known of the request.
pub(crate) fn completed(
    error: ErrorReply,
    policy: &Policy,
    method: Method,
    target: &str,
) -> ErrorReply {
    if !error.kind().is_denial() || error.data.operation.is_some() {
        return error;
    }
    let (resource, operation) = match method.name().split_once('.') {
        Some(("http", _)) => (RuleKind::Net, "reach"),
        Some(("process", _)) => (RuleKind::Commands, "run"),
        Some((_, operation)) => (RuleKind::Fs, operation),
        None => (RuleKind::Fs, method.name()),
    };
    error
        .with_wanted(operation, visible_line_to(target, MAX_TARGET))
        .with_grants(grants(policy, resource))
}

/// The rule that decided, and where it stands.
fn rule_of(refusal: &Refusal, root: &str) -> Option<String> {
    let rule = refusal.rule.as_ref()?;
    Some(format!(
        "{} ({})",
        rule.text,
        public_origin(&rule.origin, root)
    ))
}

/// Where a rule stands, without telling where the host keeps its files.
pub(crate) fn public_origin<'a>(origin: &'a str, root: &str) -> &'a str {
    let inside = origin
        .strip_prefix(root)
        .and_then(|rest| rest.strip_prefix('/'));
    match inside {
        Some(inside) => inside,
        None if origin.starts_with(['/', '~', '\\']) || origin.contains(":\\") => {
            origin.rsplit(['/', '\\']).next().unwrap_or(origin)
        }
        None => origin,
    }
}

/// The first few grants, without origins.
pub(crate) fn grants(policy: &Policy, resource: RuleKind) -> Vec<String> {
    let mut texts: Vec<String> = match resource {
        RuleKind::Fs => {
            let rules = policy.fs_rules().iter();
            rules
                .filter(|rule| !rule.capabilities().is_empty())
                .map(|rule| format!("{} on `{}`", rule.capabilities(), rule.written()))
                .collect()
        }
        RuleKind::Net => {
            let rules = policy.net_rules().iter();
            rules
                .filter(|rule| rule.allow())
                .map(ToString::to_string)
                .collect()
        }
        RuleKind::Env => policy.env_rules().iter().map(ToString::to_string).collect(),
        RuleKind::Commands => {
            let rules = policy.command_rules().unwrap_or_default();
            rules.iter().map(ToString::to_string).collect()
        }
    };
    let more = texts.len().saturating_sub(MAX_GRANTS);
    texts.truncate(MAX_GRANTS);
    if let (Some(last), true) = (texts.last_mut(), more > 0) {
        last.push_str(&format!(" and {more} more"));
    }
    texts
}

/// How much of a target a message repeats. The tool knows it; the rest would be noise.
pub(crate) const MAX_TARGET: usize = 300;

/// How many grants a message names.
const MAX_GRANTS: usize = 5;

#[cfg(test)]
mod tests {
    use super::public_origin;

    #[test]
    fn origins_do_not_tell_where_the_host_keeps_its_files() {
        let check = |origin, expected| assert_eq!(public_origin(origin, "/home/u/ws"), expected);
        check("jig.toml:3", "jig.toml:3");
        check(".jig/config.toml:3", ".jig/config.toml:3");
        check("/home/u/ws/jig.toml:3", "jig.toml:3");
        check("/home/u/ws2/jig.toml:3", "jig.toml:3");
        check("/home/u/.config/jig/config.toml:9", "config.toml:9");
        check("~/.config/jig/config.toml:9", "config.toml:9");
        check("C:\\Users\\u\\jig.toml:9", "jig.toml:9");
        check("--set", "--set");
        check("built-in default", "built-in default");
    }
}
