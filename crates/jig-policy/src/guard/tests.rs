use std::io;

use jig_proto::ProjectPath;

use super::{GuardLine, GuardLines, Guards, ProtectionLevel};
use crate::lookup::{Lookup, LookupEntry};
use crate::{DeclaredAccess, DefaultAccess, Policy, Workspace};

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
    paths.filter(|path| path.starts_with(".git/")).collect()
}

#[test]
fn git_can_be_left_out_and_nothing_else() {
    let mut guards = Guards::of_workspace();
    assert_eq!(
        paths(&guards),
        [
            ".git/config",
            ".git/config.worktree",
            ".git/commondir",
            ".git/modules"
        ]
    );
    let before = guards.protected.len() - paths(&guards).len();
    guards.protect(".git/hooks/tool", ProtectionLevel::Named, "a program");
    guards.protect(".git/config", ProtectionLevel::Never, "a configuration");
    assert_eq!(paths(&guards).len(), 6);
    let without = guards.without_git();
    assert_eq!(paths(&without), [".git/hooks/tool", ".git/config"]);
    assert_eq!(without.protected.len(), before + 2);
    assert!(!without.lines.has_git());
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
fn what_is_protected_from_changes_is_found_at_any_depth() {
    let all = GuardLines::only(|_| true);
    let check = |path: &str, expected: Option<usize>| {
        let found = all.on_the_way(path).map(|(_, depth)| depth);
        assert_eq!(found, expected, "{path}");
    };
    check("a/.git/config", Some(3));
    check(".git/config", Some(2));
    check(".GIT/Config.Worktree", Some(2));
    check("a/.git/modules/x/config", Some(3));
    check("a/.git/modules/x/.git/config", Some(6));
    check("a/.git/worktrees/x/commondir", Some(5));
    check("a/.git/worktrees/.git/config", Some(5));
    check(".git/worktrees/x/config.worktree", Some(4));
    check("a/.vscode/tasks.json", Some(2));
    check("a/.idea/.vscode/x", Some(3));
    check("a/b/jig.toml", Some(3));
    check("a/.jig/tools/x", Some(2));
    check("x.code-workspace", Some(1));
    check(".github/hooks/x", Some(2));
    check("a/.github/hooks/x", None);
    check("a/.git/worktrees/x/HEAD", None);
    check("a/.git/HEAD", None);
    check("a/.git", None);
    check("a/git/config", None);
    check("a/x.git/config", None);
    check("", None);
    // Packages bring settings that nobody opens there.
    check("node_modules/x/.vscode/tasks.json", None);
    check("a/Node_Modules/x/.husky/y", None);
    check("node_modules/x/.git/config", Some(4));
    check("node_modules/x/jig.toml", Some(3));
}

#[test]
fn what_holds_something_protected_by_its_name_stays_where_it_is() {
    let all = GuardLines::only(|_| true);
    let check = |path: &str, holds: bool, itself: bool| {
        assert_eq!(all.below(path).is_some(), holds, "{path}");
        assert_eq!(all.itself(path).is_some(), itself, "{path}");
    };
    check("a/.git", true, true);
    check(".Git", true, true);
    check("a/.git/worktrees", true, false);
    check("a/.git/worktrees/x", true, false);
    check("a/.git/worktrees/x/y", false, false);
    check("a/.git/refs", false, false);
    check("a/.hg", true, true);
    check("a/.jj/repo", true, true);
    check("a", false, false);
    check("", false, false);
    check("a/x.git", false, false);
    check(".github", true, false);
    check("a/.github", false, false);
}

#[test]
fn patterns_say_what_a_policy_guards() {
    let workspace = Workspace::new("/w", Git(LookupEntry::Missing));
    let mut guards = Guards::of_workspace();
    guards.sensitive.add("/secrets/*").expect("it is a pattern");
    let access = DeclaredAccess::default();
    let policy = Policy::compile(&access, DefaultAccess::NOTHING, &guards, &workspace);
    let policy = policy.expect("it compiles");
    let path = |text: &str| ProjectPath::normalize(text).expect("it is a path");
    let check = |covered: &str, expected: &[&str]| {
        let patterns = policy.guard_patterns();
        let patterns = patterns.filter(|pattern| pattern.covers(&path(covered)));
        let found: Vec<String> = patterns.map(|pattern| pattern.names().join("/")).collect();
        assert_eq!(found, expected, "{covered}");
    };
    check("a/.git", &[".git"]);
    check("a/.Git/Config", &[".git", ".git/config"]);
    check("a/.env.local", &[".env*"]);
    check("secrets/x/y", &["secrets/*"]);
    check("a/secrets/x", &[]);
    check("src", &[]);
    let below = |folder: &str| {
        let patterns = policy.guard_patterns();
        let below = patterns.flat_map(|pattern| pattern.below(&path(folder)));
        let mut below: Vec<String> = below.map(|names| names.join("/")).collect();
        below.sort();
        below
    };
    assert_eq!(
        below("a/.jj"),
        ["repo", "repo/config.toml", "workspace-config.toml"]
    );
    assert_eq!(below("secrets"), ["*"]);
    assert_eq!(below("a/secrets"), [""; 0]);
}

/// A line that is taken out protects nothing any more: no other does its work.
#[test]
fn every_line_of_the_table_is_needed() {
    for line in GuardLine::all() {
        let path = line.pattern().trim_start_matches('/').replace('*', "x");
        let without = GuardLines::only(|other| other != line);
        let all = GuardLines::only(|_| true);
        let guards = |lines: GuardLines| {
            let mut found = Vec::new();
            lines.each_on_the_way(&path, |number, _| {
                found.push(GuardLine::all()[number].pattern())
            });
            found.contains(&line.pattern())
        };
        assert!(guards(all) && !guards(without), "{path}");
        assert!(!line.why().is_empty() && line.why().len() < 90, "{path}");
    }
}
