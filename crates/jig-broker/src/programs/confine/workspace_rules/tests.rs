#![expect(
    clippy::disallowed_methods,
    reason = "the tests look at workspaces from outside"
)]

use std::path::Path;

use jig_policy::{Capability, GuardKind, GuardLevel, GuardLine, Guards, Policy};
use jig_proto::ProjectPath;
use jig_sandbox::{Rights, RuleSource};
use proptest::prelude::*;

use super::super::shown_paths::ShownRules;
use super::super::testing::{TestTree, steps};
use super::super::walk;
use super::{WorkspaceAdditions, rights, show};

/// Rules, pins and forbidden names, as text.
fn shown(tree: &TestTree, policy: &Policy) -> (Vec<String>, WorkspaceAdditions) {
    let root = tree.root();
    let walked = walk::walk(policy, &root).unwrap();
    let mut shown = ShownRules::default();
    let workspace = show(policy, &root, &walked, &mut shown);
    let relative = |path: &Path| match path.strip_prefix(&root).unwrap().to_str().unwrap() {
        "" => ".".to_owned(),
        name => name.to_owned(),
    };
    let rules = shown.into_rules().into_iter().map(|rule| {
        let letters = letters(rule.rights);
        let mark = match rule.source {
            RuleSource::Guard => " (guard)",
            _ => "",
        };
        format!("{} {letters}{mark}", relative(&rule.path))
    });
    let mut lines: Vec<String> = rules.collect();
    lines.extend(
        workspace
            .pins
            .iter()
            .map(|pin| format!("pin {}", relative(pin))),
    );
    (lines, workspace)
}

fn letters(rights: Rights) -> String {
    let letters = [
        (Rights::READ, 'r'),
        (Rights::CREATE, 'c'),
        (Rights::UPDATE, 'u'),
        (Rights::DELETE, 'd'),
        (Rights::EXECUTE, 'x'),
    ];
    let has: String = letters
        .into_iter()
        .filter(|(right, _)| rights.has(*right))
        .map(|(_, letter)| letter)
        .collect();
    match has.as_str() {
        "" => "-".to_owned(),
        _ => has.replace("cud", "w"),
    }
}

fn check(entries: &[&str], rules: &[&str], expected: &[&str]) {
    let tree = TestTree::new(entries);
    // Without the guards on configuration and git, which would be in every list.
    let policy = tree.policy_with(rules, &Guards::default());
    let (lines, _) = shown(&tree, &policy);
    assert_eq!(lines, expected, "{entries:?} {rules:?}");
}

#[test]
fn g120_rules_of_the_policy_are_rules_of_the_profile() {
    check(&[], &[], &[". rwx"]);
    check(&[], &[". r"], &[". r"]);
    check(&["src/a"], &[". rw", "src r"], &[". rw", "src r"]);
    // G-040.
    let nested = [". rw", "src r", "src/generated rw"];
    check(
        &["src/generated/"],
        &nested,
        &[". rw", "src r", "src/generated rw"],
    );
    // Only what is named can be seen.
    check(&["src/", "b/c"], &["src r", "b/c rx"], &["b/c rx", "src r"]);
    // Of several rules at a path the last counts; one that changes nothing is left out.
    check(&["a"], &[". r", "a rw", "a r"], &[". r"]);
    // Single capabilities stay single.
    check(&["a/"], &[". r", "a ru"], &[". r", "a ru"]);
    check(&["a/"], &[". r", "a rcd"], &[". r", "a rcd"]);
    // G-052: rules are on what links lead to.
    check(
        &["real/", "src -> real"],
        &[". rw", "src r"],
        &[". rw", "real r"],
    );
}

