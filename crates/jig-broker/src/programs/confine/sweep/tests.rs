#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the tests prepare and inspect workspaces from outside"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use camino::Utf8PathBuf;
use jig_policy::{Guards, Policy};

use super::super::shown_paths::ShownRules;
use super::super::testing::{TestTree, as_a_user};
use super::super::{ConfineSettings, walk, workspace_rules};
use super::{Intruder, RunningCalls, SweepWatch, pending};

pub(super) fn begin(tree: &TestTree, rules: &[&str]) -> Option<SweepWatch> {
    begin_with(tree, rules, &Guards::of_workspace())
}

pub(super) fn begin_with(tree: &TestTree, rules: &[&str], guards: &Guards) -> Option<SweepWatch> {
    begin_with_more(tree, rules, guards, |_| ())
}

pub(super) fn begin_with_more(
    tree: &TestTree,
    rules: &[&str],
    guards: &Guards,
    change: impl FnOnce(&mut Vec<super::ForbiddenPath>),
) -> Option<SweepWatch> {
    let root = tree.root().join("ws");
    let policy = Arc::new(policy(tree, rules, guards));
    let settings = ConfineSettings {
        state: Some(tree.root().join("state")),
        ..ConfineSettings::default()
    };
    let walked = walk::walk(&policy, &root).unwrap();
    let mut shown = workspace_rules::show(&policy, &root, &walked, &mut ShownRules::default());
    change(&mut shown.forbidden);
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

pub(super) fn names(intruders: &[Intruder]) -> Vec<String> {
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

/// What is loaded from a workspace.
const FILES: [&str; 2] = ["jig.toml", ".jig/config.toml"];

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
    check(
        &["ws/.git/HEAD"],
        &[],
        &["ws/.git/hooks/pre-push.sample!"],
        &[],
    );
    // New repositories come with examples of hooks, which nothing runs.
    for (hook, taken) in [
        ("pre-push.sample", &[][..]),
        ("pre-push", &["sub/.git/hooks"]),
    ] {
        let tree = TestTree::new(&["ws/.git/HEAD"]);
        let guards = Guards::of_workspace().without_git();
        let watch = begin_with(&tree, &[], &guards).unwrap();
        tree.put("ws/sub/.git/HEAD");
        tree.put("ws/sub/.git/hooks/pre-commit.sample! = x");
        tree.put(&format!("ws/sub/.git/hooks/{hook}!"));
        assert_eq!(names(&watch.end()), taken);
    }
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
    let found = pending(&state, &root, &FILES).unwrap();
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
    let found = pending(&state, &root, &FILES).unwrap();
    assert_eq!(names(&found.removed), [".git/hooks", "jig.toml"]);
    assert_eq!(found.suspects, []);
    assert_eq!(journals(&tree), 0);
    assert_eq!(
        pending(&state, &root, &FILES).unwrap(),
        crate::IntruderReport::default()
    );
}

/// What is read while a call runs is not the call's, whether it is there when somebody looks, or not any more.
#[test]
fn what_a_running_call_may_have_made_does_not_count_when_it_was_read() {
    let tree = TestTree::new(&["ws/there/jig.toml", "ws/conf/base.toml"]);
    let root = Utf8PathBuf::from_path_buf(tree.root().join("ws")).unwrap();
    let state = tree.root().join("state");
    let before = RunningCalls::around(&state, &root).unwrap();
    let watch = begin(&tree, &[". rw", "own rw"]).unwrap();
    let meanwhile = RunningCalls::around(&state, &root).unwrap();
    let read = |calls: &RunningCalls| {
        let files = [
            "jig.toml",
            ".jig/config.toml",
            "new/jig.toml",
            // These were there, or may be made.
            "there/jig.toml",
            "conf/base.toml",
            "own/base.toml",
        ];
        let files = files.map(|file| root.join(file).into_std_path_buf());
        let suspects = calls.suspects(files.iter().map(PathBuf::as_path)).unwrap();
        let paths = suspects.into_iter().map(|one| one.path);
        let paths = paths.map(|path| path.strip_prefix(&root).unwrap().to_owned());
        paths.collect::<std::collections::BTreeSet<PathBuf>>()
    };
    let suspects = [".jig/config.toml", "jig.toml", "new/jig.toml"];
    let suspects: Vec<PathBuf> = suspects.map(PathBuf::from).into();
    // Whether the call began after that or before.
    assert_eq!(Vec::from_iter(read(&before)), suspects);
    assert_eq!(Vec::from_iter(read(&meanwhile)), suspects);
    // A call that has ended meanwhile may have been it.
    assert_eq!(watch.end(), []);
    assert_eq!(Vec::from_iter(read(&meanwhile)), suspects);
    let after = RunningCalls::around(&state, &root).unwrap();
    assert_eq!(Vec::from_iter(read(&after)), [""; 0].map(PathBuf::from));
}

/// Many names were there before, so that the journal is long: what appeared is swept all the same.
#[test]
fn a_long_journal_is_swept() {
    let tree = TestTree::new(&["ws/.env"]);
    let root = Utf8PathBuf::from_path_buf(tree.root().join("ws")).unwrap();
    let state = tree.root().join("state");
    let policy = Arc::new(policy(&tree, &[". rw"], &Guards::of_workspace()));
    let mut walked = walk::walk(&policy, root.as_std_path()).unwrap();
    let long = "x".repeat(200);
    let many = (0..90_000).map(|number| format!("{long}/{number}/.env").into());
    walked.sensitive.extend(many);
    let settings = ConfineSettings {
        state: Some(state.clone()),
        ..ConfineSettings::default()
    };
    let shown = workspace_rules::show(
        &policy,
        root.as_std_path(),
        &walked,
        &mut ShownRules::default(),
    );
    std::mem::forget(
        SweepWatch::begin(
            &settings,
            &policy,
            root.as_std_path(),
            shown.forbidden,
            &walked,
        )
        .unwrap(),
    );
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
    let found = pending(&state, &root, &FILES).unwrap();
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
    let error = pending(&state, &root, &FILES).unwrap_err().to_string();
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
    let found = pending(&state, &root, &FILES).unwrap();
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
        pending(&state, &root, &FILES).unwrap(),
        crate::IntruderReport::default()
    );
    assert_eq!(journals(&tree), 3);
    let nowhere = pending(&tree.root().join("no-state"), &root, &FILES).unwrap();
    assert_eq!(nowhere, crate::IntruderReport::default());
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

/// That another call may make a name is no alibi: who made it cannot be told.
#[test]
fn what_another_call_may_make_is_taken_away_all_the_same() {
    for first in [true, false] {
        let tree = TestTree::new(&["ws/.git/HEAD"]);
        let allows = || begin(&tree, &[". rw", ".env rw", ".jig rw"]).unwrap();
        let denies = || begin(&tree, &[". rw"]).unwrap();
        let (allowed, other) = match first {
            true => (allows(), denies()),
            false => {
                let other = denies();
                (allows(), other)
            }
        };
        tree.put("ws/.env = evil");
        tree.put("ws/.jig/tools/x = evil");
        tree.put("ws/.env.other = evil");
        assert_eq!(names(&allowed.end()), [".env.other"], "{first}");
        assert_eq!(names(&other.end()), [".env", ".jig"], "{first}");
        assert_eq!(journals(&tree), 0);
    }
}

#[test]
fn names_outside_the_workspace_are_swept_as_well() {
    let tree = TestTree::new(&["ws/", "main/.git/"]);
    let base = tree.root().join("main/.git");
    let watch = begin_with_more(&tree, &[], &Guards::of_workspace(), |forbidden| {
        forbidden.push(super::ForbiddenPath {
            base: Some(base.clone()),
            path: jig_proto::ProjectPath::normalize("hooks").unwrap(),
            link: None,
            reason: "it runs".to_owned(),
        });
    })
    .unwrap();
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

/// What git will obey comes into being with the preset, or by a rule that names the place.
#[test]
fn a_repository_is_taken_away() {
    let before = [
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
    ];
    let made = [
        "ws/src/.git/config",
        "ws/lib/.git = gitdir: ../evil",
        "ws/docs/.git -> ../evil",
        // Git takes these for repositories, too.
        "ws/other/refs/",
        "ws/other/objects/",
        "ws/other/HEAD",
        "ws/other/config = evil",
        "ws/almost/commondir = ../evil",
        // In folders that the call made itself.
        "ws/new/.git/config = [core]\n",
        "ws/new2/.git/HEAD",
        "ws/new3.git/refs/",
        "ws/new3.git/objects/",
        "ws/new3.git/HEAD",
        "ws/src/HEAD",
    ];
    let taken = [
        "almost/HEAD",
        "docs/.git",
        "lib/.git",
        "new/.git",
        "new2/.git",
        "new3.git/HEAD",
        "other/HEAD",
        "src/.git",
    ];
    check(&before, &[], &made, &taken);
    check(
        &before,
        &[". rw", "new rw"],
        &["ws/new/.git/HEAD"],
        &["new/.git"],
    );
    check(
        &before,
        &[". rw", "new/.git rw"],
        &["ws/new/.git/HEAD"],
        &[],
    );
    let tree = TestTree::new(&before);
    let guards = Guards::of_workspace().without_git();
    let watch = begin_with(&tree, &[], &guards).unwrap();
    tree.put("ws/new/.git/HEAD");
    assert_eq!(names(&watch.end()), [""; 0]);
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
        "ws/bare/HEAD",
        "ws/bare/refs/",
        "ws/bare/objects/",
    ]);
    let watch = begin(&tree, &[]).unwrap();
    for name in ["lib", "bare"] {
        let root = tree.root().join("ws");
        let to = root.join(format!("other-{name}"));
        std::fs::rename(root.join(name), to).unwrap();
    }
    assert_eq!(names(&watch.end()), [""; 0]);
}

