//! Real projects from the registries, built and tested by `jig run` with the registry allowed, and once more with
//! no network at all.
//!
//! Where jig refuses something, its hint is followed to the letter, once. Each run that needs more than that is a
//! failure. Toolchains that are not installed are passed over.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

use crate::tools;

/// What came of one project.
#[derive(Debug)]
pub(crate) struct Row {
    /// Its name, and what is done with it.
    pub(crate) project: String,
    /// What is special about it.
    pub(crate) what: &'static str,
    /// How many messages had to be followed.
    pub(crate) messages: usize,
    /// Why it failed in the end.
    pub(crate) failure: Option<String>,
    /// How long it took.
    pub(crate) seconds: u64,
}

impl Row {
    /// Whether it went well with at most one message.
    pub(crate) fn is_good(&self) -> bool {
        self.failure.is_none() && self.messages <= 1
    }
}

/// The rows as a table.
pub(crate) fn table(rows: &[Row]) -> String {
    let mut text =
        "| project | | messages followed | outcome |\n| --- | --- | --- | --- |\n".to_owned();
    for row in rows {
        let outcome = match &row.failure {
            None => "works".to_owned(),
            Some(why) => why.replace(['\n', '|'], " "),
        };
        let (project, what, messages) = (&row.project, row.what, row.messages);
        text.push_str(&format!(
            "| {project} | {what} | {messages} | {outcome} |\n"
        ));
    }
    text
}

/// Builds and tests all projects.
pub(crate) fn run() -> Result<Vec<Row>, String> {
    let ground = Ground::new()?;
    let mut rows = Vec::new();
    if has("cargo") {
        rows.extend(ground.crates()?);
    }
    if has("npm") {
        rows.extend(ground.node()?);
    }
    if has("python3") {
        rows.extend(ground.python()?);
    }
    if has("go") {
        rows.extend(ground.go()?);
    }
    Ok(rows)
}

/// Where the trial takes place.
struct Ground {
    jig: PathBuf,
    folder: PathBuf,
    path: String,
}

/// One run of a project.
struct Step<'a> {
    hosts: &'a [&'a str],
    command: &'a [&'a str],
}

impl Ground {
    fn new() -> Result<Self, String> {
        let jig = tools::target().join("debug/jig");
        if !jig.is_file() {
            return Err("there is no `target/debug/jig`: run `cargo build` first".to_owned());
        }
        // Not in the checkout, whose own settings of cargo and git would count.
        let folder = std::env::temp_dir().join(format!("jig-trial-{}", std::process::id()));
        make(&folder)?;
        let folder = folder.canonicalize().map_err(|error| error.to_string())?;
        Ok(Self {
            jig,
            folder,
            path: std::env::var("PATH").unwrap_or_default(),
        })
    }

