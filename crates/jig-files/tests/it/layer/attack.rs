//! Trees that a hostile tool leaves in its layer.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use rustix::fs::RenameFlags;

use super::*;

/// A link in the layer leads to what applying must not touch, and a link below does as well.
#[test]
fn no_link_is_followed() {
    if !has_layers() {
        return;
    }
    let outside = Site::new("echo secret > file; mkdir d; chmod 600 file");
    let target = outside.lower().to_str().expect("it is text").to_owned();
    let before = hash(outside.lower(), Times::All);
    let site = Site::new("mkdir -p a/b; echo x > a/b/f; echo g > g; mkdir c; echo x > c/f");
    let layer = site.run(&format!(
        "rm -r a; ln -s {target} a; rm g; ln -s {target}/file g; chmod 700 c; echo y > c/f; mkdir n; echo n > n/f"
    ));
    // Meanwhile, the host's directory is swapped for a link.
    fs::rename(site.lower().join("c"), site.lower().join("c-before")).expect("it is ours");
    symlink(&target, site.lower().join("c")).expect("it is ours");
    symlink(&target, site.lower().join("n")).expect("it is ours");
    let applied = layer.apply_over_conflicts(&all).expect("it can be applied");
    assert_eq!(hash(outside.lower(), Times::All), before, "{applied:?}");
    let link = fs::read_link(site.lower().join("a")).expect("it is a link");
    assert_eq!(link, Path::new(&target));
}

/// A directory that is swapped for a link at every moment of applying.
#[test]
fn a_swapped_directory_leads_nowhere() {
    if !has_layers() {
        return;
    }
    let outside = Site::new("mkdir d");
    let before = hash(outside.lower(), Times::All);
    let site = Site::new("mkdir d; for i in 0 1 2 3 4 5 6 7 8 9; do echo x > d/$i; done");
    for round in 0..20 {
        let layer = site.run(&format!(
            "for i in 0 1 2 3 4 5 6 7 8 9; do echo {round} > d/$i; echo {round} > d/new-{round}-$i; done"
        ));
        let (d, link) = (site.lower().join("d"), site.lower().join("link"));
        symlink(outside.lower().join("d"), &link).expect("it is ours");
        let swap = std::thread::spawn(move || {
            for _ in 0..500 {
                let (here, flags) = (rustix::fs::CWD, RenameFlags::EXCHANGE);
                // One of them may just be replaced.
                let _ = rustix::fs::renameat_with(here, &d, here, &link, flags);
            }
        });
        let _ = layer.apply_over_conflicts(&all);
        swap.join().expect("it ends");
        assert_eq!(hash(outside.lower(), Times::All), before);
        plainly(
            site.lower(),
            "test -L d && rm d || rm -rf link; test -d d || mv link d; rm -rf link",
        );
    }
}

/// Pipes, sockets and names that are no text are told and not made.
#[test]
fn odd_things_are_reported() {
    if !has_layers() {
        return;
    }
    let site = Site::new("echo f > f; mkdir d; echo x > d/x");
    let layer = site
        .run("mkfifo pipe; rm f; mkfifo f; rm -r d; mkfifo d; touch \"$(printf 'bad\\377name')\"");
    let unfit: Vec<_> = layer
        .changes()
        .expect("it can be read")
        .into_iter()
        .filter_map(|change| Some((change.path.as_str().to_owned(), change.what, change.unfit?)))
        .collect();
    let expected = [
        ("bad\u{fffd}name", PathKind::File, UnfitEntry::NotUtf8),
        ("d", PathKind::Other, UnfitEntry::Special),
        ("f", PathKind::Other, UnfitEntry::Special),
        ("pipe", PathKind::Other, UnfitEntry::Special),
    ]
    .map(|(path, what, unfit)| (path.to_owned(), what, unfit));
    assert_eq!(unfit, expected);
    let applied: ApplyReport = layer.apply(&all).expect("it can be applied");
    assert_eq!(applied.failed.len(), 4, "{applied:?}");
    assert_eq!(applied.kept, None, "nothing of it can be used");
    assert_eq!(
        site.read("f").as_deref(),
        Some("f\n"),
        "it was not replaced"
    );
    let names: Vec<_> = fs::read_dir(site.lower())
        .expect("it is ours")
        .map(|entry| entry.expect("it is ours").file_name())
        .collect();
    assert!(
        !names
            .iter()
            .any(|name| name == "pipe" || name.as_bytes().starts_with(b"bad"))
    );
}

/// Directories and files that the tool closed to everybody, itself included.
#[test]
fn what_was_closed_is_applied_and_discarded() {
    if !has_layers() {
        return;
    }
    const CLOSE: &str = "mkdir -p shut/in; echo s > shut/in/f; chmod 0 shut/in/f shut/in shut
        echo x > dir/f; chmod 0 dir/f; echo y > dir/new; chmod 500 dir";
    let site = Site::new("mkdir dir; echo f > dir/f");
    site.run(CLOSE).discard().expect("it can be removed");
    assert_eq!(site.layers(), 0);
    let direct = Site::new("mkdir dir; echo f > dir/f");
    plainly(direct.lower(), CLOSE);
    let layer = site.run(CLOSE);
    let changes = layer.changes().expect("it can be read");
    assert_eq!(changes, layer.changes().expect("it can be read"), "twice");
    let applied = layer.apply(&all).expect("it can be applied");
    assert!(applied.is_complete(), "{applied:?}");
    assert_eq!(
        hash(site.lower(), Times::None),
        hash(direct.lower(), Times::None)
    );
}

