use super::{OpenEffects, OpenMode};
use crate::fsproxy::legacy;

/// An opening in letters: `r`ead, `w`rite, `a`ppend, `c`reate, `t`runcate.
fn letters(opening: impl Into<OpenEffects>) -> String {
    let opening = opening.into();
    [
        (opening.read, 'r'),
        (opening.write, 'w'),
        (opening.append, 'a'),
        (opening.create, 'c'),
        (opening.truncate, 't'),
    ]
    .into_iter()
    .filter_map(|(is_set, letter)| is_set.then_some(letter))
    .collect()
}

#[test]
fn f030_f033_f036_the_four_modes() {
    for (text, expected) in [("r", "r"), ("w", "wct"), ("a", "wac"), ("rw", "rwc")] {
        let mode = OpenMode::parse(text).expect(text);
        assert_eq!(mode.text(), text);
        assert_eq!(letters(mode), expected, "{text}");
    }
    for text in ["", "R", "wr", "r+", "w+", "a+", "x", "rb", " r", "r\0"] {
        assert_eq!(OpenMode::parse(text), None, "{text:?}");
    }
}

#[test]
fn x26_modes_of_older_clients() {
    for (text, expected) in [
        ("r", "r"),
        ("w", "wct"),
        ("a", "wac"),
        ("r+", "rw"),
        ("w+", "rwct"),
        ("a+", "rwac"),
    ] {
        let mode = legacy::LegacyOpenMode::parse(text).expect(text);
        assert_eq!(mode.to_string(), text);
        assert_eq!(letters(mode), expected, "{text}");
    }
    for text in ["", "rw", "R", "+r", "r++"] {
        assert_eq!(legacy::LegacyOpenMode::parse(text), None, "{text:?}");
    }
}
