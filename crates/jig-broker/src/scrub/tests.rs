//! X-40, V-074, V-085: what was resolved in a call never goes back.

use proptest::prelude::*;

use super::{REDACTED, Secrets};

fn secrets(values: &[&str]) -> Secrets {
    let secrets = Secrets::new();
    values.iter().for_each(|value| secrets.remember(value));
    secrets
}

fn check(values: &[&str], input: &str, expected: &str) {
    let scrubbed = secrets(values).scrub_text(input.to_owned());
    assert_eq!(scrubbed, expected, "{values:?} in {input:?}");
}

#[test]
fn x40_values_are_replaced() {
    check(&[], "nothing to hide", "nothing to hide");
    check(
        &["tok-123"],
        "a tok-123 b tok-123",
        "a [REDACTED] b [REDACTED]",
    );
    check(&["tok-123"], "tok-12", "tok-12");
    check(&["tok-123"], "", "");
    check(
        &["abcd", "abcdefgh"],
        "abcdefgh abcd",
        "[REDACTED] [REDACTED]",
    );
    check(&["abcdefgh", "cdef"], "xcdefgh", "x[REDACTED]gh");
    check(&["häßlich"], "so häßlich!", "so [REDACTED]!");
}

#[test]
fn x40_values_shorter_than_four_bytes_stay() {
    check(&["abc", "1", ""], "abc 1", "abc 1");
    check(&["abcd"], "abcd", REDACTED);
}

