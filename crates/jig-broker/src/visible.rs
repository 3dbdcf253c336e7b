//! Text of a tool, made fit for a terminal and a log.

/// The text with control characters and those that reverse or hide text escaped, at most `limit`
/// bytes of it.
///
/// A file name may hold anything; shown as it is, it could forge the question that it stands in.
pub(crate) fn visible(text: &str, limit: usize) -> String {
    let mut clean = String::with_capacity(text.len().min(limit) + 4);
    for c in text.chars() {
        if clean.len() >= limit {
            clean.push('…');
            break;
        }
        if is_odd(c) {
            clean.extend(c.escape_unicode());
        } else {
            clean.push(c);
        }
    }
    clean
}

/// Whether a terminal or a reader would not see the character as itself: it controls, hides or reverses.
pub fn is_odd(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::visible;

    #[test]
    fn odd_characters_are_escaped_and_length_is_bounded() {
        let check = |text: &str, limit, expected: &str| assert_eq!(visible(text, limit), expected);
        check("src/ä.rs", 100, "src/ä.rs");
        check("a\u{1b}[31m", 100, "a\\u{1b}[31m");
        check("a\nb", 100, "a\\u{a}b");
        check("a\u{202e}b\u{200b}", 100, "a\\u{202e}b\\u{200b}");
        check("abcdef", 3, "abc…");
        check("abc", 3, "abc");
    }
}
