//! What to do about a program that was not started: the way out that belongs to each reason.

use std::io::Read as _;
use std::path::Path;

use jig_broker::ConfineError;
use jig_config::Command;
use jig_project::shell_word;
use jig_proto::{Hint, hint, visible_line};
use jig_runtime::StartError;
use jig_sandbox::SpawnError;
use rustix::fs::{Access, AtFlags, FileType};

#[cfg(test)]
mod tests;

/// The hint on the failure that an error has at its root, if it is a program that did not start.
pub(crate) fn way_out(error: &anyhow::Error) -> Option<Hint> {
    let of_spawn = error
        .chain()
        .find_map(|cause| cause.downcast_ref::<SpawnError>());
    if let Some(error) = of_spawn {
        return of_file(error);
    }
    let mut started = error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<StartError>());
    match started.find(|error| matches!(error, StartError::Confine(_))) {
        Some(StartError::Confine(ConfineError::ProgramNotFound { program, .. })) => {
            Some(not_found(program))
        }
        Some(StartError::Confine(ConfineError::Journal { .. })) => Some(hint!(
            "set XDG_STATE_HOME to a folder that can be written: jig notes there what the tool may not leave behind"
        )),
        _ => None,
    }
}

/// A file that is there, and cannot be run.
fn of_file(error: &SpawnError) -> Option<Hint> {
    match error {
        SpawnError::NotExecutable { program, .. } if is_folder(program) => {
            Some(hint!("it is a folder: name the program in it"))
        }
        SpawnError::NotExecutable { program, .. } if !may_run(program) => {
            Some(hint!("make it a program: chmod +x {}", shell_word(program)))
        }
        SpawnError::MissingInterpreter {
            program,
            interpreter: Some(interpreter),
        } if interpreter.ends_with("\\r") => Some(hint!(
            "its lines end with CRLF, as on Windows; take the CR away: sed -i 's/\\r$//' {}",
            shell_word(program)
        )),
        SpawnError::MissingInterpreter {
            interpreter: Some(interpreter),
            ..
        } => Some(hint!(
            "install `{interpreter}`, or name another program in the first line of the script"
        )),
        SpawnError::ExecFormat { program } if is_text(program) => Some(hint!(
            "a script says in its first line what runs it: sed -i '1i #!/bin/sh' {}",
            shell_word(program)
        )),
        SpawnError::NotFound { program, .. } => Some(not_found(program)),
        _ => None,
    }
}

/// A program that no directory of the search path has.
fn not_found(program: &str) -> Hint {
    let shown = visible_line(program);
    if let Some(line) = Command::line_in_one_word(&[program.to_owned()])
        && line.starts_with("sh -c ")
    {
        return hint!("no shell reads the command; have one read it: {line}");
    }
    match program.split_once(char::is_whitespace) {
        Some((first, _)) if !first.is_empty() => {
            hint!("the words of a command are written apart, without quotes: {shown}")
        }
        // It is the whole path already, and may be that of an interpreter.
        _ if program.starts_with('/') => hint!(
            "install it, or correct the path; if the first line of a script names it, name another program there"
        ),
        _ => hint!("install it, or write its whole path"),
    }
}

fn is_folder(program: &str) -> bool {
    let stat = rustix::fs::stat(Path::new(program));
    stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory)
}

/// Whether the user may run a file.
fn may_run(program: &str) -> bool {
    rustix::fs::accessat(
        rustix::fs::CWD,
        Path::new(program),
        Access::EXEC_OK,
        AtFlags::EACCESS,
    )
    .is_ok()
}

/// Whether a file begins as a text does, and not as a program of another machine.
#[expect(
    clippy::disallowed_types,
    reason = "a person named the file as a program, and only its beginning is looked at"
)]
fn is_text(program: &str) -> bool {
    let mut start = [0; 64];
    let read = std::fs::File::open(program).and_then(|mut file| file.read(&mut start));
    read.is_ok_and(|read| {
        !start
            .iter()
            .take(read)
            .any(|byte| *byte == 0 || *byte >= 0x80)
    })
}
