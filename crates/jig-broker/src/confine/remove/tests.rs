use std::path::Path;

use super::super::testing::Tree;
use super::{copy, move_away, parent, remove};
use std::ffi::OsStr;
use std::os::fd::AsFd as _;

#[test]
fn something_is_moved_with_all_that_is_in_it() {
    let tree = Tree::new(&[
        "ws/a/.ssh/id = key",
        "ws/a/.ssh/link -> /etc/passwd",
        "ws/keep",
        "state/",
    ]);
    let root = tree.root();
    let place = move_away(&root.join("ws"), Path::new("a/.ssh"), &root.join("state")).unwrap();
    assert_eq!(place.file_name(), Some(OsStr::new("a%.ssh")));
    let left: Vec<String> = tree.content();
    let place = place.strip_prefix(&root).unwrap().display();
    assert!(left.contains(&format!("{place}/id = key")), "{left:?}");
    assert!(
        left.contains(&format!("{place}/link -> /etc/passwd")),
        "{left:?}"
    );
    assert!(
        !left.iter().any(|name| name.contains("ws/a/.ssh")),
        "{left:?}"
    );
    assert!(left.contains(&"ws/keep".to_owned()), "{left:?}");
}

#[test]
fn links_on_the_way_are_not_followed() {
    let tree = Tree::new(&["outside/.env = mine", "ws/link -> ../outside", "state/"]);
    let root = tree.root();
    assert!(
        move_away(
            &root.join("ws"),
            Path::new("link/.env"),
            &root.join("state")
        )
        .is_err()
    );
    assert!(tree.content().contains(&"outside/.env = mine".to_owned()));
    // The link itself can be moved.
    move_away(&root.join("ws"), Path::new("link"), &root.join("state")).unwrap();
    assert!(tree.content().contains(&"outside/.env = mine".to_owned()));
    assert!(
        !tree
            .content()
            .iter()
            .any(|name| name.starts_with("ws/link"))
    );
}

#[test]
fn a_copy_is_as_good_as_a_rename() {
    let tree = Tree::new(&["from/d/e/f = text", "from/d/l -> nowhere", "to/"]);
    let root = tree.root();
    let (from, name) = parent(&root, Path::new("from/d")).unwrap();
    let (to, _) = parent(&root, Path::new("to/x")).unwrap();
    copy(from.as_fd(), &name, to.as_fd(), OsStr::new("x"), 0).unwrap();
    remove(from.as_fd(), &name, 0).unwrap();
    let expected = [
        "from/",
        "to/",
        "to/x/",
        "to/x/e/",
        "to/x/e/f = text",
        "to/x/l -> nowhere",
    ];
    assert_eq!(tree.content(), expected);
}
