#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the tests make the files that are looked at"
)]

use std::fs;
use std::os::unix::fs::symlink;

use super::*;

/// Files, links of all kinds, and a way through them that is longer than is walked.
fn tree() -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("there is a place for it");
    let at = |name: &str| directory.path().join(name);
    fs::create_dir_all(at("a/b")).expect("it is ours");
    fs::write(at("a/b/file"), "").expect("it is ours");
    symlink("b/file", at("a/relative")).expect("it is ours");
    symlink(at("a"), at("absolute")).expect("it is ours");
    symlink("../a/missing", at("a/dangling")).expect("it is ours");
    symlink("dangling", at("a/twice")).expect("it is ours");
    symlink("loop", at("loop")).expect("it is ours");
    symlink("..", at("a/up")).expect("it is ours");
    directory
}

fn own_view() -> ProcessView {
    let thread = ProcThread::of(std::process::id()).expect("/proc is mounted");
    let view = ProcessView::of(&thread).expect("it is our own");
    assert!(view.is_of(&thread));
    view
}

/// Both ways to find a path agree, but for what the fast one leaves to the other.
#[track_caller]
fn check(path: &str, follow: bool, expected: &str, exists: bool) {
    let directory = tree();
    let top = directory.path().canonicalize().expect("it exists");
    let top = top.to_str().expect("it is text");
    let view = own_view();
    let path = format!("{top}/{path}");
    let expected = ViewPath {
        path: format!("{top}{expected}").into_bytes(),
        exists,
    };
    assert_eq!(view.walk(path.as_bytes(), follow), expected, "walking");
    if let Some(found) = view.find_at_once(path.as_bytes(), follow) {
        assert_eq!(found, expected, "at once");
    }
    assert_eq!(view.find(path.as_bytes(), follow), expected);
    assert_eq!(view.find(path.as_bytes(), follow), expected, "again");
}

#[test]
fn links_are_followed_as_far_as_there_is_something() {
    for follow in [true, false] {
        check("a/b/file", follow, "/a/b/file", true);
        check("./a//b/./file", follow, "/a/b/file", true);
        check("a/../a/b/../b/file", follow, "/a/b/file", true);
        check("absolute/b/file", follow, "/a/b/file", true);
        check("a/up/a/b", follow, "/a/b", true);
        check("a/b/", follow, "/a/b", true);
        check("a/none", follow, "/a/none", false);
        check("absolute/none", follow, "/a/none", false);
        check("absolute/none/", follow, "/a/none", false);
        check(
            "absolute/none/below/deep",
            follow,
            "/a/none/below/deep",
            false,
        );
        check("absolute/none/../other", follow, "/a/other", false);
        check("a/b/file/below", follow, "/a/b/file/below", false);
        check("loop/below", follow, "/loop/below", false);
    }
    check("a/relative", true, "/a/b/file", true);
    check("a/relative", false, "/a/relative", true);
    check("a/dangling", true, "/a/missing", false);
    check("a/dangling", false, "/a/dangling", true);
    check("a/twice", true, "/a/missing", false);
    check("a/twice", false, "/a/twice", true);
    check("absolute", true, "/a", true);
    check("absolute", false, "/absolute", true);
    check("loop", true, "/loop", false);
    check("loop", false, "/loop", true);
}

#[test]
fn a_path_of_many_parts_is_not_walked_to_its_end() {
    let parts = MOST_STEPS as usize * 2;
    let view = own_view();
    let path = "/".to_owned() + &"none/../".repeat(parts) + "last";
    let expected = ViewPath {
        path: b"/last".to_vec(),
        exists: false,
    };
    assert_eq!(view.walk(path.as_bytes(), true), expected);
}

#[test]
fn what_is_known_is_forgotten_when_names_change() {
    let directory = tree();
    let view = own_view();
    let path = directory.path().join("new");
    let path = path.to_str().expect("it is text").as_bytes();
    assert!(!view.find(path, true).exists);
    fs::write(directory.path().join("new"), "").expect("it is ours");
    assert!(!view.find(path, true).exists, "it was remembered");
    view.forget();
    assert!(view.find(path, true).exists);
}

#[test]
fn memory_for_what_is_known_is_bounded() {
    let view = own_view();
    for number in 0..3 * MOST_KNOWN {
        view.find(format!("/none/{number}").as_bytes(), true);
    }
    view.find(format!("/{}", "long/".repeat(200)).as_bytes(), true);
    let known = view.known.borrow();
    assert!(known.len() <= MOST_KNOWN);
    assert!(known.keys().all(|(path, _)| path.len() <= LONGEST_KNOWN));
}

/// No FIFO is opened: that would wait for whoever writes to it.
#[test]
fn a_fifo_is_only_looked_at() {
    let directory = tree();
    let path = directory
        .path()
        .canonicalize()
        .expect("it exists")
        .join("fifo");
    let mode = Mode::RUSR | Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, &path, FileType::Fifo, mode, 0).expect("it is ours");
    let view = own_view();
    let path = path.to_str().expect("it is text").as_bytes();
    for found in [view.find(path, true), view.walk(path, true)] {
        assert_eq!((&found.path[..], found.exists), (path, true));
    }
}

#[test]
fn paths_by_their_text() {
    for (path, expected) in [
        ("/", "/"),
        ("/..", "/"),
        ("//a/./b//", "/a/b"),
        ("/a/../../b", "/b"),
        ("/proc/self/../1", "/proc/1"),
    ] {
        assert_eq!(lexical(path.as_bytes()), expected.as_bytes());
    }
}

#[test]
fn names_are_told_from_the_root_of_the_view() {
    let view = |prefix: &str| ProcessView {
        prefix: prefix.into(),
        ..own_view()
    };
    for (prefix, name, expected) in [
        ("", "/a/b", Some("/a/b")),
        ("", "/", Some("/")),
        ("", "pipe:[7]", None),
        ("/new/root", "/new/root", Some("/")),
        ("/new/root", "/new/root/a", Some("/a")),
        ("/new/root", "/new/rootless", None),
        ("/new/root", "/other", None),
    ] {
        let inside = view(prefix).inside(name.as_bytes());
        assert_eq!(
            inside.as_deref(),
            expected.map(str::as_bytes),
            "{prefix} {name}"
        );
    }
}

/// What a process calls its third descriptor is none of ours, whatever this process has there.
#[test]
fn descriptors_of_the_one_who_looks_are_not_told() {
    let directory = tree();
    let file = fs::File::open(directory.path().join("a/b/file")).expect("it is ours");
    let path = format!("/dev/fd/{}", file.as_raw_fd());
    let found = own_view().find(path.as_bytes(), true);
    let name = String::from_utf8_lossy(&found.path);
    assert!(name.starts_with("/proc/"), "{name}");
}
