//! Which toolchains a command needs, when nobody named them.

use std::ffi::OsStr;
use std::path::Path;

use super::host_files;
use super::program::{self, ProgramSurroundings};
use super::toolchain::VirtualEnvironment;
use super::{Discover, Preset};

#[cfg(test)]
mod tests;

/// The presets for a command, none of them twice.
pub(super) fn presets(
    discover: Discover,
    program: &OsStr,
    around: &ProgramSurroundings<'_>,
) -> Vec<Preset> {
    if discover == Discover::Nothing {
        return Vec::new();
    }
    let own = of_program(program, around);
    let mut presets: Vec<Preset> = own.into_iter().collect();
    if discover == Discover::OfProject && (own.is_some() || runs_others(program, around)) {
        for preset in of_project(around) {
            if !presets.contains(&preset) {
                presets.push(preset);
            }
        }
    }
    presets
}

/// The toolchain that a program belongs to: by its name, where it stands, or who interprets it.
fn of_program(program: &OsStr, around: &ProgramSurroundings<'_>) -> Option<Preset> {
    let name = Path::new(program).file_name()?.to_str()?;
    let version = |c: char| c.is_ascii_digit() || c == '.';
    let plain = name.trim_end_matches(version);
    let place = program::place(around, program);
    let environment = around.virtual_environment.as_ref();
    let is_active =
        |place: &Path| environment.is_some_and(|active| place.parent() == Some(&active.programs()));
    // A script of the workspace opens nothing by its name.
    let is_own = |place: &Path| place.starts_with(around.root) && !is_active(place);
    if place.as_deref().is_some_and(is_own) {
        return None;
    }
    if let Some(preset) = named(plain) {
        return Some(preset);
    }
    let place = place?;
    if is_active(&place) {
        return Some(Preset::Python);
    }
    let interpreter = program::interpreter_name(&place)?;
    named(interpreter.trim_end_matches(version))
}

fn named(name: &str) -> Option<Preset> {
    let is_of = |names: &[&str]| names.contains(&name);
    if is_of(RUST) || name.starts_with("cargo-") {
        Some(Preset::Rust)
    } else if is_of(NODE) {
        Some(Preset::Node)
    } else if is_of(PYTHON) {
        Some(Preset::Python)
    } else if is_of(GO) {
        Some(Preset::Go)
    } else {
        None
    }
}

/// Whether a program is there to run others: shells, `make`, and the scripts of the project itself.
fn runs_others(program: &OsStr, around: &ProgramSurroundings<'_>) -> bool {
    let path = Path::new(program);
    let name = path.file_name().and_then(OsStr::to_str);
    let is_inside = program::place(around, program).is_some_and(|it| it.starts_with(around.root));
    is_inside || name.is_some_and(|name| RUNNERS.contains(&name))
}

/// The toolchains of the project around the directory in which the command starts.
fn of_project(around: &ProgramSurroundings<'_>) -> Vec<Preset> {
    let mut presets = Vec::new();
    let directories = around.start.ancestors();
    let directories = directories.take_while(|directory| directory.starts_with(around.root));
    let has = |names: &[&str]| {
        let mut directories = directories.clone();
        directories.any(|directory| {
            names
                .iter()
                .any(|name| host_files::is_file(&directory.join(name)))
        })
    };
    if has(&["Cargo.toml"]) {
        presets.push(Preset::Rust);
    }
    if has(&["package.json"]) {
        presets.push(Preset::Node);
    }
    if around.virtual_environment.is_some() || has(PYTHON_PROJECT) {
        presets.push(Preset::Python);
    }
    if has(&["go.mod", "go.work"]) {
        presets.push(Preset::Go);
    }
    presets
}

/// The virtual environment that counts for a command.
pub(super) fn virtual_environment(
    discover: Discover,
    around: &ProgramSurroundings<'_>,
) -> Option<VirtualEnvironment> {
    let active = VirtualEnvironment::active(around)?;
    // A tool could plant programs in one that lies in the workspace, for other tools to run.
    let counts = discover == Discover::OfProject || !active.is_inside(around.root);
    counts.then_some(active)
}

const RUST: &[&str] = &[
    "cargo",
    "clippy-driver",
    "rust-analyzer",
    "rust-gdb",
    "rust-lldb",
    "rustc",
    "rustdoc",
    "rustfmt",
    "rustup",
];

const NODE: &[&str] = &[
    "corepack", "node", "nodejs", "npm", "npx", "pnpm", "pnpx", "yarn", "yarnpkg",
];

const PYTHON: &[&str] = &[
    "hatch",
    "ipython",
    "nox",
    "pdm",
    "pip",
    "pipenv",
    "pipx",
    "poetry",
    "py.test",
    "pypy",
    "pytest",
    "python",
    "tox",
    "uv",
    "uvx",
    "virtualenv",
];

const GO: &[&str] = &["go", "gofmt", "gopls"];

/// Files that say that a project is one of Python.
const PYTHON_PROJECT: &[&str] = &[
    "Pipfile",
    "pyproject.toml",
    "requirements.txt",
    "setup.cfg",
    "setup.py",
    "tox.ini",
];

/// Programs that run what they are told to.
const RUNNERS: &[&str] = &[
    "ash",
    "bash",
    "busybox",
    "cmake",
    "ctest",
    "dash",
    "env",
    "fish",
    "gmake",
    "hyperfine",
    "just",
    "ksh",
    "make",
    "meson",
    "nice",
    "ninja",
    "nohup",
    "pre-commit",
    "script",
    "sh",
    "stdbuf",
    "strace",
    "task",
    "time",
    "timeout",
    "xargs",
    "zsh",
];
