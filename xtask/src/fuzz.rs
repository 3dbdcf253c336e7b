//! `cargo xtask fuzz`: the targets of `fuzz`, for as long as wanted.
//!
//! They need a nightly compiler, which is asked for, and cargo-fuzz, which is installed below the target
//! directory if it is not there. What a run has learnt stays in `fuzz/corpus` for the next one; what
//! makes a target fail is in `fuzz/artifacts`. On every compiler, the same bodies run for a moment
//! among the tests of jig-proto.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "programs are started, and the person is told which are installed"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What to run, and for how long each.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FuzzOptions<'a> {
    targets: Vec<&'a str>,
    seconds: u64,
}

impl<'a> FuzzOptions<'a> {
    /// `[TARGET…] [--seconds N]`; without a name, all of them.
    pub(crate) fn parse(words: &[&'a str]) -> Result<Self, String> {
        let mut wanted = Self {
            targets: Vec::new(),
            seconds: SECONDS,
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            match *word {
                "--seconds" => {
                    let seconds = words.next().and_then(|seconds| seconds.parse().ok());
                    wanted.seconds = seconds.ok_or("`--seconds` needs a number")?;
                }
                name if TARGETS.contains(&name) => wanted.targets.push(name),
                name => return Err(format!("`{name}` is not one of {}", TARGETS.join(", "))),
            }
        }
        if wanted.targets.is_empty() {
            wanted.targets = TARGETS.to_vec();
        }
        Ok(wanted)
    }
}

pub(crate) fn run(wanted: FuzzOptions<'_>) -> Result<(), String> {
    if !succeeds(Command::new("rustup").args(["run", TOOLCHAIN, "cargo", "--version"])) {
        return Err(format!(
            "fuzzing needs a nightly compiler: `rustup toolchain install {TOOLCHAIN}`"
        ));
    }
    let program = cargo_fuzz()?;
    for target in wanted.targets {
        fuzz(&program, target, wanted.seconds)?;
    }
    Ok(())
}

fn fuzz(program: &Path, target: &str, seconds: u64) -> Result<(), String> {
    let mut command = Command::new("rustup");
    command
        .args(["run", TOOLCHAIN])
        .arg(program)
        .args(["fuzz", "run", "--fuzz-dir", "fuzz", "--target-dir"])
        .arg(crate::foreign_programs::target().join("fuzz"))
        // The first folder is written to as well.
        .arg(target)
        .arg(format!("fuzz/corpus/{target}"))
        .arg(format!("fuzz/seeds/{target}"))
        .arg("--")
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-dict=fuzz/dictionaries/{target}.dict"))
        .arg("-print_final_stats=1")
        // Cargo tells this program which one it is; cargo-fuzz would build with that one.
        .env_remove("CARGO")
        .env_remove("CARGO_TARGET_DIR")
        .current_dir(crate::root());
    std::fs::create_dir_all(crate::root().join("fuzz/corpus").join(target))
        .map_err(|error| format!("cannot make the folder of the corpus: {error}"))?;
    crate::run(&mut command)
}

/// The installed cargo-fuzz, or one of our own.
fn cargo_fuzz() -> Result<PathBuf, String> {
    if succeeds(Command::new("cargo-fuzz").arg("--version")) {
        return Ok("cargo-fuzz".into());
    }
    let folder = crate::foreign_programs::target().join("tools");
    let program = folder.join("bin").join(if cfg!(windows) {
        "cargo-fuzz.exe"
    } else {
        "cargo-fuzz"
    });
    if !succeeds(Command::new(&program).arg("--version")) {
        eprintln!(
            "cargo-fuzz is not installed: it comes into {}",
            folder.display()
        );
        let mut install = crate::cargo_command(&["install", "cargo-fuzz", "--locked", "--root"]);
        crate::run(install.arg(folder))?;
    }
    Ok(program)
}

fn succeeds(command: &mut Command) -> bool {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The targets in `fuzz`.
const TARGETS: [&str; 2] = ["fsproxy_frames", "fsproxy_text"];

/// How long a target runs if nobody says.
const SECONDS: u64 = 60;

const TOOLCHAIN: &str = "nightly";
