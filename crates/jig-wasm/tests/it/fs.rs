//! Files as a guest has them, on disk and in memory: what it cannot do, and what works as everywhere.
//!
//! The guest `hostile` runs scripts of file operations. What they should come to is said here, by the same
//! script run natively, or by the policy itself.

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    reason = "a test may panic, and makes and looks at files past the broker"
)]

mod confinement;
mod links;
mod load;
mod mounts;
mod openings;
mod protected;
mod races;
mod rules;
#[path = "../../../../guests/hostile/src/fs/script.rs"]
mod script;
mod semantics;

use crate::common::{Done, On, Tried};
use serde_json::{Value, json};

/// Runs steps by `std::fs` in a guest, and gives the answers.
#[track_caller]
fn answers(tried: Tried, steps: &Value) -> (Vec<String>, Done) {
    run(tried, json!({"action": "fs", "steps": steps}))
}

/// Runs steps by WASI itself in a guest, and gives the answers.
#[track_caller]
fn raw_answers(tried: Tried, steps: &Value) -> (Vec<String>, Done) {
    run(tried, json!({"action": "fs_raw", "steps": steps}))
}

#[track_caller]
fn run(tried: Tried, arguments: Value) -> (Vec<String>, Done) {
    let done = tried.arguments(arguments).run();
    let answers = serde_json::from_str(done.text()).unwrap();
    (answers, done)
}

/// Runs steps by `std::fs` in a guest and compares what each answers.
#[track_caller]
fn check(tried: Tried, steps: &[(Value, &str)]) -> Done {
    let all: Value = steps.iter().map(|(step, _)| step.clone()).collect();
    let (answers, done) = answers(tried, &all);
    compare(steps, &answers);
    done
}

/// Runs steps by WASI itself in a guest and compares what each answers.
#[track_caller]
fn check_raw(tried: Tried, steps: &[(Value, &str)]) -> Done {
    let all: Value = steps.iter().map(|(step, _)| step.clone()).collect();
    let (answers, done) = raw_answers(tried, &all);
    compare(steps, &answers);
    done
}

#[track_caller]
fn compare(steps: &[(Value, &str)], answers: &[String]) {
    assert_eq!(answers.len(), steps.len());
    for ((step, expected), answer) in steps.iter().zip(answers) {
        assert_eq!(answer, expected, "{step}");
    }
}

/// A workspace for the guest that runs scripts.
fn hostile(on: On) -> Tried {
    Tried::on(on, "hostile")
}
