use super::{LlmInputSpace, append, as_text, file, named};
use jig_proto::fsproxy::{ProxyError, ProxyErrorCode};

#[test]
fn each_input_has_a_heading_and_ends_with_an_empty_line() {
    let check = |name: &str, text: &str, expected: &str| {
        let mut all = String::new();
        append(&mut all, name, text);
        assert_eq!(all, expected);
    };
    check("stdin", "one\n", "[stdin, 4 bytes]\none\n\n");
    check("stdin", "one", "[stdin, 3 bytes]\none\n\n");
    check("file a.txt", "", "[file a.txt, 0 bytes]\n\n\n");
    // Bytes, not characters; and a text that imitates a heading does not change its own.
    check("input", "ä", "[input, 2 bytes]\nä\n\n");
    check(
        "input",
        "[x, 0 bytes]\n",
        "[input, 13 bytes]\n[x, 0 bytes]\n\n",
    );
}

#[test]
fn a_name_stays_on_its_line() {
    let check = |path: &str, expected: &str| assert_eq!(file(path), expected);
    check("data/ä b.txt", "file data/ä b.txt");
    check("a\n[stdin, 3 bytes]", "file a\\n[stdin, 3 bytes]");
    check("a\u{1b}[2J\u{202e}", "file a\\u{1b}[2J\\u{202e}");
}

#[test]
fn what_is_no_text_is_named_with_its_place() {
    assert_eq!(as_text(b"fine".to_vec(), "stdin"), Ok("fine".to_owned()));
    let expected = ProxyError::arg("stdin is not UTF-8 text (at byte 2)");
    assert_eq!(as_text(b"ok\xff".to_vec(), "stdin"), Err(expected.clone()));
    // The beginning of a character is not one.
    assert_eq!(as_text(b"ok\xc3".to_vec(), "stdin"), Err(expected));
}

#[test]
fn the_room_is_what_all_inputs_share() {
    let mut room = LlmInputSpace { most: 5, left: 5 };
    assert_eq!(room.take(3), Ok(()));
    assert_eq!(room.take(2), Ok(()));
    let expected = ProxyError::range("the input is larger than 5 bytes");
    assert_eq!(room.take(1), Err(expected));
}

#[test]
fn f078_a_handle_that_is_not_open_is_named() {
    let error = named(ProxyError::closed(5), 5);
    assert_eq!(
        (error.code, error.message.as_str()),
        (ProxyErrorCode::Closed, "fd not found: 5")
    );
    let other = ProxyError::perm("no");
    assert_eq!(named(other.clone(), 5), other);
}