/// A second name of a file that leads to a repository leads to another one.
#[test]
fn a_second_name_of_what_leads_to_a_repository_is_taken_away() {
    let tree = TestTree::new(&["ws/a/b/.git = gitdir: ../x", "ws/src/a"]);
    let watch = begin(&tree, &[]).unwrap();
    let root = tree.root().join("ws");
    std::fs::hard_link(root.join("a/b/.git"), root.join("src/.git")).unwrap();
    assert_eq!(names(&watch.end()), ["src/.git"]);
}

/// A program that stays is looked after while it runs, whoever makes something, and however quiet it is.
#[test]
fn a_program_that_stays_is_looked_after() {
    let tree = TestTree::new(&["ws/.env = mine"]);
    let watch = begin(&tree, &[". rw"]).unwrap();
    tree.put("ws/a/.env = evil");
    tree.put("ws/fine");
    watch.look();
    watch.look();
    assert_eq!(names(&watch.take_found()), ["a/.env"]);
    assert_eq!(names(&watch.take_found()), [""; 0]);
    assert_eq!(journals(&tree), 1);
    tree.put("ws/jig.toml = evil");
    // What was there before is no intruder when it is replaced, as an editor does that saves it.
    tree.put("ws/new = mine, too");
    let root = tree.root().join("ws");
    std::fs::rename(root.join("new"), root.join(".env")).unwrap();
    assert_eq!(names(&watch.end()), ["jig.toml"]);
    assert_eq!(journals(&tree), 0);
    assert!(tree.content().contains(&"ws/.env = mine, too".to_owned()));
}

