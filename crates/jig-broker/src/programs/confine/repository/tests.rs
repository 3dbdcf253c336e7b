use super::super::testing::TestTree;
use super::{MOST_EXAMPLES, has_only_examples, is_bare};

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
