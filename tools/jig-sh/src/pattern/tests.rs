use super::*;

#[test]
fn patterns_mean_what_they_mean_elsewhere() {
    let check = |kind, pattern: &str, text: &str, expected: bool| {
        let regex = compile(pattern, kind, false).unwrap_or_else(|error| panic!("{error:?}"));
        let found = regex.is_match(text.as_bytes());
        assert_eq!(found, expected, "{kind:?} {pattern} on {text}");
    };
    for (pattern, text, expected) in [
        ("a.c", "abc", true),
        ("a+b", "a+b", true),
        ("a+b", "aab", false),
        (r"a\+b", "aab", true),
        (r"\(ab\)*c", "ababc", true),
        ("(a)", "(a)", true),
        (r"a\{2\}b", "aab", true),
        ("a{2}", "a{2}", true),
        (r"x\|y", "y", true),
        ("x|y", "y", false),
        ("^*a", "*a", true),
        ("*a", "*a", true),
        ("a^b", "a^b", true),
        ("a$b", "a$b", true),
        ("b$", "ab", true),
        ("[[:digit:]]x", "7x", true),
        ("[]a]", "]", true),
        (r"[\n]", "\\", true),
        ("[a-c]", "b", true),
        ("[-a]", "-", true),
        ("[^a]", "a", false),
        (r"\<is\>", "this is", true),
        (r"\<is\>", "this", false),
        (r"\.", "a", false),
        ("é", "é", true),
    ] {
        check(PatternSyntax::Basic, pattern, text, expected);
    }
    for (pattern, text, expected) in [
        ("a+b", "aab", true),
        (r"a\+b", "a+b", true),
        ("x|y", "y", true),
        ("(ab){2}", "abab", true),
        ("a{2,3}b", "aaab", true),
        ("{a", "{a", true),
        ("^(x|y)$", "y", true),
    ] {
        check(PatternSyntax::Extended, pattern, text, expected);
    }
    check(PatternSyntax::Fixed, "a.c", "abc", false);
    check(PatternSyntax::Fixed, "a.c", "a.c", true);
}

#[test]
fn what_is_not_known_is_said() {
    for pattern in ["a\\", "[a", r"\(a\)\1", r"\q", r"\("] {
        let error = compile(pattern, PatternSyntax::Basic, false);
        assert!(
            matches!(error, Err(CommandFailure::Usage(_))),
            "{pattern}: {error:?}"
        );
    }
}
