#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the tests prepare and inspect workspaces from outside"
)]

use std::path::Path;
use std::sync::Arc;

use camino::Utf8PathBuf;
use jig_policy::{Guards, Policy};

use super::super::shown_paths::ShownRules;
use super::super::testing::{TestTree, as_a_user};
use super::super::{ConfineSettings, walk, workspace_rules};
use super::{Intruder, SweepWatch, pending};

fn begin(tree: &TestTree, rules: &[&str]) -> Option<SweepWatch> {
    begin_with(tree, rules, &Guards::of_workspace())
}

fn begin_with(tree: &TestTree, rules: &[&str], guards: &Guards) -> Option<SweepWatch> {
    let root = tree.root().join("ws");
    let policy = Arc::new(policy(tree, rules, guards));
    let settings = ConfineSettings {
        state: Some(tree.root().join("state")),
        ..ConfineSettings::default()
    };
    let walked = walk::walk(&policy, &root).unwrap();
    let shown = workspace_rules::show(&policy, &root, &walked, &mut ShownRules::default());
    SweepWatch::begin(&settings, &policy, &root, shown.forbidden, &walked).unwrap()
}

/// The rules, for the directory `ws` of the tree.
fn policy(tree: &TestTree, rules: &[&str], guards: &Guards) -> Policy {
    use jig_policy::{DeclaredAccess, DefaultAccess, Workspace};
    let root = Utf8PathBuf::from_path_buf(tree.root().join("ws")).unwrap();
    let workspace = Workspace::on_disk(root).unwrap();
    let access = DeclaredAccess {
        fs: rules
            .iter()
            .map(|rule| super::super::testing::rule(rule))
            .collect(),
        ..DeclaredAccess::default()
    };
    Policy::compile(&access, DefaultAccess::STDIO, guards, &workspace).unwrap()
}

fn names(intruders: &[Intruder]) -> Vec<String> {
    let mut names: Vec<String> = intruders
        .iter()
        .map(|intruder| intruder.path.display().to_string())
        .collect();
    names.sort();
    names
}

/// What a call makes, and what of it is taken away.
fn check(before: &[&str], rules: &[&str], made: &[&str], taken: &[&str]) {
    let tree = TestTree::new(&["ws/"]);
    before.iter().for_each(|entry| tree.put(entry));
    let watch = begin(&tree, rules);
    made.iter().for_each(|entry| tree.put(entry));
    let intruders = watch.map(SweepWatch::end).unwrap_or_default();
    assert_eq!(names(&intruders), taken, "{rules:?} {made:?}");
    for intruder in &intruders {
        let place = intruder.moved_to.as_ref().unwrap();
        assert!(place.symlink_metadata().is_ok(), "{intruder}");
        let was = tree.root().join("ws").join(&intruder.path);
        assert!(was.symlink_metadata().is_err(), "{intruder}");
    }
    assert_eq!(journals(&tree), 0);
}

fn journals(tree: &TestTree) -> usize {
    std::fs::read_dir(tree.root().join("state/calls")).map_or(0, Iterator::count)
}

#[test]
fn configuration_that_a_tool_made_is_taken_away() {
    check(&[], &[], &["ws/jig.toml = evil", "ws/fine"], &["jig.toml"]);
    check(&[], &[], &["ws/.jig/config.toml = evil"], &[".jig"]);
    check(&[], &[], &["ws/.jp -> elsewhere"], &[".jp"]);
    check(
        &["ws/.git/HEAD"],
        &[],
        &["ws/.git/commondir = ../evil"],
        &[".git/commondir"],
    );
    check(
        &["ws/.git/HEAD"],
        &[],
        &["ws/.git/index", "ws/.git/refs/heads/x"],
        &[],
    );
    // A rule that names the folder opens it, but not the configuration in it.
    check(
        &["ws/.jig/x"],
        &[". rw", ".jig rw"],
        &["ws/.jig/y", "ws/.jig/config.toml"],
        &[".jig/config.toml"],
    );
    // Rules of the user, as well.
    check(&[], &[". rw", "locked r"], &["ws/locked/a"], &["locked"]);
    check(&["ws/locked/"], &[". rw", "locked r"], &[], &[]);
    check(&[], &[". r"], &["ws/jig.toml"], &[]);
}

