//! What of a repository makes the user's own git run programs: each attack succeeds against git alone,
//! and needs a change that the policy does not grant by a broad rule.

#![expect(
    clippy::disallowed_methods,
    reason = "the claims are about what git does with real files"
)]

use std::fs;
use std::process::Command;

use camino::{Utf8Path, Utf8PathBuf};
use jig_policy::{
    Capability, DeclaredAccess, DeclaredFsRule, DefaultAccess, FileCapabilities, Guards, Policy,
    RuleOrigin, Workspace,
};

/// A repository with one commit, and the place around it.
struct Repository {
    _folder: tempfile::TempDir,
    /// Where everything lies.
    place: Utf8PathBuf,
    /// The workspace of the tool.
    root: Utf8PathBuf,
}

impl Repository {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let place = Utf8PathBuf::try_from(folder.path().to_owned()).expect("a UTF-8 path");
        let place = place.canonicalize_utf8().expect("it exists");
        let repository = Self {
            _folder: folder,
            root: place.join("work"),
            place,
        };
        fs::create_dir(&repository.root).expect("a directory");
        repository.git(&repository.root, &["init", "-q", "-b", "main"]);
        repository.write("file", "text\n");
        repository.git(&repository.root, &["add", "."]);
        repository.git(&repository.root, &["commit", "-qm", "first"]);
        repository
    }

    /// Runs git as its user would, but without the settings of this machine.
    fn git(&self, cwd: &Utf8Path, args: &[&str]) {
        let output = Command::new("git")
            .args(args)
            .current_dir(cwd)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &self.place)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_NAME"), "A")))
            .envs(["AUTHOR", "COMMITTER"].map(|who| (format!("GIT_{who}_EMAIL"), "a@a")))
            .output()
            .expect("git runs");
        assert!(output.status.success(), "{args:?}: {output:?}");
    }

    fn write(&self, path: &str, content: &str) {
        let full = self.root.join(path);
        fs::create_dir_all(full.parent().expect("a parent")).expect("directories");
        fs::write(full, content).expect("a file");
    }

    /// A configuration that has a program run whenever git looks at the files.
    fn hostile(&self) -> String {
        format!(
            "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = \"touch {};:\"\n",
            self.marker()
        )
    }

    /// A directory of the workspace that looks like the repository and obeys a tool.
    fn forged(&self, from: &Utf8Path) {
        let status = Command::new("cp")
            .args(["-r", from.as_str(), self.root.join("forged").as_str()])
            .status();
        assert!(status.expect("cp runs").success());
        self.write("forged/config", &self.hostile());
    }

    fn marker(&self) -> Utf8PathBuf {
        self.place.join("OWNED")
    }

    /// What the policy says where a rule grants everything in the workspace.
    fn policy(&self, guards: &Guards) -> (Policy, Workspace<jig_policy::DiskLookup>) {
        let workspace = Workspace::on_disk(&self.root).expect("it exists");
        let access = DeclaredAccess {
            fs: vec![DeclaredFsRule {
                path: ".".to_owned(),
                capabilities: FileCapabilities::ALL,
                origin: RuleOrigin::named("test"),
            }],
            ..DeclaredAccess::default()
        };
        let policy = Policy::compile(&access, DefaultAccess::STDIO, guards, &workspace);
        (policy.expect("it compiles"), workspace)
    }

    fn allows(&self, guards: &Guards, capability: Capability, path: &str) -> bool {
        let (policy, workspace) = self.policy(guards);
        let target = workspace.resolve(path).expect("it is inside");
        policy.decide_fs(capability, &target).is_allowed()
    }
}

/// The change that `attack` needs, which it tells and then makes, is refused; made all the same, it
/// has git run a program for whoever runs `git status` in the directory that it returns.
fn check(
    name: &str,
    repository: &Repository,
    (capability, path): (Capability, &str),
    attack: impl FnOnce() -> Utf8PathBuf,
) {
    let guards = Guards::of_workspace();
    assert!(!repository.allows(&guards, capability, path), "{name}");
    let lifted = guards.without_git();
    // Removing all of `.git` takes the hooks along, which stay sensitive.
    if capability != Capability::Delete {
        assert!(repository.allows(&lifted, capability, path), "{name}");
    }
    let cwd = attack();
    assert!(!repository.marker().as_std_path().exists(), "{name}");
    repository.git(&cwd, &["status"]);
    assert!(
        repository.marker().as_std_path().exists(),
        "{name}: git runs nothing, so the protection is for nothing"
    );
}

