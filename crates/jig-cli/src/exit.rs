//! Exit codes, and how errors reach a person or a program.

use std::io;
use std::process::ExitCode;

use serde_json::json;

use crate::output::{Output, printable};

/// What is printed at the end of `jig --help`.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  it worked
  1  it failed, for the reason that was printed
  2  the command line was not understood
  3  the configuration is not valid
  4  with `policy explain --exit-code`: the answer was deny or uncovered";

/// How a command ended, when nothing failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Done {
    /// It worked.
    Ok,
    /// It worked, and what it found is bad news.
    Bad,
    /// The configuration is not valid, and that was said.
    BadConfig,
    /// It worked, and the answer is no.
    Refused,
}

/// Prints what failed, if anything, and picks the exit code.
pub(crate) fn code(result: anyhow::Result<Done>, out: &mut Output) -> ExitCode {
    let error = match result {
        Ok(Done::Ok) => return ExitCode::SUCCESS,
        Ok(Done::Bad) => return ExitCode::from(1),
        Ok(Done::BadConfig) => return ExitCode::from(3),
        Ok(Done::Refused) => return ExitCode::from(4),
        Err(error) => error,
    };
    if is_broken_pipe(&error) {
        // Whoever read our output has seen enough.
        return ExitCode::SUCCESS;
    }
    if let Some(errors) = error.downcast_ref::<jig_config::Errors>() {
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
        let causes = chain.map(|cause| printable(&cause.to_string()));
        out.error(&printable(&first), causes);
    }
    ExitCode::from(1)
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
