//! The disk answers as memory does, and as the operating system does where that stays inside.

#![expect(
    clippy::disallowed_methods,
    reason = "the trees under test are made on a real disk"
)]

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

use camino::{Utf8Path, Utf8PathBuf};
use jig_policy::{DiskLookup, ResolveReason, Workspace};
use proptest::collection::vec;
use proptest::prelude::*;

use crate::agrees_with_reference::random::{self, check};
use crate::agrees_with_reference::reference::tree::{Lost, Names, Node, ROOT, Tree, resolve};

struct Disk {
    _folder: tempfile::TempDir,
    root: Utf8PathBuf,
    workspace: Workspace<DiskLookup>,
}

impl Disk {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary directory");
        let root = Utf8PathBuf::try_from(folder.path().to_owned()).expect("a UTF-8 path");
        let root = root.canonicalize_utf8().expect("it exists");
        let workspace = Workspace::on_disk(&root).expect("it exists");
        Self {
            _folder: folder,
            root,
            workspace,
        }
    }

    /// The same tree on disk; what is absolute in memory is absolute there.
    fn of(tree: &Tree) -> Self {
        let disk = Self::new();
        for (names, node) in tree.entries() {
            let place = disk.root.join(names.text());
            match node {
                Node::Directory => fs::create_dir_all(&place).expect("a directory"),
                Node::File => fs::write(&place, "").expect("a file"),
                Node::Link(target) => symlink(disk.absolute(target), &place).expect("a link"),
            }
        }
        disk
    }

    fn absolute(&self, path: &str) -> String {
        match path.replacen("//", "/", 1).strip_prefix(ROOT) {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                format!("{}{rest}", self.root)
            }
            _ => path.to_owned(),
        }
    }
}

#[test]
fn disk_agrees_with_memory_and_with_the_system() {
    let inputs = (random::tree(), vec(random::path(), 25));
    let canonical = std::cell::Cell::new(0);
    check(150, 3_000, inputs, |(tree, paths)| {
        let disk = Disk::of(&tree);
        for path in &paths {
            let on_disk = disk.absolute(path);
            let expected = resolve(&tree, path);
            let found = disk.workspace.resolve(&on_disk);
            let plain = match &found {
                Ok(found) => Ok((Names::of(found.path().as_str()), found.exists())),
                Err(error) => Err(Lost::of(&error.reason).expect("the disk can be asked")),
            };
            prop_assert_eq!(&plain, &expected, "{}", on_disk);
            // The system follows links before `..`, so it is asked about paths without any.
            if let (Ok((names, true)), false) = (&plain, path.contains(".."))
                && let Ok(real) = disk.root.join(&on_disk).canonicalize_utf8()
            {
                let ours = disk.root.join(names.text());
                prop_assert_eq!(ours.as_str().trim_end_matches('/'), real.as_str());
                canonical.set(canonical.get() + 1);
            }
        }
        Ok(paths.len())
    });
    assert!(
        canonical.get() > 50,
        "the system was asked {} times",
        canonical.get()
    );
}

#[test]
fn a_root_that_is_reached_by_a_link_is_known_by_both_paths() {
    let disk = Disk::new();
    fs::create_dir(disk.root.join("real")).expect("a directory");
    symlink("real", disk.root.join("alias")).expect("a link");
    let workspace = Workspace::on_disk(disk.root.join("alias")).expect("it exists");
    symlink(disk.root.join("real/inner"), disk.root.join("real/link")).expect("a link");
    fs::write(disk.root.join("real/inner"), "").expect("a file");
    for path in ["link", "inner"] {
        for root in ["alias", "real"] {
            let absolute = disk.root.join(root).join(path);
            let found = workspace.resolve(absolute.as_str()).expect("it is inside");
            assert_eq!(found.path().as_str(), "inner");
            assert!(found.exists());
        }
    }
}

#[test]
fn odd_texts() {
    let disk = Disk::new();
    let reason = |path: &str| disk.workspace.resolve(path).map_err(|error| error.reason);
    assert!(matches!(reason(""), Err(ResolveReason::Syntax(_))));
    assert!(matches!(reason("a\0b"), Err(ResolveReason::Syntax(_))));
    // A name that no file can have does not exist, and never will.
    let long = "x".repeat(5_000);
    assert!(matches!(reason(&long), Ok(found) if !found.exists() && found.path().as_str() == long));
    let missing = "x/".repeat(2_500);
    assert!(matches!(reason(&missing), Ok(found) if found.path().depth() == 2_500));
}

#[test]
fn a_directory_that_cannot_be_searched_is_an_error() {
    let disk = Disk::new();
    let closed = disk.root.join("closed");
    fs::create_dir(&closed).expect("a directory");
    fs::write(closed.join("file"), "").expect("a file");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).expect("it is ours");
    let found = disk.workspace.resolve("closed/file");
    // Root can search every directory; then there is nothing to see here.
    let privileged = fs::metadata(closed.join("file")).is_ok();
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).expect("it is ours");
    if privileged {
        println!("skipped: this user can search directories without permission");
        assert!(found.is_ok());
    } else {
        let error = found.expect_err("it cannot be known what is there");
        assert!(matches!(error.reason, ResolveReason::Lookup(_)));
    }
}

/// A tree can be deeper than one absolute path can say: a link at its end is real, reached by a
/// path that is relative or goes through another link, and must not pass for a missing file.
#[test]
fn what_is_too_deep_to_look_up_is_not_missing() {
    let disk = Disk::new();
    let outside = tempfile::tempdir().expect("a temporary directory");
    fs::write(outside.path().join("secret"), "").expect("a file");
    // One directory so deep that its absolute path just fits, with a link inside made before.
    let inner = disk.root.join("inner");
    fs::create_dir(&inner).expect("a directory");
    symlink(outside.path(), inner.join("link")).expect("a link");
    let mut deep = Utf8PathBuf::from("d");
    let room = |deep: &Utf8PathBuf| 4_094 - disk.root.join(deep).as_str().len() - 1;
    while room(&deep) > 255 {
        deep.push("d".repeat(100));
    }
    let last = "e".repeat(room(&deep));
    fs::create_dir_all(disk.root.join(&deep)).expect("directories");
    fs::rename(&inner, disk.root.join(&deep).join(&last)).expect("it still fits");
    symlink(deep.as_str(), disk.root.join("short")).expect("a link");
    let short = Utf8Path::new("short").join(&last).join("link/secret");
    assert!(
        fs::metadata(disk.root.join(&short)).is_ok(),
        "the system gets there"
    );
    let found = disk.workspace.resolve(short.as_str());
    assert!(
        found.is_err(),
        "resolved to {:?}",
        found.map(|found| found.exists())
    );
}
