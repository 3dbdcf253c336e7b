//! What a guest asks of its host beside WASI: `jp:host`, and the protocol of mediated tools by messages (V-008).
//!
//! The guest `hosted` makes the calls that its arguments name, and gives a line for each.

#![expect(clippy::unwrap_used, reason = "a fixture that fails is a failed test")]

mod files;
mod messages;
mod programs;
mod sdk;
mod servers;

use crate::common::{Done, Tried};
use serde_json::{Value, json};

/// Makes the calls, and gives what came of each.
#[track_caller]
fn answers(tried: Tried, calls: &Value) -> (Vec<String>, Done) {
    let done = tried.arguments(json!({ "calls": calls })).run();
    let lines = done.text().split('\n').map(str::to_owned).collect();
    (lines, done)
}

/// Makes one call whose answer may have lines.
#[track_caller]
fn answer(tried: Tried, call: &Value) -> (String, Done) {
    let done = tried.arguments(json!({ "calls": [call] })).run();
    (done.text().to_owned(), done)
}
