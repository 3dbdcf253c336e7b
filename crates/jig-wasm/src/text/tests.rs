use super::{is_deceptive, plain, short};

#[test]
fn nothing_is_left_that_a_terminal_obeys() {
    let check = |text: &str, expected: &str| assert_eq!(plain(text), expected, "{text:?}");
    check("two\n\tlines", "two\n\tlines");
    check("\u{1b}[2Jx\u{1b}]0;title\u{7}y", "xy");
    check("\u{9b}31m", "");
    check("a\u{202e}b\u{200b}c\u{feff}", "abc");
    check("Grüße, 世界", "Grüße, 世界");
    assert!(!is_deceptive('é'));
}

#[test]
fn a_long_text_is_cut_between_characters() {
    let long = "ü".repeat(5000);
    assert_eq!(short(&long).len(), 2000);
    assert_eq!(short("x"), "x");
}
