//! Chores of this repository, so that a checkout needs nothing but Rust and git.
//!
//! `cargo xtask test` and `cargo xtask check` are what a person and CI run; see `USAGE`.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "chores start programs, write generated files and talk to the person who runs them"
)]

mod bench;
#[cfg(test)]
mod dependencies;
mod foreign_programs;
mod fuzz;
mod generate;
mod guests;
mod hints;
mod mcp;
mod names;
mod program_size;
mod providers;
#[cfg(test)]
mod requirements;
mod skips;
#[cfg(test)]
mod sleeps;
mod trial;
#[cfg(test)]
mod walks;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::time::Instant;

use foreign_programs::MissingProgram;

const USAGE: &str = "\
Usage: cargo xtask <CHORE>

  test [FILTER…]   all tests, doctests, the Python SDK, the providers' libraries and foreign clients of
                   `jig mcp` included; names at the end what could not run because a program is missing,
                   which is a failure with CI=true
  providers        only the check of published schemas by the model providers' libraries
  mcp [PART…]      only `jig mcp` tried by foreign clients: python, inspector, conformance,
                   third_party (all by default)
  hints            only the check of the last whole record of hints (target/hints.last.jsonl)
  check            what CI checks: fmt, clippy, tests, docs, generated files
  guests [FLAG…]   build the components that tests use and jig embeds, into target/guests;
                   --check: compare what is committed instead of writing it;
                   --python, --js: the examples in those languages too
  names            the names of types that stand for more than one thing
  generate         write the generated files again: the JSON Schema and the list of keys
  trial [PART]     first tries of new users, as one table, printed and in docs/denials.md: `mistakes`, each
                   mended as the message says, and `projects [NAME…]`, real ones from the registries (both by
                   default); --json
  size             the program with and without `wasm-tools`
  fuzz [TARGET…]   the fuzz targets (all by default), a minute each; --seconds N: as long as that
  bench [NAME…]    benchmarks: create, files, fsproxy, gateway, handles, mcp, net, policy, spawn, startup, vfs,
                   wasm (all by default)";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["test", filters @ ..] => test(filters),
        ["check"] => check(),
        ["hints"] => hints::check(),
        ["providers"] => providers::run(),
        ["mcp", parts @ ..] => mcp::run(parts),
        ["names"] => names::run(),
        ["generate"] => generate::run(),
        ["guests", flags @ ..] => guests::GuestsOptions::parse(flags).and_then(guests::run),
        ["size"] => program_size::run(),
        ["fuzz", words @ ..] => fuzz::FuzzOptions::parse(words).and_then(fuzz::run),
        ["bench", names @ ..] => bench::run(names),
        ["trial", words @ ..] => {
            trial::TrialOptions::parse(words).and_then(|wanted| trial::run_parts(&wanted))
        }
        _ => Err(USAGE.to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the tests, and names those that could not run.
fn test(filters: &[&str]) -> Result<(), String> {
    skips::reported(|| run_tests(filters))
}

/// With nextest where it is installed, because it is faster; else with cargo alone.
fn run_tests(filters: &[&str]) -> Result<(), String> {
    let whole = filters.is_empty();
    guests::run(guests::GuestsOptions {
        check: true,
        python: whole,
        js: whole,
    })?;
    let nextest = Command::new("cargo")
        .args(["nextest", "--version"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success());
    let search = if whole { with_go()? } else { None };
    let tests = |args: &[&str]| {
        let mut command = cargo_command(args);
        if let Some(search) = &search {
            command.env("PATH", search);
        }
        // The attacks on files last as long as they are known to need. Many programs behave differently in CI; under
        // test they behave as they do for a person.
        run(command.env("JIG_ATTACK_SECONDS", "10").env_remove("CI"))
    };
    if !nextest {
        let words = [&["test", "--workspace", "--locked", "--"], filters].concat();
        return match whole {
            true => followed(|| tests(&words)).and_then(|()| foreign()),
            false => tests(&words),
        };
    }
    let all = [
        "nextest",
        "run",
        "--workspace",
        "--locked",
        "--no-fail-fast",
    ];
    if !whole {
        return tests(&[&all, filters].concat());
    }
    followed(|| tests(&all))?;
    foreign()?;
    cargo(&["test", "--workspace", "--locked", "--doc"])
}

/// Where tests look for programs, if `go` had to be installed for them: tests of whole projects build with it. Where
/// it cannot be installed, those tests say that they could not run.
fn with_go() -> Result<Option<OsString>, String> {
    if has_go() {
        return Ok(None);
    }
    let folder = match foreign_programs::go(&foreign_programs::target().join("go")) {
        Ok(folder) => folder,
        Err(MissingProgram::Skipped(_) | MissingProgram::Unreachable(_)) => return Ok(None),
        Err(MissingProgram::Failed(error)) => return Err(error),
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let search = std::env::split_paths(&path).chain([folder]);
    let search = std::env::join_paths(search);
    search.map(Some).map_err(|error| error.to_string())
}

/// Whether there is a `go`, which has no `--version`.
fn has_go() -> bool {
    let mut version = Command::new("go");
    let version = version.arg("version").stdout(Stdio::null()).status();
    version.is_ok_and(|status| status.success())
}

/// Runs all tests, and looks whether every hint that they saw was followed by one of them.
fn followed(tests: impl FnOnce() -> Result<(), String>) -> Result<(), String> {
    hints::start()?;
    let tested = tests();
    let followed = hints::check();
    tested.and(followed)
}

/// What is tested from other languages, with the program that was built for the tests before.
fn foreign() -> Result<(), String> {
    python()?;
    providers::check()?;
    mcp::check(&[])
}

/// The tests of the Python SDK, which need nothing but Python itself and the program that was built for the
/// tests before.
fn python() -> Result<(), String> {
    let mut tests = Command::new("python3");
    tests
        .env("JIG", foreign_programs::target().join("debug/jig"))
        .args([
            "-W",
            "error::SyntaxWarning",
            "-m",
            "unittest",
            "discover",
            "-s",
            "sdk/python/tests",
        ])
        .current_dir(root());
    match run(&mut tests) {
        Err(_) if !is_there("python3") => {
            skips::skipped_without(
                "python3",
                "python3 is not installed, so the Python SDK was not tested",
            );
            Ok(())
        }
        result => result,
    }
}

fn is_there(program: &str) -> bool {
    let version = Command::new(program)
        .arg("--version")
        .stdout(Stdio::null())
        .status();
    version.is_ok_and(|status| status.success())
}

fn check() -> Result<(), String> {
    cargo(&["fmt", "--all", "--check"])?;
    cargo(&["fmt", "--manifest-path", "fuzz/Cargo.toml", "--check"])?;
    guests::lint()?;
    cargo(&[
        "clippy",
        "--workspace",
        "--locked",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ])?;
    // W-004: jig without components.
    cargo(&[
        "clippy",
        "--package",
        "jig-cli",
        "--locked",
        "--no-default-features",
        "--",
        "-D",
        "warnings",
    ])?;
    test(&[])?;
    let docs = [
        "doc",
        "--workspace",
        "--locked",
        "--no-deps",
        "--document-private-items",
    ];
    run(cargo_command(&docs).env("RUSTDOCFLAGS", "-D warnings"))
}

fn cargo(args: &[&str]) -> Result<(), String> {
    run(&mut cargo_command(args))
}

fn cargo_command(args: &[&str]) -> Command {
    let mut command = Command::new("cargo");
    command.args(args).current_dir(root());
    // Cargo sets these for this program. Build scripts that read them would run again, and with them a third of the
    // workspace, whenever a chore follows a plain `cargo build`.
    for (name, _) in std::env::vars_os() {
        let own = ["CARGO_PKG_", "CARGO_MANIFEST_"];
        if own
            .iter()
            .any(|start| name.to_string_lossy().starts_with(start))
        {
            command.env_remove(name);
        }
    }
    command
}

/// Runs a command with its output shown, and says how long it took.
fn run(command: &mut Command) -> Result<(), String> {
    let line = line_of(command);
    eprintln!("+ {line}");
    let start = Instant::now();
    let status = command
        .status()
        .map_err(|error| format!("cannot start `{line}`: {error}"))?;
    eprintln!("  {:.1} s", start.elapsed().as_secs_f64());
    succeeded(&line, status)
}

/// The same with its output shown when it has ended, so that commands which run beside each other can be told apart.
fn run_beside_others(command: &mut Command) -> Result<(), String> {
    let line = line_of(command);
    let start = Instant::now();
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot start `{line}`: {error}"))?;
    eprintln!(
        "+ {line}\n{}{}  {:.1} s",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
        start.elapsed().as_secs_f64()
    );
    succeeded(&line, output.status)
}

/// A command as it is shown.
fn line_of(command: &Command) -> String {
    let words: Vec<String> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    words.join(" ")
}

fn succeeded(line: &str, status: ExitStatus) -> Result<(), String> {
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{line}` failed: {status}"))
    }
}

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_owned()
}
