use std::path::Path;

use rustix::fs::{Mode, OFlags, Timespec, Timestamps};

use super::super::testing::TestTree;
use super::{DirectoryIdentity, SensitiveKind, read};

fn directory(path: &Path) -> std::os::fd::OwnedFd {
    rustix::fs::open(path, OFlags::RDONLY, Mode::empty()).unwrap()
}

#[test]
fn directories_and_wanted_names_are_listed() {
    let tree = TestTree::new(&["d/", "e/x", ".env", ".link -> d", "plain"]);
    let mut buffer = Vec::with_capacity(4096);
    let listing = read(&directory(&tree.root()), &mut buffer, |name| {
        name[0] == b'.'
    })
    .unwrap();
    let mut directories = listing.directories;
    directories.sort();
    assert_eq!(directories, ["d", "e"]);
    let mut sensitive = listing.sensitive;
    sensitive.sort_by(|one, other| one.0.cmp(&other.0));
    assert_eq!(
        sensitive,
        [
            (".env".into(), SensitiveKind::Other),
            (".link".into(), SensitiveKind::Link)
        ]
    );
}

#[test]
fn a_listing_holds_until_a_name_comes_or_goes() {
    let tree = TestTree::new(&["a"]);
    let root = tree.root();
    let mut buffer = Vec::with_capacity(4096);
    // Just made: a change within the same tick would not show.
    let listing = read(&directory(&root), &mut buffer, |_| true).unwrap();
    assert_eq!(listing.identity, None);
    let identity = || DirectoryIdentity::of(&rustix::fs::stat(&root).unwrap());
    let before = identity();
    assert_eq!(identity(), before);
    // Setting the time of the last modification back does not hide a change.
    let past = Timespec {
        tv_sec: 1,
        tv_nsec: 0,
    };
    let times = Timestamps {
        last_access: past,
        last_modification: past,
    };
    tree.put("b");
    rustix::fs::utimensat(rustix::fs::CWD, &root, &times, rustix::fs::AtFlags::empty()).unwrap();
    assert_ne!(identity(), before);
    // One that was left alone for long is relied on.
    let old = read(&directory(Path::new("/usr")), &mut buffer, |_| true).unwrap();
    assert!(old.identity.is_some());
}
