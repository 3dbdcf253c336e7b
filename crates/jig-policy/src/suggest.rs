//! The smallest addition to the rules under which a refused request would be allowed.

use std::collections::HashMap;
use std::fmt::Write as _;

use jig_proto::{ProjectPath, is_deceptive};

use crate::command::CommandProgram;
use crate::decision::{Reason, Rule};
use crate::env::EnvUse;
use crate::host::check_method;
use crate::net::NetTarget;
use crate::policy::Policy;
use crate::resolve::ResolvedPath;
use crate::rules::{
    DeclaredAccess, DeclaredCommandRule, DeclaredEnvRule, DeclaredFsRule, DeclaredNetRule,
    RuleOrigin,
};
use crate::target::MovedEntry;
use crate::{Capability, FileCapabilities, Verdict};

/// Rules to add, behind those that exist.
///
/// With them the request is allowed and nothing else that was allowed is lost: where the first rule
/// of a resource would switch off the runtime's default, the default is restated as a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    rules: DeclaredAccess,
}

impl Suggestion {
    /// The rules to append to those declared; a command rule replaces the one on its program.
    pub fn rules(&self) -> &DeclaredAccess {
        &self.rules
    }

    /// The access with the suggestion taken.
    #[must_use]
    pub fn applied_to(&self, access: &DeclaredAccess) -> DeclaredAccess {
        let mut access = access.clone();
        access.fs.extend(self.rules.fs.iter().cloned());
        access.net.extend(self.rules.net.iter().cloned());
        access.env.extend(self.rules.env.iter().cloned());
        if let Some(commands) = &self.rules.commands {
            access
                .commands
                .get_or_insert_default()
                .extend(commands.iter().cloned());
        }
        access
    }

    /// A rule on `path` that grants these capabilities there and below, and what is granted there now; `None`
    /// if no rule can grant them.
    pub fn granting(
        policy: &Policy,
        path: &ProjectPath,
        capabilities: FileCapabilities,
    ) -> Option<Self> {
        let mut rules = Vec::new();
        for capability in capabilities.iter() {
            match policy.fs.decide_itself(capability, path).reason {
                Reason::Granted => {}
                Reason::Protected(_) => return None,
                _ => name_it(policy, capability, path, &mut rules),
            }
        }
        Self::of_fs(policy, rules)
    }