#[test]
fn x66_sensitive_names_that_a_tool_made_are_taken_away() {
    check(
        &["ws/.env"],
        &[],
        &["ws/a/.env.local", "ws/b"],
        &["a/.env.local"],
    );
    check(
        &["ws/.git/HEAD"],
        &[],
        &["ws/.git/hooks/pre-commit! = evil"],
        &[".git/hooks"],
    );
    check(
        &["ws/.git/HEAD"],
        &[],
        &["ws/.git/hooks -> ../evil"],
        &[".git/hooks"],
    );
    check(&[], &[". rw", ".env rw"], &["ws/.env"], &[]);
    // What lies in something that is taken away goes with it.
    check(&[], &[], &["ws/a/.ssh/.env/.netrc"], &["a/.ssh"]);
    // New repositories come with examples of hooks, which nothing runs.
    check(
        &["ws/.git/HEAD"],
        &[],
        &[
            "ws/sub/.git/HEAD",
            "ws/sub/.git/hooks/pre-commit.sample! = x",
        ],
        &[],
    );
    check(
        &["ws/.git/HEAD"],
        &[],
        &["ws/.git/hooks/pre-push.sample!"],
        &[],
    );
    check(
        &[],
        &[],
        &[
            "ws/sub/.git/hooks/pre-commit.sample",
            "ws/sub/.git/hooks/pre-commit!",
        ],
        &["sub/.git"],
    );
}

#[test]
fn a_link_that_is_protected_is_put_back() {
    let before = ["ws/jig.toml -> conf/jig.toml", "ws/conf/jig.toml = mine"];
    let tree = TestTree::new(&before);
    let watch = begin(&tree, &[]).unwrap();
    let link = tree.root().join("ws/jig.toml");
    std::fs::remove_file(&link).unwrap();
    std::fs::write(&link, "evil").unwrap();
    let intruders = watch.end();
    assert_eq!(names(&intruders), ["jig.toml"]);
    assert_eq!(
        std::fs::read_link(&link).unwrap(),
        Path::new("conf/jig.toml")
    );
    let moved = intruders[0].moved_to.as_ref().unwrap();
    assert_eq!(std::fs::read_to_string(moved).unwrap(), "evil");
    // Also if it is only gone.
    let watch = begin(&tree, &[]).unwrap();
    std::fs::remove_file(&link).unwrap();
    assert_eq!(watch.end(), []);
    assert_eq!(
        std::fs::read_link(&link).unwrap(),
        Path::new("conf/jig.toml")
    );
}

/// Makes all journals say that they are of an earlier process, whose number is that of this one now.
fn kill(tree: &TestTree) {
    for entry in std::fs::read_dir(tree.root().join("state/calls")).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let (header, records) = text.split_once('\n').unwrap();
        let mut words: Vec<&str> = header.split(' ').collect();
        words[2] = "1";
        std::fs::write(&path, format!("{}\n{records}", words.join(" "))).unwrap();
    }
}

#[test]
fn what_a_crashed_jig_left_is_swept_before_configuration_is_loaded() {
    let tree = TestTree::new(&["ws/.git/HEAD", "ws/.env"]);
    let root = Utf8PathBuf::from_path_buf(tree.root().join("ws")).unwrap();
    let state = tree.root().join("state");
    // The jig is killed: nobody looks at the end.
    std::mem::forget(begin(&tree, &[". rw", ".env.mine rw"]).unwrap());
    assert_eq!(journals(&tree), 1);
    [
        "ws/jig.toml = evil",
        "ws/.git/hooks/x!",
        "ws/.env.mine",
        "ws/a",
    ]
    .iter()
    .for_each(|entry| tree.put(entry));
    // While it lives (it is this process), what appeared is only suspect.
    let found = pending(&state, &root).unwrap();
    assert_eq!(found.removed, []);
    let suspects: Vec<&Path> = found
        .suspects
        .iter()
        .map(|one| one.path.as_path())
        .collect();
    assert_eq!(suspects, ["jig.toml", ".git/hooks"].map(Path::new));
    assert_eq!(found.suspects[0].process, std::process::id());
    // Another process has its number by now.
    kill(&tree);
    let found = pending(&state, &root).unwrap();
    assert_eq!(names(&found.removed), [".git/hooks", "jig.toml"]);
    assert_eq!(found.suspects, []);
    assert_eq!(journals(&tree), 0);
    assert_eq!(
        pending(&state, &root).unwrap(),
        super::IntruderReport::default()
    );
}

