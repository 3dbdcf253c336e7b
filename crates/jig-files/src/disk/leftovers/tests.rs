use super::*;

#[test]
fn only_our_names_are_temporary() {
    for (name, expected) in [
        (".jig-tmp-0123456789abcdef-0", true),
        (".jig-tmp-0123456789abcdef-1f", true),
        (".jig-tmp-0123456789abcdef-", false),
        (".jig-tmp-0123456789abcdef", false),
        (".jig-tmp-0123456789abcde-00", false),
        (".jig-tmp-notes", false),
        (".jig-tmp-", false),
        ("a.jig-tmp-0123456789abcdef-0", false),
        (".jig-tmp-0123456789abcdef-0.txt", false),
    ] {
        assert_eq!(is_temporary(name.as_bytes()), expected, "{name}");
    }
}

#[test]
fn journal_lines_come_back_as_they_were() {
    for path in ["src", "a\nb", "back\\slash", "\\n", "a\\\nb/c"] {
        let path = ProjectPath::normalize(path).unwrap();
        let record = escape(&path);
        assert!(!record.contains('\n'));
        assert_eq!(unescape(record.as_bytes()), Some(path));
    }
    let root = ProjectPath::root();
    assert_eq!(unescape(escape(&root).as_bytes()), Some(root));
    for hostile in ["", "a", "../x", "./../x", "/etc", ".//etc", "./a\\"] {
        assert_eq!(unescape(hostile.as_bytes()), None, "{hostile}");
    }
    assert_eq!(unescape(b"./\xff"), None);
}

#[test]
fn names_are_unique() {
    assert_ne!(random_name(), random_name());
    assert_eq!(random_name().len(), WRITER_LENGTH);
}
