//! A terminal of the tool's own.

use super::*;

const TREE: &str = "/dev/tty /dev/pts/7 /dev/pts/8";

#[track_caller]
fn check(tree: &str, name: Option<&str>, namespaces: bool, abi: u32, expected: &[&str]) {
    let terminal = ToolTerminal {
        name: name.map(Into::into),
    };
    let steps = terminal.steps(&mut Tree::of(tree), namespaces, abi);
    assert_eq!(lines(&steps), expected);
}

/// The tool's own terminal is shown, and no other one.
#[test]
fn in_namespaces_it_has_a_name() {
    check(
        TREE,
        Some("/dev/pts/7"),
        true,
        7,
        &[
            "file dev/tty 0",
            "bind dev/tty ro,noexec,dev?",
            "allow dev/tty write+read+truncate+ioctl?",
            "file dev/console 0",
            "bind dev/console /dev/pts/7 ro,noexec,dev?",
            "allow dev/console write+read+truncate+ioctl?",
        ],
    );
    let without_landlock = &[
        "file dev/tty 0",
        "bind dev/tty ro,noexec,dev?",
        "file dev/console 0",
        "bind dev/console /dev/pts/7 ro,noexec,dev?",
    ];
    check(TREE, Some("/dev/pts/7"), true, 0, without_landlock);
}

#[test]
fn without_namespaces_it_is_allowed_by_its_name_on_the_host() {
    check(
        TREE,
        Some("/dev/pts/7"),
        false,
        7,
        &[
            "allow /dev/tty write+read+truncate+ioctl?",
            "allow /dev/pts/7 write+read+truncate+ioctl?",
        ],
    );
    check(TREE, Some("/dev/pts/7"), false, 0, &[]);
}

#[test]
fn what_the_host_does_not_have_is_left_out() {
    let only_session = &[
        "file dev/tty 0",
        "bind dev/tty ro,noexec,dev?",
        "allow dev/tty write+read+truncate+ioctl?",
    ];
    check(TREE, None, true, 7, only_session);
    check(TREE, Some("/dev/pts/9"), true, 7, only_session);
    check("/dev/null", Some("/dev/pts/7"), true, 7, &[]);
    check("/dev/tty->/x", Some("/dev/pts/7"), false, 7, &[]);
}