/// Many names were there before, so that the journal is long: what appeared is swept all the same.
#[test]
fn a_long_journal_is_swept() {
    let tree = TestTree::new(&["ws/.env"]);
    let root = Utf8PathBuf::from_path_buf(tree.root().join("ws")).unwrap();
    let state = tree.root().join("state");
    let watch = begin(&tree, &[". rw"]).unwrap();
    let mut known = watch.known();
    let long = "x".repeat(200);
    let many = (0..90_000).map(|number| format!("{long}/{number}/.env").into());
    known.before.names.extend(many);
    let journal = watch.journal(&known.forbidden, &known.before);
    journal
        .replace(&state, known.journal.as_mut().unwrap())
        .unwrap();
    drop(known);
    std::mem::forget(watch);
    let length =
        |entry: std::io::Result<std::fs::DirEntry>| entry.unwrap().metadata().unwrap().len();
    let lengths: Vec<u64> = std::fs::read_dir(state.join("calls"))
        .unwrap()
        .map(length)
        .collect();
    assert!(lengths.len() == 1 && lengths[0] > 17 << 20, "{lengths:?}");
    tree.put("ws/jig.toml = evil");
    tree.put("ws/a/.env = evil");
    kill(&tree);
    let found = pending(&state, &root).unwrap();
    assert_eq!(names(&found.removed), ["a/.env", "jig.toml"]);
    assert_eq!(journals(&tree), 0);
}

/// What cannot be read may be what keeps a tool's configuration from counting.
#[test]
fn a_journal_that_cannot_be_read_is_told() {
    let tree = TestTree::new(&["ws/", "state/calls/0123456789abcdef = x"]);
    let root = Utf8PathBuf::from_path_buf(tree.root().join("ws")).unwrap();
    let state = tree.root().join("state");
    let path = state.join("calls/0123456789abcdef");
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_len(jig_files::MOST_JOURNAL_BYTES + 1).unwrap();
    let error = pending(&state, &root).unwrap_err().to_string();
    assert!(
        error.contains("0123456789abcdef") && error.contains("longer"),
        "{error}"
    );
}

#[test]
fn names_that_are_no_text_survive_a_crash() {
    use std::os::unix::ffi::OsStrExt as _;
    let tree = TestTree::new(&["ws/a/"]);
    let root = Utf8PathBuf::from_path_buf(tree.root().join("ws")).unwrap();
    let name = |bytes: &[u8]| tree.root().join(std::ffi::OsStr::from_bytes(bytes));
    std::fs::write(name(b"ws/a/.env\xff%41"), "mine").unwrap();
    std::mem::forget(begin(&tree, &[]).unwrap());
    std::fs::write(name(b"ws/a/.env\xfe"), "evil").unwrap();
    let state = tree.root().join("state");
    kill(&tree);
    let found = pending(&state, &root).unwrap();
    assert_eq!(found.removed.len(), 1, "{found:?}");
    assert!(name(b"ws/a/.env\xff%41").exists() && !name(b"ws/a/.env\xfe").exists());
}

#[test]
fn journals_of_other_workspaces_and_of_strangers_are_left_alone() {
    let tree = TestTree::new(&[
        "ws/",
        "other/",
        "state/calls/0123456789abcdef = {}",
        "state/calls/y = \u{1}",
    ]);
    let root = Utf8PathBuf::from_path_buf(tree.root().join("other")).unwrap();
    std::mem::forget(begin(&tree, &[]).unwrap());
    let state = tree.root().join("state");
    assert_eq!(
        pending(&state, &root).unwrap(),
        super::IntruderReport::default()
    );
    assert_eq!(journals(&tree), 3);
    let nowhere = pending(&tree.root().join("no-state"), &root).unwrap();
    assert_eq!(nowhere, super::IntruderReport::default());
}

