//! [`Desk`]: a workspace and the person who sits at it. What holds for root must hold for everybody.

use std::io;
use std::os::unix::fs::{MetadataExt as _, lchown};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

use camino::Utf8PathBuf;
use serde_json::Value as Json;

use super::{Workspace, parsed};

/// A fresh workspace, and who runs `jig` in it.
pub(crate) struct Desk {
    pub(crate) workspace: Workspace,
    /// Somebody else than who runs the tests.
    user: Option<u32>,
}

/// How a program ended, and what it printed.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) signal: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs a test as whoever runs the tests and, if that is root, as a plain user too, each in a fresh
/// workspace.
pub(crate) fn for_each_user(test: impl Fn(&Desk)) {
    test(&Desk::new());
    if is_root() {
        test(&Desk {
            user: Some(PLAIN_USER),
            ..Desk::new()
        });
    }
}

impl Desk {
    /// The desk of whoever runs the tests.
    pub(crate) fn new() -> Self {
        Self {
            workspace: Workspace::new(),
            user: None,
        }
    }

    /// A fresh desk of the same person.
    pub(crate) fn anew(&self) -> Self {
        Self {
            user: self.user,
            ..Self::new()
        }
    }

    /// The same with a workspace in a new folder below this one.
    pub(crate) fn below(place: &str) -> Self {
        Self {
            workspace: Workspace::in_folder(tempfile::tempdir_in(place).unwrap()),
            user: None,
        }
    }

    /// Such a desk with this `jig.toml`.
    pub(crate) fn with(config: &str) -> Self {
        let desk = Self::new();
        desk.workspace.write("jig.toml", config);
        desk
    }

    /// Whether somebody else than who runs the tests sits here.
    pub(crate) fn is_plain_user(&self) -> bool {
        self.user.is_some()
    }

    /// The folder that holds the workspace and the home, neither of which may show it to a tool.
    pub(crate) fn beside(&self, name: &str) -> Utf8PathBuf {
        self.workspace.root.parent().unwrap().join(name)
    }

    pub(crate) fn path(&self, name: &str) -> Utf8PathBuf {
        self.workspace.root.join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// A program that runs as the user, in the workspace, with the user's home and search path and the
    /// places of toolchains, and nothing else of our environment.
    pub(crate) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command
            .current_dir(&self.workspace.root)
            .env_clear()
            .env("HOME", &self.workspace.home)
            .env("JIG_TRUST", "1")
            .stdin(Stdio::null());
        for name in ["PATH", "PYENV_ROOT", "NVM_DIR"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
            let given = std::env::var_os(name).map(PathBuf::from);
            let at_home = || Some(Path::new(&std::env::var_os("HOME")?).join(folder));
            if let Some(place) = given.or_else(at_home) {
                command.env(name, place);
            }
        }
        if let Some(user) = self.user {
            give(self.workspace.root.parent().unwrap().as_std_path(), user).unwrap();
            command.uid(user).gid(user);
        }
        command
    }

    /// `jig`, about to start.
    pub(crate) fn jig(&self, args: &[&str]) -> Command {
        let built = Path::new(env!("CARGO_BIN_EXE_jig"));
        let own = self.beside("jig");
        let mut command = match self.user {
            Some(_) if !is_open_to_all() => {
                if !own.exists() {
                    std::fs::copy(built, &own).unwrap();
                }
                self.command(own)
            }
            _ => self.command(built),
        };
        command.args(args);
        command
    }

