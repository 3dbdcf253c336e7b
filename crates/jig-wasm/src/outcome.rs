//! What a call came to, from how its guest ended.

use jig_proto::{Block, Content, Question, ResourceData, ToolError};
use wasmtime::Trap;

use crate::ComponentError;
use crate::bindings::jp::tool::types::{ErrorInfo, Outcome, Question as Asked};
use crate::guest::Guest;
use crate::limits::{CALL_BYTES, GuestEndReason};
use crate::text::short;

#[cfg(test)]
mod tests;

/// What one run of a guest came to.
#[derive(Debug, PartialEq)]
pub(crate) enum GuestResult {
    /// To a result.
    Done(Content),
    /// To a question: it is run again with the answer.
    Asks(Question),
}

/// Why a guest returned nothing.
#[derive(Debug)]
pub(crate) enum GuestStop {
    /// It could not be started.
    Started(wasmtime::Error),
    /// It was ended while it ran.
    Ran(wasmtime::Error),
}

/// What a run came to.
///
/// # Errors
///
/// If it failed. The error tells what the guest had printed.
pub(crate) fn came(
    guest: &mut Guest,
    outcome: Result<Outcome, GuestStop>,
) -> Result<GuestResult, ToolError> {
    guest.output.finish();
    let last_word = guest.vfs.take_last_word();
    let guest = &*guest;
    let name = &guest.door.plan().name;
    let came = match outcome {
        // A tool on the SDK says more than the contract has words for.
        Ok(outcome) => match last_word {
            Some(result) => result.map(ended),
            None => said(name, outcome),
        },
        Err(stop) => Err(stopped(guest, stop)),
    };
    let came = came.map_err(|error| with_printed(guest, error));
    match guest.door.plan().broker.secrets().scrubber() {
        Some(scrubber) => clean(came, |text| scrubber.text(text)),
        None => came,
    }
}

/// What the last word of a tool on the SDK comes to: a question among its blocks is asked (V-027), and what stands
/// beside it is its context.
fn ended(content: Content) -> GuestResult {
    match content.into_question() {
        Err(content) => GuestResult::Done(content),
        Ok((beside, mut question)) => {
            if question.context.is_none() && !beside.is_empty() {
                question.context = Some(beside.to_text());
            }
            GuestResult::Asks(question)
        }
    }
}

/// What a guest says.
fn said(name: &str, outcome: Outcome) -> Result<GuestResult, ToolError> {
    match outcome {
        Outcome::Success(content) => Ok(GuestResult::Done(Content::text(content))),
        Outcome::Error(error) => Err(failed(error)),
        Outcome::NeedsInput(question) => asked(name, question).map(GuestResult::Asks),
    }
}

fn failed(error: ErrorInfo) -> ToolError {
    ToolError {
        message: error.message,
        trace: error.trace,
        transient: error.transient,
        denials: Vec::new(),
        content: Content::EMPTY,
    }
}

fn asked(name: &str, question: Asked) -> Result<Question, ToolError> {
    let Asked {
        id,
        text,
        answer_type,
        default,
    } = question;
    Question::from_wit(id, text, &answer_type, default.as_deref())
        .map_err(|error| ToolError::new(format!("`{name}` asks what cannot be asked: {error}")))
}

/// The error of a guest that did not return.
fn stopped(guest: &Guest, stop: GuestStop) -> ToolError {
    let (GuestStop::Started(error) | GuestStop::Ran(error)) = &stop;
    if let Some(ended) = error.downcast_ref::<GuestEndReason>() {
        return ended_by(guest, *ended);
    }
    let error = match &stop {
        GuestStop::Started(error) => not_started(error),
        GuestStop::Ran(error) => trapped(error),
    };
    ToolError::new(error.to_string())
}

/// Why a component could not be started, although it is linked.
pub(crate) fn not_started(error: &wasmtime::Error) -> ComponentError {
    if error.downcast_ref::<Trap>().is_some() {
        return trapped(error);
    }
    if error.is::<wasmtime::PoolConcurrencyLimitError>() {
        let why = "too many components run at once, or this one has too many parts";
        return ComponentError::Instantiate(why.to_owned());
    }
    ComponentError::Instantiate(short(&format!("{error:#}")))
}