#[test]
fn without_a_state_directory_it_is_only_said() {
    let tree = TestTree::new(&["ws/"]);
    let root = tree.root().join("ws");
    let policy = Arc::new(policy(&tree, &[], &Guards::of_workspace()));
    let walked = walk::walk(&policy, &root).unwrap();
    let shown = workspace_rules::show(&policy, &root, &walked, &mut ShownRules::default());
    let settings = ConfineSettings::default();
    let watch = SweepWatch::begin(&settings, &policy, &root, shown.forbidden, &walked).unwrap();
    tree.put("ws/jig.toml = x");
    let intruders = watch.unwrap().end();
    assert_eq!(
        intruders[0].to_string(),
        "`jig.toml` appeared, which is not allowed: it is configuration that jig loads, which no tool may \
         change; it is still there"
    );
}

#[test]
fn what_another_call_was_allowed_to_make_is_left_alone() {
    for first in [true, false] {
        let tree = TestTree::new(&["ws/.git/HEAD"]);
        // One call may make `.env`, the other may not, and both run at once.
        let (allowed, other) = if first {
            let allowed = begin(&tree, &[". rw", ".env rw", ".jig rw"]).unwrap();
            (allowed, begin(&tree, &[". rw"]).unwrap())
        } else {
            let other = begin(&tree, &[". rw"]).unwrap();
            (
                begin(&tree, &[". rw", ".env rw", ".jig rw"]).unwrap(),
                other,
            )
        };
        tree.put("ws/.env = fine");
        tree.put("ws/.jig/tools/x = fine");
        tree.put("ws/.env.other = evil");
        assert_eq!(names(&allowed.end()), [".env.other"], "{first}");
        // Configuration is nobody's to make.
        tree.put("ws/jig.toml = evil");
        tree.put("ws/.jig/config.toml = evil");
        assert_eq!(
            names(&other.end()),
            [".jig/config.toml", "jig.toml"],
            "{first}"
        );
        assert_eq!(journals(&tree), 0);
        assert!(tree.content().contains(&"ws/.env = fine".to_owned()));
        assert!(
            tree.content()
                .contains(&"ws/.jig/tools/x = fine".to_owned())
        );
    }
}

#[test]
fn names_outside_the_workspace_are_swept_as_well() {
    let tree = TestTree::new(&["ws/", "main/.git/"]);
    let watch = begin(&tree, &[]).unwrap();
    let base = tree.root().join("main/.git");
    watch.known().forbidden.push(super::ForbiddenPath {
        base: Some(base.clone()),
        always: true,
        path: jig_proto::ProjectPath::normalize("hooks").unwrap(),
        link: None,
        reason: "it runs".to_owned(),
    });
    tree.put("main/.git/hooks/x!");
    let intruders = watch.end();
    assert_eq!(intruders[0].path, base.join("hooks"));
    assert!(intruders[0].moved_to.as_ref().unwrap().join("x").exists());
}

#[test]
fn a_directory_that_was_closed_during_the_call_is_looked_into() {
    as_a_user(|| {
        let tree = TestTree::new(&["ws/.git/HEAD", "ws/theirs/.env"]);
        let chmod = |path: &str, mode: u32| {
            let path = tree.root().join(path);
            rustix::fs::chmod(path, rustix::fs::Mode::from_raw_mode(mode)).unwrap();
        };
        chmod("ws/theirs", 0);
        let watch = begin(&tree, &[]).unwrap();
        tree.put("ws/.git/hooks/post-checkout! = evil");
        tree.put("ws/.git/commondir = evil");
        tree.put("ws/a/b/.env = evil");
        chmod("ws/a/b", 0);
        chmod("ws/a", 0o100);
        chmod("ws/.git", 0);
        let taken = names(&watch.end());
        assert_eq!(taken, [".git/commondir", ".git/hooks", "a/b/.env"]);
        // What was closed before is left as it was.
        let mode = rustix::fs::stat(tree.root().join("ws/theirs"))
            .unwrap()
            .st_mode;
        assert_eq!(mode & 0o777, 0);
        chmod("ws/theirs", 0o700);
    });
}

