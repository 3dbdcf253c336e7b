#![expect(
    clippy::disallowed_methods,
    reason = "the tests prepare and inspect repositories from outside"
)]

use jig_sandbox::Rights;

use super::super::shown_paths::ShownRules;
use super::super::testing::TestTree;
use super::{
    GitUser, LinkedWorktree, configuration, is_opened_by_preset, linked, show, show_submodule,
    submodule, user,
};

#[test]
fn only_the_name_and_the_address_are_taken() {
    let check = |text: &str, name: Option<&str>, email: Option<&str>| {
        let expected = GitUser {
            name: name.map(str::to_owned),
            email: email.map(str::to_owned),
        };
        assert_eq!(user(text), expected, "{text}");
    };
    check(
        "[user]\n\tname = A B\n\temail = a@b.c\n",
        Some("A B"),
        Some("a@b.c"),
    );
    check("[User] name = \"A # B\" ; comment\n", Some("A # B"), None);
    check("[user]\nNAME = A\nname = B\n", Some("B"), None);
    check("[core]\nname = A\n[user \"x\"]\nname = B\n", None, None);
    check(
        "[user]\nname = A \\\"B\\\" \\\\\n",
        Some("A \"B\" \\"),
        None,
    );
    check("[user]\nname = \"open\nemail =\n", None, None);
    // Nothing that could begin another line, or another section.
    check("[user]\nname = a\\n[core]\\nfsmonitor = evil\n", None, None);
    check("[include]\npath = x\n", None, None);
    check("", None, None);
}

#[test]
fn the_configuration_can_be_read_back() {
    let hostile = "A\" ] [core] fsmonitor = x \\";
    let text = format!("[user]\nname = {}\n", super::quoted(hostile));
    assert_eq!(user(&text).name.as_deref(), Some(hostile));
    let tree =
        TestTree::new(&[".gitconfig = [user]\nname = A\nemail = a@b\n[core]\nfsmonitor = evil\n"]);
    let config = configuration(Some(&tree.root()));
    assert!(
        config.ends_with("[user]\n\tname = \"A\"\n\temail = \"a@b\"\n"),
        "{config}"
    );
    assert!(!config.contains("evil"), "{config}");
    assert!(!configuration(None).contains("[user]"));
}

fn repository() -> TestTree {
    TestTree::new(&[
        "main/.git/HEAD",
        "main/.git/config",
        "main/.git/hooks/pre-commit",
        "main/.git/objects/",
        "main/.git/worktrees/ws/commondir = ../..\n",
        "main/.git/worktrees/ws/HEAD",
        "main/.git/worktrees/other/HEAD",
        "ws/",
    ])
}

fn link(tree: &TestTree) {
    let root = tree.root();
    let own = root.join("main/.git/worktrees/ws");
    std::fs::write(root.join("ws/.git"), format!("gitdir: {}\n", own.display())).unwrap();
    let back = format!("{}\n", root.join("ws/.git").display());
    std::fs::write(own.join("gitdir"), back).unwrap();
}

#[test]
fn a_repository_counts_only_if_it_knows_the_worktree() {
    let tree = repository();
    let root = tree.root();
    let ws = root.join("ws");
    assert_eq!(linked(&ws), None);
    link(&tree);
    let expected = LinkedWorktree {
        common: root.join("main/.git"),
        own: root.join("main/.git/worktrees/ws"),
    };
    assert_eq!(linked(&ws), Some(expected));
    // Another directory that names the same repository was not made by git.
    tree.put("forged/");
    std::fs::copy(ws.join(".git"), root.join("forged/.git")).unwrap();
    assert_eq!(linked(&root.join("forged")), None);
    // A directory that the tool made itself, below the workspace, names whatever it likes.
    tree.put(&format!("ws/fake/gitdir = {}", ws.join(".git").display()));
    tree.put("ws/fake/commondir = ../../main/.git");
    std::fs::write(ws.join(".git"), "gitdir: fake\n").unwrap();
    assert_eq!(linked(&ws), None);
    for broken in ["", "gitdir:", "gitdir: /nonexistent", "gitdir: ..", "\u{0}"] {
        std::fs::write(ws.join(".git"), broken).unwrap();
        assert_eq!(linked(&ws), None, "{broken}");
    }
}

