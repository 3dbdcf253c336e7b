//! Workspaces and policies for the tests of this module.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests prepare and inspect workspaces from outside"
)]

use std::cell::Cell;
use std::path::{Path, PathBuf};

use camino::Utf8Path;
use jig_policy::{
    Capability, DeclaredAccess, DeclaredFsRule, DefaultAccess, FileCapabilities, Guards, Policy,
    RuleOrigin, Workspace,
};

/// A directory with files in it, which vanishes with this.
pub(crate) struct TestTree(tempfile::TempDir);

impl TestTree {
    /// Names that end in `/` are directories, `a -> b` is a link, `a = text` a file with content, and
    /// `a! = text` one that can be run.
    pub(crate) fn new(entries: &[&str]) -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        entries.iter().for_each(|entry| tree.put(entry));
        tree
    }

    pub(crate) fn put(&self, entry: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let root = self.root();
        let above = |path: &Path| std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        if let Some((name, target)) = entry.split_once(" -> ") {
            let path = root.join(name);
            above(&path);
            std::os::unix::fs::symlink(target, path).unwrap();
        } else if let Some(name) = entry.strip_suffix('/') {
            std::fs::create_dir_all(root.join(name)).unwrap();
        } else {
            let (name, content) = entry.split_once(" = ").unwrap_or((entry, ""));
            let (name, mode) = match name.strip_suffix('!') {
                Some(name) => (name, 0o755),
                None => (name, 0o644),
            };
            let path = root.join(name);
            above(&path);
            std::fs::write(&path, content).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
    }

    /// Its canonical path.
    pub(crate) fn root(&self) -> PathBuf {
        self.0.path().canonicalize().unwrap()
    }

    /// All that is in it, files with their content.
    pub(crate) fn content(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut left = vec![self.root()];
        while let Some(directory) = left.pop() {
            for entry in std::fs::read_dir(&directory).unwrap() {
                let path = entry.unwrap().path();
                let name = path
                    .strip_prefix(self.root())
                    .unwrap()
                    .display()
                    .to_string();
                let kind = path.symlink_metadata().unwrap().file_type();
                if kind.is_symlink() {
                    let target = std::fs::read_link(&path).unwrap();
                    found.push(format!("{name} -> {}", target.display()));
                } else if kind.is_dir() {
                    found.push(format!("{name}/"));
                    left.push(path);
                } else {
                    let text = std::fs::read(&path).unwrap();
                    found.push(match text.is_empty() {
                        true => name,
                        false => format!("{name} = {}", String::from_utf8_lossy(&text)),
                    });
                }
            }
        }
        found.sort();
        found
    }

    /// A policy with rules such as `src rw`; the default of confined subprocesses if there is none.
    pub(crate) fn policy(&self, rules: &[&str]) -> Policy {
        self.policy_with(rules, &Guards::of_workspace())
    }

    /// The same for a directory of the tree.
    pub(crate) fn policy_at(&self, root: &Utf8Path, rules: &[&str]) -> Policy {
        let workspace = Workspace::on_disk(root).unwrap();
        let access = DeclaredAccess {
            fs: rules.iter().map(|text| rule(text)).collect(),
            ..DeclaredAccess::default()
        };
        let guards = Guards::of_workspace();
        Policy::compile(&access, DefaultAccess::STDIO, &guards, &workspace).unwrap()
    }

    pub(crate) fn policy_with(&self, rules: &[&str], guards: &Guards) -> Policy {
        let root = self.root();
        let workspace = Workspace::on_disk(Utf8Path::from_path(&root).unwrap()).unwrap();
        let access = DeclaredAccess {
            fs: rules.iter().map(|text| rule(text)).collect(),
            ..DeclaredAccess::default()
        };
        Policy::compile(&access, DefaultAccess::STDIO, guards, &workspace).unwrap()
    }
}

/// `src rwx`: the letters are read, create, update, delete, execute, and write for three of them.
pub(crate) fn rule(rule: &str) -> DeclaredFsRule {
    let (path, letters) = rule.split_once(' ').unwrap_or((rule, ""));
    let mut capabilities = FileCapabilities::NONE;
    for letter in letters.chars() {
        capabilities = capabilities.with(match letter {
            'r' => Capability::Read.into(),
            'c' => Capability::Create.into(),
            'u' => Capability::Update.into(),
            'd' => Capability::Delete.into(),
            'x' => Capability::Execute.into(),
            _ => FileCapabilities::WRITE,
        });
    }
    DeclaredFsRule {
        path: path.to_owned(),
        capabilities,
        origin: RuleOrigin::named("a test"),
    }
}

/// Runs a test without the privileges of root.
pub(crate) fn as_a_user(test: impl FnOnce() + Send) {
    std::thread::scope(|scope| {
        let thread = scope.spawn(|| {
            if rustix::process::geteuid().is_root() {
                // Only this thread becomes somebody else, and it ends with the test.
                let nobody = rustix::process::Uid::from_raw(65534);
                rustix::thread::set_thread_res_uid(nobody, nobody, nobody).unwrap();
            }
            test();
        });
        thread.join().unwrap();
    });
}

thread_local! {
    static STEPS: Cell<usize> = const { Cell::new(0) };
}

/// Counts one step of the work that a test measures: a name that is looked up, or one that is compared.
pub(crate) fn count_step() {
    STEPS.set(STEPS.get() + 1);
}

/// How many steps something takes.
pub(crate) fn steps(act: impl FnOnce()) -> usize {
    let before = STEPS.get();
    act();
    STEPS.get() - before
}