    /// Both together. Two rules on one path become one that grants what either does.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        for rule in other.rules.fs {
            let same = self.rules.fs.iter_mut().find(|mine| mine.path == rule.path);
            match same {
                Some(mine) => mine.capabilities = mine.capabilities.with(rule.capabilities),
                None => self.rules.fs.push(rule),
            }
        }
        let new = |rule: &DeclaredNetRule| !self.rules.net.contains(rule);
        let net: Vec<DeclaredNetRule> = other.rules.net.into_iter().filter(new).collect();
        self.rules.net.extend(net);
        let new = |rule: &DeclaredEnvRule| !self.rules.env.contains(rule);
        let env: Vec<DeclaredEnvRule> = other.rules.env.into_iter().filter(new).collect();
        self.rules.env.extend(env);
        for rule in other.rules.commands.into_iter().flatten() {
            let mine = self.rules.commands.get_or_insert_default();
            if !mine.contains(&rule) {
                mine.push(rule);
            }
        }
        self
    }

    /// The rules as TOML for the tool of this name, ready to be pasted.
    pub fn to_toml(&self, tool: &str) -> String {
        self.to_toml_in(&format!("tools.{}", toml_key(tool)))
    }

    /// The same for the table of this dotted name, such as `mcp.servers.git`, which stands as it is.
    pub fn to_toml_in(&self, table: &str) -> String {
        let mut text = String::new();
        for rule in &self.rules.fs {
            let _ = writeln!(text, "[[{table}.access.fs]]");
            // A configuration takes `~/` for the home, which no rule names.
            let path = match rule.path.starts_with('~') {
                true => format!("./{}", rule.path),
                false => rule.path.clone(),
            };
            let _ = writeln!(text, "path = {}", toml_string(&path));
            text.push_str(&capability_lines(rule.capabilities));
            text.push('\n');
        }
        for rule in &self.rules.net {
            let _ = writeln!(text, "[[{table}.access.net]]");
            let _ = writeln!(text, "host = {}", toml_string(&rule.host));
            if let Some(scheme) = &rule.scheme {
                let _ = writeln!(text, "scheme = {}", toml_string(scheme));
            }
            if let Some(port) = rule.port {
                let _ = writeln!(text, "port = {port}");
            }
            if let Some(prefix) = &rule.path_prefix {
                let _ = writeln!(text, "path_prefix = {}", toml_string(prefix));
            }
            if let Some(methods) = &rule.methods {
                let _ = writeln!(text, "methods = {}", toml_list(methods));
            }
            let _ = writeln!(text, "allow = {}\n", rule.allow);
        }
        for rule in &self.rules.env {
            let _ = writeln!(text, "[[{table}.access.env]]");
            let _ = writeln!(text, "name = {}", toml_string(&rule.name));
            let grants = [("read", rule.read), ("header", rule.header)];
            for (key, _) in grants.iter().filter(|(_, granted)| *granted) {
                let _ = writeln!(text, "{key} = true");
            }
            text.push('\n');
        }
        for rule in self.rules.commands.iter().flatten() {
            let _ = writeln!(
                text,
                "[{table}.access.commands.{}]",
                toml_key(&rule.program)
            );
            if let Some(lists) = &rule.args {
                let lists: Vec<String> = lists.iter().map(|list| toml_list(list)).collect();
                let _ = writeln!(text, "args = [{}]", lists.join(", "));
            }
            if !rule.envs.is_empty() {
                let _ = writeln!(text, "envs = {}", toml_list(&rule.envs));
            }
            text.push('\n');
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }

    pub(crate) fn for_file(
        policy: &Policy,
        capability: Capability,
        path: &ResolvedPath,
    ) -> Option<Self> {
        let mut rules = Vec::new();
        add_file_rules(policy, capability, path, &mut rules)?;
        Self::of_fs(policy, rules)
    }

    pub(crate) fn for_move(
        policy: &Policy,
        from: &ResolvedPath,
        to: &ResolvedPath,
        entry: MovedEntry,
    ) -> Option<Self> {
        if entry == MovedEntry::Link && policy.fs.is_rule_itself(to.path()) {
            return None;
        }
        let mut rules = Vec::new();
        add_file_rules(policy, Capability::Delete, from, &mut rules)?;
        let wanted = if to.exists() {
            Capability::Update
        } else {
            Capability::Create
        };
        add_file_rules(policy, wanted, to, &mut rules)?;
        if entry == MovedEntry::Directory {
            add_rules_below(policy, Capability::Create, to, &mut rules)?;
        }
        Self::of_fs(policy, rules)
    }

    fn of_fs(policy: &Policy, rules: Vec<DeclaredFsRule>) -> Option<Self> {
        if rules.is_empty() {
            return None;
        }
        let mut fs = Vec::new();
        let default = policy.default_access().fs;
        if !policy.fs_declared && !default.is_empty() {
            fs.push(fs_rule(".", default));
        }
        // Two needs of one path are one rule. There can be as many as the policy has rules.
        let mut places: HashMap<String, usize> = HashMap::new();
        places.extend(
            fs.iter()
                .map(|rule: &DeclaredFsRule| (rule.path.clone(), 0)),
        );
        for rule in rules {
            match places.get(&rule.path) {
                Some(place) => {
                    let other: &mut DeclaredFsRule = &mut fs[*place];
                    other.capabilities = other.capabilities.with(rule.capabilities);
                }
                None => {
                    places.insert(rule.path.clone(), fs.len());
                    fs.push(rule);
                }
            }
        }
        let rules = DeclaredAccess {
            fs,
            ..DeclaredAccess::default()
        };
        Some(Self { rules })
    }

    pub(crate) fn for_url(policy: &Policy, target: &NetTarget) -> Option<Self> {
        let decision = policy.decide_net(target);
        let web = matches!(target.scheme(), "http" | "https" | "ws" | "wss");
        let default_port = NetTarget::parse(&format!("{}://host/", target.scheme()))
            .is_ok_and(|plain| plain.port() == target.port());
        let mut rule = DeclaredNetRule {
            host: target.host().to_owned(),
            scheme: (!web && default_port).then(|| target.scheme().to_owned()),
            port: (!default_port).then_some(target.port()),
            path_prefix: None,
            methods: None,
            allow: true,
            origin: suggested(),
        };
        let method = || {
            let method = target.method().and_then(|method| check_method(method).ok());
            method.map(|method| vec![method])
        };
        match (decision.verdict, decision.rule) {
            (Verdict::Allow, _) | (Verdict::Deny, None) => return None,
            // No prefix can be written for a path that can be read in two ways.
            (Verdict::Deny, _) if target.is_ambiguous() => return None,
            // A rule denies on purpose: open this very path and be as specific in all else.
            (Verdict::Deny, Some(Rule::Net(denying))) => {
                rule.path_prefix = Some(format!("/{}", encode(target.segments())));
                rule.scheme = denying.scheme.clone().or(rule.scheme);
                rule.port = denying.declared.port.or(rule.port);
                if !denying.methods.is_empty() {
                    rule.methods = Some(method()?);
                }
            }
            // The rules tell methods apart, and so does this one.
            (Verdict::Uncovered, _) if policy.has_rule_on_other_method(target) => {
                rule.methods = Some(method()?);
            }
            _ => {}
        }
        Self::of_net(vec![rule])
    }

    /// Rules on hosts, if there are any.
    pub(crate) fn of_net(rules: Vec<DeclaredNetRule>) -> Option<Self> {
        let rules = DeclaredAccess {
            net: rules,
            ..DeclaredAccess::default()
        };
        (!rules.net.is_empty()).then_some(Self { rules })
    }

    pub(crate) fn for_variable(policy: &Policy, wanted: EnvUse, name: &str) -> Option<Self> {
        if policy.decide_env(wanted, name).is_allowed() || crate::env::check_name(name).is_err() {
            return None;
        }
        // A name that ends in `*` cannot be told from a prefix, so no rule can name it.
        if name.contains('*') {
            return None;
        }
        let rule = DeclaredEnvRule {
            name: name.to_owned(),
            read: wanted == EnvUse::Read,
            header: wanted == EnvUse::Header,
            origin: suggested(),
        };
        let rules = DeclaredAccess {
            env: vec![rule],
            ..DeclaredAccess::default()
        };
        Some(Self { rules })
    }

    pub(crate) fn for_program(
        policy: &Policy,
        program: &CommandProgram,
        args: &[String],
    ) -> Option<Self> {
        let mut rules = DeclaredAccess::default();
        if let CommandProgram::File(file) = program {
            let mut fs = Vec::new();
            add_file_rules(policy, Capability::Execute, file, &mut fs)?;
            if let Some(suggestion) = Self::of_fs(policy, fs) {
                rules.fs = suggestion.rules.fs;
            }
        }
        let decision = policy.commands.decide(program, args);
        // In a rule `**` means any rest, so from there on nothing narrower can be written.
        let literal = args.iter().take_while(|arg| *arg != "**").count();
        let exact: Vec<String> = args.iter().take(literal + 1).cloned().collect();
        match (decision.verdict, decision.rule) {
            (Verdict::Allow, _) => {}
            (_, Some(Rule::Command(listed))) => {
                let mut rule = listed.declared.clone();
                rule.origin = suggested();
                rule.args.get_or_insert_default().push(exact);
                rules.commands = Some(vec![rule]);
            }
            _ => {
                rules.commands = Some(vec![DeclaredCommandRule {
                    program: program.to_string(),
                    args: Some(vec![exact]),
                    envs: Vec::new(),
                    origin: suggested(),
                }]);
            }
        }
        (rules != DeclaredAccess::default()).then_some(Self { rules })
    }
}

