use super::*;

/// A screen of the given size, fed with `pieces` one after the other.
fn screen(rows: u16, cols: u16, pieces: &[&str]) -> Screen {
    let mut screen = Screen::new(Size::new(rows, cols), 100);
    for piece in pieces {
        screen.feed(piece.as_bytes());
    }
    screen
}

#[test]
fn text_is_what_is_seen() {
    let check = |input: &str, expected: &str| {
        assert_eq!(screen(4, 10, &[input]).text(), expected, "{input:?}");
    };
    check("", "");
    check("hello", "hello");
    check("one\r\ntwo\r\n\r\n", "one\ntwo");
    check("   indent", "   indent");
    check("trail   \r\nx", "trail\nx");
    check("\r\n\r\nthird", "\n\nthird");
    // Longer than the screen is wide, and more than it is high.
    check("abcdefghijklm", "abcdefghij\nklm");
    check("1\r\n2\r\n3\r\n4\r\n5", "2\n3\n4\n5");
    check("界界界界界界", "界界界界界\n界");
    check("10%\r20%\rdone", "done");
    check("gone\x1b[2Jx", "    x");
    check("abc\x08\x08\x1b[K", "a");
    check("\x1b[31mred\x1b[0m", "red");
    check("\x1b]0;a title\x07shown", "shown");
    check("\x1b]0;a title\x1b\\shown", "shown");
    check("\x1bP1$qx\x1b\\\x1b_apc\x1b\\shown", "shown");
    check("del\x7fete", "delete");
    check("a\x00b\x01c", "abc");
}

#[test]
fn characters_may_come_in_pieces_and_broken() {
    let check = |pieces: &[&[u8]], expected: &str| {
        let mut screen = Screen::new(Size::default(), 0);
        for piece in pieces {
            screen.feed(piece);
        }
        assert_eq!(screen.text(), expected, "{pieces:?}");
    };
    check(&[b"\xe7\x95", b"\x8c!"], "界!");
    check(&[b"\xe7", b"\x95", b"\x8c", b"!"], "界!");
    check(&[b"\xf0\x9f", b"\xa7\x91."], "🧑.");
    check(&[b"\xff\xfe"], "\u{fffd}\u{fffd}");
    check(&[b"\xe7", b"x"], "\u{fffd}x");
    check(&[b"\xe7", b"", b"\xe7\x95\x8c"], "\u{fffd}界");
    check(&[b"\xe7\x95", b"\xff\x41"], "\u{fffd}\u{fffd}A");
    check(&[b"\x1b[3", b"1mred\x1b", b"[m"], "red");
}

#[test]
fn the_number_grows_with_what_can_be_seen() {
    let mut screen = screen(4, 20, &["text"]);
    let mut check = |input: &str, grows: bool| {
        let before = screen.seq();
        screen.feed(input.as_bytes());
        assert_eq!(screen.seq() > before, grows, "{input:?}");
    };
    check("", false);
    check("more", true);
    check("\x1b[D", true);
    check("\x1b]0;title\x07", false);
    check("\x1b[?25l", true);
    check("\x1b[?25l", false);
    check("\x1b[31m", false);
    check("\r\x1b[7mtextmore", true);
    check("\r\x1b[7mtextmore", false);
    check("\x1b[?1049h", true);
    check("\x1b[H\x1b[2J", true);
    check("\x1b[H\x1b[2J", false);
    check("\x1b[?1049l", true);
    check("\x1b[?47h", true);
    check("\x1b[?47l", true);
    check("\x1b[?47l", false);
    check("\x1b[6n\x1b[c", false);
}

