//! Rules on programs: a tool of the runtime `stdio` finds those that they name, and has jig run them.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::stdio::World;

fn world(command: &str, rules: &str) -> World {
    let settings = format!("command = {{ program = '{command}', shell = true }}\n{rules}");
    World::with(
        &settings,
        &[("a.txt", "content"), ("b.txt", "other")],
        |_| {},
    )
}

const CAT_A: &str = "[tools.tool.access.commands.cat]\nargs = [['a.txt', '**']]\n";

#[test]
fn what_a_rule_names_runs_and_nothing_else() {
    assert_eq!(world("cat a.txt b.txt", CAT_A).text(), "contentother");
    let denied = world("cat b.txt", CAT_A).error().message;
    assert!(
        denied.contains("`cat` was not run: access denied"),
        "{denied}"
    );
    assert!(denied.contains("jig.toml:"), "{denied}");
    assert!(denied.contains("hint: "), "{denied}");
    let unknown = world("ls", CAT_A).error().message;
    assert!(unknown.contains("not found"), "{unknown}");
    assert_eq!(world("/bin/ls a.txt", CAT_A).text(), "a.txt\n");
}

#[test]
fn a_login_shell_meets_the_rules_too() {
    let command = "command = { program = 'bash', args = ['-lc', 'cat a.txt; cat b.txt'] }";
    let settings = format!("{command}\n{CAT_A}");
    let world = World::with(
        &settings,
        &[("a.txt", "content"), ("b.txt", "other")],
        |_| {},
    );
    let denied = world.error().message;
    assert!(denied.contains("`cat` was not run"), "{denied}");
    assert!(
        denied.contains("content") && !denied.contains("other"),
        "{denied}"
    );
}

#[test]
fn programs_end_with_a_call_that_runs_too_long() {
    let rules = "sandbox.limits.time = '2s'\n[tools.tool.access.commands.sleep]\n";
    let world = world("sleep 70020", rules);
    let start = Instant::now();
    let error = world.error().message;
    assert!(error.contains("ran longer than"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(30));
    assert!(!running("70020"));
    assert!(world.call(json!({})).is_err());
}

/// Whether a `sleep` with this argument runs anywhere on the machine.
fn running(argument: &str) -> bool {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok())
        .any(|line| {
            let mut words = line.split(|byte| *byte == 0);
            words.next().is_some_and(|name| name.ends_with(b"sleep"))
                && words.next() == Some(argument.as_bytes())
        })
}
