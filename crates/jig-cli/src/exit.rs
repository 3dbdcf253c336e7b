//! Exit codes, and how errors reach a person or a program.

use std::io;
use std::process::ExitCode;

use jig_proto::visible_lines;
use jig_sandbox::Exit;
use serde_json::json;

use crate::output::CliOutput;

/// How a command ended, when nothing failed.
#[derive(Debug)]
pub(crate) enum Done {
    /// It worked.
    Ok,
    /// It worked, and what it found is bad news.
    Bad,
    /// The configuration is not valid, and that was said.
    BadConfig,
    /// It worked, and the answer is no.
    Refused,
    /// A command was run, and ended like this.
    Passed(Exit),
    /// A command could not be run; the code says so in its own way.
    NotRun(u8, anyhow::Error),
}

/// Prints what failed, if anything, and picks the exit code.
pub(crate) fn code(result: anyhow::Result<Done>, out: &mut CliOutput) -> ExitCode {
    let error = match result {
        Ok(Done::Ok) => return ExitCode::SUCCESS,
        Ok(Done::Bad) => return ExitCode::from(1),
        Ok(Done::BadConfig) => return ExitCode::from(3),
        Ok(Done::Refused) => return ExitCode::from(4),
        Ok(Done::Passed(exit)) => return passed(exit),
        Ok(Done::NotRun(code, error)) => {
            failed(&error, out);
            return ExitCode::from(code);
        }
        Err(error) => error,
    };
    failed(&error, out)
}

/// Ends as a command did: with its code, or by the signal that ended it.
fn passed(exit: Exit) -> ExitCode {
    match exit {
        // Codes have one byte.
        Exit::Exited { code } => ExitCode::from(code as u8),
        Exit::Killed { signal, .. } => {
            let _ = signal_hook::low_level::emulate_default_handler(signal);
            // A signal that does not end a program is told as shells tell it.
            ExitCode::from(128_u8.saturating_add(signal as u8))
        }
    }
}

/// Prints what failed, and picks the exit code.
fn failed(error: &anyhow::Error, out: &mut CliOutput) -> ExitCode {
    if is_broken_pipe(error) {
        // Whoever read our output has seen enough.
        return ExitCode::SUCCESS;
    }
    if let Some(errors) = error.downcast_ref::<jig_config::ConfigErrors>() {
        out.config_errors(errors);
        return ExitCode::from(3);
    }
    if out.is_json() {
        let chain: Vec<String> = error.chain().map(ToString::to_string).collect();
        out.error_json(&json!({ "error": { "message": chain.join(": ") } }));
    } else {
        let mut chain = error.chain();
        let first = chain.next().map(ToString::to_string).unwrap_or_default();
        // Names of arguments and files come from models and tools.
        let mut causes: Vec<String> = chain
            .map(|cause| visible_lines(&cause.to_string()))
            .collect();
        let is_told = causes.iter().any(|cause| cause.starts_with("hint: "));
        if let Some(way) = way_out(error).filter(|_| !is_told) {
            causes.push(visible_lines(&way));
        }
        out.error(&visible_lines(&first), causes.into_iter());
    }
    ExitCode::from(1)
}

#[cfg(unix)]
fn way_out(error: &anyhow::Error) -> Option<String> {
    crate::not_started::way_out(error).map(|hint| hint.to_string())
}

#[cfg(not(unix))]
fn way_out(_: &anyhow::Error) -> Option<String> {
    None
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