#[test]
fn since_gives_the_lines_from_the_first_that_changed() {
    let check = |first: &str, then: &str, expected: &str| {
        let mut screen = screen(6, 20, &[first]);
        let seen = screen.seq();
        screen.feed(then.as_bytes());
        let piece = screen.since(seen, usize::MAX, CutSide::Front);
        assert_eq!(piece.text, expected, "{first:?} then {then:?}");
        assert_eq!((piece.seq, piece.lost, piece.left), (screen.seq(), 0, 0));
        let again = screen.since(piece.seq, usize::MAX, CutSide::Front);
        assert_eq!(again.text, "", "nothing is told twice");
    };
    check("$ ", "ls\r\na\r\nb\r\n$ ", "$ ls\na\nb\n$");
    check("done\r\n", "next", "next");
    check("done\r\n", "", "");
    check("done\r\n", "\r\n\r\n", "");
    // The line that scrolled off is not new; what pushed it off is.
    check("1\r\n2\r\n3\r\n4\r\n5\r\n6", "\r\n7", "7");
    check(
        "1\r\n2\r\n3\r\n4\r\n5\r\n6",
        "!\r\n7\r\n8\r\n9\r\n10\r\n11\r\n12\r\n13",
        "6!\n7\n8\n9\n10\n11\n12\n13",
    );
    // A line in the middle changes.
    check("a\r\nb\r\nc", "\x1b[2;1HB", "B\nc");
    check("a\r\nb\r\nc", "\x1b[2;1Hb", "");
    // Only its colour.
    check("a\r\nb\r\nc", "\x1b[3;1H\x1b[7mc", "c");
    // A wrapped line is one line.
    check(
        "",
        "0123456789012345678901234567",
        "0123456789012345678901234567",
    );
    // Everything below a line that stays, behind a status line.
    check(
        "head\r\nx\r\ny\x1b[6;1Hstatus\x1b[3;1H",
        "z",
        "z\n\n\nstatus",
    );
    check(
        "shell$ ",
        "\x1b[?1049h\x1b[Hfull\x1b[3;1Hscreen",
        "full\n\nscreen",
    );
    check("shell$ ", "vi\r\n\x1b[?1049h\x1b[Hfull", "shell$ vi\nfull");
    check("\x1b[?1049h\x1b[Hfull\r\nscreen", "\x1b[HF", "Full\nscreen");
    check("\x1b[?1049h\x1b[Hfull\r\nscreen", "\x1b[Hf", "");
    check("shell$ \x1b[?1049h\x1b[Hfull", "\x1b[?1049l", "");
    check("shell$ \x1b[?1049h\x1b[Hfull", "\x1b[?1049lls", "shell$ ls");
}

#[test]
fn a_scroll_region_moves_only_its_rows() {
    // Rows 1 to 3 scroll, the status line in row 4 stays as it is.
    let mut screen = screen(4, 20, &["\x1b[4;1Hstatus\x1b[1;3r\x1b[H1\r\n2\r\n3"]);
    let seen = screen.seq();
    screen.feed(b"\r\n4");
    assert_eq!(screen.text(), "2\n3\n4\nstatus");
    let piece = screen.since(seen, usize::MAX, CutSide::Front);
    assert_eq!(piece.text, "4\nstatus");
    assert_eq!(screen.all(usize::MAX).text, "1\n2\n3\n4\nstatus");

    // What is known of the status line stays with it, and is not taken for the row that scrolled in.
    screen.feed(b"\r\n");
    let seen = screen.seq();
    screen.feed(b"status");
    let piece = screen.since(seen, usize::MAX, CutSide::Front);
    assert_eq!(piece.text, "status\nstatus");
}

#[test]
fn redraws_cost_only_the_lines_that_change() {
    let mut screen = screen(24, 80, &["$ build\r\n"]);
    let start = screen.seq();
    for frame in 0..600 {
        let seen = screen.seq();
        let spinner = ['|', '/', '-', '\\'][frame % 4];
        screen.feed(format!("\r\x1b[K{spinner} step {frame}").as_bytes());
        let piece = screen.since(seen, usize::MAX, CutSide::Front);
        assert_eq!(piece.text, format!("{spinner} step {frame}"));
    }
    assert_eq!(
        screen.since(start, usize::MAX, CutSide::Front).text,
        "\\ step 599"
    );

    // The whole screen, erased and drawn again as some monitors do it.
    let seen = screen.seq();
    for frame in 0..600 {
        screen.feed(b"\x1b[H\x1b[2J");
        for row in 1..=20 {
            screen.feed(format!("row {row} of frame {frame}\r\n").as_bytes());
        }
    }
    let piece = screen.since(seen, usize::MAX, CutSide::Front);
    assert_eq!(piece.text.lines().count(), 20, "{}", piece.text);
    assert_eq!(piece.lost, 0);
}