/// Adds what `capability` on `path` needs; `None` if no rule could allow it.
fn add_file_rules(
    policy: &Policy,
    capability: Capability,
    path: &ResolvedPath,
    rules: &mut Vec<DeclaredFsRule>,
) -> Option<()> {
    match policy.fs.decide_itself(capability, path.path()).reason {
        Reason::Granted => {}
        Reason::Protected(_) => return None,
        _ => name_it(policy, capability, path.path(), rules),
    }
    if capability == Capability::Delete {
        add_rules_below(policy, capability, path, rules)?;
    }
    Some(())
}

/// Adds what it takes to remove, or to bring in, all that is below `path` at once.
fn add_rules_below(
    policy: &Policy,
    capability: Capability,
    path: &ResolvedPath,
    rules: &mut Vec<DeclaredFsRule>,
) -> Option<()> {
    let pinned = policy.fs.pinned(path.path(), capability);
    if let Some(Reason::ProtectedBelow(_)) = pinned.map(|pinned| pinned.reason) {
        return None;
    }
    lift_below(policy, capability, path, rules);
    for sensitive in policy.fs.unnamed_below(path.path()) {
        name_it(policy, capability, &sensitive.path?, rules);
    }
    Some(())
}

/// A rule on the path itself: what is granted there now, and the capability.
fn name_it(
    policy: &Policy,
    capability: Capability,
    path: &ProjectPath,
    rules: &mut Vec<DeclaredFsRule>,
) {
    // What is granted on the path alone is granted below it, too, and must stay so there.
    let granted: FileCapabilities = Capability::ALL
        .into_iter()
        .filter(|one| policy.fs.decide_alone(*one, path).is_allowed())
        .collect();
    rules.push(fs_rule(&path.to_string(), granted.with(capability.into())));
}

