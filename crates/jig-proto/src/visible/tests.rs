use std::path::Path;

use proptest::prelude::*;

use super::{
    DECEPTIVE, is_deceptive, visible_json, visible_line, visible_line_to, visible_lines,
    visible_painted, visible_words,
};

#[test]
fn the_table_is_in_order_and_gives_reasons() {
    for pair in DECEPTIVE.windows(2) {
        assert!(pair[0].last < pair[1].first, "{pair:?}");
    }
    for row in DECEPTIVE {
        assert!(row.first <= row.last && !row.why.is_empty(), "{row:?}");
        for c in row.first..=row.last {
            assert!(is_deceptive(c), "{c:?}");
        }
    }
    let is_in_table = |c: char| {
        DECEPTIVE
            .iter()
            .any(|row| (row.first..=row.last).contains(&c))
    };
    for c in '\0'..=char::MAX {
        assert_eq!(is_deceptive(c), is_in_table(c), "{c:?}");
        assert!(!c.is_control() || is_deceptive(c), "{c:?}");
    }
}

/// Every character of the table, in every function.
#[test]
fn whatever_is_in_the_table_is_escaped() {
    let all = DECEPTIVE.iter().flat_map(|row| row.first..=row.last);
    for c in all {
        let text = format!("a{c}b");
        let escaped = match c {
            '\n' => "a\\nb".to_owned(),
            '\r' => "a\\rb".to_owned(),
            '\t' => "a\\tb".to_owned(),
            c => format!("a\\u{{{:x}}}b", u32::from(c)),
        };
        assert_eq!(visible_line(&text), escaped);
        assert_eq!(visible_line_to(&text, 100), escaped);
        match c {
            '\n' | '\t' => {
                assert_eq!(visible_words(&text), "a b");
                assert_eq!(visible_lines(&text), text);
            }
            '\r' => {
                assert_eq!(visible_words(&text), "a b");
                assert_eq!(visible_lines(&text), escaped);
            }
            _ => {
                assert_eq!(visible_words(&text), escaped);
                assert_eq!(visible_lines(&text), escaped);
            }
        }
    }
}

#[test]
fn texts_of_all_languages_stay_what_they_are() {
    for text in [
        "src/ä.rs",
        "e\u{301}te\u{301}, a\u{328}\u{301}, vie\u{302}\u{323}t",
        "שלום עולם, مرحبا بالعالم",
        "漢字かな交じり文、한국어",
        "हिन्दी, ไทย",
        "🙂 👍🏽 🇩🇪 ⚠\u{fe0f} ❤\u{fe0f} ✔\u{fe0f}",
        "a\u{a0}b\u{3000}c — “d”",
    ] {
        assert_eq!(visible_line(text), text);
        assert_eq!(visible_lines(text), text);
        assert_eq!(visible_words(text), text);
    }
    // A family is shown as its members.
    assert_eq!(visible_line("👩\u{200d}👧"), "👩\\u{200d}👧");
}

#[test]
fn a_selector_stays_only_where_it_makes_an_emoji() {
    let check = |text: &str, expected: &str| assert_eq!(visible_line(text), expected);
    check("a\u{fe0f}", "a\\u{fe0f}");
    check("\u{fe0f}", "\\u{fe0f}");
    check("⚠\u{fe0f}\u{fe0f}", "⚠\u{fe0f}\\u{fe0f}");
    check("⚠\u{fe0e}", "⚠\\u{fe0e}");
}

#[test]
fn a_heap_of_marks_is_not_painted_over_other_lines() {
    let heap = format!("a{}b", "\u{301}".repeat(6));
    let shown = format!("a{}\\u{{301}}\\u{{301}}b", "\u{301}".repeat(4));
    assert_eq!(visible_line(&heap), shown);
}

#[test]
fn the_length_is_bounded() {
    let check =
        |text: &str, limit, expected: &str| assert_eq!(visible_line_to(text, limit), expected);
    check("abcdef", 3, "abc…");
    check("abc", 3, "abc");
    check("a\nb", 100, "a\\nb");
    check("äöü", 3, "äö…");
}