#[test]
fn the_configuration_of_the_repository() {
    let repository = Repository::new();
    let root = repository.root.clone();
    check(
        "config",
        &repository,
        (Capability::Update, ".git/config"),
        || {
            repository.write(".git/config", &repository.hostile());
            root
        },
    );
}

#[test]
fn the_configuration_of_a_worktree() {
    let repository = Repository::new();
    let root = repository.root.clone();
    repository.git(&root, &["config", "extensions.worktreeConfig", "true"]);
    let change = (Capability::Create, ".git/config.worktree");
    check("config.worktree", &repository, change, || {
        repository.write(".git/config.worktree", &repository.hostile());
        root
    });
}

#[test]
fn another_place_for_the_configuration() {
    let repository = Repository::new();
    let root = repository.root.clone();
    repository.forged(&root.join(".git"));
    let change = (Capability::Create, ".git/commondir");
    check("commondir", &repository, change, || {
        repository.write(".git/commondir", "../forged\n");
        root
    });
}

#[test]
fn another_repository_in_place_of_this_one() {
    let repository = Repository::new();
    let root = repository.root.clone();
    repository.forged(&root.join(".git"));
    check(
        "move .git",
        &repository,
        (Capability::Delete, ".git"),
        || {
            fs::rename(root.join(".git"), root.join("old")).expect("it moves");
            repository.write(".git", "gitdir: forged\n");
            root
        },
    );
}

#[test]
fn the_file_that_names_the_repository_of_a_linked_worktree() {
    let mut repository = Repository::new();
    let main = repository.root.clone();
    let linked = repository.place.join("linked");
    repository.git(&main, &["worktree", "add", "-q", linked.as_str()]);
    repository.root = linked.clone();
    repository.forged(&main.join(".git"));
    check("link", &repository, (Capability::Update, ".git"), || {
        repository.write(".git", "gitdir: forged\n");
        linked
    });
}

#[test]
fn a_repository_between_the_workspace_and_its_own() {
    let mut repository = Repository::new();
    let main = repository.root.clone();
    repository.write("package/file", "text\n");
    repository.root = main.join("package");
    repository.forged(&main.join(".git"));
    let root = repository.root.clone();
    check(
        "new .git",
        &repository,
        (Capability::Create, ".git"),
        || {
            repository.write(".git", "gitdir: forged\n");
            root
        },
    );
}

#[test]
fn another_place_for_the_configuration_of_a_linked_worktree() {
    let repository = Repository::new();
    let root = repository.root.clone();
    let linked = repository.place.join("linked");
    repository.git(&root, &["worktree", "add", "-q", linked.as_str()]);
    repository.forged(&root.join(".git"));
    let path = ".git/worktrees/linked/commondir";
    check("worktree", &repository, (Capability::Update, path), || {
        repository.write(path, &format!("{root}/forged\n"));
        linked
    });
}

#[test]
fn the_configuration_of_a_submodule() {
    let repository = Repository::new();
    let root = repository.root.clone();
    let other = Repository::new();
    let add = [
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        other.root.as_str(),
        "sub",
    ];
    repository.git(&root, &add);
    let path = ".git/modules/sub/config";
    check("module", &repository, (Capability::Update, path), || {
        let worktree = "\tworktree = ../../../sub\n";
        repository.write(path, &format!("{}{worktree}", repository.hostile()));
        root
    });
}

/// A repository with one commit in a folder of the workspace.
fn nested(repository: &Repository, folder: &str) -> Utf8PathBuf {
    let path = repository.root.join(folder);
    repository.write(&format!("{folder}/file"), "text\n");
    repository.git(&path, &["init", "-q", "-b", "main"]);
    repository.git(&path, &["add", "."]);
    repository.git(&path, &["commit", "-qm", "first"]);
    path
}

