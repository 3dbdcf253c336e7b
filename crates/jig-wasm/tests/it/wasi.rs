//! WASI without its files, from the inside of a guest: W-022 and W-023.

#![expect(clippy::unwrap_used, reason = "a fixture that fails is a failed test")]

mod host;
mod http;
mod net;
mod streams;

use crate::common::{Done, Tried};
use serde_json::{Value, json};

/// A call of the hostile guest in a workspace that plays no part.
fn hostile(action: &str, mut arguments: Value) -> Tried {
    arguments["action"] = json!(action);
    Tried::memory("hostile").arguments(arguments)
}

/// The result of a call, which is JSON.
#[track_caller]
fn told(done: &Done) -> Value {
    serde_json::from_str(done.text()).unwrap()
}

/// All that the error of a call says.
#[track_caller]
fn said(done: &Done) -> String {
    let error = done.error();
    format!("{}\n{}", error.message, error.trace.join("\n"))
}
