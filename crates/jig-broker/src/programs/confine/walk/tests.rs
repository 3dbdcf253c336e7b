use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::super::testing::{TestTree, as_a_user};
use super::{walk, walk_at_most};

#[test]
fn what_is_not_looked_at_is_said_to_be_unseen() {
    let tree = TestTree::new(&["a/b/c/.env", "d/.env"]);
    let policy = tree.policy(&[]);
    let whole = walk(&policy, &tree.root()).unwrap();
    assert!(whole.unseen.is_empty());
    let mut found = whole.sensitive;
    found.sort();
    assert_eq!(found, [Path::new("a/b/c/.env"), Path::new("d/.env")]);
    // The root, `a` and `d` are looked at first.
    let part = walk_at_most(&policy, &tree.root(), 3, None).unwrap();
    assert_eq!(part.unseen, [Path::new("a/b")]);
    assert_eq!(part.sensitive, [Path::new("d/.env")]);
    // Names that nobody can reach by one path.
    let mut deep = tree.root();
    let name = "x".repeat(200);
    while deep.as_os_str().len() < 3800 {
        deep.push(&name);
        rustix::fs::mkdir(&deep, rustix::fs::Mode::RWXU).unwrap();
    }
    let found = walk(&policy, &tree.root()).unwrap();
    assert_eq!(found.unseen.len(), 1);
    assert!(found.unseen[0].as_os_str().len() < 3300);
}

#[test]
fn a_name_that_is_no_text_is_as_sensitive() {
    let tree = TestTree::new(&["a/"]);
    let name = std::ffi::OsStr::from_bytes(b"a/.env\xff");
    let flags = rustix::fs::OFlags::CREATE | rustix::fs::OFlags::WRONLY;
    rustix::fs::open(tree.root().join(name), flags, rustix::fs::Mode::RUSR).unwrap();
    let found = walk(&tree.policy(&[]), &tree.root()).unwrap();
    assert_eq!(found.sensitive, [Path::new(name)]);
}

#[test]
fn links_to_directories_are_not_followed() {
    let tree = TestTree::new(&["a/.env", "b -> a", "loop -> .", "up -> /"]);
    let found = walk(&tree.policy(&[]), &tree.root()).unwrap();
    assert_eq!(found.sensitive, [Path::new("a/.env")]);
    assert!(walk(&tree.policy(&[]), &tree.root().join("b")).is_err());
}

#[test]
fn what_was_seen_is_read_again_when_it_changes() {
    let tree = TestTree::new(&["a/b/", "c/"]);
    let policy = tree.policy(&[]);
    let names = || {
        let mut names = walk(&policy, &tree.root()).unwrap().names();
        names.sort();
        names
    };
    // So many changes in so little time that some fall into one tick of the file system's clock.
    for round in 0..200 {
        let name = format!("a/b/.env{round}");
        tree.put(&name);
        assert_eq!(names(), [Path::new(&name)]);
        rustix::fs::unlink(tree.root().join(&name)).unwrap();
        assert!(names().is_empty());
    }
    // A rule makes it another question.
    tree.put(".env");
    let named = tree.policy(&[". rw", "a"]);
    tree.put("a/.env");
    assert_eq!(
        walk(&named, &tree.root()).unwrap().names(),
        [Path::new(".env")]
    );
    assert_eq!(names(), [Path::new(".env"), Path::new("a/.env")]);
    // A directory with another one's name is another directory.
    tree.put("d/.env");
    rustix::fs::rmdir(tree.root().join("c")).unwrap();
    rustix::fs::rename(tree.root().join("d"), tree.root().join("c")).unwrap();
    let found = names();
    assert!(found.contains(&Path::new("c/.env").to_owned()), "{found:?}");
}

/// A tool that closes a directory, and opens it again in the next call, must not get past what is hidden in
/// it. Root can look everywhere, so this is tried as somebody else.
#[test]
fn a_directory_that_cannot_be_looked_into_is_said_to_be_closed() {
    as_a_user(|| {
        let tree = TestTree::new(&["a/b/.env", "c/d/.env", "e/f/.env"]);
        let root = tree.root();
        let close = |path: &str, mode: u32| {
            rustix::fs::chmod(root.join(path), rustix::fs::Mode::from_raw_mode(mode)).unwrap();
        };
        close("a", 0);
        close("c", 0o400);
        close("e", 0o100);
        let found = walk(&tree.policy(&[]), &root).unwrap();
        let closed = ["a", "c", "e"].map(Path::new);
        let mut found = found;
        found.closed.sort();
        assert_eq!(found.closed, closed);
        assert!(found.sensitive.is_empty());
        closed
            .iter()
            .for_each(|path| close(path.to_str().unwrap(), 0o700));
        let found = walk(&tree.policy(&[]), &root).unwrap();
        assert_eq!(found.sensitive.len(), 3);
    });
}