    /// Runs a project's steps in a folder. `env` are variables of the shell in which jig is started.
    fn tried(
        &self,
        project: &str,
        what: &'static str,
        folder: &Path,
        env: &[(&str, &str)],
        steps: &[Step<'_>],
    ) -> Row {
        eprintln!("trial: {project} ({what})");
        let begun = Instant::now();
        let mut row = Row {
            project: project.to_owned(),
            what,
            messages: 0,
            failure: None,
            seconds: 0,
        };
        // What a hint has added for one run is added to the others that may reach the same hosts.
        let mut added: Vec<String> = Vec::new();
        for step in steps {
            let online = !step.hosts.is_empty();
            let given: &[String] = if online { &added } else { &[] };
            let mut outcome = self.jig_run(folder, env, step, given);
            if let Err(printed) = &outcome
                && let Some(flags) = hint(printed)
            {
                row.messages += 1;
                let mut flags_then = given.to_vec();
                flags_then.extend(flags);
                outcome = self.jig_run(folder, env, step, &flags_then);
                if online {
                    added = flags_then;
                }
            }
            if let Err(printed) = outcome {
                let command = step.command.join(" ");
                let end: Vec<&str> = printed.lines().rev().take(6).collect();
                let end: Vec<&str> = end.into_iter().rev().collect();
                row.failure = Some(format!("`{command}` failed: {}", end.join(" / ")));
                break;
            }
        }
        row.seconds = begun.elapsed().as_secs();
        if let Some(failure) = &row.failure {
            eprintln!("trial: {project}: {failure}");
        }
        row
    }

    fn jig_run(
        &self,
        folder: &Path,
        env: &[(&str, &str)],
        step: &Step<'_>,
        flags: &[String],
    ) -> Result<(), String> {
        let mut command = Command::new(&self.jig);
        command.current_dir(folder).env("PATH", &self.path);
        command
            .env_remove("VIRTUAL_ENV")
            .args(["run", "--root", "."]);
        for host in step.hosts {
            command.args(["--net", host]);
        }
        command.args(flags).arg("--").args(step.command);
        command.envs(env.iter().copied());
        let output = command.output().map_err(|error| error.to_string())?;
        let printed = [output.stdout, output.stderr].concat();
        match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&printed).into_owned()),
        }
    }

    /// Crates, as they were published: with build scripts, procedural macros and C code among them.
    fn crates(&self) -> Result<Vec<Row>, String> {
        let source = self.folder.join("source");
        let mut manifest = "[package]\nname = 'source'\nversion = '0.1.0'\nedition = '2021'\n\
                            [workspace]\n[lib]\npath = 'lib.rs'\n[dependencies]\n"
            .to_owned();
        for one in CRATES {
            manifest.push_str(&format!("{} = '{}'\n", one.name, one.version));
        }
        write(&source.join("Cargo.toml"), &manifest)?;
        write(&source.join("lib.rs"), "")?;
        let args = ["metadata", "--format-version", "1"];
        let metadata = output(Command::new("cargo").args(args).current_dir(&source))?;
        let metadata: Value = serde_json::from_str(&metadata).map_err(|error| error.to_string())?;
        let mut rows = Vec::new();
        for one in CRATES {
            let packages = metadata["packages"].as_array().into_iter().flatten();
            let mut packages = packages.filter(|package| package["name"] == one.name);
            let package = packages
                .next()
                .ok_or(format!("cargo knows no `{}`", one.name))?;
            let version = package["version"].as_str().unwrap_or_default();
            let from = Path::new(package["manifest_path"].as_str().unwrap_or_default());
            let folder = self.folder.join(one.name);
            let from = from.parent().unwrap_or(from);
            output(Command::new("cp").args(["-r", "-T"]).arg(from).arg(&folder))?;
            // A crate that was published is no part of a workspace, but lies in no other either.
            let _ = std::fs::remove_file(folder.join("Cargo.lock"));
            let steps = [
                Step {
                    hosts: CRATES_IO,
                    command: one.command,
                },
                // What was downloaded is still there.
                Step {
                    hosts: &[],
                    command: one.command,
                },
            ];
            let project = format!("{} {version}: `{}`", one.name, one.command.join(" "));
            rows.push(self.tried(&project, one.what, &folder, &[], &steps));
            let _ = std::fs::remove_dir_all(folder.join("target"));
        }
        Ok(rows)
    }

    /// Projects of Node, by three package managers, one with code to compile.
    fn node(&self) -> Result<Vec<Row>, String> {
        let prefix = self.folder.join("prefix");
        let args = [
            "install",
            "--global",
            "--no-fund",
            "--no-audit",
            "pnpm@9",
            "yarn@1",
        ];
        output(Command::new("npm").args(args).arg("--prefix").arg(&prefix))?;
        let path = format!("{}:{}", prefix.join("bin").display(), self.path);
        let manifest = r#"{"name":"app","version":"1.0.0","private":true,
            "scripts":{"test":"node test.js"},
            "dependencies":{"is-odd":"3.0.1","semver":"7.6.0"}}"#;
        let test = "require('assert')(require('is-odd')(3) && require('semver').valid('1.2.3'));\n";
        let mut rows = Vec::new();
        let managers: [(&str, &str, &[&str], &[&str]); 3] = [
            ("npm", "npm", &["npm", "install"], &["npm", "test"]),
            (
                "pnpm",
                "below a prefix of npm",
                &["pnpm", "install"],
                &["pnpm", "test"],
            ),
            (
                "yarn",
                "below a prefix of npm",
                &["yarn", "install"],
                &["yarn", "test"],
            ),
        ];
        for (name, what, install, run) in managers {
            let folder = self.folder.join(format!("node-{name}"));
            write(&folder.join("package.json"), manifest)?;
            write(&folder.join("test.js"), test)?;
            let steps = [
                Step {
                    hosts: NPM,
                    command: install,
                },
                Step {
                    hosts: &[],
                    command: run,
                },
            ];
            let project = format!("an app: `{name} install`, `{name} test`");
            rows.push(self.tried(&project, what, &folder, &[("PATH", &path)], &steps));
        }
        let folder = self.folder.join("node-native");
        let manifest = r#"{"name":"native","version":"1.0.0","private":true,"workspaces":["addon"],
            "scripts":{"test":"node -e \"process.exit(require('addon').two() === 2 ? 0 : 1)\""}}"#;
        write(&folder.join("package.json"), manifest)?;
        let addon = r#"{"name":"addon","version":"1.0.0","main":"index.js"}"#;
        write(&folder.join("addon/package.json"), addon)?;
        let load = "module.exports = require('./build/Release/addon.node');\n";
        write(&folder.join("addon/index.js"), load)?;
        write(&folder.join("addon/binding.gyp"), GYP)?;
        write(&folder.join("addon/addon.c"), ADDON)?;
        let steps = [
            Step {
                hosts: &["registry.npmjs.org", "nodejs.org"],
                command: &["npm", "install"],
            },
            Step {
                hosts: &[],
                command: &["npm", "test"],
            },
        ];
        let project = "a workspace: `npm install`, `npm test`";
        rows.push(self.tried(project, "a native module", &folder, &[], &steps));
        Ok(rows)
    }

    /// Projects of Python: virtual environments in the workspace and elsewhere, uv and poetry.
    fn python(&self) -> Result<Vec<Row>, String> {
        let mut rows = Vec::new();
        let test = "import six\n\ndef test_it():\n    assert six.PY3\n";
        for (name, what) in [
            ("inside", "an active virtualenv in the workspace"),
            ("outside", "an active virtualenv elsewhere"),
        ] {
            let folder = self.folder.join(format!("python-{name}"));
            write(&folder.join("test_it.py"), test)?;
            let environment = match name {
                "inside" => folder.join(".venv"),
                _ => self.folder.join("environments/x"),
            };
            output(
                Command::new("python3")
                    .args(["-m", "venv"])
                    .arg(&environment),
            )?;
            let bin = environment.join("bin");
            let path = format!("{}:{}", bin.display(), self.path);
            let packages = ["install", "--quiet", "pytest", "six"];
            if name == "outside" {
                // It can be used, and not changed.
                output(Command::new(bin.join("pip")).args(packages))?;
            }
            let env = [
                ("PATH", path.as_str()),
                ("VIRTUAL_ENV", environment.to_str().unwrap_or_default()),
            ];
            let install = Step {
                hosts: PYPI,
                command: &["pip", "install", "--quiet", "pytest", "six"],
            };
            let pytest = Step {
                hosts: &[],
                command: &["pytest", "-q"],
            };
            let (steps, project) = match name {
                "inside" => (vec![install, pytest], "an app: `pip install`, `pytest`"),
                _ => (vec![pytest], "an app: `pytest`"),
            };
            rows.push(self.tried(project, what, &folder, &env, &steps));
        }
        rows.extend(self.managed(test)?);
        Ok(rows)
    }

    fn managed(&self, test: &str) -> Result<Vec<Row>, String> {
        let tools = self.folder.join("environments/tools");
        output(Command::new("python3").args(["-m", "venv"]).arg(&tools))?;
        let bin = tools.join("bin");
        output(Command::new(bin.join("pip")).args(["install", "--quiet", "uv", "poetry"]))?;
        let path = format!("{}:{}", self.path, bin.display());
        let mut rows = Vec::new();
        let manifest = "[project]\nname = 'app'\nversion = '0.1.0'\nrequires-python = '>=3.9'\n\
                        dependencies = ['six', 'pytest']\n[tool.poetry]\npackage-mode = false\n\
                        [[tool.poetry.source]]\nname = 'simple'\nurl = 'https://pypi.org/simple/'\n\
                        priority = 'primary'\n";
        let managers: [(&str, &[&str], &[&str]); 2] = [
            ("uv", &["uv", "sync"], &["uv", "run", "pytest", "-q"]),
            (
                "poetry",
                &["poetry", "install"],
                &["poetry", "run", "pytest", "-q"],
            ),
        ];
        for (name, install, run) in managers {
            let folder = self.folder.join(format!("python-{name}"));
            write(&folder.join("test_it.py"), test)?;
            write(&folder.join("pyproject.toml"), manifest)?;
            let steps = [
                Step {
                    hosts: PYPI,
                    command: install,
                },
                Step {
                    hosts: &[],
                    command: run,
                },
            ];
            let project = format!("an app: `{}`, `{}`", install.join(" "), run.join(" "));
            rows.push(self.tried(&project, name, &folder, &[("PATH", &path)], &steps));
        }
        Ok(rows)
    }

    /// A module of Go that needs nothing but the standard library.
    fn go(&self) -> Result<Vec<Row>, String> {
        let folder = self.folder.join("go");
        write(
            &folder.join("go.mod"),
            "module example.test/app\n\ngo 1.18\n",
        )?;
        write(
            &folder.join("app.go"),
            "package app\n\nfunc Two() int { return 2 }\n",
        )?;
        let test = "package app\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) {\n\tif Two() != 2 {\n\t\tt.Fatal()\n\t}\n}\n";
        write(&folder.join("app_test.go"), test)?;
        let step = |command| Step {
            hosts: &[],
            command,
        };
        let steps = [
            step(&["go", "vet", "./..."]),
            step(&["go", "test", "./..."]),
        ];
        let project = "a module: `go vet`, `go test`";
        Ok(vec![self.tried(project, "Go", &folder, &[], &steps)])
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The flags that a message says to run the command with.
fn hint(printed: &str) -> Option<Vec<String>> {
    let mut lines = printed.lines().rev();
    let flags = lines.find_map(|line| line.strip_prefix("hint: to allow it, run it with: "))?;
    let bare = |word: &str| word.trim_matches('\'').to_owned();
    Some(flags.split_whitespace().map(bare).collect())
}

fn has(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|entry| entry.join(program).is_file())
}

