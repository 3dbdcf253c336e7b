//! Components: the workspace `guests`, built for `wasm32-wasip2`, and the examples in other languages.
//!
//! The tests take them from `target/guests`, wherever cargo itself builds. What jig embeds is committed,
//! so that `cargo build` needs no second target and no second build; the check here keeps it what its
//! source says. It can be exact, because the compiler is pinned and no path of a machine gets into a
//! component.

#![expect(clippy::disallowed_methods, reason = "components are copied")]

mod foreign;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a run is asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct GuestsOptions {
    /// Committed components are compared and not written.
    pub(crate) check: bool,
    pub(crate) python: bool,
    pub(crate) js: bool,
}

impl GuestsOptions {
    pub(crate) fn parse(flags: &[&str]) -> Result<Self, String> {
        let mut wanted = Self::default();
        for flag in flags {
            match *flag {
                "--check" => wanted.check = true,
                "--python" => wanted.python = true,
                "--js" => wanted.js = true,
                other => return Err(format!("`guests` has no flag `{other}`")),
            }
        }
        Ok(wanted)
    }
}

pub(crate) fn run(wanted: GuestsOptions) -> Result<(), String> {
    install_target()?;
    // Each that is embedded by itself: in one build, features that another guest wants of a crate would
    // change its bytes.
    let mut others = cargo(&["build", "--workspace"])?;
    for name in EMBEDDED {
        let package = format!("jig-guest-{name}");
        crate::run(&mut cargo(&["build", "--package", &package])?)?;
        others.args(["--exclude", &package]);
    }
    crate::run(&mut others)?;
    let built = build_folder().join(TARGET).join("release");
    for name in names()? {
        let component = read(&built.join(format!("jig_guest_{name}.wasm")))?;
        write(&folder().join(format!("{name}.wasm")), &component)?;
        if EMBEDDED.contains(&name.as_str()) {
            embed(&name, &component, wanted.check)?;
        }
    }
    if wanted.python {
        foreign::python()?;
    }
    if wanted.js {
        foreign::js()?;
    }
    Ok(())
}

/// Formatting and lints of what the workspace itself does not cover.
pub(crate) fn lint() -> Result<(), String> {
    for workspace in ["guests", "benches/wasm-floor"] {
        // From inside, and without `--all`, which would take in what they depend on by path.
        let mut fmt = crate::cargo_command(&["fmt", "--check"]);
        crate::run(fmt.current_dir(crate::root().join(workspace)))?;
    }
    install_target()?;
    let mut clippy = cargo(&["clippy", "--workspace"])?;
    crate::run(clippy.args(["--", "-D", "warnings"]))
}