#[test]
fn x40_spellings_in_json_and_urls_are_known() {
    check(&["a\"b\\c"], r#"{"t":"a\"b\\c"}"#, r#"{"t":"[REDACTED]"}"#);
    check(&["ab/cd"], r#""ab\/cd""#, r#""[REDACTED]""#);
    check(
        &["tök=en&1"],
        "?t=t%C3%B6k%3Den%261&u=1",
        "?t=[REDACTED]&u=1",
    );
    check(&["two words"], "?t=two+words", "?t=[REDACTED]");
    check(&["two words"], "?t=two%20words", "?t=[REDACTED]");
}

/// `encodeURI`, `encodeURIComponent` and `quote` leave other characters as they are.
#[test]
fn partly_encoded_secrets_are_known() {
    let secret = "a/b=c&d e!(f)";
    for spelled in [
        "a/b=c&d%20e!(f)",
        "a/b%3Dc%26d%20e%21%28f%29",
        "a%2Fb%3Dc%26d%20e!(f)",
        "a%2fb%3dc%26d%20e!(f)",
        "a%2Fb%3Dc%26d+e%21%28f%29",
    ] {
        check(&[secret], &format!("?t={spelled}&u"), "?t=[REDACTED]&u");
    }
}

#[test]
fn secrets_in_html_are_known() {
    let secret = "<it's \"R&D\">";
    for spelled in [
        "&lt;it's \"R&amp;D\"&gt;",
        "&lt;it&#39;s &quot;R&amp;D&quot;&gt;",
        "&lt;it&#x27;s &quot;R&amp;D&quot;&gt;",
        "&lt;it&apos;s &quot;R&amp;D&quot;&gt;",
        "&lt;it&#39;s &#34;R&amp;D&#34;&gt;",
    ] {
        check(&[secret], &format!("<p>{spelled}</p>"), "<p>[REDACTED]</p>");
    }
}

/// What a server that echoes a request sends back.
#[test]
fn encodings_that_servers_echo_are_known() {
    check(&["hunter22"], "is aHVudGVyMjI=", "is [REDACTED]");
    check(&["hunter22"], "is aHVudGVyMjI.", "is [REDACTED]I.");
    // In `user:hunter22`, `me:hunter22` and `you:hunter22;`.
    for text in [
        "dXNlcjpodW50ZXIyMg==",
        "bWU6aHVudGVyMjI=",
        "eW91Omh1bnRlcjIyOw==",
    ] {
        let scrubbed = secrets(&["hunter22"]).scrub_text(format!("Basic {text}"));
        assert!(
            scrubbed.contains(REDACTED) && scrubbed.len() < 30,
            "{scrubbed}"
        );
    }
    check(&["hunter22"], "68756e7465723232", REDACTED);
    check(&["hunter22"], "68756E7465723232", REDACTED);
    check(&["hunter22"], "%68%75%6e%74%65%72%32%32", REDACTED);
    check(&["tök=en&1"], "?t=t%c3%b6k%3den%261", "?t=[REDACTED]");
    check(&["??>>??>>"], "Pz8+Pj8/Pj4=", REDACTED);
    check(&["??>>??>>"], r"Pz8+Pj8\/Pj4=", REDACTED);
    check(&["??>>??>>"], "Pz8-Pj8_Pj4=", REDACTED);
    // Credentials as a whole.
    let value = "dXNlcjpodW50ZXIyMg==";
    check(
        &[value],
        "user:hunter22 and hunter22",
        "[REDACTED] and [REDACTED]",
    );
    check(&["Basic dXNlcjpodW50ZXIyMg=="], "hunter22", REDACTED);
    // Twins: what only looks like it.
    check(
        &["hunter22"],
        "aHVudGVyMTE= 68756e74 user",
        "aHVudGVyMTE= 68756e74 user",
    );
    check(&["abcd"], "YWJjZA==", "YWJjZA==");
}

#[test]
fn x40_each_longer_line_of_a_value_is_known() {
    let key = "-----BEGIN KEY-----\nMIIEvQIBADANBg\nx\n-----END KEY-----\n";
    check(&[key], key, REDACTED);
    check(&[key], "2: MIIEvQIBADANBg", "2: [REDACTED]");
    check(&[key], r"MIIEvQIBADANBg\nx", r"[REDACTED]\nx");
    check(&[key], "x marks the spot", "x marks the spot");
}

#[test]
fn a_part_leaves_out_what_crosses_its_borders() {
    let scrubber = secrets(&["secret"]).scrubber().unwrap();
    let part =
        |window: &str, inner| String::from_utf8(scrubber.part(window.as_bytes(), inner)).unwrap();
    assert_eq!(scrubber.margin(), "%73%65%63%72%65%74".len() - 1);
    assert_eq!(part("a secret b", 0..10), "a [REDACTED] b");
    assert_eq!(part("a secret b", 0..5), "a [REDACTED]");
    assert_eq!(part("a secret b", 5..10), "[REDACTED] b");
    assert_eq!(part("a secret b", 4..6), "[REDACTED]");
    assert_eq!(part("a secret b", 8..10), " b");
    assert_eq!(part("a secret b", 0..2), "a ");
    assert_eq!(part("secretsecret", 3..9), "[REDACTED][REDACTED]");
    assert_eq!(part("secret", 3..3), "");
}

#[test]
fn v085_a_stream_holds_back_only_what_may_become_a_secret() {
    let check = |pieces: &[&str], expected: &[&str]| {
        let secrets = secrets(&["hunter22", "hunter", "ter2x"]);
        let mut stream = secrets.stream();
        let mut shown = Vec::new();
        for piece in pieces {
            let mut out = Vec::new();
            stream.push(piece.as_bytes(), &mut out);
            shown.push(String::from_utf8(out).unwrap());
        }
        let mut out = Vec::new();
        stream.finish(&mut out);
        shown.push(String::from_utf8(out).unwrap());
        assert_eq!(shown, expected, "{pieces:?}");
    };
    check(&["Stage this hunk? "], &["Stage this hunk? ", ""]);
    check(&["a hunt", "ed!"], &["a ", "hunted!", ""]);
    check(&["a hunt"], &["a ", "hunt"]);
    // It may become the longer one.
    check(&["a hunter", "22 b"], &["a ", "[REDACTED] b", ""]);
    check(&["a hunter", "s"], &["a ", "[REDACTED]s", ""]);
    check(&["hunter2", "x"], &["", "[REDACTED]2x", ""]);
    check(
        &["h", "u", "n", "t", "e", "r", " "],
        &["", "", "", "", "", "", "[REDACTED] ", ""],
    );
}

#[test]
fn v085_a_stream_knows_what_is_remembered_later() {
    let secrets = Secrets::new();
    let mut stream = secrets.stream();
    let mut out = Vec::new();
    stream.push(b"hunter22 ", &mut out);
    secrets.remember("hunter22");
    stream.push(b"hunter22 hunt", &mut out);
    stream.finish(&mut out);
    assert_eq!(out, b"hunter22 [REDACTED] hunt");
}

#[test]
fn rows_of_a_screen_do_not_hide_a_secret() {
    let check = |text: &str, expected: &str| {
        let secrets = secrets(&["hunter22"]);
        let scrubber = secrets.scrubber().unwrap();
        assert_eq!(scrubber.lines(text.to_owned()), expected, "{text:?}");
    };
    check("", "");
    check("a\nb\n", "a\nb\n");
    check("a hunter22 b\nc", "a [REDACTED] b\nc");
    check("a hunt\ner22 b\nc", "a [REDACTED]\n b\nc");
    check("h\nunter2\n2\n\nend\n", "[REDACTED]\n\n\n\nend\n");
    check("hunter2\n\n2", "[REDACTED]\n\n");
    check("ä hunter2\n2ö", "ä [REDACTED]\nö");
    check("hunter22\nhunt\ner22", "[REDACTED]\n[REDACTED]\n");
}

#[test]
fn a_part_of_a_screen_leaves_out_what_crosses_its_borders() {
    let check = |text: &str, inner, expected: &str| {
        let secrets = secrets(&["hunter22"]);
        let scrubber = secrets.scrubber().unwrap();
        let part = scrubber.rows(text, std::ops::Range::clone(&inner));
        assert_eq!(part, expected, "{text:?} {inner:?}");
    };
    let text = "a hunt\ner22 b";
    check(text, 0..13, "a [REDACTED]\n b");
    check(text, 0..4, "a [REDACTED]");
    check(text, 4..13, "[REDACTED]\n b");
    check(text, 7..13, "[REDACTED] b");
    check(text, 11..13, " b");
    check(text, 0..2, "a ");
    check(text, 5..5, "");
}

#[test]
fn neither_debug_shows_values() {
    let secrets = secrets(&["hunter22"]);
    let shown = format!("{secrets:?} {:?}", secrets.scrubber());
    assert!(!shown.contains("hunter22"), "{shown}");
}

proptest! {
    /// Where the pieces end makes no difference, and no secret is left.
    #[test]
    fn x40_pieces_come_out_like_the_whole(
        parts in proptest::collection::vec("(abcd|abcdabce|bcdX|[a-e]{0,3}|\\PC)", 0..30),
        cuts in proptest::collection::vec(0_usize..200, 0..12),
    ) {
        let secrets = secrets(&["abcd", "abcdabce", "bcdX"]);
        let scrubber = secrets.scrubber().unwrap();
        let whole = parts.concat().into_bytes();
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut % (whole.len() + 1)).collect();
        cuts.extend([0, whole.len()]);
        cuts.sort_unstable();
        let mut stream = secrets.stream();
        let mut out = Vec::new();
        for pair in cuts.windows(2) {
            stream.push(&whole[pair[0]..pair[1]], &mut out);
            let held = String::from_utf8_lossy(&stream.held);
            let mut begun = scrubber.patterns.iter();
            prop_assert!(
                begun.any(|spelling| spelling.starts_with(&*held) && *spelling != held),
                "{held:?} is held back"
            );
        }
        stream.finish(&mut out);
        prop_assert_eq!(&out, &*scrubber.bytes(whole));
        prop_assert!(!String::from_utf8_lossy(&out).contains("abcd"));
    }
}