fn make(folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    make(path.parent().unwrap_or(path))?;
    std::fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

/// What a program prints; an error if it fails.
fn output(command: &mut Command) -> Result<String, String> {
    let output = command
        .output()
        .map_err(|error| format!("{command:?}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!(
            "{command:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

/// A crate, and what is done with it.
struct Crate {
    name: &'static str,
    version: &'static str,
    what: &'static str,
    command: &'static [&'static str],
}

const fn of(
    name: &'static str,
    version: &'static str,
    what: &'static str,
    command: &'static [&'static str],
) -> Crate {
    Crate {
        name,
        version,
        what,
        command,
    }
}

const TEST: &[&str] = &["cargo", "test", "--quiet"];
const BUILD: &[&str] = &["cargo", "build", "--quiet"];

const CRATES: &[Crate] = &[
    of("fnv", "1", "no dependencies", TEST),
    of("semver", "1", "no dependencies", TEST),
    of("scopeguard", "1", "no dependencies", TEST),
    of("num-traits", "0.2", "a build script", TEST),
    of("lazy_static", "1", "dependencies of tests", TEST),
    of("proc-macro2", "1", "a build script that compiles", BUILD),
    of("thiserror", "2", "procedural macros", BUILD),
    of("displaydoc", "0.2", "procedural macros", BUILD),
    of(
        "libz-sys",
        "1",
        "C code",
        &["cargo", "test", "--quiet", "--features", "static"],
    ),
    of("zstd-sys", "2", "C code", TEST),
    of("blake3", "1", "C code and assembler", BUILD),
    of("ring", "0.17", "C code and assembler", BUILD),
];

const CRATES_IO: &[&str] = &["index.crates.io", "static.crates.io"];
const NPM: &[&str] = &["registry.npmjs.org", "registry.yarnpkg.com"];
const PYPI: &[&str] = &["pypi.org", "files.pythonhosted.org"];

const GYP: &str = "{'targets': [{'target_name': 'addon', 'sources': ['addon.c']}]}\n";

const ADDON: &str = "\
#include <node_api.h>
static napi_value two(napi_env env, napi_callback_info info) {
    napi_value value;
    napi_create_int32(env, 2, &value);
    return value;
}
NAPI_MODULE_INIT() {
    napi_value function;
    napi_create_function(env, \"two\", NAPI_AUTO_LENGTH, two, 0, &function);
    napi_set_named_property(env, exports, \"two\", function);
    return exports;
}
";
