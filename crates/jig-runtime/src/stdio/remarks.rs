//! What is to be said of a run besides its result and its denials: mistakes that nothing refused.

use jig_proto::ToolState;

use super::run::{EarlyEndReason, StdioRun};
use crate::launch::unreached_in_words;
use crate::plain_text::plain;
use crate::{Delivery, ReachedLimit};

#[cfg(test)]
mod tests;

/// A sentence each, without a period.
pub(super) fn of(run: &StdioRun<'_>, state: &ToolState, said: &str) -> Vec<String> {
    let plan = &run.driver.plan;
    let name = &plan.name;
    let failed = matches!(state, ToolState::Stopped { result: Err(_), .. });
    let mut remarks = Vec::new();
    if run.cut.is_none() {
        remarks.extend(left_behind(&run.child.left_behind()));
    }
    if !run.unreached.is_empty() {
        remarks.push(format!("`{name}` {}", unreached_in_words(&run.unreached)));
    }
    let is_late = matches!(
        run.cut,
        Some(EarlyEndReason::Reached(ReachedLimit::Time(_)))
    );
    if failed && !plan.stateful {
        let is_empty = plan.terminal.is_some() || plan.delivery != Delivery::Stdin;
        if is_late && plan.terminal.is_some() {
            remarks.push(format!(
                "nobody can type on the terminal of `{name}`: if it waited for a key, give it what it asks for as \
                 arguments, or spawn it and send it input"
            ));
        } else if is_empty && run.cut.is_none() && wants_input(said) {
            remarks.push(format!(
                "the standard input of `{name}` is empty: give it what it reads as arguments, or spawn it and send it input"
            ));
        }
    }
    remarks
}

/// What is said of processes that were left in the background.
fn left_behind(names: &[String]) -> Option<String> {
    let names: Vec<String> = names
        .iter()
        .map(|name| format!("`{}`", plain(name).replace(['\n', '\t'], " ")))
        .collect();
    let verb = match names.len() {
        0 => return None,
        1 => "was still running in the background and was",
        _ => "were still running in the background and were",
    };
    let names = names.join(", ");
    Some(format!(
        "{names} {verb} ended with the call: only a stateful tool can stay"
    ))
}

/// Whether a program that failed says that it found nothing to read, or nobody to ask.
fn wants_input(said: &str) -> bool {
    let end = said.ceil_char_boundary(said.len().saturating_sub(LOOKED_AT));
    let said = &said[end..];
    WANTS_INPUT.iter().any(|words| said.contains(words))
}

/// What programs say that find nothing on their standard input.
const WANTS_INPUT: [&str; 9] = [
    "EOF when reading a line",
    "EOFError",
    "end of file reached (EOFError)",
    "stdin is not a tty",
    "stdin is not a terminal",
    "input device is not a TTY",
    "not a terminal",
    "readline was closed",
    "Aborted by user (stdin)",
];

/// How much of the end of what a program said is looked at.
const LOOKED_AT: usize = 4 * 1024;