/// Begins when all folders are older than a tick of the file system's clock.
fn begin_later(tree: &TestTree) -> SweepWatch {
    let start = std::time::Instant::now();
    while start.elapsed() < std::time::Duration::from_millis(50) {
        std::thread::yield_now();
    }
    begin(tree, &[]).unwrap()
}

#[test]
fn a_repository_in_a_folder_of_the_users_is_taken_away() {
    let tree = TestTree::new(&[
        "ws/.git/HEAD",
        "ws/src/a",
        "ws/mine/.git/HEAD",
        "ws/linked/.git = gitdir: ../x",
        "ws/lib/",
        "ws/bare.git/refs/",
        "ws/bare.git/objects/",
        "ws/bare.git/HEAD",
        "ws/almost/HEAD",
        "ws/docs/",
        "ws/other/",
    ]);
    let watch = begin_later(&tree);
    tree.put("ws/src/.git/config");
    tree.put("ws/lib/.git = gitdir: ../evil");
    tree.put("ws/docs/.git -> ../evil");
    // Git takes these for repositories, too.
    for entry in ["refs/", "objects/", "HEAD", "config = evil"] {
        tree.put(&format!("ws/other/{entry}"));
    }
    tree.put("ws/almost/commondir = ../evil");
    // In folders that the call made itself, repositories are nothing special, but for bare ones.
    tree.put("ws/new/.git/config = [core]\n");
    tree.put("ws/new2/.git/HEAD");
    tree.put("ws/new3.git/refs/");
    tree.put("ws/new3.git/objects/");
    tree.put("ws/new3.git/HEAD");
    tree.put("ws/.git/worktrees/wt/commondir = ../..\n");
    tree.put("ws/wt/.git = gitdir: ../.git/worktrees/wt\n");
    tree.put("ws/src/HEAD");
    let taken = [
        "almost/HEAD",
        "docs/.git",
        "lib/.git",
        "new3.git/HEAD",
        "other/HEAD",
        "src/.git",
    ];
    assert_eq!(names(&watch.end()), taken);
    let left = tree.content();
    for kept in [
        "ws/mine/.git/HEAD",
        "ws/linked/.git = gitdir: ../x",
        "ws/new/.git/config = [core]\n",
        "ws/new2/.git/HEAD",
        "ws/wt/.git = gitdir: ../.git/worktrees/wt\n",
        "ws/bare.git/HEAD",
        "ws/src/HEAD",
    ] {
        assert!(left.contains(&kept.to_owned()), "{kept}: {left:?}");
    }
}

#[test]
fn a_new_repository_that_could_name_programs_is_taken_away() {
    let tree = TestTree::new(&["ws/.git/HEAD"]);
    let watch = begin_later(&tree);
    tree.put("ws/a/.git/config = [core]\n\tfsmonitor = evil\n");
    tree.put("ws/b/.git/commondir = ../../c\n");
    tree.put("ws/d/.git = gitdir: ../c\n");
    tree.put("ws/e/.git -> ../c");
    tree.put("ws/.git/worktrees/f/commondir = ../../../c\n");
    tree.put("ws/f/.git = gitdir: ../.git/worktrees/f\n");
    for entry in [
        "refs/",
        "objects/",
        "HEAD",
        "config = [alias]\nst = !evil\n",
    ] {
        tree.put(&format!("ws/g/{entry}"));
    }
    let taken = ["a/.git", "b/.git", "d/.git", "e/.git", "f/.git", "g/HEAD"];
    assert_eq!(names(&watch.end()), taken);
}

#[test]
fn a_place_that_nobody_looks_into_is_reported_once() {
    let tree = TestTree::new(&["ws/a"]);
    let watch = begin(&tree, &[]).unwrap();
    let mut deep = tree.root().join("ws");
    while deep.as_os_str().len() < 3600 {
        deep.push("x".repeat(200));
        std::fs::create_dir(&deep).unwrap();
    }
    std::fs::create_dir(deep.join(".git")).unwrap();
    let found = watch.end();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(deep.starts_with(tree.root().join("ws").join(&found[0].path)));
    assert_eq!(found[0].moved_to, None);
    assert_eq!(begin(&tree, &[]).unwrap().end(), []);
}