#[test]
fn x66_sensitive_paths_are_hidden_wherever_they_are() {
    check(&[".env"], &[], &[". rwx", ".env -"]);
    check(
        &["a/b/.env.local", "a/.ssh/id", "a/x"],
        &[],
        &[". rwx", "a/.ssh -", "a/b/.env.local -"],
    );
    check(
        &["a/.git/hooks/pre-commit", "a/.git/objects/ab/.env"],
        &[],
        &[". rwx", "a/.git/hooks -", "pin a/.git"],
    );
    // A rule that names it counts.
    check(&[".env"], &[". rw", ".env r"], &[". rw", ".env r"]);
    check(&["a/.env"], &[". rw", "a rw"], &[". rw", "a/.env -"]);
    // What cannot be seen anyway needs no rule of its own.
    check(&["a/.env", "b/"], &["b r"], &["b r"]);
    check(&["a/.env", "b/"], &[". rw", "a"], &[". rw", "a -"]);
    check(
        &["a/b/.env"],
        &[". rw", "a", "a/b r"],
        &[". rw", "a -", "a/b r", "a/b/.env -"],
    );
    // A link is judged by where it leads to.
    check(&["plain", ".env -> plain"], &[], &[". rwx"]);
}

#[test]
fn x65_what_lies_above_something_restricted_stays_where_it_is() {
    check(
        &["a/b/c/d"],
        &[". rw", "a/b/c r"],
        &[". rw", "a/b/c r", "pin a", "pin a/b"],
    );
    // What can be deleted may be moved along.
    check(&["a/b/c/"], &[". rw", "a/b/c rwx"], &[". rw", "a/b/c rwx"]);
    check(&["a/b/"], &[". r", "a/b rw"], &[". r", "a/b rw"]);
    check(
        &[".git/HEAD", ".config/x"],
        &[],
        &[". rwx", ".git/hooks - (guard)", "pin .config", "pin .git"],
    );
}

#[test]
fn configuration_is_protected_whether_it_is_there_or_not() {
    let check = |entries: &[&str], rules: &[&str], expected: &[&str], forbidden: &[&str]| {
        let tree = TestTree::new(entries);
        let (lines, workspace) = shown(&tree, &tree.policy(rules));
        // Those of what is missing only say so.
        let present = |line: &&String| !line.ends_with("(guard)");
        let lines: Vec<&String> = lines.iter().filter(present).collect();
        assert_eq!(lines, expected, "{entries:?} {rules:?}");
        let names = workspace.forbidden.iter().map(|name| name.path.to_string());
        let mut names: Vec<String> = names.collect();
        names.sort();
        // What others than jig and git obey is never there: it is all forbidden, wherever anything is.
        let own = [
            GuardKind::JigFile,
            GuardKind::JigFolder,
            GuardKind::JpFolder,
            GuardKind::Git,
        ];
        let others = GuardLine::all().iter().filter(|line| {
            let is_name = !line.only_itself() && !line.pattern().contains('*');
            is_name && line.level() == GuardLevel::Named && !own.contains(&line.kind())
        });
        let others = others.map(|line| line.pattern().trim_start_matches('/'));
        let mut others: Vec<&str> = others.collect();
        others.sort();
        let (of_others, names): (Vec<String>, Vec<String>) = names
            .into_iter()
            .partition(|name| others.contains(&name.as_str()));
        if forbidden.is_empty() {
            others.clear();
        }
        assert_eq!(of_others, others, "{entries:?} {rules:?}");
        assert_eq!(names, forbidden, "{entries:?} {rules:?}");
    };
    let git = [".git/HEAD", ".git/config"];
    check(&[], &[], &[". rwx"], &[".git", ".jig", ".jp", "jig.toml"]);
    check(
        &["jig.toml", git[0], git[1], ".jig/config.toml"],
        &[],
        &[
            ". rwx",
            ".git/config rx",
            ".jig rx",
            "jig.toml rx",
            "pin .git",
        ],
        &[
            ".git/commondir",
            ".git/config.worktree",
            ".git/hooks",
            ".git/modules",
            ".jp",
        ],
    );
    // A rule that names the folder opens it, but never the configuration.
    check(
        &[".jig/x", git[0], git[1]],
        &[". rw", ".jig rw"],
        &[". rw", ".git/config r", "pin .git", "pin .jig"],
        &[
            ".git/commondir",
            ".git/config.worktree",
            ".git/hooks",
            ".git/modules",
            ".jig/config.toml",
            ".jp",
            "jig.toml",
        ],
    );
    // Where nothing can be made, nothing has to be looked for.
    check(&[], &[". r"], &[". r"], &[]);
    // A link can't be held, so it is looked at afterwards; what it leads to is held.
    check(
        &["jig.toml -> conf/jig.toml", "conf/jig.toml", git[0], git[1]],
        &[],
        &[
            ". rwx",
            ".git/config rx",
            "conf/jig.toml rx",
            "pin .git",
            "pin conf",
        ],
        &[
            ".git/commondir",
            ".git/config.worktree",
            ".git/hooks",
            ".git/modules",
            ".jig",
            ".jp",
            "jig.toml",
        ],
    );
}