/// What is found is told once, however often it is made.
#[test]
fn what_is_made_again_and_again_is_told_once() {
    let tree = TestTree::new(&["ws/"]);
    let watch = begin(&tree, &[". rw"]).unwrap();
    for _ in 0..3 {
        tree.put("ws/.env = evil");
        watch.look();
    }
    let told = watch.end();
    assert_eq!(names(&told), [".env"]);
    assert!(
        told[0]
            .reason
            .ends_with("(and 2 more were moved away like it)")
    );
}

/// A tool can put what it makes into any number of directories that it closes, and close those that have to be
/// changed for it to be moved.
#[test]
fn nothing_is_closed_to_the_sweep() {
    as_a_user(|| {
        let tree = TestTree::new(&["ws/"]);
        let mode = |path: &Path, mode: u32| {
            rustix::fs::chmod(path, rustix::fs::Mode::from_raw_mode(mode)).unwrap();
        };
        let watch = begin(&tree, &[]).unwrap();
        let mut directories = vec![tree.root().join("ws")];
        for _ in 0..80 {
            let next = directories[directories.len() - 1].join("d");
            std::fs::create_dir(&next).unwrap();
            directories.push(next);
        }
        std::fs::create_dir(directories[80].join(".ssh")).unwrap();
        std::fs::write(directories[80].join(".ssh/config"), "evil").unwrap();
        mode(&directories[80].join(".ssh/config"), 0);
        mode(&directories[80].join(".ssh"), 0);
        mode(&directories[80], 0o500);
        directories[1..80]
            .iter()
            .rev()
            .for_each(|path| mode(path, 0));
        let taken = watch.end();
        assert_eq!(taken.len(), 1, "{taken:?}");
        assert!(
            taken[0].path.ends_with("d/.ssh") && taken[0].moved_to.is_some(),
            "{taken:?}"
        );
        // What can be changed only for the move is as it was.
        let stat = rustix::fs::stat(&directories[80]).unwrap();
        assert_eq!(stat.st_mode & 0o777, 0o500);
        directories.iter().for_each(|path| mode(path, 0o700));
        mode(taken[0].moved_to.as_ref().unwrap(), 0o700);
    });
}

