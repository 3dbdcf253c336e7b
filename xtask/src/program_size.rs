//! What the feature `wasm-tools` costs: the program with it and without it, as it is shipped.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "programs are copied and started, and the result is printed"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) fn run() -> Result<(), String> {
    // The usual one last: it stays in the target directory.
    let without = build("without", &["--no-default-features"])?;
    let with = build("with", &[])?;
    let sizes = [size(&with)?, size(&without)?];
    let times = startup(&[&with, &without])?;
    let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
    let row = |name: &str, bytes: u64, time: Duration| {
        let ratio = time.as_secs_f64() / times[1].as_secs_f64();
        println!("{name:<20} {:>8.1} MiB {ratio:>10.2}x", mib(bytes));
    };
    println!("{:<20} {:>12} {:>11}", "", "size", "--version");
    row("with `wasm-tools`", sizes[0], times[0]);
    row("without", sizes[1], times[1]);
    println!(
        "{:<20} {:>8.1} MiB",
        "difference",
        mib(sizes[0]) - mib(sizes[1])
    );
    println!("{WHY}");
    Ok(())
}

/// Builds the program and puts it aside. Both are built in one directory, because most of them is the same.
fn build(name: &str, flags: &[&str]) -> Result<PathBuf, String> {
    let words = ["build", "--release", "--locked", "--package", "jig-cli"];
    crate::cargo(&[&words[..], flags].concat())?;
    let folder = crate::foreign_programs::target().join("size");
    let program = folder.join(name);
    std::fs::create_dir_all(&folder)
        .and_then(|()| {
            std::fs::copy(
                crate::foreign_programs::target().join("release/jig"),
                &program,
            )
        })
        .map_err(|error| format!("cannot copy to {}: {error}", program.display()))?;
    Ok(program)
}

fn size(program: &Path) -> Result<u64, String> {
    let about = program.metadata();
    let about = about.map_err(|error| format!("cannot read {}: {error}", program.display()))?;
    Ok(about.len())
}

/// The median of how long each takes to say its version, in turns.
fn startup(programs: &[&Path; 2]) -> Result<[Duration; 2], String> {
    let mut times: [Vec<Duration>; 2] = Default::default();
    for _ in 0..ROUNDS {
        for (program, times) in programs.iter().zip(&mut times) {
            let start = Instant::now();
            let status = Command::new(program)
                .arg("--version")
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .status()
                .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
            times.push(start.elapsed());
            if !status.success() {
                return Err(format!("{} failed: {status}", program.display()));
            }
        }
    }
    Ok(times.map(|mut times| {
        times.sort();
        times[ROUNDS / 2]
    }))
}

const WHY: &str = "
Most of the difference is the compiler, Cranelift: a component comes as portable code, from a file that a
person or a tool may replace at any time, so it has to be compiled where it runs. Without the compiler jig
could load only what somebody else has compiled, which is native code that nobody checks. The rest is the
runtime, WASI and the component of `learn`. It stays on by default, because a component is the safest and
fastest way to run a tool; `--no-default-features` leaves it out.";

const ROUNDS: usize = 300;