#[test]
fn lost_lines_are_counted() {
    let numbered =
        |range: std::ops::Range<u32>| range.map(|line| format!("{line}\r\n")).collect::<String>();
    let mut screen = Screen::new(Size::new(5, 20), 10);
    screen.feed(numbered(0..10).as_bytes());
    let seen = screen.seq();
    assert_eq!(screen.since(0, usize::MAX, CutSide::Front).lost, 0);

    screen.feed(numbered(10..100).as_bytes());
    // 14 lines are there: 10 that scrolled off and 4 above the cursor.
    let piece = screen.since(seen, usize::MAX, CutSide::Front);
    assert_eq!(piece.text.lines().next(), Some("86"));
    assert_eq!(piece.lost, 76, "10 to 85 came after and are gone");
    assert_eq!(screen.since(0, usize::MAX, CutSide::Front).lost, 86);
    assert_eq!(
        screen.since(screen.seq(), usize::MAX, CutSide::Front).lost,
        0
    );
    assert_eq!(screen.all(usize::MAX).lost, 86);

    // In many small pieces, each of which leaves a run of its own.
    let before = screen.seq();
    let (mut half, mut recent) = (0, 0);
    for line in 100..5_100 {
        screen.feed(format!("{line}\r\n").as_bytes());
        if line == 2_599 {
            half = screen.seq();
        }
        if line == 4_999 {
            recent = screen.seq();
        }
    }
    let lost = |after| screen.since(after, usize::MAX, CutSide::Front).lost;
    assert_eq!(lost(0), 5_086);
    assert_eq!(lost(recent), 86);
    // From so long ago it is only about right.
    assert!((4_900..=5_086).contains(&lost(before)), "{}", lost(before));
    assert!((2_450..=2_550).contains(&lost(half)), "{}", lost(half));
}

#[test]
fn wide_lines_are_kept_up_to_a_number_of_bytes() {
    let mut screen = Screen::new(Size::new(1, 1_000), 1_000_000);
    let row = "🦀".repeat(500);
    for _ in 0..5_000 {
        screen.feed(row.as_bytes());
    }
    let piece = screen.all(usize::MAX);
    assert!(piece.lost > 0);
    let kept = history::MOST_BYTES - row.len()..=history::MOST_BYTES + row.len();
    assert!(kept.contains(&piece.text.len()), "{}", piece.text.len());
}

#[test]
fn more_than_fits_is_cut_at_either_end() {
    let screen = screen(
        5,
        20,
        &["one\r\ntwo\r\nthree\r\nfour\r\nfive\r\nsix\r\nseven"],
    );
    let check = |max: usize, cut: CutSide, expected: &str, left: u64| {
        let piece = screen.since(0, max, cut);
        assert_eq!((piece.text.as_str(), piece.left), (expected, left), "{max}");
    };
    check(
        33,
        CutSide::Front,
        "one\ntwo\nthree\nfour\nfive\nsix\nseven",
        0,
    );
    check(32, CutSide::Front, "two\nthree\nfour\nfive\nsix\nseven", 4);
    check(9, CutSide::Front, "six\nseven", 24);
    check(8, CutSide::Front, "seven", 28);
    check(3, CutSide::Front, "ven", 30);
    check(0, CutSide::Front, "", 33);
    check(
        33,
        CutSide::Back,
        "one\ntwo\nthree\nfour\nfive\nsix\nseven",
        0,
    );
    check(9, CutSide::Back, "one\ntwo\n", 25);
    check(2, CutSide::Back, "on", 31);

    let mut pages = Vec::new();
    let mut at = 0;
    loop {
        let piece = screen.since(at, 9, CutSide::Back);
        at = piece.seq;
        pages.push(piece.text);
        if piece.left == 0 {
            break;
        }
    }
    assert_eq!(
        pages,
        ["one\ntwo\n", "three\n", "four\n", "five\nsix\n", "seven"]
    );
    assert_eq!(at, screen.seq());
}

