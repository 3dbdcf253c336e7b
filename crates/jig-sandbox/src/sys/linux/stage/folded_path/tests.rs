use super::*;

#[track_caller]
fn check(path: &str, folded: &str) {
    let text = FoldedPath::of(path.as_bytes());
    assert_eq!(String::from_utf8_lossy(text.text()), folded, "{path:?}");
}

#[test]
fn paths_are_folded_name_by_name() {
    check("/w/.VSCode/Tasks.JSON", "/w/.vscode/tasks.json");
    check("/w/.git. /config ..", "/w/.git/config");
    check("/w/.g\u{200d}it/\u{feff}config", "/w/.git/config");
    check("/w/.claude/ſettings", "/w/.claude/settings");
    check(
        "/w/.hus\u{212a}y/ﬁle/ﬀ/ﬃ/ﬆ/ß",
        "/w/.husky/file/ff/ffi/st/ss",
    );
    check("/w/Été", "/w/Été");
    check("", "");
    check("/", "/");
}

#[test]
fn what_is_no_text_is_folded_by_bytes() {
    let path = FoldedPath::of(b"/w/.ENV\xff.");
    assert_eq!(path.text(), b"/w/.env\xff");
}

#[test]
fn the_longest_path_fits() {
    let path = [b'A'; LONGEST_FOLDED];
    assert_eq!(FoldedPath::of(&path).text(), [b'a'; LONGEST_FOLDED]);
    let longer = [b'a'; LONGEST_FOLDED + 1];
    assert_eq!(FoldedPath::of(&longer).text().len(), LONGEST_FOLDED);
}
