use super::{PlainStream, plain, plain_bytes};

#[test]
fn only_text_is_left() {
    let check = |text: &str, expected: &str| assert_eq!(plain(text), expected, "{text:?}");
    check("plain\n\ttext", "plain\n\ttext");
    check("grüße 漢字 👩‍💻", "grüße 漢字 👩‍💻");
    check("\u{1b}[31mred\u{1b}[0m", "red");
    check("\u{1b}[38;2;1;2;3mtrue\u{1b}[m colour", "true colour");
    check("a\u{1b}[2J\u{1b}[Hb", "ab");
    check("\u{9b}31mred", "red");
    check("\u{1b}]0;title\u{7}text", "text");
    check("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{1b}\\", "link");
    check("\u{1b}]52;c;aGk=\u{7}clipboard", "clipboard");
    check("\u{1b}Pquery\u{1b}\\after", "after");
    check("\u{9d}0;title\u{9c}text", "text");
    check("\u{1b}(Bascii\u{1b}7\u{1b}8", "ascii");
    check("\u{1b}c\u{1b}=x", "x");
    check("10%\r20%\r\r100%\r\ndone\r", "10%\n20%\n100%\ndone");
    check(
        "back\u{8}space bell\u{7} nul\0 del\u{7f}",
        "backspace bell nul del",
    );
    check(
        "never closed \u{1b}]0;hidden\nshown",
        "never closed \nshown",
    );
    check("cut \u{1b}", "cut ");
    check("cut \u{1b}[", "cut ");
    check("cut \u{1b}]", "cut ");
    check("\u{1b}\u{1b}[31mx", "x");
    check("\u{1b}[31\u{1b}[0mx", "x");
    check("\u{85}next line", "next line");
}

#[test]
fn what_is_no_utf8_is_replaced() {
    assert_eq!(plain_bytes(b"a\xffb\x1b[1mc"), "a\u{fffd}bc");
    assert_eq!(plain_bytes(b"\xc3"), "\u{fffd}");
}

#[test]
fn no_control_character_survives_any_mixture() {
    let pieces = [
        "\u{1b}", "[", "]", "P", "31", "m", "\u{7}", "\\", "\u{9b}", "\u{9d}", "\n", "\r", "x",
        "é", "\u{0}", "(", "\u{9c}",
    ];
    let mut seed = 1_u64;
    for _ in 0..20_000 {
        let mut text = String::new();
        for _ in 0..8 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push_str(pieces[(seed >> 33) as usize % pieces.len()]);
        }
        let clean = plain(&text);
        let is_fine = |c: char| !c.is_control() || matches!(c, '\n' | '\t');
        assert!(clean.chars().all(is_fine), "{text:?} becomes {clean:?}");
        assert_eq!(plain(&clean), clean, "{text:?}");
    }
}

#[test]
fn pieces_make_the_same_text_as_the_whole() {
    let whole = "grüße \u{1b}[31mred\u{1b}[0m 10%\r20%\r\nnext \u{1b}]0;title\u{7}漢字\u{9b}1m \
                 \u{1b}]8;;x\u{1b}\\link\u{1b}(B never \u{1b}]closed\nend\r"
        .as_bytes();
    let mut broken = whole.to_vec();
    broken.extend_from_slice(b"\xff \xe6\xbc and \xc3");
    for bytes in [whole, broken.as_slice()] {
        let expected = plain_bytes(bytes);
        for size in 1..bytes.len() {
            let mut stream = PlainStream::default();
            let mut out = String::new();
            for piece in bytes.chunks(size) {
                stream.push(piece, &mut out);
            }
            stream.finish(&mut out);
            assert_eq!(out, expected, "in pieces of {size}");
        }
    }
}

/// A prompt without an end of line is there at once.
#[test]
fn nothing_is_held_back_but_the_beginning_of_a_character() {
    let mut stream = PlainStream::default();
    let mut out = String::new();
    stream.push(b"Continue? [y/n] \xc3", &mut out);
    assert_eq!(out, "Continue? [y/n] ");
    stream.push(b"\xbc", &mut out);
    assert_eq!(out, "Continue? [y/n] ü");
}
