use std::path::PathBuf;

use jig_proto::ProjectPath;

use super::GuardedNames;
use crate::programs::confine::testing::TestTree;
use crate::programs::confine::workspace_rules::ForbiddenPath;

/// The entries for a workspace with these rules, as `PATH VERDICT`, as far as they are about `.env*` and `.git`, or let
/// something be.
fn entries(rules: &[&str], forbidden: &[ForbiddenPath], own: &[&str]) -> Vec<String> {
    let tree = TestTree::new(&["a"]);
    let policy = tree.policy(rules);
    let root = tree.root();
    let mut names = GuardedNames::default();
    names.forbid(&root, forbidden);
    names.add(&policy, &root, [&root]);
    let own: Vec<PathBuf> = own.iter().map(|path| root.join(path)).collect();
    let entries = names.entries(&own).into_iter().map(|name| {
        let base = name.base.strip_prefix(&root).unwrap_or(&name.base);
        let depth = if name.at_any_depth { "**" } else { "" };
        let path = base.join(depth).join(&name.pattern);
        format!("{} {:?}", path.display(), name.verdict)
    });
    let is_shown = |entry: &String| {
        let (path, verdict) = entry.rsplit_once(' ').expect("it has a verdict");
        verdict == "Free"
            || [".env*", ".git", "new"]
                .iter()
                .any(|name| path.ends_with(name))
    };
    entries.filter(is_shown).collect()
}

#[test]
fn what_the_policy_guards_is_refused_at_any_depth() {
    let expected = ["**/.git RefusedItself", "**/.env* Refused"];
    assert_eq!(entries(&[". rw"], &[], &[]), expected);
}

/// Where nothing can come into being, nobody has to supervise that.
#[test]
fn where_nothing_is_made_nothing_is_guarded() {
    assert_eq!(entries(&[". r"], &[], &[]), [""; 0]);
    assert_eq!(entries(&["a u"], &[], &[]), [""; 0]);
}

/// What a rule names comes first, what is guarded below it all the same before that.
#[test]
fn what_a_rule_names_may_come_into_being() {
    let found = entries(&[". rw", "conf/.env.local rw"], &[], &[]);
    let expected = [
        "conf/.env.local/**/.git RefusedItself",
        "conf/.env.local/**/.env* Refused",
        "conf/.env.local Free",
        "**/.git RefusedItself",
        "**/.env* Refused",
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_is_forbidden_comes_before_all() {
    let forbidden = |link: Option<&str>| ForbiddenPath {
        base: None,
        path: ProjectPath::normalize("made/new").expect("it is a path"),
        link: link.map(PathBuf::from),
        reason: String::new(),
    };
    let found = entries(&[". rw"], &[forbidden(None)], &[]);
    assert_eq!(found[0], "made/new Refused");
    // What a link leads to is judged by itself.
    let found = entries(&[". rw"], &[forbidden(Some("x"))], &[]);
    assert_eq!(found[0], "made/new RefusedItself");
}

/// What lies in a directory of the program's own, over the workspace, is no matter of the host.
#[test]
fn in_a_directory_of_its_own_everything_may_come_into_being() {
    let found = entries(&[". rw"], &[], &["target", "/tmp/elsewhere"]);
    let expected = ["target Free", "**/.git RefusedItself", "**/.env* Refused"];
    assert_eq!(found, expected);
}