/// A directory that the host has closed to writing, which the tool opened, used and closed again.
#[test]
fn a_directory_that_was_open_for_a_while() {
    if !has_layers() {
        return;
    }
    let site = Site::new("mkdir d; echo f > d/f; chmod 555 d");
    let layer = site.run("chmod 755 d; echo x > d/new; rm d/f; chmod 555 d");
    let applied = layer.apply(&all).expect("it can be applied");
    assert!(applied.is_complete(), "{applied:?}");
    assert_eq!(site.read("d/new").as_deref(), Some("x\n"));
    assert_eq!(site.read("d/f"), None);
    let mode = fs::metadata(site.lower().join("d")).expect("it is there");
    assert_eq!(mode.permissions().mode() & 0o777, 0o555);
}

/// A file that is larger than the disk, for all that its size says.
#[test]
fn holes_stay_holes() {
    use std::os::unix::fs::MetadataExt;
    if !has_layers() {
        return;
    }
    let site = Site::new("");
    let layer = site
        .run("truncate -s 1T huge; printf x | dd of=huge bs=1 seek=500G conv=notrunc 2>/dev/null");
    let applied = layer.apply(&all).expect("it can be applied");
    assert!(applied.is_complete(), "{applied:?}");
    let huge = fs::metadata(site.lower().join("huge")).expect("it is there");
    assert_eq!(huge.len(), 1 << 40);
    assert!(huge.blocks() < 1024, "{} blocks", huge.blocks());
}

/// More directories in one another than are looked into.
#[test]
fn depth_has_a_limit_and_no_leftovers() {
    if !has_layers() {
        return;
    }
    let site = Site::new("");
    let layer = site.run("i=0; while [ $i -lt 300 ]; do mkdir d; cd d; i=$((i+1)); done; touch f");
    let changes = layer.changes().expect("it can be read");
    let deepest = changes.last().expect("there are some");
    assert_eq!(deepest.unfit, Some(UnfitEntry::TooDeep));
    assert_eq!(deepest.kind, ChangeKind::Created);
    layer.discard().expect("it can be removed");
    assert_eq!(site.layers(), 0);
}

/// Attributes of the user are applied; those of overlayfs, forged or not, are not.
#[test]
fn attributes_are_applied() {
    if !has_layers() {
        return;
    }
    if !jig_testkit::has_program("/usr/bin/python3") {
        return;
    }
    let script = "import os\n\
        for name in ['f', 'd']:\n\
        \x20   os.setxattr(name, 'user.mine', b'value')\n\
        \x20   os.setxattr(name, 'user.overlay.opaque', b'y')\n\
        \x20   os.setxattr(name, 'user.overlay.whiteout', b'')\n";
    let site = Site::new("echo f > f; mkdir d; echo x > d/x");
    let layer = site.run(&format!("/usr/bin/python3 -c \"{script}\""));
    let changes = layer.changes().expect("it can be read");
    assert_eq!(
        shown(&changes),
        [
            "modified directory d (attributes)",
            "modified f (attributes)"
        ]
    );
    let applied = layer.apply(&all).expect("it can be applied");
    assert!(applied.is_complete(), "{applied:?}");
    for name in ["f", "d"] {
        let mut list = vec![0; 4096];
        let path = site.lower().join(name);
        let length = rustix::fs::listxattr(&path, &mut list[..]).expect("it is ours");
        let names = String::from_utf8_lossy(&list[..length]).into_owned();
        assert_eq!(names.trim_end_matches('\0'), "user.mine");
    }
    assert_eq!(site.read("d/x").as_deref(), Some("x\n"));
}

/// Lists of who has access come along. Without, the mask of such a list would become what the group may.
#[test]
fn access_lists_are_applied() {
    if !has_layers() {
        return;
    }
    // The owner and the group may read; this user may also write, which the mask allows.
    let entries: [(u16, u16, u32); 5] = [
        (0x01, 6, u32::MAX),
        (0x02, 6, 4242),
        (0x04, 4, u32::MAX),
        (0x10, 6, u32::MAX),
        (0x20, 4, u32::MAX),
    ];
    let mut list = 2_u32.to_le_bytes().to_vec();
    for (tag, rights, id) in entries {
        list.extend(tag.to_le_bytes());
        list.extend(rights.to_le_bytes());
        list.extend(id.to_le_bytes());
    }
    let site = Site::new("echo f > f");
    let path = site.lower().join("f");
    let name = "system.posix_acl_access";
    let flags = rustix::fs::XattrFlags::empty();
    if rustix::fs::setxattr(&path, name, &list, flags).is_err() {
        return;
    }
    let layer = site.run("echo more >> f");
    let applied = layer.apply(&all).expect("it can be applied");
    assert!(applied.is_complete(), "{applied:?}");
    let mut value = vec![0; 256];
    let length = rustix::fs::getxattr(&path, name, &mut value[..]).expect("it is there");
    assert_eq!(value[..length], list[..]);
    assert_eq!(site.read("f").as_deref(), Some("f\nmore\n"));
}
