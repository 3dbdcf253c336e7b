//! Benchmarks. Each prints ratios between things that were measured in turns, in one run: on a
//! noisy machine absolute times mean little.

#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) fn run(names: &[&str]) -> Result<(), String> {
    let all = [
        "files", "handles", "net", "policy", "spawn", "startup", "vfs",
    ];
    let names = if names.is_empty() { &all } else { names };
    for name in names {
        match *name {
            "files" => crate::cargo(&["bench", "--quiet", "--package", "jig-files"])?,
            "handles" => crate::cargo(&[
                "bench",
                "--quiet",
                "--package",
                "jig-runtime",
                "--bench",
                "handles",
            ])?,
            "net" => crate::cargo(&["bench", "--quiet", "--package", "jig-cli", "--bench", "net"])?,
            "policy" => crate::cargo(&["bench", "--quiet", "--package", "jig-policy"])?,
            "spawn" => {
                // With a small host, and with one of 400 MB.
                let bench = [
                    "bench",
                    "--quiet",
                    "--package",
                    "jig-sandbox",
                    "--bench",
                    "spawn",
                ];
                crate::cargo(&bench)?;
                crate::cargo(&[&bench[..], &["--", "400"]].concat())?;
            }
            "startup" => startup()?,
            "vfs" => crate::cargo(&["bench", "--quiet", "--package", "jig-cli", "--bench", "vfs"])?,
            other => {
                return Err(format!(
                    "there is no benchmark `{other}`: {}",
                    all.join(", ")
                ));
            }
        }
    }
    Ok(())
}

/// How long `jig` takes from start to end, against a program that does nothing.
fn startup() -> Result<(), String> {
    crate::cargo(&["build", "--quiet", "--release", "--package", "jig-cli"])?;
    let target = std::env::var_os("CARGO_TARGET_DIR");
    let target = target.map_or_else(|| crate::root().join("target"), Into::into);
    let jig = target.join("release/jig");
    let example = crate::root().join("examples/hello");
    let cases: [(&str, &Path, &[&str]); 3] = [
        ("/bin/true", Path::new("/bin/true"), &[]),
        ("jig --version", &jig, &["--version"]),
        (
            "jig policy explain",
            &jig,
            &["policy", "explain", "greet", "read", "src/main.rs"],
        ),
    ];
    let mut times: [Vec<Duration>; 3] = Default::default();
    for _ in 0..ROUNDS {
        for ((_, program, args), times) in cases.iter().zip(&mut times) {
            let start = Instant::now();
            let status = Command::new(program)
                .args(*args)
                .current_dir(&example)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::inherit())
                .status()
                .map_err(|error| format!("cannot start {}: {error}", program.display()))?;
            times.push(start.elapsed());
            if !status.success() {
                return Err(format!("{} failed: {status}", program.display()));
            }
        }
    }
    for sorted in &mut times {
        sorted.sort();
    }
    println!("{:<20} {:>12} {:>12}", "", "fastest", "median");
    for ((name, ..), sorted) in cases.iter().zip(&times) {
        let ratio = |at: usize| sorted[at].as_secs_f64() / times[0][at].as_secs_f64();
        println!(
            "{name:<20} {:>11.2}x {:>11.2}x",
            ratio(0),
            ratio(ROUNDS / 2)
        );
    }
    println!("against /bin/true; at most 3x is wanted");
    Ok(())
}

const ROUNDS: usize = 300;
