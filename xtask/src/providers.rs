//! What is published of a tool, checked by the model providers' own Python libraries, offline.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "an environment for Python is made, and the person is told what is skipped"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Runs the tests, in an environment below the target directory that is made once for each list of
/// requirements.
///
/// They are skipped only where nothing can be installed: without Python, or without a way to the
/// package index.
pub(crate) fn run() -> Result<(), String> {
    let tests = crate::root().join("crates/jig-proto/tests/providers");
    if !crate::is_there("python3") {
        eprintln!("  skipped: python3 is not installed");
        return Ok(());
    }
    let Some(python) = environment(&tests.join("requirements.txt"))? else {
        return Ok(());
    };
    let mut command = Command::new(python);
    command.arg("-m").arg("unittest").args(["discover", "-s"]);
    crate::run(command.arg(tests).current_dir(crate::root()))
}

/// The Python that has the requirements; `None` if the package index can't be reached.
fn environment(requirements: &Path) -> Result<Option<PathBuf>, String> {
    let wanted = std::fs::read_to_string(requirements).map_err(|error| error.to_string())?;
    let folder = target().join("providers");
    let python = folder.join(if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    });
    // Written last, so that an environment that was left half made is made again.
    let mark = folder.join("requirements.txt");
    if std::fs::read_to_string(&mark).is_ok_and(|made| made == wanted) {
        return Ok(Some(python));
    }
    eprintln!("+ installing {}", requirements.display());
    let made = output(
        Command::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(&folder),
    )?;
    if !made.status.success() {
        return Err(format!("`python3 -m venv` failed:\n{}", said(&made)));
    }
    let pip = ["-m", "pip", "install", "--quiet", "--retries", "2"];
    let mut pip_command = Command::new(&python);
    pip_command
        .args(pip)
        .args(["--disable-pip-version-check", "--requirement"]);
    let installed = output(pip_command.arg(requirements))?;
    if installed.status.success() {
        std::fs::write(&mark, wanted).map_err(|error| error.to_string())?;
        return Ok(Some(python));
    }
    let said = said(&installed);
    if UNREACHABLE.iter().any(|sign| said.contains(sign)) {
        eprintln!(
            "  skipped: the package index is not reachable, so the schemas that tools publish were \
             not checked by the providers' libraries"
        );
        return Ok(None);
    }
    Err(format!("`pip install` failed:\n{said}"))
}

fn output(command: &mut Command) -> Result<Output, String> {
    command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot start `{command:?}`: {error}"))
}

fn said(output: &Output) -> String {
    let said = [output.stdout.as_slice(), &output.stderr].concat();
    String::from_utf8_lossy(&said).into_owned()
}

fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(target) => crate::root().join(target),
        None => crate::root().join("target"),
    }
}

/// What pip says when it gets no answer, or none from the index itself.
const UNREACHABLE: [&str; 5] = [
    "connection broken by",
    "ConnectionError",
    "ProxyError",
    "Name or service not known",
    "timed out",
];