#[test]
fn repositories_below_the_workspace_are_protected_as_their_own() {
    let tree = TestTree::new(&[
        "a/b/.git/worktrees/w/commondir",
        "a/b/.git/config",
        "a/b/.git/modules/x/config",
        "a/b/.git/HEAD",
    ]);
    let (lines, workspace) = shown(&tree, &tree.policy(&[". rw", ".git rw"]));
    let held: Vec<&String> = lines
        .iter()
        .filter(|line| !line.ends_with("(guard)"))
        .collect();
    assert_eq!(
        held,
        [
            ". rw",
            "a/b/.git/config r",
            "a/b/.git/modules r",
            "a/b/.git/worktrees/w/commondir r",
            "pin a/b/.git",
            "pin a/b/.git/worktrees",
            "pin a/b/.git/worktrees/w"
        ]
    );
    let names = workspace.forbidden.iter().map(|name| name.path.to_string());
    let nested: Vec<String> = names.filter(|name| name.starts_with("a/")).collect();
    assert_eq!(
        nested,
        [
            "a/b/.git/config.worktree",
            "a/b/.git/commondir",
            "a/b/.git/hooks",
            "a/b/.git/worktrees/w/config.worktree"
        ]
    );
    let lifted = tree.policy_with(&[". rw"], &Guards::of_workspace().without_git());
    let (lines, _) = shown(&tree, &lifted);
    assert!(
        !lines.iter().any(|line| line.contains(".git/config")),
        "{lines:?}"
    );
}

#[test]
fn what_leads_to_a_repository_stays_as_it_is() {
    let tree = TestTree::new(&[
        "sub/.git = gitdir: ../.git/modules/sub",
        "link/.git -> ../sub",
        ".git/worktrees/w/commondir = ../..",
        ".git/config",
        "open/.git = gitdir: x",
    ]);
    let (lines, workspace) = shown(&tree, &tree.policy(&[". rw", "open/.git rw"]));
    let held: Vec<&String> = lines
        .iter()
        .filter(|line| !line.ends_with("(guard)"))
        .collect();
    assert_eq!(
        held,
        [
            ". rw",
            ".git/config r",
            ".git/worktrees/w/commondir r",
            "sub/.git r",
            "pin .git",
            "pin .git/worktrees",
            "pin .git/worktrees/w",
        ]
    );
    let link = workspace
        .forbidden
        .iter()
        .find(|name| name.path.as_str() == "link/.git");
    let target = link.and_then(|name| name.link.as_deref());
    assert_eq!(target, Some(Path::new("../sub")));
}

#[test]
fn a_missing_place_for_writing_is_remarked_on() {
    let tree = TestTree::new(&[]);
    let (_, workspace) = shown(&tree, &tree.policy(&[". r", "out rw"]));
    assert_eq!(
        workspace.warnings,
        [
            "`out` does not exist, and a confined program cannot make it where it may not change `.`: make it first"
        ]
    );
}

