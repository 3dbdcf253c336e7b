//! Runs tests as the harness of the standard library does, as far as `cargo test` and `cargo nextest` need it.

use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

pub(crate) struct Test {
    pub(crate) name: String,
    pub(crate) run: Box<dyn Fn()>,
}

/// Lists the tests, or runs those that are named; all if none is.
pub(crate) fn run(tests: Vec<Test>) -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let mut out = std::io::stdout();
    if has("--list") {
        let listed = tests.iter().filter(|_| !has("--ignored"));
        for test in listed {
            writeln!(out, "{}: test", test.name).unwrap();
        }
        return ExitCode::SUCCESS;
    }
    let mut filters = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "--skip" | "--test-threads" | "--format" | "--color" => drop(words.next()),
            flag if flag.starts_with('-') => {}
            filter => filters.push(filter),
        }
    }
    let is_wanted = |name: &str| {
        let matches = |filter: &&str| match has("--exact") {
            true => name == *filter,
            false => name.contains(filter),
        };
        filters.is_empty() || filters.iter().any(matches)
    };
    let mut failed = false;
    for test in tests.iter().filter(|test| is_wanted(&test.name)) {
        let held = catch_unwind(AssertUnwindSafe(&test.run)).is_ok();
        let word = if held { "ok" } else { "FAILED" };
        writeln!(out, "test {} ... {word}", test.name).unwrap();
        failed |= !held;
    }
    ExitCode::from(u8::from(failed))
}
