//! Benchmarks. Each prints ratios between things that were measured in turns, in one run: on a
//! noisy machine absolute times mean little.

#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) fn run(names: &[&str]) -> Result<(), String> {
    let all = [
        "create", "files", "fsproxy", "gateway", "handles", "mcp", "net", "policy", "spawn",
        "startup", "vfs", "wasm",
    ];
    let names = if names.is_empty() { &all } else { names };
    for name in names {
        match *name {
            "create" => crate::cargo(&[
                "bench",
                "--quiet",
                "--package",
                "jig-sandbox",
                "--bench",
                "create",
            ])?,
            "files" => crate::cargo(&["bench", "--quiet", "--package", "jig-files"])?,
            "fsproxy" => crate::cargo(&[
                "bench",
                "--quiet",
                "--package",
                "jig-runtime",
                "--bench",
                "fsproxy",
            ])?,
            "gateway" => gateway()?,
            "handles" => crate::cargo(&[
                "bench",
                "--quiet",
                "--package",
                "jig-runtime",
                "--bench",
                "handles",
            ])?,
            "mcp" => mcp()?,
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
            "wasm" => wasm()?,
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

/// `jig mcp`, with the server that it is compared with.
fn mcp() -> Result<(), String> {
    let (node, server) = crate::mcp::server_filesystem()?;
    let words = ["bench", "--quiet", "--package", "jig-cli"];
    let mut bench = crate::cargo_command(&words);
    bench.args(["--bench", "mcp", "--", "--node"]).arg(node);
    crate::run(bench.arg("--server").arg(server))
}

/// Servers behind `jig mcp`, and the same without it.
fn gateway() -> Result<(), String> {
    let servers = crate::mcp::third_party()?;
    let words = ["bench", "--quiet", "--package", "jig-cli"];
    let mut bench = crate::cargo_command(&words);
    bench.args(["--bench", "gateway", "--"]);
    bench.arg("--node").arg(servers.node);
    bench.arg("--everything").arg(servers.everything);
    bench.arg("--memory").arg(servers.memory);
    bench.arg("--packages").arg(servers.packages);
    bench.arg("--python").arg(servers.python);
    crate::run(bench.arg("--client-python").arg(servers.client_python))
}

/// Components: with the floor and the program that they are compared with.
fn wasm() -> Result<(), String> {
    crate::guests::run(crate::guests::GuestsOptions::default())?;
    let jig = jig()?;
    let target = crate::root().join("target/wasm-floor");
    let mut floor = crate::cargo_command(&["build", "--release", "--locked", "--quiet"]);
    floor
        .args(["--manifest-path", "benches/wasm-floor/Cargo.toml"])
        .env("CARGO_TARGET_DIR", &target);
    crate::run(&mut floor)?;
    let floor = target.join("release/wasm-floor");
    let words = ["bench", "--quiet", "--package", "jig-wasm"];
    let mut bench = crate::cargo_command(&words);
    bench.args(["--bench", "wasm", "--", "--floor"]).arg(floor);
    crate::run(bench.arg("--jig").arg(jig))
}

/// The program, as it is shipped.
fn jig() -> Result<PathBuf, String> {
    crate::cargo(&["build", "--quiet", "--release", "--package", "jig-cli"])?;
    Ok(crate::foreign_programs::target().join("release/jig"))
}

/// How long `jig` takes from start to end, against a program that does nothing.
fn startup() -> Result<(), String> {
    let jig = jig()?;
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