#[test]
fn a_size_can_change_and_nothing_of_the_text_is_lost() {
    let text = "a line that is longer than ten columns\r\nshort\r\nanother long line of text";
    let mut screen = screen(5, 80, &[text]);
    let seen = screen.seq();
    screen.resize(Size::new(5, 80));
    assert_eq!(screen.seq(), seen);
    let expected = text.replace("\r\n", "\n");
    for (rows, cols) in [(5, 10), (2, 20), (1, 1), (24, 80), (500, 1_000), (3, 7)] {
        screen.resize(Size::new(rows, cols));
        assert_eq!(screen.size(), Size::new(rows, cols));
        assert_eq!(screen.all(usize::MAX).text, expected, "{rows}x{cols}");
    }
    // More rows alone are no news of what was there.
    let mut screen = self::screen(5, 80, &["short\r\nlines"]);
    let seen = screen.seq();
    screen.resize(Size::new(10, 100));
    assert_eq!(screen.since(seen, usize::MAX, CutSide::Front).text, "");
    screen.resize(Size::new(1, 40));
    assert_eq!(screen.text(), "lines");
    assert_eq!(screen.since(seen, usize::MAX, CutSide::Front).text, "");
    assert_eq!(screen.all(usize::MAX).text, "short\nlines");
}

#[test]
fn the_cursor_is_inside_the_screen() {
    let check = |input: &str, row: u16, col: u16, visible: bool| {
        let expected = Cursor { row, col, visible };
        assert_eq!(screen(4, 10, &[input]).cursor(), expected, "{input:?}");
    };
    check("", 0, 0, true);
    check("abc", 0, 3, true);
    check("abcdefghij", 0, 9, true);
    check("abcdefghijk", 1, 1, true);
    check("\x1b[999;999H", 3, 9, true);
    check("\x1b[?25l", 0, 0, false);
}

#[test]
fn questions_are_answered() {
    let check = |input: &str, expected: &str| {
        let mut screen = screen(24, 80, &[input]);
        let answers = String::from_utf8(screen.answers()).unwrap();
        assert_eq!(answers, expected, "{input:?}");
        assert!(screen.answers().is_empty(), "once");
    };
    check("plain text", "");
    check("\x1b[5n", "\x1b[0n");
    check("\x1b[6n", "\x1b[1;1R");
    check("ab\r\nc\x1b[6nd", "\x1b[2;2R");
    check("\u{9b}6n", "\x1b[1;1R");
    check("\x1b[?6n", "\x1b[?1;1;1R");
    check("\x1b[c", "\x1b[?62;22c");
    check("\x1b[0c", "\x1b[?62;22c");
    check("\x1b[>c", "\x1b[>0;10;0c");
    check("\x1b[18t", "\x1b[8;24;80t");
    check("\x1b[?2004$p", "\x1b[?2004;2$y");
    check("\x1b[?2004h\x1b[?2004$p", "\x1b[?2004;1$y");
    check("\x1b[?25$p", "\x1b[?25;1$y");
    check("\x1b[?1049h\x1b[?1049$p", "\x1b[?1049;1$y");
    check("\x1b[?2026$p", "\x1b[?2026;0$y");
    check("\x1b]11;?\x07", "\x1b]11;rgb:0000/0000/0000\x07");
    check("\x1b]11;?\x1b\\", "\x1b]11;rgb:0000/0000/0000\x1b\\");
    check("\x1b]10;?\x1b\\", "\x1b]10;rgb:ffff/ffff/ffff\x1b\\");
    check("\x1bP+q544e\x1b\\", "\x1bP0+r\x1b\\");
    check("\x1bP$qm\x1b\\", "\x1bP0$r\x1b\\");
    // What fish and nvim ask at their start, in one go.
    check(
        "\x1b[?u\x1b[>0q\x1b[c",
        concat!(
            "\x1bP>|jig ",
            env!("CARGO_PKG_VERSION"),
            "\x1b\\\x1b[?62;22c"
        ),
    );
    // No question, or one that was broken off.
    check("\x1b[6m\x1b[66n\x1b[;6n\x1b]11;red\x07", "");
    check("\x1b[6\x18n\x1b]11;?\x18\x07", "");
    check("\x1b]11;?", "");
    check("\x1b[?999999$p\x1b[?a$p", "");
    check(&format!("\x1b]{}11;?\x07", "x".repeat(100)), "");
}

