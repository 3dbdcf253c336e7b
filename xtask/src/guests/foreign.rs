//! The examples in Python and JavaScript, built with the tools of those languages.
//!
//! A machine without them, or without a way to their packages, goes without these components, and the
//! tests that need them say that they were skipped.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::foreign_programs::{self, MissingProgram};

pub(super) fn python() -> Result<(), String> {
    let example = ExampleFiles::read("python", "examples/wasm-python")?;
    let requirements = example.text("requirements.txt")?;
    example.build("", |work, component| {
        let python = foreign_programs::python(&tools_folder().join("python"), &requirements)?;
        let program = python.with_file_name("componentize-py");
        let mut command = Command::new(program);
        command
            .args(["-d", "wit", "-w", "component", "componentize", "app", "-o"])
            .arg(component)
            .current_dir(work);
        crate::run(&mut command).map_err(MissingProgram::Failed)
    })
}

pub(super) fn js() -> Result<(), String> {
    let example = ExampleFiles::read("js", "examples/wasm-js")?;
    let package = example.text("package.json")?;
    // An example is written for people who take the newest of everything; what runs here is what was seen.
    let lock = super::read(&crate::root().join("xtask/js/package-lock.json"))?;
    let lock = String::from_utf8(lock).map_err(|error| error.to_string())?;
    example.build(&lock, |work, component| {
        let programs = foreign_programs::node(&tools_folder().join("js"), &package, &lock)?;
        let mut command = Command::new(programs.join("jco"));
        command
            .args(["componentize", "tool.js", "--wit", "wit"])
            .args(["--world-name", "component"])
            .args(["--backend", "quickjs", "--backend-qjs-disable-async", "-o"])
            .arg(component)
            .current_dir(work);
        crate::run(&mut command).map_err(MissingProgram::Failed)
    })
}

/// The files of an example, by their path in it.
struct ExampleFiles {
    name: &'static str,
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl ExampleFiles {
    fn read(name: &'static str, folder: &str) -> Result<Self, String> {
        let mut files = BTreeMap::new();
        let folder = crate::root().join(folder);
        let mut waiting = vec![PathBuf::new()];
        while let Some(at) = waiting.pop() {
            let here = folder.join(&at);
            let failed = |error| format!("cannot read {}: {error}", here.display());
            for entry in std::fs::read_dir(&here).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let path = at.join(entry.file_name());
                let kind = entry.file_type().map_err(failed)?;
                if !is_source(&path) {
                    continue;
                }
                if kind.is_dir() {
                    waiting.push(path);
                } else if kind.is_file() {
                    files.insert(path, super::read(&entry.path())?);
                }
            }
        }
        Ok(Self { name, files })
    }

    fn text(&self, path: &str) -> Result<String, String> {
        let file = self.files.get(Path::new(path));
        let file = file.ok_or_else(|| format!("the example for {} has no {path}", self.name))?;
        String::from_utf8(file.clone()).map_err(|error| format!("{path}: {error}"))
    }

    /// Builds the component in a copy of the example, unless it has been built of the same files by the
    /// same `tools`.
    fn build(
        &self,
        tools: &str,
        build: impl FnOnce(&Path, &Path) -> Result<(), MissingProgram>,
    ) -> Result<(), String> {
        let component = super::folder().join(format!("{}.wasm", self.name));
        let mark = tools_folder().join(format!("{}.stamp", self.name));
        let mut hasher = DefaultHasher::new();
        (tools, &self.files).hash(&mut hasher);
        let stamp = format!("{:016x}", hasher.finish());
        if component.is_file() && foreign_programs::is_marked(&mark, &stamp) {
            return Ok(());
        }
        // What is there is of other files: no test may take it for the example.
        let _ = std::fs::remove_file(&component);
        let work = tools_folder().join(format!("{}-example", self.name));
        let _ = std::fs::remove_dir_all(&work);
        for (path, content) in &self.files {
            super::write(&work.join(path), content)?;
        }
        let built = work.join("built.wasm");
        match build(&work, &built) {
            Ok(()) => {}
            Err(MissingProgram::Failed(error)) => return Err(error),
            Err(MissingProgram::Skipped(why) | MissingProgram::Unreachable(why)) => {
                let why = format!("{why}, so there is no component in {}", self.name);
                crate::skips::skipped_without(self.name, &why);
                return Ok(());
            }
        }
        super::write(&component, &super::read(&built)?)?;
        super::write(&mark, stamp.as_bytes())
    }
}

/// Whether a component is made of it: neither what somebody has installed or built there, nor the text
/// about it.
fn is_source(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let kind = path.extension().unwrap_or_default();
    let is_made = name == "node_modules" || name == "__pycache__" || kind == "wasm";
    !is_made && !name.starts_with('.') && kind != "md"
}

fn tools_folder() -> PathBuf {
    crate::root().join("target/guests-tools")
}
