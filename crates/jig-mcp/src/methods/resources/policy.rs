//! The policy of a tool, as text.

use jig_config::{OnUncovered, Tool};
use jig_engine::{CallError, Engine};
use jig_policy::{CompiledFsRule, ProtectionLevel};
use jig_proto::ToolAction;

/// All rules of a tool, defaults included, with the place where each was written.
pub(super) fn shown(engine: &Engine, tool: &Tool) -> Result<String, CallError> {
    let policy = engine.policy(tool)?;
    let guards = engine.guards(tool);
    let mut text = format!("{} ({} runtime)\n", tool.name, tool.runtime.name());
    for action in ToolAction::ALL {
        let is_offered = action == ToolAction::Spawn || tool.actions.has(action);
        if is_offered {
            let name = if tool.actions.is_one_shot() {
                "run"
            } else {
                action.name()
            };
            text.push_str(&format!("{name}: {}\n", tool.run.of(action)));
        }
    }
    text.push_str("\nFiles, relative to the workspace; the deepest rule decides:\n");
    lines(&mut text, policy.fs_rules(), "nothing", |rule| {
        let path = fs_path(rule);
        (
            format!("{path}: {}", rule.capabilities()),
            rule.origin().to_string(),
        )
    });
    text.push_str("\nNetwork:\n");
    lines(&mut text, policy.net_rules(), "nothing", |rule| {
        (rule.to_string(), rule.origin().to_string())
    });
    text.push_str("\nVariables of the host's environment:\n");
    lines(&mut text, policy.env_rules(), "none", |rule| {
        (rule.to_string(), rule.origin().to_string())
    });
    text.push_str("\nPrograms:\n");
    let none = match policy.any_command() {
        true => "any (default of the runtime)",
        false => "none",
    };
    let commands = policy.command_rules().unwrap_or_default();
    lines(&mut text, commands, none, |rule| {
        (rule.to_string(), rule.origin().to_string())
    });
    text.push_str("\nWhat no rule covers: ");
    text.push_str(match tool.on_uncovered {
        OnUncovered::Ask => "a person is asked, where one can be\n",
        _ => "denied\n",
    });
    text.push_str("\nWhatever the rules say:\n");
    for guard in guards.groups() {
        let how = match guard.level {
            ProtectionLevel::Never => "never changed",
            ProtectionLevel::Named => "changed only by a rule that names it",
        };
        text.push_str(&format!("  {}: {how} ({})\n", guard.paths, guard.what));
    }
    let sensitive: Vec<&str> = guards.sensitive.patterns().collect();
    text.push_str(&format!(
        "  sensitive, covered only by a rule that names them: {}\n",
        sensitive.join(" ")
    ));
    Ok(text)
}

/// The path, with what it leads to where that is another one.
fn fs_path(rule: &CompiledFsRule) -> String {
    let canonical = rule.path().to_string();
    let written = rule.written().trim_start_matches("./");
    match written.trim_end_matches('/') {
        written if written == canonical || written.is_empty() => canonical,
        written => format!("{written} -> {canonical}"),
    }
}

fn lines<R>(text: &mut String, rules: &[R], none: &str, line: impl Fn(&R) -> (String, String)) {
    if rules.is_empty() {
        text.push_str(&format!("  {none}\n"));
    }
    for rule in rules {
        let (rule, origin) = line(rule);
        text.push_str(&format!("  {rule} ({origin})\n"));
    }
}
