//! [`run`]: a tool as a function.

use std::any::Any;
use std::error::Error;
use std::io::{self, Write};
use std::panic::{self, AssertUnwindSafe};
use std::process::ExitCode;

use jig_proto::{Content, ToolError};

use super::{Host, connect};

/// Connects to the host, does `work` and reports its result or its error.
///
/// A panic is reported as an error, where panics unwind; elsewhere the host finds what it printed.
/// The exit code is 0 after a result and 1 after an error, or if there is no host.
pub fn run(work: impl FnOnce(&mut Host) -> Result<Content, ToolError>) -> ExitCode {
    match connect() {
        Ok(host) => serve(host, work),
        Err(error) => {
            complain(&error);
            ExitCode::FAILURE
        }
    }
}

/// The same with a host that is connected already.
pub fn serve(
    mut host: Host,
    work: impl FnOnce(&mut Host) -> Result<Content, ToolError>,
) -> ExitCode {
    // The host is only used for one more notification, which does not depend on what was left half
    // done.
    let ended = panic::catch_unwind(AssertUnwindSafe(|| work(&mut host)));
    let ended = ended.unwrap_or_else(|panic| Err(of_panic(&*panic)));
    let succeeded = ended.is_ok();
    let reported = match ended {
        Ok(content) => host.result(content),
        Err(error) => host.error(error),
    };
    match reported {
        Ok(()) if succeeded => ExitCode::SUCCESS,
        Ok(()) => ExitCode::FAILURE,
        Err(lost) => {
            complain(&lost);
            ExitCode::FAILURE
        }
    }
}

fn of_panic(panic: &(dyn Any + Send)) -> ToolError {
    let said = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    ToolError::new(match said {
        Some(said) => format!("the tool panicked: {said}"),
        None => "the tool panicked".to_owned(),
    })
}

/// Says on standard error what nobody can be told by the protocol.
fn complain(error: &dyn Error) {
    let mut text = format!("error: {error}\n");
    let mut cause = error.source();
    while let Some(next) = cause {
        text.push_str(&format!("  caused by: {next}\n"));
        cause = next.source();
    }
    // There is nobody left to hear that even this failed.
    let _ = io::stderr().write_all(text.as_bytes());
}

#[cfg(test)]
mod tests;
