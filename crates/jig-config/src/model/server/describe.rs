//! What a person reads before a server is accepted.

use jig_policy::DeclaredNetRule;

use super::read::ALL;
use super::{Server, ServerReach, ServerSettingText, looks_secret};
use crate::model::{Enforce, Tool};
use crate::quoting::{clean_whole, key};

impl Server {
    /// What a person accepts, line by line and without control characters: what is started or connected to, which
    /// variables it gets, and what it may read, change, run and reach. No value of a variable is in it, and nothing
    /// that looks like a secret.
    pub fn described(&self) -> Vec<String> {
        let mut lines = Vec::new();
        match &self.reach {
            ServerReach::Program { command, policy } => {
                let words: Vec<String> = command.iter().map(word).collect();
                lines.push(format!("runs {}", clean_whole(&words.join(" "))));
                for (name, value) in &self.env {
                    let value = shown(name, value);
                    lines.push(clean_whole(&format!("with {} = {value}", key(name))));
                }
                files(policy, &mut lines);
                outside(policy, &mut lines);
                hosts(policy, &mut lines);
                if let Some(download) = self.download() {
                    let what = download.packages.join("`, `");
                    lines.push(clean_whole(&format!(
                        "has `{what}` downloaded before its first start, by a run that sees nothing of the workspace"
                    )));
                }
                variables(policy, &mut lines);
                if !policy.sandbox.observe {
                    lines.push("is not watched: what it is refused is not told".to_owned());
                }
                if policy.sandbox.enforce == Enforce::BestEffort {
                    lines.push("also where this cannot be enforced".to_owned());
                }
            }
            ServerReach::Remote { url, headers } => {
                lines.push(clean_whole(&format!("connects to {}", shown("url", url))));
                for (name, value) in headers {
                    let value = shown(name, value);
                    lines.push(clean_whole(&format!("with the header {name}: {value}")));
                }
            }
        }
        for name in ["run", "result"] {
            if let Some(node) = self.values.get(name) {
                let value = node.to_json().to_string();
                lines.push(clean_whole(&format!("its tools have {name} = {value}")));
            }
        }
        for (tool, name, value) in &self.loosened {
            let is_said = matches!(*name, "run" | "result") && self.values.get(name).is_some();
            let is_shown = tool == ALL && is_said;
            if !is_shown {
                lines.push(clean_whole(&format!("{tool}: {name} = {value}")));
            }
        }
        if self.definitions == super::DefinitionMode::Follow {
            lines.push("its tools may change without being asked about".to_owned());
        }
        lines
    }
}

/// A word of a command, in quotes where it could be taken for several.
fn word(word: &ServerSettingText) -> String {
    let text = shown("", word);
    match text.is_empty() || text.contains(char::is_whitespace) {
        true => crate::show::basic_string(&text),
        false => text,
    }
}

/// A value as it is written, unless that is a secret.
fn shown(name: &str, value: &ServerSettingText) -> String {
    let written = value.to_string();
    match value.command().is_none() && looks_secret(name, &written) {
        true => HIDDEN.to_owned(),
        false => written,
    }
}

fn files(policy: &Tool, lines: &mut Vec<String>) {
    let rules = &policy.access.fs;
    if rules.is_empty() {
        let default = policy.default_access.fs;
        lines.push(match default.is_empty() {
            true => "may use no file of the workspace".to_owned(),
            false => format!("may {default} all of the workspace"),
        });
    }
    for rule in rules {
        lines.push(clean_whole(&match rule.capabilities.is_empty() {
            true => format!("may not use {}", rule.path),
            false => format!("may {} {}", rule.capabilities, rule.path),
        }));
    }
}

fn outside(policy: &Tool, lines: &mut Vec<String>) {
    for path in &policy.sandbox.system {
        let mut may = vec!["read"];
        may.extend(path.write.then_some("write"));
        may.extend(path.execute.then_some("execute"));
        let line = format!(
            "may {} {}, outside the workspace",
            may.join(", "),
            path.path
        );
        lines.push(clean_whole(&line));
    }
    for preset in &policy.sandbox.presets {
        lines.push(format!(
            "may use what the preset `{preset}` has of this machine"
        ));
    }
}

fn hosts(policy: &Tool, lines: &mut Vec<String>) {
    let allowed = policy.access.net.iter().filter(|rule| rule.allow);
    let before = lines.len();
    lines.extend(allowed.map(|rule| clean_whole(&format!("may reach {}", host(rule)))));
    if lines.len() == before {
        lines.push("may reach no host".to_owned());
    }
}

fn host(rule: &DeclaredNetRule) -> String {
    let scheme = rule.scheme.iter().map(|scheme| format!("{scheme}://"));
    let port = rule.port.iter().map(|port| format!(":{port}"));
    let path = rule.path_prefix.iter().cloned();
    let methods = rule
        .methods
        .iter()
        .map(|methods| format!("{} ", methods.join(",")));
    let scheme = methods.chain(scheme);
    let parts = scheme.chain([rule.host.clone()]).chain(port).chain(path);
    parts.collect()
}

fn variables(policy: &Tool, lines: &mut Vec<String>) {
    let read = policy.access.env.iter().filter(|rule| rule.read);
    lines.extend(read.map(|rule| clean_whole(&format!("may read the variable {}", rule.name))));
}

/// What stands for what is not shown.
pub(super) const HIDDEN: &str = "…";