/// A rule for every path below that withholds the capability.
fn lift_below(
    policy: &Policy,
    capability: Capability,
    path: &ResolvedPath,
    rules: &mut Vec<DeclaredFsRule>,
) {
    for rule in policy.fs_rules() {
        let below = rule.path() != path.path() && rule.path().starts_with(path.path());
        if below && policy.fs.counts(rule, capability) && !rule.capabilities().has(capability) {
            let lifted = rule.capabilities().with(capability.into());
            rules.push(fs_rule(&rule.path().to_string(), lifted));
        }
    }
}

fn fs_rule(path: &str, capabilities: FileCapabilities) -> DeclaredFsRule {
    DeclaredFsRule {
        path: path.to_owned(),
        capabilities,
        origin: suggested(),
    }
}

pub(crate) fn suggested() -> RuleOrigin {
    RuleOrigin::named("suggested")
}

fn encode(segments: &[String]) -> String {
    let encoded: Vec<String> = segments
        .iter()
        .map(|segment| {
            percent_encoding::utf8_percent_encode(segment, percent_encoding::NON_ALPHANUMERIC)
                .to_string()
                .replace("%2D", "-")
                .replace("%2E", ".")
                .replace("%5F", "_")
                .replace("%7E", "~")
        })
        .collect();
    encoded.join("/")
}

fn capability_lines(capabilities: FileCapabilities) -> String {
    let mut lines = String::new();
    for one in capabilities.iter() {
        if capabilities.covers(FileCapabilities::WRITE) && FileCapabilities::WRITE.has(one) {
            if one == Capability::Create {
                lines.push_str("write = true\n");
            }
        } else {
            let _ = writeln!(lines, "{one} = true");
        }
    }
    lines
}

fn toml_list(items: &[String]) -> String {
    let items: Vec<String> = items.iter().map(|item| toml_string(item)).collect();
    format!("[{}]", items.join(", "))
}

/// A key of TOML that is exactly `key`, quoted only if it has to be.
pub fn toml_key(key: &str) -> String {
    let bare = !key.is_empty()
        && key
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'));
    if bare {
        key.to_owned()
    } else {
        toml_string(key)
    }
}

/// A TOML string that holds exactly `text`, whatever is in it. What steers a terminal, or hides or reverses text, is
/// escaped: people read a rule before they paste it.
pub fn toml_string(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if is_deceptive(c) => {
                let _ = write!(quoted, "\\U{:08X}", c as u32);
            }
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests;
