//! The filter of system calls: an allow-list for each architecture.
//!
//! [`filter`] is a function of the table in [`table`] and of what is around the tool. It says nothing
//! about paths, which a filter cannot see: they are the business of mounts and Landlock.

mod numbers;
mod program;
mod rules;
mod table;
mod watched;

use std::sync::OnceLock;

use self::numbers::NUMBERS;
use self::program::{Clause, SeccompAction, SyscallRange};
use self::rules::ENOSYS;
pub(super) use self::rules::FilterContext;
use self::table::GROUPS;
pub(in crate::sys::linux) use self::watched::{UnwatchedCondition, number_here, watching};
use crate::sys::linux::order::Instruction;

#[cfg(test)]
mod tests;

/// An architecture that there is a table for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Architecture {
    X86_64,
    Aarch64,
}

impl Architecture {
    /// The one that this program was built for; `None` where there is no table.
    fn of_host() -> Option<Self> {
        if cfg!(target_arch = "x86_64") {
            Some(Architecture::X86_64)
        } else if cfg!(target_arch = "aarch64") {
            Some(Architecture::Aarch64)
        } else {
            None
        }
    }

    /// As the kernel names it towards filters. Calls in the 32-bit manner carry another name.
    fn audit_arch(self) -> u32 {
        match self {
            Architecture::X86_64 => 0xc000_003e,
            Architecture::Aarch64 => 0xc000_00b7,
        }
    }

    fn number(self, call: &(&str, Option<u32>, Option<u32>)) -> Option<u32> {
        match self {
            Architecture::X86_64 => call.1,
            Architecture::Aarch64 => call.2,
        }
    }
}

/// Whether there is a table for the processor of this machine.
pub(super) fn is_known_here() -> bool {
    Architecture::of_host().is_some()
}

/// The filter for a tool with `around` around it, on this machine; empty where there is no table. It is
/// made once for each kind of surroundings.
pub(super) fn of_host(around: FilterContext) -> Vec<Instruction> {
    static MADE: [OnceLock<Vec<Instruction>>; 16] = [const { OnceLock::new() }; 16];
    let kind = usize::from(around.namespaces)
        | usize::from(around.network) << 1
        | usize::from(around.sockets_by_path) << 2
        | usize::from(around.truncation) << 3;
    let make = || {
        Architecture::of_host()
            .map(|architecture| filter(architecture, around))
            .unwrap_or_default()
    };
    MADE.get(kind)
        .map_or_else(make, |made| made.get_or_init(make).clone())
}

fn filter(architecture: Architecture, around: FilterContext) -> Vec<Instruction> {
    let groups: Vec<Vec<Clause>> = GROUPS
        .iter()
        .map(|group| group.rule.clauses(around))
        .collect();
    let numbers = GROUPS
        .iter()
        .zip(&groups)
        .flat_map(|(group, clauses)| group.calls.iter().map(move |name| (*name, &clauses[..])));
    let answers = answers(architecture, numbers, UNKNOWN);
    program::assemble(architecture.audit_arch(), SeccompAction::Kill, &answers)
}

/// Calls by name, with their clauses, as ranges of numbers with one answer each. All other numbers, those of
/// the x32 manner among them, get that of `others`.
fn answers<'a>(
    architecture: Architecture,
    calls: impl Iterator<Item = (&'a str, &'a [Clause])>,
    others: &'a [Clause],
) -> Vec<SyscallRange<'a>> {
    let mut numbers: Vec<(u32, &[Clause])> = calls
        .filter_map(|(name, clauses)| Some((number(architecture, name)?, clauses)))
        .collect();
    numbers.sort_unstable_by_key(|(number, _)| *number);
    let mut answers: Vec<SyscallRange<'_>> = vec![SyscallRange {
        from: 0,
        clauses: others,
    }];
    for (number, clauses) in numbers {
        for (from, clauses) in [(number, clauses), (number + 1, others)] {
            match answers.last_mut() {
                Some(last) if last.from == from => last.clauses = clauses,
                _ => answers.push(SyscallRange { from, clauses }),
            }
        }
    }
    answers.dedup_by(|later, earlier| later.clauses == earlier.clauses);
    answers
}

/// For calls that are in no group: the answer of a kernel that does not know them.
const UNKNOWN: &[Clause] = &[Clause {
    tests: Vec::new(),
    outcome: ENOSYS,
}];

fn number(architecture: Architecture, name: &str) -> Option<u32> {
    let at = NUMBERS.binary_search_by(|call| call.0.cmp(name)).ok()?;
    architecture.number(NUMBERS.get(at)?)
}