#[test]
fn a_repository_that_was_moved_with_its_folder_stays_in_it() {
    let tree = TestTree::new(&[
        "ws/lib/.git/config = [core]\n\tpager = mine\n",
        "ws/module/.git = gitdir: ../x",
        "ws/bare/HEAD",
        "ws/bare/refs/",
        "ws/bare/objects/",
    ]);
    let watch = begin_later(&tree);
    for name in ["lib", "module", "bare"] {
        let root = tree.root().join("ws");
        let to = root.join(format!("other-{name}"));
        std::fs::rename(root.join(name), to).unwrap();
    }
    assert_eq!(names(&watch.end()), [""; 0]);
}

#[test]
fn repositories_of_a_tool_that_may_make_them_are_left_alone_by_others() {
    let tree = TestTree::new(&["ws/src/a"]);
    let guards = Guards::of_workspace().without_git();
    let watch = begin_later(&tree);
    let other = begin_with(&tree, &[], &guards).unwrap();
    tree.put("ws/src/.git/config = [core]\n\tbare = false\n");
    // Nobody can tell whose these are.
    tree.put("ws/b/.git/config = [core]\n\tpager = theirs\n");
    tree.put("ws/new/.git/hooks/pre-commit = evil");
    assert_eq!(names(&watch.end()), ["b/.git", "new/.git"]);
    assert_eq!(names(&other.end()), [""; 0]);
}

/// A program that stays is looked after while it runs, and what others make meanwhile is not held against it.
#[test]
fn a_program_that_stays_is_looked_after() {
    let tree = TestTree::new(&["ws/"]);
    let watch = begin(&tree, &[". rw"]).unwrap();
    tree.put("ws/.env = evil");
    tree.put("ws/fine");
    assert_eq!(names(&watch.look()), [".env"]);
    assert_eq!(names(&watch.look()), [""; 0]);
    assert_eq!(journals(&tree), 1);

    // Nothing has appeared, or the program was not quiet: all stays as it is.
    assert_eq!(watch.pass(&|| true), None);
    tree.put("ws/jig.toml = evil");
    tree.put("ws/.env = evil");
    assert_eq!(watch.pass(&|| false), None);
    assert_eq!(names(&watch.look()), [".env", "jig.toml"]);

    // What others made stays, in the eyes of the next jig, too.
    for (made, expected) in [("ws/jig.toml", "jig.toml"), ("ws/deep/.env", "deep/.env")] {
        tree.put(&format!("{made} = fine"));
        assert_eq!(watch.pass(&|| true).as_deref(), Some(Path::new(expected)));
        assert_eq!(watch.pass(&|| true), None);
        assert_eq!(journals(&tree), 1);
    }
    let root = Utf8PathBuf::from_path_buf(tree.root().join("ws")).unwrap();
    let state = tree.root().join("state");
    assert_eq!(pending(&state, &root).unwrap().suspects, []);
    assert_eq!(names(&watch.look()), [""; 0]);

    // What comes then is the program's again.
    tree.put("ws/.env = evil");
    assert_eq!(names(&watch.end()), [".env"]);
    assert!(tree.content().contains(&"ws/jig.toml = fine".to_owned()));
    assert!(tree.content().contains(&"ws/deep/.env = fine".to_owned()));
    assert_eq!(journals(&tree), 0);
}

/// Repositories that others make while a program stays are theirs.
#[test]
fn repositories_of_others_stay() {
    let tree = TestTree::new(&["ws/folder/x"]);
    let watch = begin(&tree, &[". rw"]).unwrap();
    tree.put("ws/folder/.git/HEAD = ref: refs/heads/main");
    watch.pass(&|| true);
    assert_eq!(names(&watch.look()), [""; 0]);
    tree.put("ws/other/.git/HEAD = ref: refs/heads/main");
    tree.put("ws/other/.git/config = [core]\\n fsmonitor = evil");
    assert_eq!(names(&watch.end()), ["other/.git"]);
}