/// The members of the workspace: each has its own folder, and its package is named after that.
fn names() -> Result<Vec<String>, String> {
    let folder = crate::root().join("guests");
    let failed = |error| format!("cannot read {}: {error}", folder.display());
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        if entry.path().join("Cargo.toml").is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// The folder in which tests look for components.
fn folder() -> PathBuf {
    crate::root().join("target/guests")
}

/// Apart from cargo's own folder: a nested build there would wait for the one that it is part of.
fn build_folder() -> PathBuf {
    crate::root().join("target/guests-build")
}

/// Adds the target to the toolchain; that it is named in `rust-toolchain.toml` is not enough where
/// rustup does not install by itself.
fn install_target() -> Result<(), String> {
    let library = rustc(&["--print", "target-libdir", "--target", TARGET])?;
    if Path::new(&library).is_dir() {
        return Ok(());
    }
    if !crate::is_there("rustup") {
        return Err(format!(
            "components need the target {TARGET}, and there is no rustup to install it with: install \
             Rust's standard library for {TARGET} as you have installed Rust"
        ));
    }
    crate::run(Command::new("rustup").args(["target", "add", TARGET])).map_err(|error| {
        format!(
            "{error}\n{TARGET} is needed for components: try `rustup target add {TARGET}` by hand"
        )
    })
}

/// Cargo on the guests' workspace, always with the same flags: other flags would build all again.
fn cargo(subcommand: &[&str]) -> Result<Command, String> {
    let mut command = crate::cargo_command(subcommand);
    command
        .args(["--release", "--locked", "--target", TARGET])
        .args(["--manifest-path", "guests/Cargo.toml"])
        .env("CARGO_TARGET_DIR", build_folder())
        .env("CARGO_INCREMENTAL", "0")
        .env("CARGO_ENCODED_RUSTFLAGS", remapped()?);
    Ok(command)
}

/// Flags that give every folder of this machine a name that it has everywhere.
fn remapped() -> Result<OsString, String> {
    let sysroot = PathBuf::from(rustc(&["--print", "sysroot"])?);
    let version = rustc(&["-vV"])?;
    let commit = version
        .lines()
        .find_map(|line| line.strip_prefix("commit-hash: "))
        .ok_or("`rustc -vV` names no commit")?;
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| Some(std::env::home_dir()?.join(".cargo")));
    let home = home.ok_or("there is neither CARGO_HOME nor a home directory")?;
    let mut names = [
        (crate::root(), "/jig".to_owned()),
        (home, "/cargo".to_owned()),
        // The name that the standard library has for itself where its source is not installed.
        (
            sysroot.join("lib/rustlib/src/rust"),
            format!("/rustc/{commit}"),
        ),
    ];
    // Of several that fit the compiler takes the last, which has to be the one nearest to the file.
    names.sort_by_key(|(folder, _)| folder.as_os_str().len());
    let mut flags = OsString::new();
    for (folder, name) in names {
        if !flags.is_empty() {
            flags.push("\u{1f}");
        }
        flags.push("--remap-path-prefix=");
        flags.push(folder);
        flags.push("=");
        flags.push(name);
    }
    Ok(flags)
}

/// Puts a component where jig embeds it, or says that it is not the one that is there.
fn embed(name: &str, component: &[u8], check: bool) -> Result<(), String> {
    let path = format!("crates/jig-wasm/guests/{name}.wasm");
    let committed = crate::root().join(&path);
    if !check {
        return write(&committed, component);
    }
    if std::fs::read(&committed).is_ok_and(|committed| committed == component) {
        return Ok(());
    }
    let version = rustc(&["--version"])?;
    let pinned = std::fs::read_to_string(crate::root().join("rust-toolchain.toml"));
    let pinned = pinned.unwrap_or_default();
    let pinned = pinned
        .lines()
        .find_map(|line| line.strip_prefix("channel = "))
        .map_or("", |channel| channel.trim_matches('"'));
    if version.split(' ').nth(1) == Some(pinned) {
        Err(format!(
            "{path} is not what guests/{name} gives: run `cargo xtask guests` and commit it"
        ))
    } else {
        Err(format!(
            "{path} can only be compared with a build by Rust {pinned}, and this is {version}: unset \
             what overrides rust-toolchain.toml"
        ))
    }
}

fn rustc(args: &[&str]) -> Result<String, String> {
    let output = Command::new("rustc")
        .args(args)
        .current_dir(crate::root())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("cannot start rustc: {error}"))?;
    if !output.status.success() {
        return Err(format!(
            "`rustc {}` failed: {}",
            args.join(" "),
            output.status
        ));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    std::fs::read(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// Writes a file that tests may be reading at the moment: they see the old one or the new one.
///
/// What has not changed is left alone, so that nothing is compiled again because of it.
fn write(path: &Path, content: &[u8]) -> Result<(), String> {
    if std::fs::read(path).is_ok_and(|there| there == content) {
        return Ok(());
    }
    let failed = |error| format!("cannot write {}: {error}", path.display());
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).map_err(failed)?;
    let part = path.with_extension(format!("{}.part", std::process::id()));
    std::fs::write(&part, content).map_err(failed)?;
    std::fs::rename(&part, path).map_err(failed)
}

const TARGET: &str = "wasm32-wasip2";
/// The guests that are part of the binary.
const EMBEDDED: [&str; 1] = ["learn"];