#[test]
fn a_million_questions_do_not_fill_memory() {
    let mut screen = Screen::new(Size::default(), 0);
    screen.feed("\x1b[c\x1b[6n".repeat(100_000).as_bytes());
    let answers = screen.answers();
    assert!(
        (1_000..=4_096).contains(&answers.len()),
        "{}",
        answers.len()
    );
    assert!(answers.starts_with(b"\x1b[?62;22c\x1b[1;1R\x1b[?62;22c"));
}

#[test]
fn modes_of_the_keyboard_are_known() {
    let check = |input: &str, arrows: bool, paste: bool| {
        let screen = screen(4, 10, &[input]);
        assert_eq!(screen.cursor_keys_are_application(), arrows, "{input:?}");
        assert_eq!(screen.bracketed_paste(), paste, "{input:?}");
    };
    check("", false, false);
    check("\x1b[?1h", true, false);
    check("\x1b[?1h\x1b[?1l", false, false);
    check("\x1b[?2004h", false, true);
    check("\x1b[?1;2004h", true, true);
    check("\x1b[?2004h\x1b[?2004l", false, false);
    check("\x1b[?2004h\x1bc", false, false);
    check("\x1b[2004h\x1b[?12004h", false, false);
}

#[test]
fn painted_rows_have_our_colours_and_nothing_else() {
    let check = |input: &str, expected: &str| {
        let painted = screen(2, 12, &[input]).painted();
        assert_eq!(painted.len(), 2);
        assert_eq!(painted[0], expected, "{input:?}");
    };
    check("plain", "plain");
    check("plain   ", "plain");
    check("\x1b[31mred\x1b[m ok", "\x1b[0;31mred\x1b[0m ok");
    check("\x1b[1;4;97mx", "\x1b[0;1;4;97mx\x1b[0m");
    check("\x1b[38;5;200mx", "\x1b[0;38;5;200mx\x1b[0m");
    check("\x1b[48;2;1;2;3mx", "\x1b[0;48;2;1;2;3mx\x1b[0m");
    check("\x1b[2;3;5;7;9mx", "\x1b[0;2;3;5;7;9mx\x1b[0m");
    check("\x1b[103mx", "\x1b[0;103mx\x1b[0m");
    // A coloured background reaches to the end of the row.
    check("\x1b[44m\x1b[K", "\x1b[0;44m            \x1b[0m");
    check("界a", "界a");
    check("e\u{301}x", "e\u{301} x");
    check("\u{301}x", " x");
    check("a\u{202e}b\u{2028}c\u{feff}d", "a b c d");
    check(
        "\x1b]0;title\x07\x1b]8;;http://x\x07link\x1b]8;;\x07",
        "link",
    );
    check("\x1b[?1000h\x1b[5nx\x7fy", "xy");
}

#[test]
fn a_reset_leaves_what_scrolled_off() {
    let mut screen = screen(2, 10, &["1\r\n2\r\n3\r\n4"]);
    screen.feed(b"\x1bc\x1b[3Jnew");
    assert_eq!(screen.text(), "new");
    assert_eq!(screen.all(usize::MAX).text, "1\n2\nnew");
}

#[test]
fn shown_is_the_screen_in_as_many_bytes_as_asked() {
    let screen = screen(4, 10, &["1\r\n2\r\n3\r\n4\r\n界5"]);
    let piece = screen.shown(usize::MAX);
    assert_eq!((piece.text.as_str(), piece.left), ("2\n3\n4\n界5", 0));
    let piece = screen.shown(7);
    assert_eq!((piece.text.as_str(), piece.left), ("2\n3\n4\n", 4));
}
