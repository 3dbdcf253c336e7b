//! What kind of project a folder holds, by the files at its top.

#![expect(
    clippy::disallowed_methods,
    reason = "a person has this folder looked at, before anything runs"
)]

use camino::Utf8Path;
use serde_json::Value as Json;

/// A language with a toolchain that jig knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProjectLanguage {
    /// `Cargo.toml`.
    Rust,
    /// `package.json`.
    Node,
    /// `pyproject.toml` and older ones.
    Python,
    /// `go.mod`.
    Go,
}

/// What was found of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetectedLanguage {
    /// Which.
    pub kind: ProjectLanguage,
    /// The file that told.
    pub file: &'static str,
    /// What runs the tests.
    pub tests: Vec<&'static str>,
}

impl DetectedLanguage {
    /// Whether what the tests print goes to standard error, which is no part of a tool's result.
    pub fn prints_errors(&self) -> bool {
        self.tests.last() == Some(&"unittest")
    }
}

impl ProjectLanguage {
    const ALL: [Self; 4] = [Self::Rust, Self::Node, Self::Python, Self::Go];

    /// The preset, which is also what people call it.
    pub fn preset(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Node => "node",
            Self::Python => "python",
            Self::Go => "go",
        }
    }

    /// The kind of a preset.
    pub fn of_preset(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.preset() == name)
    }

    /// The hosts from which its packages are downloaded.
    pub fn registry(self) -> &'static [&'static str] {
        match self {
            Self::Rust => &["index.crates.io", "static.crates.io"],
            Self::Node => &["registry.npmjs.org"],
            Self::Python => &["pypi.org", "files.pythonhosted.org"],
            Self::Go => &["proxy.golang.org", "sum.golang.org"],
        }
    }

    /// The files that tell, the surest first.
    fn files(self) -> &'static [&'static str] {
        match self {
            Self::Rust => &["Cargo.toml"],
            Self::Node => &["package.json"],
            Self::Python => &[
                "pyproject.toml",
                "setup.py",
                "setup.cfg",
                "requirements.txt",
                "pytest.ini",
                "tox.ini",
                "conftest.py",
            ],
            Self::Go => &["go.mod"],
        }
    }

    fn tests(self, root: &Utf8Path) -> Vec<&'static str> {
        let has = |file: &str| root.join(file).exists();
        match self {
            Self::Rust => vec!["cargo", "test"],
            Self::Go => vec!["go", "test", "./..."],
            Self::Node if !has_test_script(root) => vec!["node", "--test"],
            Self::Node if has("pnpm-lock.yaml") => vec!["pnpm", "test"],
            Self::Node if has("yarn.lock") => vec!["yarn", "test"],
            Self::Node => vec!["npm", "test"],
            Self::Python => {
                let python = match has(".venv/bin/python") {
                    true => ".venv/bin/python",
                    false => "python3",
                };
                let says_pytest = ["pyproject.toml", "requirements.txt", "setup.py", "tox.ini"]
                    .into_iter()
                    .any(|file| read(&root.join(file)).contains("pytest"));
                match says_pytest || has("pytest.ini") || has("conftest.py") {
                    true => vec![python, "-m", "pytest"],
                    false => vec![python, "-m", "unittest"],
                }
            }
        }
    }
}

/// The kinds of project in a folder.
pub fn find(root: &Utf8Path) -> Vec<DetectedLanguage> {
    let kinds = ProjectLanguage::ALL.into_iter();
    let found = kinds.filter_map(|kind| {
        let files = kind.files().iter();
        let file = files.copied().find(|file| root.join(file).is_file())?;
        Some(DetectedLanguage {
            kind,
            file,
            tests: kind.tests(root),
        })
    });
    found.collect()
}

fn has_test_script(root: &Utf8Path) -> bool {
    let package: Json =
        serde_json::from_str(&read(&root.join("package.json"))).unwrap_or(Json::Null);
    let script = package.pointer("/scripts/test").and_then(Json::as_str);
    // What `npm init` writes fails always.
    script.is_some_and(|script| !script.contains("no test specified"))
}

/// What is in a file, up to a size; empty if it cannot be read.
fn read(path: &Utf8Path) -> String {
    let is_small = path
        .metadata()
        .is_ok_and(|about| about.is_file() && about.len() <= MAX_READ);
    match is_small {
        true => std::fs::read_to_string(path).unwrap_or_default(),
        false => String::new(),
    }
}

/// No file of a project's settings is larger.
const MAX_READ: u64 = 1 << 20;

#[cfg(test)]
mod tests;
