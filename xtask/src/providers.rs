//! What is published of a tool, checked by the model providers' own Python libraries, offline.

#![expect(clippy::disallowed_methods, reason = "Python is started")]

use std::process::Command;

use crate::foreign_programs::{self, MissingProgram};
use crate::skips;

/// Builds jig and runs the tests.
pub(crate) fn run() -> Result<(), String> {
    crate::cargo(&["build", "--locked", "--package", "jig-cli"])?;
    check()
}

/// The same with the program as it was built before.
///
/// The tests are skipped only where nothing can be installed: without Python, or without a way to the
/// package index.
pub(crate) fn check() -> Result<(), String> {
    let tests = crate::root().join("crates/jig-proto/tests/providers");
    let requirements = std::fs::read_to_string(tests.join("requirements.txt"));
    let requirements = requirements.map_err(|error| error.to_string())?;
    let python = match foreign_programs::python(
        &foreign_programs::target().join("providers"),
        &requirements,
    ) {
        Ok(python) => python,
        Err(MissingProgram::Skipped(why) | MissingProgram::Unreachable(why)) => {
            let why = format!(
                "{why}, so the schemas that tools publish were not checked by the providers' libraries"
            );
            skips::skipped_without("python3", &why);
            return Ok(());
        }
        Err(MissingProgram::Failed(error)) => return Err(error),
    };
    let mut command = Command::new(python);
    command
        .env("JIG", foreign_programs::target().join("debug/jig"))
        .args(["-m", "unittest", "discover", "-s"]);
    crate::run(command.arg(tests).current_dir(crate::root()))
}
