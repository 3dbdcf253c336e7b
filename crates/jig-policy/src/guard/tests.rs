use std::io;

use jig_proto::ProjectPath;

use super::{Guards, ProtectionLevel, holds_obeyed, names_repository, obeyed_depth};
use crate::Capability;
use crate::lookup::{Lookup, LookupEntry};

/// A tree in which `.git` is one thing and all else is missing.
struct Git(LookupEntry);

impl Lookup for Git {
    fn entry(&self, path: &ProjectPath) -> io::Result<LookupEntry> {
        Ok(if path.as_str() == ".git" {
            self.0.clone()
        } else {
            LookupEntry::Missing
        })
    }
}

fn paths(guards: &Guards) -> Vec<&str> {
    let paths = guards.protected.iter().map(|guard| guard.path.as_str());
    paths.filter(|path| path.starts_with(".git")).collect()
}

#[test]
fn what_makes_git_run_programs_is_protected() {
    let mut guards = Guards::of_workspace();
    guards.protect_worktree("feature");
    assert_eq!(
        paths(&guards),
        [
            ".git/config",
            ".git/config.worktree",
            ".git/commondir",
            ".git/modules",
            ".git/worktrees/feature/commondir",
            ".git/worktrees/feature/config.worktree",
        ]
    );
    // A worktree can't be named so that something else is protected, or nothing.
    guards.protect_worktree("../../../outside");
    assert!(paths(&guards).len() == 6, "{:?}", paths(&guards));
}

#[test]
fn git_can_be_left_out_and_nothing_else() {
    let mut guards = Guards::of_workspace();
    let before = guards.protected.len() - paths(&guards).len();
    guards.protect(".git/hooks/tool", ProtectionLevel::Named, "a program");
    guards.protect(".git/config", ProtectionLevel::Never, "a configuration");
    let without = guards.without_git();
    assert_eq!(paths(&without), [".git/hooks/tool", ".git/config"]);
    assert_eq!(without.protected.len(), before + 2);
    assert!(!without.repository);
}

#[test]
fn a_git_that_is_no_directory_is_protected_as_a_whole() {
    let check = |entry: LookupEntry, expected: bool| {
        let tree = Git(entry.clone());
        let found = Guards::of_workspace().git_link(&tree);
        assert_eq!(found.is_some(), expected, "{entry:?}");
        assert_eq!(Guards::default().git_link(&tree), None);
        assert_eq!(Guards::of_workspace().without_git().git_link(&tree), None);
    };
    check(LookupEntry::File, true);
    check(LookupEntry::Missing, true);
    check(LookupEntry::Directory, false);
    check(LookupEntry::Link("elsewhere".to_owned()), false);
}

#[test]
fn what_git_obeys_is_found_at_any_depth() {
    let check = |path: &str, expected: Option<usize>| {
        let found = obeyed_depth(Capability::Update, path);
        assert_eq!(found, expected, "{path}");
    };
    check("a/.git/config", Some(3));
    check(".git/config", Some(2));
    check("a/b/.git/config.worktree", Some(4));
    check("a/.git/commondir", Some(3));
    check("a/.git/modules", Some(3));
    check("a/.git/modules/x/config", Some(3));
    check("a/.git/modules/x/.git/config", Some(6));
    check("a/.git/worktrees/x/commondir", Some(5));
    check("a/.git/worktrees/x/config.worktree", Some(5));
    check("a/.git/worktrees/.git/config", Some(5));
    check(".git/worktrees/x/commondir", Some(4));
    check("a/.git/worktrees/x/HEAD", None);
    check("a/.git/worktrees/commondir", None);
    check("a/.git/HEAD", None);
    check("a/.git/configuration", None);
    check("a/.git", None);
    check("a/git/config", None);
    check("a/x.git/config", None);
    check("a/.gitx/config", None);
    check("", None);
    let new = obeyed_depth(Capability::Create, ".git/worktrees/x/commondir");
    assert_eq!(new, None, "a new worktree can be made");
}

#[test]
fn what_a_repository_lies_in_can_be_moved_and_the_repository_cannot() {
    let check = |path: &str, holds: bool, names: bool| {
        assert_eq!(holds_obeyed(path), holds, "{path}");
        assert_eq!(names_repository(path), names, "{path}");
    };
    check("a/.git", true, true);
    // The workspace's own is judged by what is there.
    check(".git", true, false);
    check("a/.git/worktrees", true, false);
    check("a/.git/worktrees/x", true, false);
    check("a/.git/worktrees/x/y", false, false);
    check("a/.git/refs", false, false);
    check("a", false, false);
    check("", false, false);
    check("a/x.git", false, false);
}
