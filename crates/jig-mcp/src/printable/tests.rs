use super::*;

#[test]
fn nothing_steers_a_terminal() {
    let check = |text: &str, expected: &str| assert_eq!(printable(text), expected, "{text:?}");
    check("plain\n\ttext é 漢", "plain\n\ttext é 漢");
    check("\u{1b}[2J", "\u{fffd}[2J");
    check("a\rb\u{7}\u{9b}c", "a\u{fffd}b\u{fffd}\u{fffd}c");
    check("\u{202e}txt.exe\u{200b}", "\u{fffd}txt.exe\u{fffd}");
    // Line ends that only some know, marks that turn text round, letters that nobody sees.
    check(
        "a\u{2028}b\u{61c}\u{ad}\u{e0041}",
        "a\u{fffd}b\u{fffd}\u{fffd}\u{fffd}",
    );
    assert_eq!(printable_line("a\nb\tc\u{0}"), "a b c\u{fffd}");
}

#[test]
fn cuts_between_characters() {
    let check = |text: &str, limit: usize, expected: &str| assert_eq!(cut(text, limit), expected);
    check("abc", 10, "abc");
    check("abc", 2, "ab");
    check("aé", 2, "a");
    check("", 0, "");
}
