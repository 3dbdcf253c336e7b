//! [`ProgramEndReport`]: what is to be said of a program that a tool has run.

use std::fmt;

use jig_proto::Denial;

use super::run::told;
use crate::broker::BrokerCore;
use crate::programs::confine::Intruder;
use crate::programs::running::{ProgramEnding, RunningProgram};
use crate::requests::work::AuditRecord;

/// What is to be said of a program that has ended.
#[derive(Debug, Default)]
pub(super) struct ProgramEndReport {
    /// Sentences for whoever started it.
    pub(super) notes: Vec<String>,
    /// Its refusals, if it failed.
    pub(super) denials: Vec<Denial>,
    /// The files that were moved away.
    pub(super) intruders: Vec<Intruder>,
}

impl ProgramEndReport {
    /// Ends the program with all that it started. Whether it failed is for whoever watched it to say; limits that
    /// ended it are told in any case.
    pub(super) fn of(
        program: RunningProgram,
        inner: &BrokerCore,
        failed: bool,
        record: &mut AuditRecord,
    ) -> Self {
        let limits = *program.limits();
        let end = program.finish(match failed {
            true => ProgramEnding::Failed { said: "" },
            false => ProgramEnding::Unexplained,
        });
        let limits = end.limits(inner, &limits);
        let mut denials = end.denials;
        let mut notes = Vec::new();
        match failed {
            true => {
                limits.iter().for_each(|denial| inner.audit_denial(denial));
                denials.splice(..0, limits);
            }
            false => notes.extend(limits.into_iter().map(|limit| limit.why)),
        }
        notes.extend(told(&end.intruders, record));
        Self {
            notes,
            denials,
            intruders: end.intruders,
        }
    }

    /// All that is to be said, each in words of its own.
    pub(super) fn words(self) -> Vec<String> {
        let denials = self
            .denials
            .iter()
            .map(|denial| DenialLines(denial).to_string());
        denials.chain(self.notes).collect()
    }
}

/// A denial as a line or more, after `jig: `.
struct DenialLines<'a>(&'a Denial);

impl fmt::Display for DenialLines<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "denied: {}", self.0)
    }
}
