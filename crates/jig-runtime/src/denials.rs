//! What a failed call was refused, in its error.

use jig_broker::{Broker, MAX_DENIALS};
use jig_proto::{Denial, ToolError};

#[cfg(test)]
mod tests;

/// Adds those that the error does not tell already.
pub(crate) fn add(error: &mut ToolError, denials: Vec<Denial>) {
    for denial in denials {
        let is_known = |known: &Denial| known.is_same(&denial);
        if error.denials.len() < MAX_DENIALS && !error.denials.iter().any(is_known) {
            error.denials.push(denial);
        }
    }
}

/// Adds what a tool asked for and was refused, unless it has passed that on in its own words.
pub(crate) fn add_refusals(error: &mut ToolError, broker: &Broker) {
    let refusals = broker.refusals().into_iter();
    let untold: Vec<Denial> = refusals.filter(|one| !is_told(error, one)).collect();
    add(error, untold);
}

/// Whether the tool has passed a refusal on. What it says about it is then worth more: it knows what it was
/// for.
fn is_told(error: &ToolError, denial: &Denial) -> bool {
    // Who was asked about it may be told elsewhere.
    let why = denial.why.split("; ").next().unwrap_or_default();
    let told = denial.hint.as_deref().unwrap_or(why).trim_end();
    let mut texts = std::iter::once(&error.message).chain(&error.trace);
    texts.any(|text| text.contains(told))
}
