//! All programs, and the proof that each is tried by an attack of the library's table.

use std::io::{self, Write};
use std::process::ExitCode;

use jig_testkit::attacks;

use crate::verdict::{Args, Verdict, tell, untried};
use crate::{
    capabilities, changes, execution, gateway, inheritance, ipc, kernel, limits, machine, mounts,
    network, output, processes, reading, survival, terminal, work,
};

/// One program: its name, and what it does.
pub(crate) type Program = (&'static str, fn(&Args) -> Verdict);

const PROGRAMS: &[&[Program]] = &[
    reading::PROGRAMS,
    changes::PROGRAMS,
    mounts::PROGRAMS,
    capabilities::PROGRAMS,
    machine::PROGRAMS,
    network::PROGRAMS,
    gateway::PROGRAMS,
    ipc::PROGRAMS,
    processes::PROGRAMS,
    kernel::PROGRAMS,
    execution::PROGRAMS,
    terminal::PROGRAMS,
    survival::PROGRAMS,
    limits::PROGRAMS,
    output::PROGRAMS,
    inheritance::PROGRAMS,
    work::PROGRAMS,
];

/// Runs the program of that name.
pub(crate) fn run(name: &str, args: &Args) -> ExitCode {
    let mut all = PROGRAMS.iter().copied().flatten();
    match all.find(|(known, _)| *known == name) {
        Some((_, program)) => tell(&program(args)),
        None => tell(&untried(format!("there is no program `{name}`"))),
    }
}

/// Prints every attack with its class.
pub(crate) fn list() -> ExitCode {
    let mut output = io::stdout().lock();
    for attack in attacks() {
        let line = format!("{:12} {:32} {}", attack.class, attack.name, attack.about);
        if writeln!(output, "{line}").is_err() {
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

// A program without an attack would never run, and an attack without a program could not.
const _: () = {
    let mut table = 0;
    while table < PROGRAMS.len() {
        let mut at = 0;
        while at < PROGRAMS[table].len() {
            assert!(is_attacked_with(PROGRAMS[table][at].0));
            at += 1;
        }
        table += 1;
    }
    let mut table = 0;
    while table < attacks::TABLES.len() {
        let mut at = 0;
        while at < attacks::TABLES[table].len() {
            assert!(is_program(attacks::TABLES[table][at].program));
            at += 1;
        }
        table += 1;
    }
};

const fn is_attacked_with(program: &str) -> bool {
    let mut table = 0;
    while table < attacks::TABLES.len() {
        let mut at = 0;
        while at < attacks::TABLES[table].len() {
            if is_same(attacks::TABLES[table][at].program, program) {
                return true;
            }
            at += 1;
        }
        table += 1;
    }
    false
}

const fn is_program(name: &str) -> bool {
    let mut table = 0;
    while table < PROGRAMS.len() {
        let mut at = 0;
        while at < PROGRAMS[table].len() {
            if is_same(PROGRAMS[table][at].0, name) {
                return true;
            }
            at += 1;
        }
        table += 1;
    }
    false
}

const fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    if one.len() != other.len() {
        return false;
    }
    let mut at = 0;
    while at < one.len() {
        if one[at] != other[at] {
            return false;
        }
        at += 1;
    }
    true
}
