use std::sync::Arc;

use jig_files::{FilesLookup, MemoryFiles, ProjectFiles, WriteOptions};
use jig_policy::{
    Capability, DeclaredAccess, DeclaredFsRule, DefaultAccess, FileCapabilities, Guards, Policy,
    RuleOrigin, Workspace,
};
use jig_proto::ProjectPath;

use super::target;
use crate::{Broker, BrokerParts};

fn path(text: &str) -> ProjectPath {
    ProjectPath::normalize(text).unwrap()
}

/// A broker for a tool with these rules, where these files are.
fn broker(there: &[&str], rules: &[&str], guards: &Guards) -> Broker {
    let files: Arc<dyn ProjectFiles> = Arc::new(MemoryFiles::new());
    for text in there {
        let parent = path(text).parent().unwrap();
        if !parent.is_root() {
            let place = files.locate(&parent).unwrap();
            files.make_dir(&place, true).unwrap();
        }
        let place = files.locate(&path(text)).unwrap();
        files.write(&place, b"x", &WriteOptions::default()).unwrap();
    }
    let rules = rules.iter().map(|rule| DeclaredFsRule {
        path: (*rule).to_owned(),
        capabilities: FileCapabilities::ALL,
        origin: RuleOrigin::line("jig.toml", 3),
    });
    let access = DeclaredAccess {
        fs: rules.collect(),
        ..DeclaredAccess::default()
    };
    let workspace = Workspace::new(files.display_root(), FilesLookup(Arc::clone(&files)));
    let policy = Policy::compile(&access, DefaultAccess::WASM, guards, &workspace).unwrap();
    Broker::new(BrokerParts::new("tool", "c1", files, Arc::new(policy)))
}

fn allows(broker: &Broker, wanted: &str) -> bool {
    let inner = &broker.inner;
    let place = inner.files.locate_entry(&path(wanted)).unwrap();
    let capability = match place.exists() {
        true => Capability::Update,
        false => Capability::Create,
    };
    let target = target(inner, &place, capability);
    inner.policy.decide_fs(capability, &target).is_allowed()
}

#[test]
fn a_folder_becomes_no_repository_by_its_shape() {
    let guards = Guards::of_workspace();
    let check = |there: &[&str], rules: &[&str], wanted: &str, expected: bool| {
        let found = allows(&broker(there, rules, &guards), wanted);
        assert_eq!(found, expected, "{there:?} {rules:?} {wanted}");
        let lifted = guards.clone().without_git();
        assert!(allows(&broker(there, rules, &lifted), wanted), "{wanted}");
    };
    let almost: &[&str] = &["x/objects/a", "x/refs/a"];
    check(almost, &["."], "x/HEAD", false);
    check(almost, &["."], "x/head", false);
    check(almost, &["x"], "x/HEAD", false);
    check(almost, &["x/HEAD"], "x/HEAD", true);
    check(&["objects/a", "refs/a"], &["."], "HEAD", false);
    check(&["x/HEAD", "x/refs/a"], &["."], "x/objects/ab/cd", false);
    check(&["x/HEAD"], &["."], "x/commondir", false);
    // Below a `.git` only git itself keeps repositories.
    let inside: &[&str] = &[".git/HEAD", ".git/x/objects/a", ".git/x/refs/a"];
    check(inside, &["."], ".git/x/HEAD", false);
    check(
        &[".git/objects/a", ".git/refs/a"],
        &["."],
        ".git/HEAD",
        true,
    );
    let linked: &[&str] = &[".git/HEAD", ".git/worktrees/x/commondir"];
    check(linked, &["."], ".git/worktrees/x/HEAD", true);
    let whole: &[&str] = &["x/objects/a", "x/refs/a", "x/HEAD"];
    for part in [
        "config",
        "hooks/post-receive",
        "commondir",
        "config.worktree",
    ] {
        check(whole, &["."], &format!("x/{part}"), false);
    }
    // A `.git` that is not there comes into being with what is made in it.
    check(&[], &["."], "x/.git/HEAD", false);
    check(&[], &["x/.git"], "x/.git/HEAD", true);
    // Ordinary work.
    check(&["x/.git/HEAD"], &["."], "x/.git/refs/heads/topic", true);
    check(&["x/HEAD"], &["."], "x/refs/a", true);
    check(&[], &["."], "src/objects/a", true);
    check(&[], &["."], "src/hooks/use.ts", true);
    check(whole, &["."], "x/description", true);
}
