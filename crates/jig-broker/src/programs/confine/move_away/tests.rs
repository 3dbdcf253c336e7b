use std::path::Path;

use super::super::testing::TestTree;
use rustix::fs::{Mode, OFlags};

use super::{across, move_away, parent};
use std::ffi::OsStr;
use std::os::fd::AsFd as _;

#[test]
fn something_is_moved_with_all_that_is_in_it() {
    let tree = TestTree::new(&[
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
    let tree = TestTree::new(&["outside/.env = mine", "ws/link -> ../outside", "state/"]);
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

/// Moves `d` of the tree as if to another file system.
fn moved_across(entries: &[&str], prepare: impl Fn(&Path)) -> (TestTree, Vec<String>) {
    let tree = TestTree::new(&["from/", "to/"]);
    entries.iter().for_each(|entry| tree.put(entry));
    let root = tree.root();
    prepare(&root);
    let (from, name) = parent(&root, Path::new("from/.d")).unwrap();
    let (to, _) = parent(&root, Path::new("to/x")).unwrap();
    across(from.as_fd(), &name, to.as_fd(), OsStr::new("x")).unwrap();
    let names = tree.content();
    (tree, names)
}

#[test]
fn what_is_small_is_copied_to_another_file_system() {
    let (_tree, names) = moved_across(&["from/.d/e/f = text", "from/.d/l -> nowhere"], |_| {});
    let expected = [
        "from/",
        "to/",
        "to/x/",
        "to/x/e/",
        "to/x/e/f = text",
        "to/x/l -> nowhere",
    ];
    assert_eq!(names, expected);
}

#[test]
fn what_is_large_or_deep_or_closed_gets_another_name() {
    let check = |what: &str, prepare: &dyn Fn(&Path)| {
        let (tree, names) = moved_across(&["from/.d/first = text"], prepare);
        let tops: Vec<&String> = names
            .iter()
            .filter(|name| name.matches('/').count() < 2)
            .collect();
        assert_eq!(tops.len(), 2, "{what}: {names:?}");
        let kept = names
            .iter()
            .find(|name| name.starts_with("from/removed-by-jig-"));
        let kept = kept.unwrap_or_else(|| panic!("{what}: {names:?}"));
        assert!(kept.ends_with("-d/"), "{what}: {names:?}");
        assert!(
            names.contains(&format!("{kept}first = text")),
            "{what}: {names:?}"
        );
        drop(tree);
    };
    check("a sparse file", &|root| {
        let file = root.join("from/.d/sparse");
        let flags = OFlags::CREATE | OFlags::WRONLY;
        let file = rustix::fs::open(file, flags, Mode::RUSR | Mode::WUSR).unwrap();
        rustix::fs::ftruncate(&file, 5 << 20).unwrap();
    });
    check("many files", &|root| {
        for number in 0..1100 {
            let file = root.join(format!("from/.d/{number}"));
            rustix::fs::open(file, OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).unwrap();
        }
    });
    check("deep directories", &|root| {
        let mut deep = root.join("from/.d");
        for _ in 0..100 {
            deep.push("a");
            rustix::fs::mkdir(&deep, Mode::RWXU).unwrap();
        }
    });
}
