//! What a run came to, from what the program printed and how it ended.

use jig_proto::json::JsonLimits;
use jig_proto::{NotAState, ToolError, ToolState, read_printed};
use jig_sandbox::Exit;
use serde_json::{Value, json};

use super::bounded_output::StdioOutput;

#[cfg(test)]
mod tests;

/// The state that a program left behind.
///
/// A state or an outcome that it printed counts, whatever its exit code (J-011). Other text is the result
/// of a program that succeeded, and part of the error of one that failed (J-014). One that succeeded and
/// printed nothing has a result, too, which says so (X-61), with what it wrote to stderr. A program that could not read its call says so
/// in a form of its own, which is an error.
///
/// About `most` bytes of the result are passed on. `remark` is told what the author of the tool should
/// know.
pub(super) fn outcome(
    name: &str,
    printed: &StdioOutput,
    exit: Exit,
    most: usize,
    remark: impl FnOnce(String),
) -> ToolState {
    if let Some(whole) = printed.whole_output() {
        if let Some(state) = printed_state(name, whole, remark) {
            return state;
        }
        if let Some(error) = unread_call(whole) {
            return ToolState::failed(error);
        }
    }
    match exit {
        Exit::Exited { code: 0 } => {
            // What was not kept is counted by the marker, which must not be cut off later.
            let most = match printed.whole_output() {
                Some(_) => usize::MAX,
                None => most.saturating_sub(MARKER),
            };
            let text = printed.output_text(most);
            match text.trim().is_empty() {
                false => ToolState::succeeded(text),
                true => ToolState::succeeded(no_output(printed, most)),
            }
        }
        Exit::Exited { .. } => ToolState::failed(failed(name, printed, exit, most)),
        Exit::Killed { .. } => ToolState::failed(ended(format!("`{name}` {exit}"), printed)),
    }
}

/// The result of a program that printed nothing. Compilers and test runners often write to stderr alone.
fn no_output(printed: &StdioOutput, most: usize) -> String {
    let most = most.min(MOST_ERRORS);
    match printed.errors_text(most).trim() {
        "" => NO_OUTPUT.to_owned(),
        errors => format!("{NO_OUTPUT}\n\nstderr:\n{errors}"),
    }
}

/// The state or outcome that a program printed, if all of its output is one.
pub(super) fn printed_state(
    name: &str,
    whole: &[u8],
    remark: impl FnOnce(String),
) -> Option<ToolState> {
    match read_printed(whole, &JsonLimits::MESSAGE) {
        Ok(read) => {
            if !read.warnings.is_empty() {
                let skipped: Vec<String> = read.warnings.iter().map(ToString::to_string).collect();
                remark(format!(
                    "it printed content that cannot be read, and is left out: {}",
                    skipped.join("; ")
                ));
            }
            Some(said(name, read.value))
        }
        // It is text, also if it looks like more: that belongs to the assistant as it is.
        Err(NotAState::Malformed(why)) => {
            remark(format!("it printed a state that is taken as text: {why}"));
            None
        }
        Err(_) => None,
    }
}

/// The error of a run that was ended, with what the program had printed by then.
pub(super) fn ended(message: String, printed: &StdioOutput) -> ToolError {
    let mut error = ToolError::new(message);
    let streams = [
        ("stderr", printed.errors_text(usize::MAX)),
        ("stdout", printed.output_text(usize::MAX)),
    ];
    for (stream, text) in streams {
        let text = text.trim();
        if !text.is_empty() {
            error.trace.push(format!("{stream}: {text}"));
        }
    }
    error
}

fn said(name: &str, state: ToolState) -> ToolState {
    match state {
        ToolState::Running { content } => {
            let message = format!("`{name}` said that it still runs, and ended");
            let mut error = ToolError::new(message);
            if !content.is_empty() {
                error.trace.push(content.to_text());
            }
            ToolState::failed(error)
        }
        state => state,
    }
}

/// J-014: what callers know, word by word.
///
/// It is JSON, which must not be cut later: a quarter of the room for each stream leaves enough for the
/// characters that are escaped.
fn failed(name: &str, printed: &StdioOutput, exit: Exit, most: usize) -> ToolError {
    let message = json!({
        "message": format!("Tool '{name}' execution failed."),
        "stderr": printed.errors_text(most / 4),
        "stdout": printed.output_text(most / 4),
    });
    let mut error = ToolError::new(message.to_string());
    error.trace.push(match by_a_shell(exit) {
        Some(signal) => {
            let killed = Exit::Killed {
                signal,
                core: false,
            };
            format!("`{name}` {exit}: a program that it ran {killed}")
        }
        None => format!("`{name}` {exit}"),
    });
    error
}

/// The signal that ended a program inside of a shell, which tells it by its own exit code.
pub(super) fn by_a_shell(exit: Exit) -> Option<i32> {
    match exit {
        // The signals that end a program by themselves, and those for resources.
        Exit::Exited {
            code: code @ (131..=139 | 152 | 153 | 159),
        } => Some(code - 128),
        _ => None,
    }
}

/// The error of a program that could not read its call: a fenced block of JSON with `error`, and with
/// `cause` or `trace`, is all that it printed (J-013).
fn unread_call(stdout: &[u8]) -> Option<ToolError> {
    let text = std::str::from_utf8(stdout).ok()?.trim();
    let inner = text.strip_prefix("```json\n")?.strip_suffix("\n```")?;
    let read = jig_proto::json::value(inner.as_bytes(), &JsonLimits::MESSAGE).ok()?;
    let Value::Object(mut members) = read else {
        return None;
    };
    let Some(Value::String(message)) = members.remove("error") else {
        return None;
    };
    let mut error = ToolError::new(message);
    for (key, value) in members {
        match (key.as_str(), value) {
            ("cause", Value::String(cause)) => error.trace.push(cause),
            ("trace", Value::Array(causes)) => {
                for cause in causes {
                    error.trace.push(match cause {
                        Value::String(cause) => cause,
                        other => other.to_string(),
                    });
                }
            }
            // Something else that happens to be fenced.
            _ => return None,
        }
    }
    Some(error)
}

/// The result of a program that ended well and printed nothing: `touch`, `mkdir`, a formatter.
pub const NO_OUTPUT: &str = "(no output)";

/// How much of stderr is part of the result of a program that printed nothing else: a model reads all of it.
const MOST_ERRORS: usize = 16 * 1024;

/// Room for the words that say how much was cut.
const MARKER: usize = 64;
