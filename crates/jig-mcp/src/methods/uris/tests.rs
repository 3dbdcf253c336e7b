//! URIs, ours and those of tools.

use super::{name, segment, valid};

#[test]
fn segments_and_names() {
    for (plain, encoded) in [
        ("fs_read_file", "fs_read_file"),
        ("", ""),
        ("a/b c", "a%2Fb%20c"),
        ("ü%", "%C3%BC%25"),
    ] {
        assert_eq!(segment(plain), encoded);
        assert_eq!(name(encoded).as_deref(), Some(plain));
    }
    for bad in ["%", "%4", "%zz", "%+1", "%ff", "a%"] {
        assert_eq!(name(bad), None, "{bad}");
    }
}

#[test]
fn what_tools_write_becomes_a_uri() {
    for (written, expected) in [
        ("file:///a/b.rs", "file:///a/b.rs"),
        ("https://example.com/?q=1#x", "https://example.com/?q=1#x"),
        ("src/main.rs", "file:///src/main.rs"),
        ("/etc/a b", "file:///etc/a%20b"),
        ("c:/x", "file:///c:/x"),
        ("", "file:///"),
        ("x:", "file:///x:"),
        ("jig://a\n{b}", "jig://a%0A%7Bb%7D"),
    ] {
        assert_eq!(valid(written), expected);
    }
}
