//! `jig mcp`, tried by clients that other people wrote: the MCP Inspector and the official conformance suite
//! from npm, the Python client from PyPI; and with servers of other people behind it.

#![expect(clippy::disallowed_methods, reason = "Python is started")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use crate::foreign_programs::{self, MissingProgram};
use crate::skips;

/// Builds jig and runs the parts that are named, or all.
pub(crate) fn run(parts: &[&str]) -> Result<(), String> {
    if let Some(unknown) = parts.iter().find(|part| !PARTS.contains(part)) {
        let all = PARTS.join(", ");
        return Err(format!("there is no part `{unknown}`: {all}"));
    }
    crate::cargo(&["build", "--locked", "--package", "jig-cli"])?;
    check(parts)
}

/// The same with the program as it was built before.
pub(crate) fn check(parts: &[&str]) -> Result<(), String> {
    let installed = match InstalledClients::new() {
        Ok(installed) => installed,
        Err(MissingProgram::Skipped(why)) => {
            let why = format!("{why}, so `jig mcp` was not tried by foreign clients");
            skips::skipped_without("node", &why);
            return Ok(());
        }
        Err(MissingProgram::Unreachable(error) | MissingProgram::Failed(error)) => {
            return Err(error);
        }
    };
    let wanted = |part: &&&str| parts.is_empty() || parts.contains(part);
    let wanted: Mutex<Vec<&str>> = Mutex::new(PARTS.iter().filter(wanted).copied().collect());
    let failed = Mutex::new(Vec::new());
    let next = || locked(&wanted).pop();
    let work = || {
        while let Some(part) = next() {
            if let Err(error) = installed.run(part) {
                locked(&failed).push(error);
            }
        }
    };
    // Two at a time: each waits for its servers as long as it works.
    thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    match failed.is_empty() {
        true => Ok(()),
        false => Err(failed.join("\n")),
    }
}

/// A Node, and the script of npm's `server-filesystem` for it, which jig is compared with.
pub(crate) fn server_filesystem() -> Result<(PathBuf, PathBuf), String> {
    let programs = programs().map_err(why)?;
    Ok((node(&programs), programs.join("mcp-server-filesystem")))
}

/// Servers of other people, and what runs them.
pub(crate) struct ThirdParty {
    pub(crate) node: PathBuf,
    pub(crate) everything: PathBuf,
    pub(crate) memory: PathBuf,
    /// Where the packages from npm are.
    pub(crate) packages: PathBuf,
    pub(crate) python: PathBuf,
    /// One that has the official client.
    pub(crate) client_python: PathBuf,
}

/// Installs the servers that are put behind jig to be measured.
pub(crate) fn third_party() -> Result<ThirdParty, String> {
    let programs = programs().map_err(why)?;
    let missing = || "the packages from npm are not where they should be".to_owned();
    let packages = programs.parent().ok_or_else(missing)?;
    let requirements = requirements().map_err(why)?;
    let client_python = foreign_programs::python(
        &foreign_programs::target().join("mcp/python"),
        &requirements,
    );
    let client_python = client_python.map_err(why)?;
    let script = |name: &str| {
        let folder = packages.join("@modelcontextprotocol").join(name);
        folder.join("dist/index.js")
    };
    Ok(ThirdParty {
        node: node(&programs),
        everything: script("server-everything"),
        memory: script("server-memory"),
        packages: packages.to_owned(),
        python: "python3".into(),
        client_python,
    })
}

/// A Node that is new enough, if one is among the programs.
fn node(programs: &Path) -> PathBuf {
    let own = programs.join("node");
    // Not every system has a package with a Node in it.
    if own.exists() { own } else { "node".into() }
}

fn why(missing: MissingProgram) -> String {
    let (MissingProgram::Skipped(why)
    | MissingProgram::Unreachable(why)
    | MissingProgram::Failed(why)) = missing;
    why
}

/// The folder of the programs from npm.
fn programs() -> Result<PathBuf, MissingProgram> {
    let folder = crate::root().join("crates/jig-mcp/tests/node");
    let (package, lock) = (
        folder.join("package.json"),
        folder.join("package-lock.json"),
    );
    foreign_programs::node(
        &foreign_programs::target().join("mcp/node"),
        &read(&package)?,
        &read(&lock)?,
    )
}

/// The foreign clients, below the target directory.
struct InstalledClients {
    tests: PathBuf,
    /// A Python with the client in it.
    python: PathBuf,
    /// The programs of the packages from npm, a Node that is new enough for them included.
    programs: PathBuf,
}

impl InstalledClients {
    fn new() -> Result<Self, MissingProgram> {
        let tests = crate::root().join("crates/jig-mcp/tests");
        Ok(Self {
            python: foreign_programs::python(
                &foreign_programs::target().join("mcp/python"),
                &requirements()?,
            )?,
            programs: programs()?,
            tests,
        })
    }

    /// Runs the tests of one folder.
    fn run(&self, part: &str) -> Result<(), String> {
        let mut command = Command::new(&self.python);
        command
            .env("JIG", foreign_programs::target().join("debug/jig"))
            .env("JIG_NODE_PROGRAMS", &self.programs)
            .env("PYTHONPATH", self.tests.join("support"))
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .args(["-W", "error::SyntaxWarning", "-m", "unittest", "discover"])
            .arg("-s")
            .arg(self.tests.join(part));
        crate::run_beside_others(command.current_dir(crate::root()))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What the official client for Python needs.
fn requirements() -> Result<String, MissingProgram> {
    read(&crate::root().join("crates/jig-mcp/tests/python/requirements.txt"))
}

fn read(path: &Path) -> Result<String, MissingProgram> {
    std::fs::read_to_string(path)
        .map_err(|error| MissingProgram::Failed(format!("cannot read {}: {error}", path.display())))
}

/// The folders with tests. The last ones begin first, because they take longest.
const PARTS: [&str; 4] = ["python", "inspector", "conformance", "third_party"];
