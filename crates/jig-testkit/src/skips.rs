//! Tests that cannot run on this machine: recorded, so that `cargo xtask test` can name them at its end.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stderr,
    reason = "programs are looked for, the record is a file of the build, and the log of a test says what it left out"
)]

use std::fs::OpenOptions;
use std::io::Write as _;
use std::panic::Location;

use serde_json::json;

/// Whether a program is on the search path. If not, the caller is recorded as a test that cannot run without it.
#[track_caller]
pub fn has_program(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let is_there = std::env::split_paths(&path).any(|folder| folder.join(program).exists());
    if !is_there {
        skipped_without(program, "it is not installed");
    }
    is_there
}

/// Records that the caller, or a part of it, does not run because a program is missing or does not work. With `CI=true`
/// that fails `cargo xtask test`.
#[track_caller]
pub fn skipped_without(program: &str, reason: &str) {
    record(Some(program), &format!("`{program}`: {reason}"));
}

/// Records that the caller, or a part of it, does not run because of the machine: a user who may not, a protocol that is
/// not there. `cargo xtask test` names it and does not fail.
#[track_caller]
pub fn skipped_here(reason: &str) {
    record(None, reason);
}

/// Writes a line to the record of the checkout that this was built from, if `cargo xtask test` has made one.
#[track_caller]
fn record(program: Option<&str>, reason: &str) {
    let place = Location::caller();
    let place = format!("{}:{}", place.file(), place.line());
    eprintln!("skipped at {place}: {reason}");
    let line = json!({ "place": place, "reason": reason.trim(), "program": program });
    let record = concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/skipped.jsonl");
    if let Ok(mut file) = OpenOptions::new().append(true).open(record) {
        // One write, so that the lines of many processes stay whole.
        let _ = file.write_all(format!("{line}\n").as_bytes());
    }
}
