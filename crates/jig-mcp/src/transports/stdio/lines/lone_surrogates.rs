//! [`replaced`]: JSON whose strings hold halves of characters, as something that can be read.

/// `json` with U+FFFD for each escape that is half of a character (`\ud83d` without the other half), which
/// makes JSON unreadable. Nothing, if it has none.
pub(super) fn replaced(json: &[u8]) -> Option<Vec<u8>> {
    let mut mended = Vec::new();
    let mut is_mended = false;
    let mut rest = json;
    while let Some(start) = rest.iter().position(|byte| *byte == b'\\') {
        let (before, escape) = rest.split_at(start);
        mended.extend_from_slice(before);
        let taken = match (unit(escape), unit(escape.get(6..).unwrap_or_default())) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                is_mended = true;
                mended.extend_from_slice(br"\ufffd");
                rest = &escape[6..];
                continue;
            }
            // A backslash and what it escapes, which may be another one.
            _ => escape.len().min(2),
        };
        mended.extend_from_slice(&escape[..taken]);
        rest = &escape[taken..];
    }
    mended.extend_from_slice(rest);
    is_mended.then_some(mended)
}

/// The unit of UTF-16 that an escape at the start of `text` stands for.
fn unit(text: &[u8]) -> Option<u16> {
    let digits = text.strip_prefix(br"\u")?.get(..4)?;
    let digits = std::str::from_utf8(digits).ok()?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    is_hex.then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::replaced;

    #[test]
    fn halves_are_replaced() {
        fn check(json: &str, expected: Option<&str>) {
            let got = replaced(json.as_bytes()).map(|json| String::from_utf8(json).unwrap());
            assert_eq!(got.as_deref(), expected, "{json}");
        }
        check(r#"{"a":"b"}"#, None);
        check(r#""\ud83d\ude00""#, None);
        check(r#""\\ud83d""#, None);
        check(r#""\u00e4\n\"""#, None);
        check(r#""\ud83d""#, Some(r#""\ufffd""#));
        check(r#""\uDE00x""#, Some(r#""\ufffdx""#));
        check(r#""\ud83d\ud83d\ude00""#, Some(r#""\ufffd\ud83d\ude00""#));
        check(r#""\\\ud83d\n""#, Some(r#""\\\ufffd\n""#));
        // What ends too early.
        for json in [r"\", r"\u", r"\ud8", r"\ud83", r"\u+83d", r"\\"] {
            check(json, None);
        }
        check(r"\ud83d\", Some(r"\ufffd\"));
        check(r"\ud83d\ude0", Some(r"\ufffd\ude0"));
    }
}
