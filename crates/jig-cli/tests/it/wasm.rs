//! `jig wasm`, and components as tools of the real `jig`.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the tests make real workspaces and start the real program, and fail where that fails"
)]

mod bench;
mod examples;
mod inspect;
mod new;

use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value as Json;

/// A fresh workspace with a home of its own. Compiled code is shared with all other tests: compiling takes
/// long.
pub(crate) struct Workspace {
    _folder: tempfile::TempDir,
    pub(crate) root: Utf8PathBuf,
    pub(crate) home: Utf8PathBuf,
}

impl Workspace {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(folder.path()).unwrap();
        let (root, home) = (path.join("ws"), path.join("home"));
        std::fs::create_dir(&root).unwrap();
        let state = home.join(".local/state/jig");
        std::fs::create_dir_all(&state).unwrap();
        // Every test vouches for the code of every other.
        let key = state.join("wasm.key");
        std::fs::write(&key, [7; 32]).unwrap();
        std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o600)).unwrap();
        Self {
            root,
            home,
            _folder: folder,
        }
    }

    /// A workspace with this `jig.toml`.
    fn with(config: &str) -> Self {
        let workspace = Self::new();
        workspace.write("jig.toml", config);
        workspace
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    /// Copies a folder of the repository into the workspace.
    fn copy(&self, from: &str, to: &str) {
        let from = repository().join(from);
        let copied = Command::new("cp")
            .args(["-r", from.as_str(), self.root.join(to).as_str()])
            .status();
        assert!(copied.unwrap().success(), "{from} is there");
    }

    /// The program, about to start in the workspace with nothing of our own environment.
    pub(crate) fn jig(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_jig"));
        command
            .args(args)
            .current_dir(&self.root)
            .env_clear()
            .env("HOME", &self.home)
            .env("JIG_TRUST", "1")
            .env(
                "XDG_CACHE_HOME",
                repository().join("target/guests/cli-cache"),
            );
        command
    }

    /// How the program ends, and what it prints.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(&self.jig(args).output().unwrap())
    }

    /// What the program prints when all goes well.
    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
        ran.out
    }

    /// What the program says when it fails.
    #[track_caller]
    pub(crate) fn fails(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        assert_eq!(ran.code, Some(1), "{args:?}: {ran:?}");
        ran.err
    }

    /// What the program prints as JSON, and how it ends.
    #[track_caller]
    pub(crate) fn json(&self, args: &[&str]) -> (Option<i32>, Json) {
        let mut command = self.jig(args);
        let ran = Ran::of(&command.arg("--json").output().unwrap());
        match serde_json::from_str(&ran.out) {
            Ok(value) => (ran.code, value),
            Err(error) => panic!("{error} in {ran:?}"),
        }
    }
}

#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Self {
            code: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }
}

fn repository() -> Utf8PathBuf {
    let crates = Utf8Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    crates.parent().unwrap().to_owned()
}

/// A guest that every build makes.
#[track_caller]
pub(crate) fn guest(name: &str) -> Utf8PathBuf {
    let path = optional_guest(name);
    path.unwrap_or_else(|| panic!("{name}.wasm is missing: run `cargo xtask guests`"))
}

/// A guest that takes a toolchain which not everybody has.
fn optional_guest(name: &str) -> Option<Utf8PathBuf> {
    let path = repository().join(format!("target/guests/{name}.wasm"));
    path.exists().then_some(path)
}

/// Builds the component `name` from a crate, with the versions of our own guests and without the network, and
/// puts it where cargo alone would have put it. What was compiled for our guests is used again. Returns what
/// cargo said.
#[track_caller]
fn build(folder: &Utf8Path, name: &str) -> String {
    let locked = repository().join("guests/Cargo.lock");
    std::fs::copy(locked, folder.join("Cargo.lock")).unwrap();
    let target = repository().join("target/guests-build");
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(cargo);
    command
        .args(["build", "--release", "--offline", "--target", TARGET])
        .args(["--target-dir", target.as_str()])
        .current_dir(folder)
        // What our own build sets is for our own build.
        .env("CARGO_INCREMENTAL", "0")
        .env_remove("RUSTFLAGS")
        .env_remove("CARGO_ENCODED_RUSTFLAGS");
    let ran = Ran::of(&command.output().unwrap());
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let place = format!("{TARGET}/release/{name}.wasm");
    let to = folder.join("target").join(&place);
    std::fs::create_dir_all(to.parent().unwrap()).unwrap();
    std::fs::copy(target.join(place), to).unwrap();
    ran.err
}

const TARGET: &str = "wasm32-wasip2";