    /// Runs `jig` to its end.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.jig(args).output().unwrap())
    }

    /// What `jig` prints, which ends well.
    #[track_caller]
    pub(crate) fn ok(&self, args: &[&str]) -> String {
        self.run(args).ok(args)
    }

    /// `jig run -- sh -c SCRIPT`, which ends well.
    #[track_caller]
    pub(crate) fn sh(&self, script: &str) -> String {
        self.ok(&["run", "--", "sh", "-c", script])
    }

    /// What a program of the user prints without any sandbox.
    #[track_caller]
    pub(crate) fn unconfined(&self, words: &[&str]) -> String {
        let mut command = self.command(words[0]);
        Ran::of(command.args(&words[1..]).output().unwrap()).ok(words)
    }

    /// Whether the user can run a program at all. If not, the test that asks is recorded.
    #[track_caller]
    pub(crate) fn has(&self, words: &[&str]) -> bool {
        let output = self.command(words[0]).args(&words[1..]).output();
        let reason = match output {
            Ok(output) if output.status.success() => return true,
            Ok(output) => String::from_utf8_lossy(&output.stderr).into_owned(),
            Err(error) => error.to_string(),
        };
        match self.user {
            // The program may be in the home of who runs the tests, and others cannot come there.
            Some(user) if jig_testkit::has_program(words[0]) => {
                jig_testkit::skipped_here(&format!(
                    "uid {user} cannot run `{}`: {reason}",
                    words.join(" ")
                ));
            }
            Some(_) => {}
            None => jig_testkit::skipped_without(words[0], &reason),
        }
        false
    }

    /// What `jig` prints on both streams and how it ends, paths made stable.
    pub(crate) fn told(&self, args: &[&str]) -> String {
        let ran = self.run(args);
        let end = match (ran.code, ran.signal) {
            (Some(code), _) => format!("[exit {code}]"),
            (None, signal) => format!("[signal {signal:?}]"),
        };
        format!("{}{}{end}", ran.out, ran.err)
            .replace(self.workspace.root.as_str(), "[workspace]")
            .replace(self.workspace.home.as_str(), "[home]")
            .replace(self.beside("").as_str(), "[beside]/")
    }

    /// `jig call`, with its answer as JSON.
    pub(crate) fn call(&self, args: &[&str]) -> Json {
        let mut command = self.jig(&["call", "--no-interaction", "--json"]);
        parsed(&command.args(args).output().unwrap())
    }

    /// The text that a tool gives.
    #[track_caller]
    pub(crate) fn result(&self, args: &[&str]) -> String {
        let answer = self.call(args);
        assert_eq!(answer["isError"], false, "{answer:#}");
        let content = &answer["content"];
        let text = content.as_str().or(content[0]["text"].as_str());
        text.unwrap_or_else(|| panic!("no text in {answer}"))
            .to_owned()
    }

    /// The error that a tool gives.
    #[track_caller]
    pub(crate) fn error(&self, args: &[&str]) -> Json {
        let answer = self.call(args);
        assert_eq!(answer["isError"], true, "{answer:#}");
        answer["error"].clone()
    }
}

impl Ran {
    pub(crate) fn of(output: Output) -> Self {
        Self {
            code: output.status.code(),
            signal: output.status.signal(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }

    #[track_caller]
    pub(crate) fn ok(self, words: &[&str]) -> String {
        assert_eq!(
            self.code,
            Some(0),
            "{words:?} ended by {:?}\n{}{}",
            self.signal,
            self.out,
            self.err
        );
        self.out
    }
}

pub(crate) fn is_root() -> bool {
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}

/// Gives a tree to a user. What is a link is given itself, never what it points to.
fn give(path: &Path, user: u32) -> io::Result<()> {
    let give_all = || -> io::Result<()> {
        lchown(path, Some(user), Some(user))?;
        if std::fs::symlink_metadata(path)?.is_dir() {
            for entry in std::fs::read_dir(path)? {
                give(&entry?.path(), user)?;
            }
        }
        Ok(())
    };
    match give_all() {
        // What runs in the background may have removed it meanwhile.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        given => given,
    }
}

/// Whether a plain user can run what was built: it may lie in a home that is closed to others.
fn is_open_to_all() -> bool {
    static OPEN: OnceLock<bool> = OnceLock::new();
    *OPEN.get_or_init(|| {
        let mut jig = Command::new(env!("CARGO_BIN_EXE_jig"));
        jig.arg("--version").uid(PLAIN_USER).gid(PLAIN_USER);
        jig.output().is_ok_and(|output| output.status.success())
    })
}

/// Who is nobody in particular.
const PLAIN_USER: u32 = 1000;
