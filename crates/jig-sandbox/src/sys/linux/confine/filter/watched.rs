//! [`watching`]: a filter that refuses nothing, and has whoever listens look at some calls first.
//!
//! Of all filters that a process has, the strictest answer counts, and "look at it" is milder than any
//! refusal: what another filter refuses stays refused, and nobody is asked.

use super::program::{self, ArgumentTest, Clause, SeccompAction};
use super::{Architecture, answers, number};
use crate::sys::linux::order::Instruction;
use crate::sys::linux::stage::calls::{self, OWN_CALL};

/// When a call is let through unseen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sys::linux) enum UnwatchedCondition {
    Never,
    /// The argument with this number is a null pointer. An address whose lower half is zero passes for one.
    Null(u8),
    /// Any of these bits is set in the argument with this number.
    AnyBit(u8, u32),
    /// The call was made on the way to the tool's program.
    Own,
    /// The argument with this number are flags by which nothing is made.
    MakesNothing(u8),
    /// Always, and it fails with this error instead.
    Refused(u16),
}

/// The filter that shows these calls, by their names, to whoever listens; empty where calls have no numbers
/// that are known here. A name that this architecture does not have is passed over.
pub(in crate::sys::linux) fn watching<'a>(
    calls: impl Iterator<Item = (&'a str, UnwatchedCondition)>,
) -> Vec<Instruction> {
    let Some(architecture) = Architecture::of_host() else {
        return Vec::new();
    };
    let calls: Vec<(&str, Vec<Clause>)> = calls
        .map(|(name, unless)| (name, clauses(unless)))
        .collect();
    let others = [always(SeccompAction::Allow)];
    let named = calls.iter().map(|(name, clauses)| (*name, &clauses[..]));
    let answers = answers(architecture, named, &others);
    // Calls in the 32-bit manner go unseen. A confined tool has no such calls.
    program::assemble(architecture.audit_arch(), SeccompAction::Allow, &answers)
}

/// The number of a call on this machine.
pub(in crate::sys::linux) fn number_here(name: &str) -> Option<u32> {
    number(Architecture::of_host()?, name)
}

fn clauses(unless: UnwatchedCondition) -> Vec<Clause> {
    let test = match unless {
        UnwatchedCondition::Never => return vec![always(SeccompAction::Notify)],
        UnwatchedCondition::Null(argument) => equals(argument, 0),
        UnwatchedCondition::AnyBit(argument, mask) => ArgumentTest::AnyBit { argument, mask },
        UnwatchedCondition::Own => equals(3, OWN_CALL),
        UnwatchedCondition::MakesNothing(argument) => return creating(argument),
        UnwatchedCondition::Refused(errno) => return vec![always(SeccompAction::Errno(errno))],
    };
    let unseen = Clause {
        tests: vec![test],
        outcome: SeccompAction::Allow,
    };
    vec![unseen, always(SeccompAction::Notify)]
}

fn creating(argument: u8) -> Vec<Clause> {
    let when = |mask, outcome| Clause {
        tests: vec![ArgumentTest::AnyBit { argument, mask }],
        outcome,
    };
    vec![
        when(O_PATH, SeccompAction::Allow),
        when(O_CREAT, SeccompAction::Notify),
        always(SeccompAction::Allow),
    ]
}

fn equals(argument: u8, value: u32) -> ArgumentTest {
    ArgumentTest::Equals {
        argument,
        mask: u32::MAX,
        value,
    }
}

fn always(outcome: SeccompAction) -> Clause {
    Clause {
        tests: Vec::new(),
        outcome,
    }
}

const O_PATH: u32 = calls::O_PATH.cast_unsigned();
const O_CREAT: u32 = calls::O_CREAT.cast_unsigned();
