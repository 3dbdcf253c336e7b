//! The filter machine of the kernel, as far as our programs use it.

use crate::sys::linux::order::Instruction;

use super::super::program::{
    AND, ANY_BIT, EQUAL, GREATER_OR_EQUAL, JUMP, LOAD, OFFSET_OF_ARCH, OFFSET_OF_ARGUMENTS,
    OFFSET_OF_NUMBER, RETURN,
};

/// A system call as a filter sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call {
    pub(super) number: u32,
    pub(super) arch: u32,
    pub(super) arguments: [u64; 6],
}

/// Runs a program and gives its answer, and how many instructions that took.
///
/// # Panics
/// Where the kernel would refuse the program, or read beyond the data.
pub(super) fn run(program: &[Instruction], call: &Call) -> (u32, usize) {
    let mut accumulator = 0;
    let mut at = 0;
    for steps in 1.. {
        let instruction = program[at];
        at += 1;
        let k = instruction.k;
        let mut jump_if = |holds: bool| {
            at += usize::from(if holds {
                instruction.jt
            } else {
                instruction.jf
            });
        };
        match instruction.code {
            LOAD => accumulator = load(call, k),
            AND => accumulator &= k,
            JUMP => at += k as usize,
            EQUAL => jump_if(accumulator == k),
            GREATER_OR_EQUAL => jump_if(accumulator >= k),
            ANY_BIT => jump_if(accumulator & k != 0),
            RETURN => return (k, steps),
            code => panic!("instruction {code:#x} is not known"),
        }
    }
    unreachable!("jumps only go forward");
}

fn load(call: &Call, offset: u32) -> u32 {
    match offset {
        OFFSET_OF_NUMBER => call.number,
        OFFSET_OF_ARCH => call.arch,
        _ => {
            let offset = offset.checked_sub(OFFSET_OF_ARGUMENTS).unwrap();
            assert_eq!(offset % 8, 0, "only lower halves are read");
            call.arguments[offset as usize / 8] as u32
        }
    }
}

/// What the kernel checks before it takes a program: its length, its instructions, that every jump stays
/// inside, and that it ends.
pub(super) fn verify(program: &[Instruction]) {
    assert!(program.len() <= 4096, "{} instructions", program.len());
    for (at, instruction) in program.iter().enumerate() {
        let next = at + 1;
        let targets = match instruction.code {
            LOAD => {
                assert!(instruction.k % 4 == 0 && instruction.k < 64);
                vec![next]
            }
            AND => vec![next],
            JUMP => vec![next + instruction.k as usize],
            EQUAL | GREATER_OR_EQUAL | ANY_BIT => vec![
                next + usize::from(instruction.jt),
                next + usize::from(instruction.jf),
            ],
            RETURN => vec![],
            code => panic!("instruction {code:#x} is not known"),
        };
        assert!(targets.into_iter().all(|target| target < program.len()));
    }
}
