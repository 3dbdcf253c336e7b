use std::ffi::OsStr;

use super::{is_plain_name, numbers, started_by_env, value_of};

#[test]
fn what_env_starts() {
    let check = |words: &str, expected: Option<&str>| {
        let words: Vec<&OsStr> = words.split_whitespace().map(OsStr::new).collect();
        assert_eq!(
            started_by_env(&words),
            expected.map(OsStr::new),
            "{words:?}"
        );
    };
    check("python3", Some("python3"));
    check("A=1 B=2 python3 -u", Some("python3"));
    check("-i -u HOME node", Some("node"));
    check("-S python3 -u", Some("python3"));
    check("-Spython3 -u", Some("python3"));
    check("-C /tmp sh", Some("sh"));
    check("--ignore-environment sh", Some("sh"));
    check("", None);
    check("A=1", None);
}

#[test]
fn values_stand_on_lines_of_their_own() {
    let check = |text: &str, expected: Option<&str>| {
        assert_eq!(value_of(text, "channel").as_deref(), expected, "{text}");
    };
    check("[toolchain]\nchannel = \"1.95\"\n", Some("1.95"));
    check("channel='stable' # x", Some("stable"));
    check("other = \"x\"", None);
    check("channel = 1", None);
    check("channel = \"", None);
}

#[test]
fn versions_are_plain_names() {
    for good in [
        "3.11.7",
        "stable-x86_64-unknown-linux-gnu",
        "pypy3.9-7.3",
        "a+b",
    ] {
        assert!(is_plain_name(good), "{good}");
    }
    for bad in [
        "",
        ".",
        "..",
        "../x",
        "a/b",
        "a b",
        ".hidden",
        &"x".repeat(200),
    ] {
        assert!(!is_plain_name(bad), "{bad}");
    }
    assert!(numbers("3.10.12") > numbers("3.9.2"));
}
