#![expect(
    clippy::disallowed_methods,
    reason = "the tests prepare and inspect workspaces from outside"
)]

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use jig_policy::Guards;
use jig_testkit::until;

use super::WatchedDirectories;
use crate::programs::confine::sweep::SweepWatch;
use crate::programs::confine::sweep::tests::{begin, begin_with, begin_with_more, names};
use crate::programs::confine::testing::{TestTree, as_a_user};
use crate::programs::confine::workspace_rules::ForbiddenPath;

/// Makes a file that may be taken away at once.
fn make(tree: &TestTree, path: &str) {
    let path = tree.root().join(path);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, "evil").unwrap();
}

/// Waits until nothing stands at a path any more.
fn until_gone(tree: &TestTree, path: &str) {
    let path = tree.root().join(path);
    until(&format!("`{}` is gone", path.display()), || {
        path.symlink_metadata().is_err()
    });
}

/// What a program makes while it runs is gone soon, wherever that is and however it came there.
#[test]
fn what_appears_is_gone_soon() {
    let tree = TestTree::new(&["ws/.git/HEAD", "ws/old/x", "ws/moved/b/c/"]);
    let watch = begin(&tree, &[]).unwrap();
    let live = watch.look_while_it_runs().unwrap();
    let ws = tree.root().join("ws");
    let rename = |from: &str, to: &str| std::fs::rename(ws.join(from), ws.join(to)).unwrap();
    // What comes before anybody watches, in directories that were there, and in new ones.
    for made in [
        ".env",
        "jig.toml",
        "old/.env",
        "new/.env",
        "old/.git",
        ".git/hooks",
    ] {
        let _ = std::fs::create_dir(ws.join(made).parent().unwrap());
        std::fs::create_dir_all(ws.join(made)).unwrap();
        // It may be away already.
        let _ = std::fs::write(ws.join(made).join("x"), "evil");
        until_gone(&tree, &format!("ws/{made}"));
    }
    // By a rename, in a directory that was moved, and with it.
    make(&tree, "ws/old/fine/x");
    rename("old/fine", "old/.ssh");
    until_gone(&tree, "ws/old/.ssh");
    rename("moved", "elsewhere");
    make(&tree, "ws/elsewhere/b/c/.env");
    until_gone(&tree, "ws/elsewhere/b/c/.env");
    tree.put("ws/old/.env -> x");
    until_gone(&tree, "ws/old/.env");
    // A second name, and one of something else than a file.
    std::fs::hard_link(ws.join("old/x"), ws.join("old/.env")).unwrap();
    until_gone(&tree, "ws/old/.env");
    let mode = rustix::fs::Mode::RWXU;
    let pipe = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, ws.join(".env"), pipe, mode, 0).unwrap();
    until_gone(&tree, "ws/.env");
    // The last of several names that make a bare repository.
    for made in ["bare/HEAD", "bare/refs/", "bare/objects/"] {
        tree.put(&format!("ws/{made}"));
    }
    until_gone(&tree, "ws/bare/HEAD");
    drop(live);
    let told = names(&watch.end());
    for path in [
        ".env",
        ".git/hooks",
        "bare/HEAD",
        "old/.ssh",
        "elsewhere/b/c/.env",
    ] {
        assert!(told.contains(&path.to_owned()), "{path}: {told:?}");
    }
}

/// The repository of a linked worktree lies outside of the workspace.
#[test]
fn what_appears_outside_the_workspace_is_gone_soon() {
    let tree = TestTree::new(&["ws/", "main/.git/"]);
    let base = tree.root().join("main/.git");
    let watch = begin_with_more(&tree, &[], &Guards::of_workspace(), |forbidden| {
        forbidden.push(ForbiddenPath {
            base: Some(base.clone()),
            path: jig_proto::ProjectPath::normalize("hooks").unwrap(),
            link: None,
            reason: "it runs".to_owned(),
        });
    })
    .unwrap();
    let _live = watch.look_while_it_runs().unwrap();
    make(&tree, "ws/.env");
    until_gone(&tree, "ws/.env");
    std::fs::create_dir(base.join("hooks")).unwrap();
    until_gone(&tree, "main/.git/hooks");
    tree.put("main/.git/index");
    assert_eq!(watch.end().len(), 2);
    assert!(tree.root().join("main/.git/index").exists());
}

/// Nothing that may be there is touched.
#[test]
fn what_may_appear_stays() {
    let tree = TestTree::new(&["ws/.env = mine", "ws/mine/.git/HEAD", "ws/a/"]);
    let watch = begin(&tree, &[". rw", "a/.env rw"]).unwrap();
    let _live = watch.look_while_it_runs().unwrap();
    tree.put("ws/a/.env = fine");
    tree.put("ws/src/main.rs = fine");
    // It was there before, and is replaced as editors do that save it.
    tree.put("ws/saved = mine, too");
    let ws = tree.root().join("ws");
    std::fs::rename(ws.join("saved"), ws.join(".env")).unwrap();
    make(&tree, "ws/last/.env");
    until_gone(&tree, "ws/last/.env");
    let content = tree.content();
    for kept in [
        "ws/a/.env = fine",
        "ws/src/main.rs = fine",
        "ws/.env = mine, too",
    ] {
        assert!(content.contains(&kept.to_owned()), "{kept}: {content:?}");
    }
    assert_eq!(names(&watch.take_found()), ["last/.env"]);
}

