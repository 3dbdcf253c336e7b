use super::*;

const SECRET: &str = "sk-0123456789";

/// What is said of these pieces, and what comes at the end.
fn said(pieces: &[&[u8]]) -> (String, String) {
    let secrets = Secrets::new();
    secrets.remember(SECRET);
    let mut speech = StreamCleaner::new(&secrets);
    let shown: Vec<u8> = pieces
        .iter()
        .flat_map(|piece| speech.clean(piece))
        .collect();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (text(shown), text(speech.finish()))
}

#[test]
fn a_secret_is_found_in_whatever_pieces_it_comes() {
    let text = format!("a {SECRET} b\u{1b}[1ms\u{1b}[0mk-01234\u{1b}]0;x\u{7}56789 ü");
    let expected = "a [REDACTED] b[REDACTED] ü";
    for size in 1..text.len() {
        let pieces: Vec<&[u8]> = text.as_bytes().chunks(size).collect();
        let (shown, rest) = said(&pieces);
        assert_eq!(shown.clone() + &rest, expected, "in pieces of {size}");
        let is_leaked = (4..SECRET.len()).any(|length| shown.contains(&SECRET[..length]));
        assert!(!is_leaked, "in pieces of {size}: {shown}");
    }
}

#[test]
fn only_the_beginning_of_a_secret_is_held_back() {
    let check = |piece: &str, shown: &str, rest: &str| {
        let (said, left) = said(&[piece.as_bytes()]);
        assert_eq!((said.as_str(), left.as_str()), (shown, rest), "{piece:?}");
    };
    check("Continue? ", "Continue? ", "");
    check("ask", "a", "sk");
    check("ask ", "ask ", "");
    check("sk-0123", "", "sk-0123");
}
