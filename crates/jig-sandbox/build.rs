//! Builds the launcher: the freestanding part of this crate as a small static program, which the library
//! carries inside.
//!
//! Only where it can be linked. Without it the crate works all the same: programs are then started by
//! forking the host.
#![expect(
    clippy::disallowed_methods,
    reason = "a build script runs the compiler and reads the sources' directory"
)]

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rustc-check-cfg=cfg(jig_launcher)");
    for directory in [STAGE, LAUNCH] {
        println!("cargo::rerun-if-changed={directory}");
    }
    let is = |name: &str, values: &[&str]| {
        env::var(name).is_ok_and(|value| values.contains(&value.as_str()))
    };
    if !is("CARGO_CFG_TARGET_OS", &["linux"])
        || !is("CARGO_CFG_TARGET_ARCH", &["x86_64", "aarch64"])
        || !is("CARGO_CFG_TARGET_POINTER_WIDTH", &["64"])
    {
        return;
    }
    let Some(output) =
        env::var_os("OUT_DIR").map(|directory| PathBuf::from(directory).join("launcher"))
    else {
        return;
    };
    // The linker of the target as Cargo knows it; else the one that comes with the compiler, which links
    // for all targets.
    match build(&output, false).or_else(|first| build(&output, true).map_err(|_| first)) {
        Ok(()) => println!("cargo::rustc-cfg=jig_launcher"),
        Err(reason) => {
            println!(
                "cargo::warning=the launcher cannot be built, so programs are started by forking the host"
            );
            for line in reason.lines().take(10) {
                println!("cargo::warning={line}");
            }
        }
    }
}

fn build(output: &Path, own_linker: bool) -> Result<(), String> {
    let variable = |name: &str| env::var_os(name).ok_or_else(|| format!("{name} is not set"));
    let mut compiler = Command::new(variable("RUSTC")?);
    compiler
        .args(["--crate-name", "jig_launcher", "--crate-type", "bin"])
        .args(["--edition", "2024", "--cap-lints", "allow"])
        .args([
            "-C",
            "opt-level=s",
            "-C",
            "panic=abort",
            "-C",
            "debuginfo=0",
        ])
        .args(["-C", "strip=symbols", "-C", "codegen-units=1"])
        .args(["-C", "relocation-model=static"])
        .arg("--target")
        .arg(variable("TARGET")?)
        .arg("-o")
        .arg(output);
    if own_linker {
        compiler
            .args(["-C", "linker=rust-lld", "-C", "linker-flavor=ld.lld"])
            .args(["-C", "link-args=-static --gc-sections"]);
    } else {
        compiler.args([
            "-C",
            "link-args=-nostartfiles -nostdlib -static -Wl,--gc-sections -Wl,--build-id=none -Wl,-z,norelro",
        ]);
        if let Some(linker) = env::var_os("RUSTC_LINKER") {
            compiler.arg("-C").arg({
                let mut option = std::ffi::OsString::from("linker=");
                option.push(linker);
                option
            });
        }
    }
    compiler.arg(Path::new(LAUNCH).join("main.rs"));
    let result = compiler.output().map_err(|error| error.to_string())?;
    if result.status.success() {
        Ok(())
    } else {
        Err(String::from_utf8_lossy(&result.stderr).into_owned())
    }
}

const STAGE: &str = "src/sys/linux/stage";
const LAUNCH: &str = "src/sys/linux/launch";
