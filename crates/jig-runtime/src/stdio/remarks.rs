//! What is to be said of a run besides its result and its denials: mistakes that nothing refused.

use jig_proto::{Hint, ToolState, hint};

use super::run::{EarlyEndReason, StdioRun};
use crate::launch::unreached_in_words;
use crate::plain_text::plain;
use crate::{Delivery, ReachedLimit};

#[cfg(test)]
mod tests;

/// What happened, without a period, and what can be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RunRemark {
    pub(super) text: String,
    pub(super) hint: Hint,
}

impl RunRemark {
    /// Both, each on a line of its own.
    pub(super) fn lines(self) -> String {
        let Self { text, hint } = self;
        format!("{text}\n{hint}")
    }
}

/// What is to be said of a run that has ended.
pub(super) fn of(run: &StdioRun<'_>, state: &ToolState, said: &str) -> Vec<RunRemark> {
    let plan = &run.driver.plan;
    let name = &plan.name;
    let failed = matches!(state, ToolState::Stopped { result: Err(_), .. });
    let mut remarks = Vec::new();
    if run.cut.is_none() {
        remarks.extend(left_behind(&run.child.left_behind(), plan.stateful));
    }
    if !run.unreached.is_empty() {
        remarks.push(unreached(name, &run.unreached));
    }
    let is_late = matches!(
        run.cut,
        Some(EarlyEndReason::Reached(ReachedLimit::Time(_)))
    );
    if failed && !plan.stateful {
        let is_empty = plan.terminal.is_some() || plan.delivery != Delivery::Stdin;
        if is_late && plan.terminal.is_some() {
            remarks.push(RunRemark {
                text: format!("nobody can type on the terminal of `{name}`"),
                hint: hint!(
                    "if it waits for a key, set `stateful = true` for it, spawn it and send it input"
                ),
            });
        } else if is_empty && run.cut.is_none() && wants_input(said) {
            remarks.push(RunRemark {
                text: format!("the standard input of `{name}` is empty"),
                hint: hint!(
                    "to answer it, set `stateful = true` for it, spawn it and send it input; where the answer is \
                     known, write it into the command: echo INPUT | PROGRAM"
                ),
            });
        }
    }
    remarks
}

/// What is said of a program that listens where nobody can reach it.
pub(super) fn unreached(name: &str, ports: &[u16]) -> RunRemark {
    let (told, hint) = unreached_in_words(ports);
    RunRemark {
        text: format!("`{name}` {told}"),
        hint,
    }
}

/// What is said of processes that were left in the background.
fn left_behind(names: &[String], is_stateful: bool) -> Option<RunRemark> {
    let names: Vec<String> = names
        .iter()
        .map(|name| format!("`{}`", plain(name).replace(['\n', '\t'], " ")))
        .collect();
    let (verb, it) = match names.len() {
        0 => return None,
        1 => ("was still running in the background and was", "it"),
        _ => ("were still running in the background and were", "them"),
    };
    let longer = match is_stateful {
        true => "",
        false => "; to keep it longer than a call, set `stateful = true` for the tool and spawn it",
    };
    Some(RunRemark {
        text: format!("{} {verb} ended with the call", names.join(", ")),
        hint: hint!("to wait for {it}, end the script with `wait`{longer}"),
    })
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