#[test]
fn a_linked_repository_can_be_used_but_not_configured() {
    let tree = repository();
    link(&tree);
    let root = tree.root();
    let ws = root.join("ws");
    let linked = linked(&ws).unwrap();
    let check = |rules: &[&str], path: &str, expected: Rights| {
        let tree = TestTree::new(&[".git = gitdir: x"]);
        let mut shown = ShownRules::default();
        show(&linked, &tree.policy(rules), false, &mut shown);
        let rights = shown.rights(&root.join("main/.git").join(path));
        assert_eq!(rights, expected, "{rules:?} {path}");
    };
    let write = Rights::READ.with(Rights::WRITE);
    for path in [
        "HEAD",
        "objects/x",
        "packed-refs.lock",
        "worktrees/ws/HEAD",
        "worktrees/new",
    ] {
        check(&[], path, write);
    }
    for path in [
        "config",
        "worktrees/other/HEAD",
        "worktrees/ws/commondir",
        "worktrees/ws/gitdir",
    ] {
        check(&[], path, Rights::READ);
    }
    check(&[], "hooks/pre-commit", Rights::NONE);
    check(&[". r"], "HEAD", Rights::READ);
    check(&[". r"], "hooks", Rights::NONE);
    check(&[". rw", ".git"], "HEAD", Rights::NONE);
    check(&["src rw"], "HEAD", Rights::NONE);
    // What is missing has to be looked for afterwards.
    let names = |rules: &[&str], lifted: bool| -> Vec<String> {
        let tree = TestTree::new(&[".git = gitdir: x"]);
        let forbidden = show(
            &linked,
            &tree.policy(rules),
            lifted,
            &mut ShownRules::default(),
        );
        forbidden.iter().map(|name| name.path.to_string()).collect()
    };
    assert_eq!(
        names(&[], false),
        ["config.worktree", "commondir", "modules", "config.worktree"]
    );
    std::fs::remove_dir_all(root.join("main/.git/hooks")).unwrap();
    assert_eq!(names(&[], true), ["hooks"]);
    assert_eq!(names(&[". r"], false), [""; 0]);
}

#[test]
fn a_submodule_has_to_be_known_to_the_project_around_it() {
    let tree = TestTree::new(&[
        "super/.git/modules/sub/config = [core]\n\tworktree = ../../../sub\n",
        "super/.git/modules/sub/HEAD",
        "super/.git/modules/sub/worktrees/other/commondir = ../..\n",
        "super/sub/.git = gitdir: ../.git/modules/sub\n",
        "super/forged/.git = gitdir: ../.git/modules/sub\n",
        "elsewhere/config = [core]\nworktree = ../ws\n",
        "ws/.git = gitdir: ../elsewhere\n",
    ]);
    let root = tree.root();
    let own = root.join("super/.git/modules/sub");
    assert_eq!(submodule(&root.join("super/sub")), Some(own.clone()));
    assert_eq!(linked(&root.join("super/sub")), None);
    assert_eq!(submodule(&root.join("super/forged")), None);
    // Whoever can write the file could also make a directory that fits it.
    assert_eq!(submodule(&root.join("ws")), None);
    let policy = TestTree::new(&[".git = gitdir: x"]).policy(&[]);
    let write = Rights::READ.with(Rights::WRITE);
    for (lifted, config) in [(false, Rights::READ), (true, write)] {
        let mut shown = ShownRules::default();
        let forbidden = show_submodule(&own, &policy, lifted, &mut shown);
        assert_eq!(shown.rights(&own.join("index.lock")), write);
        for kept in ["config", "worktrees/other/commondir"] {
            assert_eq!(shown.rights(&own.join(kept)), config, "{kept}");
        }
        // There are no hooks yet, and none may come into being.
        assert_eq!(forbidden[0].path.as_str(), "hooks");
        assert_eq!(forbidden[0].base.as_deref(), Some(own.as_path()));
    }
}

#[test]
fn the_preset_opens_the_repository_that_a_file_names() {
    let tree = repository();
    link(&tree);
    let root = tree.root();
    let (ws, main) = (root.join("ws"), root.join("main/.git"));
    let check = |rules: &[&str], path: &str, expected: bool| {
        let policy = TestTree::new(&[".git = gitdir: x"]).policy(rules);
        let opened = is_opened_by_preset(&ws, &policy, &main.join(path), Rights::WRITE);
        assert_eq!(opened, expected, "{rules:?} {path}");
    };
    check(&[], "config", true);
    check(&[], "hooks/pre-commit", false);
    check(&[], "worktrees/ws/gitdir", true);
    // No preset grants what a rule withholds.
    check(&[". r"], "config", false);
    check(&[". rw", ".git"], "config", false);
    let policy = tree.policy(&[]);
    let beside = root.join("main/file");
    assert!(!is_opened_by_preset(&ws, &policy, &beside, Rights::READ));
}