#[test]
fn the_configuration_of_a_repository_below_the_workspace() {
    let repository = Repository::new();
    let lib = nested(&repository, "vendor/lib");
    let path = "vendor/lib/.git/config";
    check("nested", &repository, (Capability::Update, path), || {
        repository.write(path, &repository.hostile());
        lib
    });
}

#[test]
fn another_repository_in_place_of_one_below_the_workspace() {
    let repository = Repository::new();
    let lib = nested(&repository, "vendor/lib");
    repository.forged(&lib.join(".git"));
    let change = (Capability::Delete, "vendor/lib/.git");
    check("move vendor/lib/.git", &repository, change, || {
        fs::rename(lib.join(".git"), lib.join("old")).expect("it moves");
        fs::rename(repository.root.join("forged"), lib.join(".git")).expect("it moves");
        lib
    });
}

#[test]
fn a_new_repository_in_a_folder_below_the_workspace() {
    let repository = Repository::new();
    repository.write("src/file", "text\n");
    repository.forged(&repository.root.join(".git"));
    let change = (Capability::Create, "src/.git");
    check("src/.git", &repository, change, || {
        repository.write("src/.git", "gitdir: ../forged\n");
        repository.root.join("src")
    });
}

/// Nobody has to enter the folder: the repository around it looks into those that it knows.
#[test]
fn a_new_repository_that_the_one_above_looks_into() {
    let repository = Repository::new();
    let root = repository.root.clone();
    let change = (Capability::Update, "new/.git/config");
    check("embedded", &repository, change, || {
        nested(&repository, "new");
        repository.git(&root, &["add", "new"]);
        repository.write("new/.git/config", &repository.hostile());
        root
    });
}

#[test]
fn another_place_for_the_configuration_of_a_worktree_below_the_workspace() {
    let repository = Repository::new();
    let lib = nested(&repository, "vendor/lib");
    let linked = repository.place.join("linked");
    repository.git(&lib, &["worktree", "add", "-q", linked.as_str()]);
    repository.forged(&lib.join(".git"));
    let path = "vendor/lib/.git/worktrees/linked/commondir";
    check("worktree", &repository, (Capability::Update, path), || {
        repository.write(path, &format!("{}/forged\n", repository.root));
        linked
    });
}

/// What people and agents do all day touches nothing that is protected.
#[test]
fn ordinary_work_needs_no_protected_file() {
    let repository = Repository::new();
    let root = repository.root.clone();
    let guards = Guards::of_workspace();
    let protected = || -> Vec<(String, Option<Vec<u8>>)> {
        let git = guards.protected.iter().map(|guard| guard.path.as_str());
        git.filter(|path| path.starts_with(".git/"))
            .chain([".git/worktrees/linked/commondir"])
            .map(|path| (path.to_owned(), fs::read(root.join(path)).ok()))
            .collect()
    };
    let linked = repository.place.join("linked");
    repository.git(&root, &["worktree", "add", "-q", linked.as_str()]);
    let before = protected();
    assert!(before.iter().any(|(_, content)| content.is_some()));
    let work: [&[&str]; 8] = [
        &["checkout", "-q", "-b", "topic"],
        &["commit", "-q", "--allow-empty", "-m", "second"],
        &["tag", "v1"],
        &["branch", "side"],
        &["merge", "-q", "side"],
        &["rebase", "-q", "main"],
        &["stash", "list"],
        &["gc", "-q"],
    ];
    for args in work {
        repository.git(&root, args);
    }
    assert_eq!(protected(), before);
    for (capability, path) in [
        (Capability::Update, ".git/HEAD"),
        (Capability::Update, ".git/index"),
        (Capability::Create, ".git/refs/heads/new"),
        (Capability::Create, ".git/objects/ab/cdef"),
        (Capability::Create, ".git/worktrees/new/HEAD"),
        (Capability::Delete, ".git/refs/heads/side"),
        (Capability::Read, ".git/config"),
    ] {
        assert!(repository.allows(&guards, capability, path), "{path}");
    }
}
