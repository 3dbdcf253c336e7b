//! Tests and chores that could not run on this machine: counted and named at the end of `cargo xtask test`.
//!
//! Tests record them by `jig_testkit::has_program` and its neighbours, in `target/skipped.jsonl`.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stderr,
    reason = "the record is a file of the build, and the person who runs the tests is told of it"
)]

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::PathBuf;

use serde_json::{Value as Json, json};

use crate::root;

/// Runs the tests with a new record, and names at the end what did not run. With `CI=true` a missing program is a
/// failure.
pub(crate) fn reported(tests: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    let record = record();
    let made = fs::create_dir_all(root().join("target")).and_then(|()| fs::write(&record, ""));
    made.map_err(|error| format!("{}: {error}", record.display()))?;
    let tested = tests();
    let text = fs::read_to_string(&record).map_err(|error| error.to_string())?;
    // Without it, a test that is run alone records nothing.
    let _ = fs::remove_file(&record);
    let is_ci = std::env::var_os("CI").is_some_and(|value| value == "true");
    tested.and(report(&Skips::read(&text)?, is_ci))
}

/// Records that a chore leaves something out because a program is missing or cannot be installed.
pub(crate) fn skipped_without(program: &str, reason: &str) {
    eprintln!("  skipped: {reason}");
    let line = json!({ "place": "cargo xtask test", "reason": reason, "program": program });
    if let Ok(mut file) = OpenOptions::new().append(true).open(record()) {
        let _ = file.write_all(format!("{line}\n").as_bytes());
    }
}

fn report(skips: &Skips, is_ci: bool) -> Result<(), String> {
    let list = |lines: &BTreeSet<String>| {
        let lines = lines.iter().map(|line| format!("  {line}\n"));
        lines.collect::<String>()
    };
    if !skips.of_machine.is_empty() {
        let count = skips.of_machine.len();
        eprintln!(
            "+ {count} not run on this machine:\n{}",
            list(&skips.of_machine)
        );
    }
    if skips.of_programs.is_empty() {
        eprintln!("+ every program that the tests need is installed");
        return Ok(());
    }
    let count = skips.of_programs.len();
    let found = format!(
        "{count} not run, because a program is missing:\n{}",
        list(&skips.of_programs)
    );
    if is_ci {
        return Err(found);
    }
    eprintln!("+ {found}");
    Ok(())
}

/// A record, with every line once.
#[derive(Default)]
struct Skips {
    of_programs: BTreeSet<String>,
    of_machine: BTreeSet<String>,
}

impl Skips {
    fn read(text: &str) -> Result<Self, String> {
        let mut skips = Self::default();
        for line in text.lines() {
            let line: Json = serde_json::from_str(line)
                .map_err(|error| format!("a line of the record is broken: {error}: {line}"))?;
            let text = |key: &str| line[key].as_str().unwrap_or_default().replace('\n', " ");
            let shown = format!("{}: {}", text("place"), text("reason"));
            match line["program"].is_null() {
                true => skips.of_machine.insert(shown),
                false => skips.of_programs.insert(shown),
            };
        }
        Ok(skips)
    }
}

fn record() -> PathBuf {
    root().join("target/skipped.jsonl")
}

#[cfg(test)]
mod tests;
