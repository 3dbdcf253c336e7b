use super::*;

#[test]
fn keys_have_names_and_bytes() {
    let check = |name: &str, printed: &str, bytes: &str| {
        let key: Key = name.parse().expect(name);
        assert_eq!(key.to_string(), printed, "{name}");
        assert_eq!(key.bytes(false), bytes.as_bytes(), "{name}");
        assert_eq!(printed.parse(), Ok(key), "its name is read again");
    };
    check("enter", "enter", "\r");
    check("Return", "enter", "\r");
    check("tab", "tab", "\t");
    check("shift-tab", "shift-tab", "\x1b[Z");
    check("esc", "esc", "\x1b");
    check("ESCAPE", "esc", "\x1b");
    check("space", "space", " ");
    check("backspace", "backspace", "\x7f");
    check("ctrl-backspace", "ctrl-backspace", "\x08");
    check("delete", "delete", "\x1b[3~");
    check("insert", "insert", "\x1b[2~");
    check("ctrl-c", "ctrl-c", "\x03");
    check("Ctrl+C", "ctrl-c", "\x03");
    check("C-c", "ctrl-c", "\x03");
    check("^c", "ctrl-c", "\x03");
    check("^C", "ctrl-c", "\x03");
    check("ctrl-shift-c", "ctrl-c", "\x03");
    check("ctrl-d", "ctrl-d", "\x04");
    check("ctrl-\\", "ctrl-\\", "\x1c");
    check("ctrl-z", "ctrl-z", "\x1a");
    check("ctrl-[", "ctrl-[", "\x1b");
    check("ctrl-space", "ctrl-space", "\0");
    check("ctrl-_", "ctrl-_", "\x1f");
    check("ctrl-?", "ctrl-?", "\x7f");
    check("alt-x", "alt-x", "\x1bx");
    check("meta-X", "alt-X", "\x1bX");
    check("ctrl-alt-x", "ctrl-alt-x", "\x1b\x18");
    check("alt-enter", "alt-enter", "\x1b\r");
    check("q", "q", "q");
    check("Q", "Q", "Q");
    check("shift-q", "Q", "Q");
    check("é", "é", "é");
    check("-", "minus", "-");
    check("+", "plus", "+");
    check("alt--", "alt-minus", "\x1b-");
    check("^", "^", "^");
    check("alt-^", "alt-^", "\x1b^");
    check("up", "up", "\x1b[A");
    check("arrow-left", "left", "\x1b[D");
    check("home", "home", "\x1b[H");
    check("end", "end", "\x1b[F");
    check("ctrl-right", "ctrl-right", "\x1b[1;5C");
    check("shift-up", "shift-up", "\x1b[1;2A");
    check("alt-shift-up", "alt-shift-up", "\x1b[1;4A");
    check("page-up", "page-up", "\x1b[5~");
    check("PageUp", "page-up", "\x1b[5~");
    check("pgdn", "page-down", "\x1b[6~");
    check("ctrl-page-down", "ctrl-page-down", "\x1b[6;5~");
    check("f1", "f1", "\x1bOP");
    check("shift-f4", "shift-f4", "\x1b[1;2S");
    check("F5", "f5", "\x1b[15~");
    check("f12", "f12", "\x1b[24~");
    check("ctrl-f5", "ctrl-f5", "\x1b[15;5~");
}

#[test]
fn arrows_have_another_form() {
    let check = |name: &str, bytes: &str| {
        let key: Key = name.parse().expect(name);
        assert_eq!(key.bytes(true), bytes.as_bytes(), "{name}");
    };
    check("up", "\x1bOA");
    check("end", "\x1bOF");
    check("ctrl-up", "\x1b[1;5A");
    check("page-up", "\x1b[5~");
    check("enter", "\r");
}

#[test]
fn errors_name_what_is_near() {
    let check = |name: &str, expected: &str| {
        let error = name.parse::<Key>().expect_err(name).to_string();
        assert!(error.contains(expected), "{name}: {error}");
        assert!(error.len() < 400, "{error}");
    };
    check("entr", "did you mean `enter`?");
    check("ctrl-entr", "did you mean `enter`?");
    check("esape", "did you mean `escape`?");
    check("page_up", "did you mean `page-up`?");
    check("bakspace", "did you mean `backspace`?");
    check("f13", "did you mean `f1`?");
    check("", "keys are single characters");
    check("zzzzzz", "keys are single characters");
    check("hyper-x", "keys are single characters");
    check("\x03", "keys are single characters");
    check("ctrl-", "there is no key");
    check("ctrl-1", "ctrl goes with letters");
    check("ctrl-é", "ctrl goes with letters");
    check(&"x".repeat(10_000), "there is no key");
    check("a\x1b[2J", "\\u{1b}");
}
