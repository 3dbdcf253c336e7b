//! `jig suggest`: what real commands need is learned, proposed, tried and written.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "the tests make real workspaces and start the real program, and fail where that fails"
)]

mod attacks;
mod proposals;
mod work;
#[path = "../it/workspace_user.rs"]
#[expect(dead_code, reason = "other tests use the rest of it")]
mod workspace_user;
mod writing;

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Output;

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::Value as Json;

use self::workspace_user::Desk;

/// A fresh workspace in a folder of its own, with a home of its own.
pub(crate) struct Workspace {
    _folder: tempfile::TempDir,
    pub(crate) root: Utf8PathBuf,
    pub(crate) home: Utf8PathBuf,
}

impl Workspace {
    /// Not below `/tmp`, if it can be: there a confined program has a directory of its own, in which rules
    /// are held less finely.
    fn new() -> Self {
        let elsewhere = tempfile::Builder::new()
            .prefix("jig-test-")
            .tempdir_in("/srv");
        Self::in_folder(elsewhere.or_else(|_| tempfile::tempdir()).unwrap())
    }

    /// Whether rules are held here as finely as anywhere.
    fn is_fine(&self) -> bool {
        !self.root.starts_with("/tmp") && !self.root.starts_with("/var/tmp")
    }

    fn in_tmp() -> Self {
        Self::in_folder(tempfile::tempdir_in("/tmp").unwrap())
    }

    fn in_folder(folder: tempfile::TempDir) -> Self {
        let path = Utf8Path::from_path(folder.path()).unwrap();
        let (root, home) = (path.join("ws"), path.join("home"));
        std::fs::create_dir(&root).unwrap();
        std::fs::create_dir(&home).unwrap();
        Self {
            root,
            home,
            _folder: folder,
        }
    }

    pub(crate) fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
}

fn parsed(output: &Output) -> Json {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!(
            "{error} in {text}{}",
            String::from_utf8_lossy(&output.stderr)
        )
    })
}

/// What a proposal says, without the comments.
fn rules(text: &str) -> String {
    let lines = text.lines().map(|line| line.split(" #").next().unwrap());
    let lines = lines.filter(|line| !line.trim_start().starts_with('#') && !line.is_empty());
    let lines: Vec<&str> = lines.collect();
    lines.join("\n")
}

/// All there is below a directory: names, modes, contents.
fn tree(root: &Utf8Path) -> BTreeMap<String, String> {
    fn walk(at: &Path, name: &str, found: &mut BTreeMap<String, String>) {
        for entry in std::fs::read_dir(at).unwrap() {
            let entry = entry.unwrap();
            let about = entry.metadata().unwrap();
            let name = format!("{name}/{}", entry.file_name().to_string_lossy());
            let content = match about.is_file() {
                true => format!("{:?}", std::fs::read(entry.path()).unwrap()),
                false => String::new(),
            };
            found.insert(
                name.clone(),
                format!("{:o} {content}", about.permissions().mode()),
            );
            if about.is_dir() {
                walk(&entry.path(), &name, found);
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(root.as_std_path(), "", &mut found);
    found
}

/// `jig suggest ARGS`, which must find rules that are enough and leave the workspace as it was. Run twice, it
/// must say the same.
#[track_caller]
fn suggested(desk: &Desk, args: &[&str]) -> String {
    let before = tree(&desk.workspace.root);
    let mut words = vec!["suggest"];
    words.extend(args);
    let text = desk.ok(&words);
    assert_eq!(tree(&desk.workspace.root), before, "something was changed");
    assert!(text.contains("went well"), "{text}");
    let again = desk.ok(&words);
    assert_eq!(text, again, "another text the second time");
    text
}

/// Whether the policy of a tool allows something.
#[track_caller]
fn allows(desk: &Desk, tool: &str, what: &str, path: &str) -> bool {
    let ran = desk.run(&["policy", "explain", tool, "--exit-code", what, path]);
    match ran.code {
        Some(0) => true,
        Some(4) => false,
        _ => panic!("{ran:?}"),
    }
}

/// Checks that nothing but these paths, and what is below them, can be changed in any way.
#[track_caller]
fn only_written(desk: &Desk, tool: &str, written: &[&str]) {
    let names: Vec<String> = tree(&desk.workspace.root).into_keys().collect();
    for name in names {
        let name = name.trim_start_matches('/');
        let is_written = written.iter().any(|path| Path::new(name).starts_with(path));
        for what in ["update", "delete"] {
            let is_allowed = allows(desk, tool, what, name);
            assert!(is_written || !is_allowed, "{what} {name} is granted");
        }
        let is_folder = desk.path(name).is_dir();
        let fresh = format!("{name}/jig-test-new");
        if is_folder && !is_written {
            assert!(
                !allows(desk, tool, "create", &fresh),
                "create {fresh} is granted"
            );
        }
    }
}