#[test]
fn only_colours_stay_in_what_is_painted() {
    let check = |text: &str, expected: &str| assert_eq!(visible_painted(text), expected);
    check("\u{1b}[1;31mred\u{1b}[0m\n", "\u{1b}[1;31mred\u{1b}[0m\n");
    check("\u{1b}[mplain", "\u{1b}[mplain");
    check("\u{1b}[2J\u{1b}", "\\u{1b}[2J\\u{1b}");
    check("\u{1b}[3", "\\u{1b}[3");
    check("\u{1b}\u{1b}[0mä\u{202e}", "\\u{1b}\u{1b}[0mä\\u{202e}");
    check("\u{1b}]0;title\u{7}\r", "\\u{1b}]0;title\\u{7}\\r");
}

#[test]
fn json_says_the_same() {
    for c in DECEPTIVE.iter().flat_map(|row| [row.first, row.last]) {
        let value = serde_json::json!({ format!("{c}k"): [format!("a{c}b"), 1] });
        for json in [value.to_string(), format!("{value:#}")] {
            let shown = visible_json(json);
            assert!(
                !shown.contains(|c| is_deceptive(c) && c != '\n'),
                "{shown:?}"
            );
            assert_eq!(
                serde_json::from_str::<serde_json::Value>(&shown).unwrap(),
                value
            );
        }
    }
}

/// A second table would not hold what is added to this one. No source but `visible.rs` writes one of its characters,
/// and none escapes by the table of the standard library.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the sources of the repository are read"
)]
fn no_other_source_has_a_table() {
    fn search(path: &Path, read: &mut usize, found: &mut Vec<String>) {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if ["target", "node_modules", "tests", "tests.rs"].contains(&&*name) {
            return;
        }
        if path.is_dir() {
            for entry in std::fs::read_dir(path).unwrap() {
                search(&entry.unwrap().path(), read, found);
            }
            return;
        }
        let is_table = path.ends_with("jig-proto/src/visible.rs");
        if !name.ends_with(".rs") || is_table || NOT_SHOWN.iter().any(|one| path.ends_with(one)) {
            return;
        }
        *read += 1;
        let text = std::fs::read_to_string(path).unwrap();
        for (number, line) in text.lines().enumerate() {
            if line.contains("escape_debug") || has_character(line) {
                found.push(format!("{}:{}: {line}", path.display(), number + 1));
            }
        }
    }
    /// Whether a line writes a character of the table, as itself or by its number. Controls are not counted: they
    /// are in what jig reads, and in its own colours.
    fn has_character(line: &str) -> bool {
        let numbers = line.split("\\u{").skip(1).filter_map(|rest| {
            let number = u32::from_str_radix(rest.split('}').next()?, 16).ok()?;
            char::from_u32(number)
        });
        let is_in_table = |c: char| is_deceptive(c) && !c.is_control();
        // A comment may have an emoji.
        let mut all = numbers.chain(line.chars().filter(|c| *c != '\u{fe0f}'));
        all.any(is_in_table)
    }
    assert!(has_character(r"'\u{200b}'..='\u{200f}'"));
    assert!(has_character("'\u{202e}'"));
    assert!(!has_character(r"'\u{1b}' | 'ä' | '\u{1f600}'"));

    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut read, mut found) = (0, Vec::new());
    for folder in ["crates", "tools"] {
        search(&root.join(folder), &mut read, &mut found);
    }
    assert!(read > 500, "{read}");
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Sources that name such a character for another reason than to show text.
const NOT_SHOWN: &[&str] = &[
    // Files may begin with a byte order mark.
    "jig-clients/src/jsonc/parse.rs",
    "jig-files/src/grep/rules.rs",
    // The sandbox knows no crate of ours; others show its errors.
    "jig-sandbox/src/sys/linux/spawn/failure.rs",
];

proptest! {
    #[test]
    fn nothing_deceptive_is_left(text in any::<String>()) {
        let is_left = |c: char| is_deceptive(c) && c != '\u{fe0f}';
        prop_assert!(!visible_line(&text).contains(is_left));
        prop_assert!(!visible_words(&text).contains(is_left));
        let lines = visible_lines(&text);
        prop_assert!(!lines.contains(|c| is_left(c) && !matches!(c, '\n' | '\t')));
        // Once is enough.
        prop_assert_eq!(visible_lines(&lines), lines);
    }
}
