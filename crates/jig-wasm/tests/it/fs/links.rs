//! Links that stand in the workspace already.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::common::On;
use crate::fs::{answers, check, check_raw, hostile, script};

/// Ways through links that lead out, and what each gives where nothing holds the guest.
fn ways_out() -> [(Value, &'static str); 8] {
    [
        (json!(["read", "out.txt"]), "secret"),
        (json!(["read", "chain.txt"]), "secret"),
        (json!(["read", "out/secret.txt"]), "secret"),
        (json!(["list", "out"]), "secret.txt"),
        (json!(["stat", "out.txt"]), "file of 6"),
        (json!(["append", "out.txt", "+"]), "ok"),
        (json!(["write", "out/new.txt", "x"]), "ok"),
        (json!(["rename", "out/new.txt", "stolen.txt"]), "ok"),
    ]
}

#[test]
fn w025_links_that_lead_out_are_not_followed() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("secret.txt");
    fs::write(&secret, "secret").unwrap();
    let tried = hostile(On::Disk)
        .link("out.txt", secret.to_str().unwrap())
        .link("out", outside.path().to_str().unwrap())
        .link("chain.txt", "out.txt");

    let steps: Value = ways_out().into_iter().map(|(step, _)| step).collect();
    let folder = tried.folder().to_str().unwrap().to_owned();
    let (held, _done) = answers(tried, &steps);
    for answer in held {
        assert_eq!(answer, "error: PermissionDenied");
    }
    assert_eq!(fs::read(&secret).unwrap(), b"secret");
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 1);

    // The same steps do get out where only the operating system is asked: so it is these links that were
    // tried, and not something that leads nowhere anyway.
    let free = script::run(&folder, &steps);
    let expected: Vec<&str> = ways_out().iter().map(|(_, answer)| *answer).collect();
    assert_eq!(free, expected);
}

#[test]
fn w025_links_that_lead_out_by_letters_are_not_followed_in_memory_either() {
    for (link, target) in [
        ("out.txt", "/etc/passwd"),
        ("out.txt", "../secret.txt"),
        ("sub/out.txt", "../../secret.txt"),
        ("out.txt", "/proc/self/environ"),
        ("out.txt", "/dev/zero"),
        ("out.txt", "sub/../../secret.txt"),
    ] {
        for on in On::ALL {
            let tried = hostile(on).file("sub/a.txt", "").link(link, target);
            let refused = "error: PermissionDenied";
            check(
                tried,
                &[
                    (json!(["read", link]), refused),
                    (json!(["write", link, "x"]), refused),
                    (json!(["append", link, "x"]), refused),
                    (json!(["open", link, "wct", "x"]), refused),
                    (json!(["stat", link]), refused),
                    (json!(["list", link]), refused),
                    (json!(["read_link", link]), refused),
                    // The link itself is a name of the workspace.
                    (json!(["lstat", link]), "link"),
                    (json!(["open", link, "wn", "x"]), "error: AlreadyExists"),
                    (json!(["rename", link, "other"]), "ok"),
                    (json!(["remove", "other"]), "ok"),
                ],
            );
        }
    }
}

#[test]
fn links_inside_are_followed_and_judged_by_what_they_lead_to() {
    for on in On::ALL {
        let tried = hostile(on)
            .file("a.txt", "a")
            .file("secret/key.txt", "secret")
            .link("to-a", "a.txt")
            .link("to-key", "secret/key.txt")
            .link("to-secret", "secret")
            .rules("fs = [{ path = '.', read = true, write = true }, { path = 'secret' }]");
        let denied = "error: PermissionDenied";
        let done = check(
            tried,
            &[
                (json!(["read", "to-a"]), "a"),
                (json!(["append", "to-a", "b"]), "ok"),
                (json!(["read", "a.txt"]), "ab"),
                (json!(["read_link", "to-a"]), "a.txt"),
                (json!(["read", "to-key"]), denied),
                (json!(["write", "to-key", "x"]), denied),
                (json!(["read", "to-secret/key.txt"]), denied),
                (json!(["list", "to-secret"]), denied),
                (json!(["write", "to-secret/new", "x"]), denied),
                (json!(["rename", "to-secret/key.txt", "mine"]), denied),
                (json!(["remove", "to-secret/key.txt"]), denied),
                (json!(["list", "."]), "a.txt to-a"),
            ],
        );
        assert_eq!(done.read("secret/key.txt").unwrap(), b"secret");
    }
}

#[test]
fn whether_a_link_is_followed_is_what_the_guest_says() {
    let at = "/workspace";
    for on in On::ALL {
        let tried = hostile(on)
            .file("a.txt", "abc")
            .file("dir/b.txt", "")
            .link("link", "a.txt")
            .link("dirlink", "dir")
            .link("dangling", "missing")
            .link("loop", "loop");
        check_raw(
            tried,
            &[
                (json!(["stat_at", at, "link", "f"]), "file of 3"),
                (json!(["stat_at", at, "link", ""]), "link of 5"),
                (json!(["open", at, "link", "fr", "x"]), "ok"),
                (json!(["open", at, "link", "r", "x"]), "error: loop"),
                (json!(["open", at, "dirlink", "frd", "x"]), "ok"),
                (json!(["open", at, "dirlink", "rd", "x"]), "error: loop"),
                (json!(["stat_at", at, "dirlink/", ""]), "directory of 0"),
                (json!(["read_link", at, "link"]), "a.txt"),
                (json!(["read_link", at, "a.txt"]), "error: invalid"),
                (json!(["read_link", at, "missing"]), "error: no-entry"),
                (json!(["stat_at", at, "dangling", ""]), "link of 7"),
                (json!(["stat_at", at, "loop", ""]), "link of 4"),
                (json!(["open", at, "link", "cxw", "x"]), "error: exist"),
                (json!(["open", at, "dangling", "fcxw", "x"]), "error: exist"),
            ],
        );
    }
}

#[test]
fn what_is_no_file_is_never_opened() {
    let tried = hostile(On::Disk);
    let pipe = tried.folder().join("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    symlink("/dev/zero", tried.folder().join("zero")).unwrap();
    symlink("/proc/self/fd/0", tried.folder().join("magic")).unwrap();
    // A pipe without anybody at its other end would keep whoever opens it waiting for ever.
    check(
        tried,
        &[
            (json!(["read", "pipe"]), "error: InvalidInput"),
            (json!(["append", "pipe", "x"]), "error: InvalidInput"),
            (json!(["read", "zero"]), "error: PermissionDenied"),
            (json!(["read", "magic"]), "error: PermissionDenied"),
        ],
    );
}