/// A link that has to stay comes back.
#[test]
fn a_link_that_is_protected_comes_back() {
    let tree = TestTree::new(&["ws/jig.toml -> conf/jig.toml", "ws/conf/jig.toml = mine"]);
    let watch = begin(&tree, &[]).unwrap();
    let _live = watch.look_while_it_runs().unwrap();
    // It is watched as soon as this is seen.
    make(&tree, "ws/.env");
    until_gone(&tree, "ws/.env");
    let link = tree.root().join("ws/jig.toml");
    let is_back = || {
        let target = std::fs::read_link(&link);
        target.is_ok_and(|target| target == Path::new("conf/jig.toml"))
    };
    std::fs::remove_file(&link).unwrap();
    until("the link is back", is_back);
    std::fs::rename(&link, tree.root().join("ws/away")).unwrap();
    until("the link is back again", is_back);
}

/// A folder that never stays at one name hides nothing for long, and one that is closed neither.
#[test]
fn folders_that_move_and_close_hide_nothing() {
    let tree = TestTree::new(&["ws/a/b/"]);
    let watch = begin(&tree, &[]).unwrap();
    let _live = watch.look_while_it_runs().unwrap();
    let ws = tree.root().join("ws");
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::SeqCst) {
                std::fs::rename(ws.join("a"), ws.join("c")).unwrap();
                std::fs::rename(ws.join("c"), ws.join("a")).unwrap();
            }
        });
        until("it is made", || {
            std::fs::write(ws.join("a/b/.env"), "evil").is_ok()
        });
        until("it is gone", || {
            let is_there = |at: &str| ws.join(at).symlink_metadata().is_ok();
            // Both are looked at in one go of the other thread at times.
            !(0..100).any(|_| is_there("a/b/.env") || is_there("c/b/.env"))
        });
        is_over.store(true, Ordering::SeqCst);
    });
    as_a_user(|| {
        let tree = TestTree::new(&["ws/"]);
        let watch = begin(&tree, &[]).unwrap();
        let live = watch.look_while_it_runs().unwrap();
        let folder = tree.root().join("ws/new");
        let mode = |mode| rustix::fs::chmod(&folder, rustix::fs::Mode::from_raw_mode(mode));
        std::fs::create_dir(&folder).unwrap();
        mode(0o300).unwrap();
        std::fs::write(folder.join(".env"), "evil").unwrap();
        mode(0).unwrap();
        // The thread is not this user, but a sweep of this user finds it.
        drop(live);
        assert_eq!(names(&watch.end()), ["new/.env"]);
        mode(0o700).unwrap();
    });
}

/// The kernel loses news of which there are too many: everything is looked at then.
#[test]
fn a_flood_hides_nothing() {
    let tree = TestTree::new(&["ws/a/"]);
    let watch = begin(&tree, &[]).unwrap();
    let _live = watch.look_while_it_runs().unwrap();
    make(&tree, "ws/.env");
    until_gone(&tree, "ws/.env");
    let names = [tree.root().join("ws/a/x"), tree.root().join("ws/a/y")];
    std::fs::write(&names[0], "").unwrap();
    for _ in 0..20_000 {
        std::fs::rename(&names[0], &names[1]).unwrap();
        std::fs::rename(&names[1], &names[0]).unwrap();
    }
    make(&tree, "ws/a/.env");
    make(&tree, "ws/new/deep/.env");
    until_gone(&tree, "ws/a/.env");
    until_gone(&tree, "ws/new/deep/.env");
}

/// Programs that are over take nothing away any more, and those beside them go on.
#[test]
fn each_program_is_looked_after_as_long_as_it_runs() {
    let tree = TestTree::new(&["ws/"]);
    let one = begin(&tree, &[". rw"]).unwrap();
    let other = begin_with(&tree, &[". rw", ".env rw"], &Guards::of_workspace()).unwrap();
    let first = one.look_while_it_runs().unwrap();
    let _second = other.look_while_it_runs().unwrap();
    make(&tree, "ws/.env");
    until_gone(&tree, "ws/.env");
    drop(first);
    assert_eq!(names(&one.end()), [".env"]);
    tree.put("ws/.env = fine");
    make(&tree, "ws/.env.other");
    until_gone(&tree, "ws/.env.other");
    assert!(tree.root().join("ws/.env").exists());
    assert_eq!(names(&other.end()), [".env.other"]);
}

/// Where there are more directories than may be watched, that is known.
#[test]
fn too_many_directories_are_not_watched_in_silence() {
    let tree = TestTree::new(&["ws/a/b/", "ws/c/", "ws/locked/x/"]);
    let watch: SweepWatch = begin(&tree, &[". rw", "locked r"]).unwrap();
    let mut directories = WatchedDirectories::at_most(4);
    assert!(directories.add(&watch.0, Path::new("")));
    assert!(directories.add(&watch.0, Path::new("")));
    tree.put("ws/d/");
    assert!(!directories.add(&watch.0, Path::new("")));
    // None of another root is kept.
    directories.keep(&[tree.root().join("ws/a")]);
    assert!(directories.add(&watch.0, Path::new("d")));
}
