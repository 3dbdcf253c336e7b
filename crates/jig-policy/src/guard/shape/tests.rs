use super::{BareRepository, GitPart};

#[test]
fn a_folder_becomes_a_bare_repository_with_the_last_of_its_parts() {
    let check = |there: &[&str], name: &str, expected: bool| {
        let found = BareRepository::is_completed_by(name, |wanted| there.contains(&wanted));
        assert_eq!(found, expected, "{there:?} + {name}");
    };
    check(&["HEAD", "objects"], "refs", true);
    check(&["HEAD", "refs"], "Objects", true);
    check(&["objects", "refs"], "head", true);
    check(&["HEAD"], "commondir", true);
    check(&["commondir"], "HEAD", true);
    check(&["objects", "refs"], "config", false);
    check(&["objects"], "refs", false);
    check(&["HEAD"], "refs", false);
    // It is one already.
    check(&["HEAD", "objects", "refs"], "refs", false);
    check(&[], "HEAD", false);
}

#[test]
fn what_git_obeys_in_a_repository() {
    for (name, expected) in [
        ("HEAD", Some(GitPart::Shape)),
        ("objects", Some(GitPart::Shape)),
        ("config", Some(GitPart::Obeyed)),
        ("config.worktree", Some(GitPart::Obeyed)),
        ("Hooks", Some(GitPart::Obeyed)),
        ("description", None),
        ("index", None),
    ] {
        assert_eq!(GitPart::of(name), expected, "{name}");
    }
}