/// A path of one to four names, of which many mean something to guards.
fn path() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec![
        "a",
        "b",
        "src",
        ".env",
        ".env.x",
        ".git",
        "hooks",
        "config",
        "modules",
        ".jig",
        "config.toml",
        "jig.toml",
        ".ssh",
        ".config",
        "gh",
        ".cargo",
        "credentials",
    ]);
    prop::collection::vec(name, 1..5).prop_map(|names| names.join("/"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// G-120: for every path that exists, the deepest rule of the profile grants what the policy grants, and
    /// X-65: what the policy lets nobody move is a mount of its own.
    #[test]
    fn g120_the_profile_agrees_with_the_policy(
        paths in prop::collection::vec(path(), 1..12),
        rules in prop::collection::vec((path(), "r?w?x?|[rcudx]{0,3}"), 0..6),
        whole in prop::option::of("r?w?x?"),
    ) {
        let tree = TestTree::new(&[]);
        for path in &paths {
            // A file cannot lie in a file: what is longer comes second, and then not at all.
            let mut here = tree.root();
            let names: Vec<&str> = path.split('/').collect();
            for name in &names[..names.len() - 1] {
                here.push(name);
                let _ = std::fs::create_dir(&here);
            }
            let _ = std::fs::write(tree.root().join(path), "");
        }
        let mut texts: Vec<String> = rules.iter().map(|(path, letters)| format!("{path} {letters}")).collect();
        texts.extend(whole.map(|letters| format!(". {letters}")));
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let policy = tree.policy(&texts);
        let root = tree.root();
        let walked = walk::walk(&policy, &root).unwrap();
        let mut shown = ShownRules::default();
        let workspace = show(&policy, &root, &walked, &mut shown);
        for line in tree.content() {
            let name = line.trim_end_matches('/');
            let path = ProjectPath::normalize(name).unwrap();
            let full = root.join(name);
            let mut granted = rights(policy.granted(&path));
            if name.ends_with("/.git") && !line.ends_with('/') {
                if policy.can(Capability::Update, &path) {
                    // What may say anything may as well go.
                    continue;
                }
                // A file of that name is a repository elsewhere, and not what lies below it.
                let allowed = Capability::ALL.into_iter();
                granted = rights(allowed.filter(|one| policy.can(*one, &path)).collect());
            }
            prop_assert_eq!(shown.rights(&full), granted, "{} under {:?}", path, texts);
            let may_go = policy.can(Capability::Delete, &path);
            if line.ends_with('/') && granted.has(Rights::DELETE) && !may_go {
                let held = workspace.pins.contains(&full) || shown.has_rule_at(&full);
                prop_assert!(held, "{} can be moved under {:?}", path, texts);
            }
        }
    }
}

#[test]
fn what_nobody_has_looked_into_is_hidden() {
    let tree = TestTree::new(&["a/b/", "c/"]);
    let policy = tree.policy_with(&[], &Guards::default());
    let walked = walk::WalkFindings {
        closed: vec!["a".into()],
        unseen: vec!["c".into(), "d".into()],
        ..walk::WalkFindings::default()
    };
    let mut shown = ShownRules::default();
    let workspace = show(&policy, &tree.root(), &walked, &mut shown);
    for hidden in ["a", "a/b", "c", "d"] {
        assert_eq!(
            shown.rights(&tree.root().join(hidden)),
            Rights::NONE,
            "{hidden}"
        );
    }
    assert_eq!(
        workspace.warnings,
        [
            "`a` is hidden, because it cannot be looked into",
            "2 more directories are hidden, because they cannot be looked into, or because there are too many",
        ]
    );
}

/// A tool can make any number of folders with the name `.git`, as deep as it likes. What that costs the next call grows
/// with their number, and not with the square of it, nor with their number times their depth.
#[test]
fn many_repositories_cost_what_they_are() {
    let steps_for = |count: usize, depth: usize| {
        let tree = TestTree::new(&[".git/HEAD"]);
        let deep = "d/".repeat(depth);
        for number in 0..count {
            tree.put(&format!("{deep}{number}/.git/"));
        }
        let policy = tree.policy(&[]);
        let walked = walk::walk(&policy, &tree.root()).unwrap();
        assert_eq!(walked.repositories.len(), count);
        let mut shown = ShownRules::default();
        steps(|| {
            show(&policy, &tree.root(), &walked, &mut shown);
        })
    };
    let few = steps_for(100, 1);
    let many = steps_for(400, 1);
    assert!(many < few * 5, "{few} {many}");
    let deep = steps_for(100, 100);
    assert!(deep < few * 2, "{few} {deep}");
}
