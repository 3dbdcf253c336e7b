use super::*;

#[test]
fn patterns() {
    let check = |pattern: &str, name: &str, expected: bool| {
        assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
    };
    check("", "", true);
    check("a", "a", true);
    check("a", "b", false);
    check("a", "ab", false);
    check("*", "", true);
    check("*", "anything", true);
    check("a*c", "abbc", true);
    check("a*c", "abbd", false);
    check("*b*", "abc", true);
    check("?", "é", true);
    check("?", "", false);
    check("a**", "a", true);
    check("*a*b", "xaxbxb", true);
    check("[a]", "a", false);
}

/// The worst pattern for the longest name ends.
#[test]
fn a_pattern_that_backtracks_ends() {
    let pattern = format!("{}b", "a*".repeat(120));
    assert!(!matches(&pattern, &"a".repeat(256)));
}
