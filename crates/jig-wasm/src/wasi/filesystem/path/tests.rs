use jig_proto::ProjectPath;

use super::{GuestPath, MAX_DEPTH, MAX_NAME, MAX_PATH, stays_inside};
use crate::bindings::wasi::filesystem::types::ErrorCode;

fn path(text: &str) -> ProjectPath {
    match text {
        "" => ProjectPath::root(),
        text => ProjectPath::normalize(text).expect("a path"),
    }
}

#[test]
fn w025_paths_are_folded_and_never_leave_their_directory() {
    let check = |base: &str, text: &str, expected: Result<(&str, bool), ErrorCode>| {
        let spot = GuestPath::new(&path(base), text);
        let spot = spot.as_ref().map(|spot| (&*spot.path, spot.directory));
        assert_eq!(spot.map_err(|code| *code), expected, "{base:?} {text:?}");
    };
    check("", "a", Ok(("a", false)));
    check("", "a/b.txt", Ok(("a/b.txt", false)));
    check("", ".", Ok((".", true)));
    check("", "./", Ok((".", true)));
    check("", "a/", Ok(("a", true)));
    check("", "a/.", Ok(("a", true)));
    check("", "a/..", Ok((".", true)));
    check("", "./a//b/../c", Ok(("a/c", false)));
    check("", "a/b/c/../../../d", Ok(("d", false)));
    check("", "...", Ok(("...", false)));
    check("", "..a/b..", Ok(("..a/b..", false)));
    check("", "%2e%2e/x", Ok(("%2e%2e/x", false)));
    check("", "..\\x", Ok(("..\\x", false)));
    check("", "C:\\x", Ok(("C:\\x", false)));
    check("src", "a", Ok(("src/a", false)));
    check("src", ".", Ok(("src", true)));
    check("src", "a/..", Ok(("src", true)));
    check("src/deep", "a/../b", Ok(("src/deep/b", false)));

    let outside = Err(ErrorCode::NotPermitted);
    check("", "..", outside);
    check("", "../x", outside);
    check("", "./..", outside);
    check("", "a/../..", outside);
    check("", "a/../../workspace/a", outside);
    check("", ".//.././x", outside);
    check("", "/", outside);
    check("", "/a", outside);
    check("", "//a", outside);
    check("", "/etc/passwd", outside);
    check("src", "..", outside);
    check("src", "../src/a", outside);
    check("src", "/src/a", outside);
    check("src/deep", "a/../../x", outside);

    check("", "", Err(ErrorCode::NoEntry));
    check("src", "", Err(ErrorCode::NoEntry));
    check("", "a\0b", Err(ErrorCode::IllegalByteSequence));
    check("", "\0", Err(ErrorCode::IllegalByteSequence));
    check("", "a/\0/../b", Err(ErrorCode::IllegalByteSequence));
}

#[test]
fn paths_and_names_have_a_longest() {
    let check = |base: &str, text: &str, expected: Option<ErrorCode>| {
        let code = GuestPath::new(&path(base), text).err();
        assert_eq!(code, expected, "{} and {}", base.len(), text.len());
    };
    let name = "n".repeat(MAX_NAME);
    check("", &name, None);
    check("", &format!("{name}n"), Some(ErrorCode::NameTooLong));
    check("", &format!("a/{name}n/../b"), Some(ErrorCode::NameTooLong));
    let long = format!("{}/", "d".repeat(63)).repeat(MAX_PATH / 64);
    check("", &long, None);
    check("", &format!("{long}d"), Some(ErrorCode::NameTooLong));
    check(&long, ".", None);
    check(&long, "d", Some(ErrorCode::NameTooLong));
    let deep = vec!["d"; MAX_DEPTH].join("/");
    check("", &deep, None);
    check("", &format!("{deep}/"), None);
    check("", &format!("{deep}/d"), Some(ErrorCode::NameTooLong));
    check("", &format!("{deep}/../e"), None);
    check(&deep, ".", None);
    check(&deep, "d", Some(ErrorCode::NameTooLong));
}

#[test]
fn links_that_leave_the_mount_are_told_by_their_letters() {
    let check = |mount: &str, link: &str, target: &str, expected: bool| {
        let inside = stays_inside(&path(mount), &path(link), target);
        assert_eq!(inside, expected, "{mount:?} {link:?} {target:?}");
    };
    check("", "link", "a", true);
    check("", "link", "./a/../b", true);
    check("", "link", ".", true);
    check("", "a/link", "../b", true);
    check("", "link", "../b", false);
    check("", "a/link", "../../b", false);
    check("", "a/link", "../b/../../c", false);
    check("", "link", "/etc/passwd", false);
    check("", "link", "", false);
    check("kb", "kb/link", "a", true);
    check("kb", "kb/a/link", "../b", true);
    check("kb", "kb/link", "../kb/a", false);
    check("kb", "kb/link", "../secret", false);
    check("kb", "other", "a", false);
}