/// Deep places that were there before are no alibi for others.
#[test]
fn a_second_place_that_nobody_looks_into_is_reported_too() {
    let tree = TestTree::new(&["ws/a", "ws/b/"]);
    let deep = |name: &str| {
        let mut deep = tree.root().join("ws").join(name);
        while deep.as_os_str().len() < 3600 {
            std::fs::create_dir(&deep).unwrap();
            deep.push("x".repeat(200));
        }
    };
    deep("first");
    let watch = begin(&tree, &[]).unwrap();
    deep("second");
    let found = watch.end();
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].path.starts_with("second"));
}

/// A call counts also for the folders below its workspace: jig takes the nearest configuration.
#[test]
fn calls_in_a_workspace_above_count() {
    let tree = TestTree::new(&["ws/sub/", "beside/"]);
    std::mem::forget(begin(&tree, &[". rw", "sub/.env rw"]).unwrap());
    let state = tree.root().join("state");
    let root = |path: &str| Utf8PathBuf::from_path_buf(tree.root().join(path)).unwrap();
    tree.put("ws/sub/deep/.env = evil");
    tree.put("ws/.envrc = evil");
    kill(&tree);
    assert_eq!(
        pending(&state, &root("beside"), &FILES).unwrap().removed,
        []
    );
    let found = pending(&state, &root("ws/sub"), &FILES).unwrap();
    let above = tree.root().join("ws/.envrc").display().to_string();
    assert_eq!(names(&found.removed), [&above, "deep/.env"]);
}

/// A disk without case takes any spelling for `.git`, and a folder can be copied to one at any time.
#[test]
fn repositories_are_found_in_any_spelling() {
    let gits = [
        ".GIT",
        ".Git",
        ".git.",
        ".git ",
        ".gi\u{200c}t",
        ".\u{feff}GIT",
    ];
    for git in gits {
        for folder in ["", "deep/er/"] {
            let path = format!("{folder}{git}");
            let rules: &[&str] = &[];
            let made = format!("ws/{path}/HEAD");
            check(&[], rules, &[&made], &[&path]);
            let made = format!("ws/{path} = gitdir: ../evil");
            check(&[], rules, &[&made], &[&path]);
            let made = format!("ws/{path} -> ../evil");
            check(&[], rules, &[&made], &[&path]);
            // One of the person's own stays.
            let there = format!("ws/{path}/HEAD");
            let new = format!("ws/{path}/refs/heads/topic");
            check(&[&there], rules, &[&new], &[]);
        }
    }
    let bare = ["ws/x/Head", "ws/x/OBJECTS/", "ws/x/refs./"];
    check(&[], &[], &bare, &["x/Head"]);
    check(&[], &[], &["ws/x/head", "ws/x/commonDir"], &["x/head"]);
    check(&bare, &[], &["ws/x/y"], &[]);
    check(
        &[],
        &[],
        &["ws/.github/x", "ws/.gitignore", "ws/x/HEADER"],
        &[],
    );
}
