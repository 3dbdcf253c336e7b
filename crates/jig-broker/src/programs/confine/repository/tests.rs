use std::path::Path;

use super::{super::testing::TestTree, MOST_EXAMPLES, has_only_examples};
use super::{is_bare, is_plain, is_plain_configuration};

#[test]
fn what_git_writes_by_itself_is_plain() {
    let check = |text: &str, expected: bool| {
        assert_eq!(is_plain_configuration(text), expected, "{text}");
    };
    check("", true);
    check(
        "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n\
         [remote \"origin\"]\n\turl = https://example.org/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
         [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n# a remark\n[user]\nname = A \"B\" C\n",
        true,
    );
    check("[CORE]\r\n\tBare = true\r\n", true);
    check("[core]\n\tbare\n", true);
    check("[remote \"o\"]\n\turl = ssh://git@[::1]/a\n", true);
    for evil in [
        "[core]\n\tfsmonitor = evil\n",
        "[core]\n\tFSMonitor = evil\n",
        "[core] fsmonitor = evil\n",
        "[core]\n\tbare = false \\\n\n\tfsmonitor = evil\n",
        "[core]\n\tbare = \\\nfalse\n",
        "[core]\n\tworktree = ../..\n",
        "[core]\n\thooksPath = x\n",
        "[core \"x\"]\n\tsshCommand = evil\n",
        "[include]\n\tpath = ../evil\n",
        "[includeIf \"gitdir:/\"]\n\tpath = ../evil\n",
        "[filter \"x\"]\n\tclean = evil\n",
        "[diff]\n\texternal = evil\n",
        "[alias]\n\tst = !evil\n",
        "[remote \"o\"]\n\turl = ext::evil\n",
        "[remote \"o\"]\n\turl = \"ext::sh -c evil\"\n",
        "[remote \"o\"]\n\tuploadpack = evil\n",
        "[remote.o]\n\tvcs = evil\n",
        "[remote \"a\\\"]\n\turl = b\n",
        "[submodule \"x\"]\n\tupdate = !evil\n",
        "[extensions]\n\tworktreeConfig = true\n",
        "bare = true\n",
        "[core\n\tbare = true\n",
        "\u{feff}[core]\n\tbare = true\n",
    ] {
        check(evil, false);
    }
}

#[test]
fn all_of_a_new_repository_is_looked_at() {
    let check = |entries: &[&str], expected: bool| {
        let tree = TestTree::new(entries);
        let found = is_plain(&tree.root(), Path::new("new/.git"));
        assert_eq!(found, expected, "{entries:?}");
    };
    let plain = "new/.git/config = [core]\n\tbare = false\n";
    check(&["new/.git/HEAD"], true);
    check(&["new/.git/HEAD", plain], true);
    check(&[plain, "new/.git/commondir = ../../evil"], false);
    check(&[plain, "new/.git/config.worktree"], false);
    check(&[plain, "new/.git/modules/x/config"], false);
    check(&["new/.git/config = [core]\n\tpager = evil\n"], false);
    check(&["new/.git/config/"], false);
    check(&[plain, "new/.git/hooks/pre-commit.sample"], true);
    check(&[plain, "new/.git/hooks/pre-commit"], false);
    check(&[plain, "new/.git/hooks -> ../../evil"], false);
    // What it says could be changed by another name.
    check(&["evil", "new/.git/config -> ../../evil"], false);
    check(&["evil/HEAD", "new/.git -> ../evil"], false);
    let tree = TestTree::new(&[plain]);
    let config = tree.root().join("new/.git/config");
    rustix::fs::link(&config, tree.root().join("alias")).unwrap();
    assert!(!is_plain(&tree.root(), Path::new("new/.git")));
}

#[test]
fn a_file_may_lead_to_a_linked_worktree_and_to_nothing_else() {
    let check = |leads_to: &str, entries: &[&str], expected: bool| {
        let tree = TestTree::new(entries);
        let leads_to = leads_to.replace("ROOT", tree.root().to_str().unwrap());
        tree.put(&format!("new/.git = gitdir: {leads_to}\n"));
        let found = is_plain(&tree.root(), Path::new("new/.git"));
        assert_eq!(found, expected, "{leads_to} {entries:?}");
    };
    let common = ".git/worktrees/new/commondir = ../..\n";
    let worktree = "ROOT/.git/worktrees/new";
    check(worktree, &[common], true);
    check("../.git/worktrees/new", &[common], true);
    let nested = "lib/.git/worktrees/new/commondir = ../..\n";
    // That one could be anywhere, and be the tool's own.
    check("ROOT/lib/.git/worktrees/new", &[nested], false);
    check(worktree, &[], false);
    check(worktree, &[".git/worktrees/new/HEAD"], false);
    check(
        worktree,
        &[".git/worktrees/new/commondir = ../../../evil\n"],
        false,
    );
    let evil = ".git/worktrees/new/config.worktree = evil";
    check(worktree, &[common, evil], false);
    check("ROOT/evil", &["evil/HEAD"], false);
    check("../evil", &["evil/HEAD"], false);
    let forged = "evil/worktrees/new/commondir = ../..\n";
    check("ROOT/evil/worktrees/new", &[forged], false);
    let by_link = ["x/.git -> ../evil", forged];
    check("ROOT/x/.git/worktrees/new", &by_link, false);
}

#[test]
fn a_directory_can_be_a_repository_by_what_is_in_it() {
    let check = |entries: &[&str], expected: bool| {
        let tree = TestTree::new(entries);
        assert_eq!(is_bare(&tree.root()), expected, "{entries:?}");
    };
    check(&["HEAD", "objects/", "refs/"], true);
    check(&["HEAD", "objects -> x", "refs -> x"], true);
    check(&["HEAD", "commondir = x"], true);
    check(&["HEAD"], false);
    check(&["HEAD", "objects/"], false);
    check(&["objects/", "refs/"], false);
}

/// Only so many names of a directory are read: one behind them must not be missed.
#[test]
fn a_hook_among_many_examples_is_no_example() {
    let tree = TestTree::new(&["hooks/pre-commit.sample"]);
    let hooks = tree.root().join("hooks");
    assert!(has_only_examples(&hooks));
    for number in 0..MOST_EXAMPLES {
        tree.put(&format!("hooks/{number}.sample"));
    }
    assert!(!has_only_examples(&hooks));
    assert!(has_only_examples(&tree.root().join("missing")));
}