/// Why a component was ended.
pub(crate) fn trapped(error: &wasmtime::Error) -> ComponentError {
    let why = match error.downcast_ref::<Trap>() {
        Some(Trap::StackOverflow) => "call stack exhausted: it calls itself too often".to_owned(),
        // Compilers put the stack of a guest at the beginning of its memory, so that it grows out of that.
        Some(Trap::MemoryOutOfBounds) => {
            "out of bounds memory access: a stray pointer, or an exhausted stack".to_owned()
        }
        // What languages do after a panic or a failed assertion, whose words are in what was printed.
        Some(Trap::UnreachableCodeReached) => "it gave up (`unreachable` executed)".to_owned(),
        Some(trap) => trap.to_string(),
        None => match error.downcast_ref::<GuestEndReason>() {
            Some(ended) => ended.to_string(),
            None => format!("{error:#}"),
        },
    };
    // Its error has no name.
    let why = match why.contains("fuel allocated for hostcalls") {
        true => format!("it handed over more than {} MiB at once", CALL_BYTES >> 20),
        false => why,
    };
    ComponentError::Trapped(short(&why))
}

/// The error of a guest that we have ended, or that has ended itself.
fn ended_by(guest: &Guest, ended: GuestEndReason) -> ToolError {
    let plan = guest.door.plan();
    let name = &plan.name;
    match ended {
        GuestEndReason::Cancelled => return ToolError::new(CANCELLED),
        GuestEndReason::Exit(code) => {
            let message = format!("`{name}` exited with code {code}, and returned no outcome");
            return ToolError::new(message);
        }
        _ => {}
    }
    let Some(reached) = ended.reached(&plan.limits) else {
        // A limit of ours, which nobody can set.
        return ToolError::new(format!("`{name}` was ended: {ended}"));
    };
    let mut error = ToolError::new(format!("`{name}` {reached}"));
    let key = reached.key();
    error.trace.push(format!("`{key}` sets the limit"));
    let denial = reached.denial(name);
    plan.broker.audit_denials(std::slice::from_ref(&denial));
    error.denials.push(denial);
    error
}

/// Adds what the guest had printed: a panic says there why.
fn with_printed(guest: &Guest, mut error: ToolError) -> ToolError {
    if guest.output.is_empty() || error.message == CANCELLED {
        return error;
    }
    let streams = [
        ("stderr", guest.output.errors(MAX_PRINTED)),
        ("stdout", guest.output.printed(MAX_PRINTED)),
    ];
    for (stream, text) in streams {
        let text = text.trim();
        if !text.is_empty() {
            error.trace.push(format!("{stream}: {text}"));
        }
    }
    error
}

/// The same without secrets. A guest sees the variables that its rules let it see, and its words go to a
/// model.
fn clean(
    came: Result<GuestResult, ToolError>,
    clean: impl Fn(String) -> String,
) -> Result<GuestResult, ToolError> {
    match came {
        Ok(GuestResult::Done(content)) => {
            let blocks = content.into_blocks().into_iter();
            let blocks = blocks.map(|block| match block {
                Block::Text(mut text) => {
                    text.text = clean(text.text);
                    Block::Text(text)
                }
                Block::Resource(mut resource) => {
                    if let ResourceData::Text(text) = &mut resource.data {
                        *text = clean(std::mem::take(text));
                    }
                    Block::Resource(resource)
                }
                other => other,
            });
            Ok(GuestResult::Done(blocks.collect()))
        }
        Ok(GuestResult::Asks(mut question)) => {
            question.text = clean(question.text);
            question.context = question.context.map(&clean);
            Ok(GuestResult::Asks(question))
        }
        Err(mut error) => {
            error.message = clean(error.message);
            error.trace = error.trace.into_iter().map(clean).collect();
            Err(error)
        }
    }
}

/// The words for a call that was cancelled, as every runtime has them.
pub(crate) const CANCELLED: &str = "the call was cancelled";

/// How much of what a guest printed is told, of each stream.
const MAX_PRINTED: usize = 4 << 10;
