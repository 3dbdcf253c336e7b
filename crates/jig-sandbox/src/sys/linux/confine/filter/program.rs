//! From clauses to a program for the kernel's filter machine.
//!
//! The number of the call is looked for by halving, so that no call pays for the length of the table,
//! and the kernel can see for which numbers the answer is always yes. Jumps only go forward, over code
//! that was generated before them, so that none can miss.

use crate::sys::linux::order::Instruction;

/// What becomes of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SeccompAction {
    Allow,
    /// It fails with this error.
    Errno(u16),
    /// The process is killed, with all its threads.
    Kill,
    /// It waits until whoever listens has answered.
    Notify,
}

/// An outcome under conditions, all of which must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clause {
    pub(super) tests: Vec<ArgumentTest>,
    pub(super) outcome: SeccompAction,
}

/// A condition on the lower half of an argument. Every argument that is tested is 32 bits wide in the
/// kernel, which drops the upper half.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ArgumentTest {
    AnyBit { argument: u8, mask: u32 },
    Equals { argument: u8, mask: u32, value: u32 },
}

/// What follows for the numbers from `from` up to the next answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SyscallRange<'a> {
    pub(super) from: u32,
    pub(super) clauses: &'a [Clause],
}

/// The whole program, with what becomes of calls of other architectures. `answers` begin at 0 and ascend.
pub(super) fn assemble(
    audit_arch: u32,
    foreign: SeccompAction,
    answers: &[SyscallRange<'_>],
) -> Vec<Instruction> {
    let mut program = vec![
        load(OFFSET_OF_ARCH),
        jump_if(EQUAL, audit_arch, 1, 0),
        finish(foreign),
        load(OFFSET_OF_NUMBER),
    ];
    program.extend(search(answers));
    program
}

/// Code that finds the answer for the loaded number.
fn search(answers: &[SyscallRange<'_>]) -> Vec<Instruction> {
    let (lower, upper) = match answers {
        [] => return Vec::new(),
        [only] => return decide(only.clauses),
        _ => answers.split_at(answers.len() / 2),
    };
    let below = search(lower);
    let pivot = upper.first().map_or(0, |answer| answer.from);
    let mut code = match u8::try_from(below.len()) {
        Ok(distance) => vec![jump_if(GREATER_OR_EQUAL, pivot, distance, 0)],
        // A conditional jump reaches 255 instructions, a plain one all.
        Err(_) => vec![
            jump_if(GREATER_OR_EQUAL, pivot, 0, 1),
            jump(below.len() as u32),
        ],
    };
    code.extend(below);
    code.extend(search(upper));
    code
}

/// Code that takes the first clause that holds. It always ends the program.
fn decide(clauses: &[Clause]) -> Vec<Instruction> {
    clauses.iter().flat_map(clause).collect()
}

/// Code that ends the program if all tests hold, and else runs off its end.
fn clause(clause: &Clause) -> Vec<Instruction> {
    let mut code = vec![finish(clause.outcome)];
    for test in clause.tests.iter().rev() {
        // A clause has a handful of tests, so the distance fits.
        let past_the_end = u8::try_from(code.len()).unwrap_or(u8::MAX);
        let mut tested = Vec::new();
        match *test {
            ArgumentTest::AnyBit { argument, mask } => {
                tested.push(load(offset_of_argument(argument)));
                tested.push(jump_if(ANY_BIT, mask, 0, past_the_end));
            }
            ArgumentTest::Equals {
                argument,
                mask,
                value,
            } => {
                tested.push(load(offset_of_argument(argument)));
                if mask != u32::MAX {
                    tested.push(and(mask));
                }
                tested.push(jump_if(EQUAL, value, 0, past_the_end));
            }
        }
        tested.append(&mut code);
        code = tested;
    }
    code
}

const fn load(offset: u32) -> Instruction {
    plain(LOAD, offset)
}

const fn and(mask: u32) -> Instruction {
    plain(AND, mask)
}

const fn jump(distance: u32) -> Instruction {
    plain(JUMP, distance)
}

const fn jump_if(condition: u16, value: u32, then: u8, otherwise: u8) -> Instruction {
    Instruction {
        code: condition,
        jt: then,
        jf: otherwise,
        k: value,
    }
}

const fn finish(outcome: SeccompAction) -> Instruction {
    plain(RETURN, outcome.value())
}

const fn plain(code: u16, k: u32) -> Instruction {
    Instruction {
        code,
        jt: 0,
        jf: 0,
        k,
    }
}

impl SeccompAction {
    /// As the kernel takes it.
    pub(super) const fn value(self) -> u32 {
        match self {
            SeccompAction::Allow => 0x7fff_0000,
            SeccompAction::Errno(errno) => 0x0005_0000 | errno as u32,
            SeccompAction::Kill => 0x8000_0000,
            SeccompAction::Notify => 0x7fc0_0000,
        }
    }
}

// Fields of `struct seccomp_data`, on a machine that stores the lower half first.
pub(super) const OFFSET_OF_NUMBER: u32 = 0;
pub(super) const OFFSET_OF_ARCH: u32 = 4;
pub(super) const OFFSET_OF_ARGUMENTS: u32 = 16;

const fn offset_of_argument(argument: u8) -> u32 {
    OFFSET_OF_ARGUMENTS + 8 * argument as u32
}

// Codes of instructions: classes, sizes and modes of `linux/bpf_common.h`, put together.
pub(super) const LOAD: u16 = 0x20;
pub(super) const AND: u16 = 0x54;
pub(super) const JUMP: u16 = 0x05;
pub(super) const EQUAL: u16 = 0x15;
pub(super) const GREATER_OR_EQUAL: u16 = 0x35;
pub(super) const ANY_BIT: u16 = 0x45;
pub(super) const RETURN: u16 = 0x06;
