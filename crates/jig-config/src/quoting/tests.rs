use super::*;

#[test]
fn close_names_are_found_and_far_ones_are_not() {
    let check = |name: &str, candidates: &[&str], meant: Option<&str>| {
        assert_eq!(closest(name, candidates.iter().copied()), meant, "{name}");
    };
    check("sourc", &["source", "command"], Some("source"));
    check("Source", &["source", "command"], Some("source"));
    check("on-uncovered", &["on_uncovered"], Some("on_uncovered"));
    check("raed", &["read", "write"], Some("read"));
    check("exectue", &["execute", "read"], Some("execute"));
    check("str", &["number", "string"], Some("string"));
    check("bool", &["boolean"], Some("boolean"));
    check("de", &["description"], None);
    check("banana", &["read", "write"], None);
    check("x", &["y"], None);
    check("", &["read"], None);
    check(&"a".repeat(10_000), &["read"], None);
}

#[test]
fn what_a_file_says_can_not_paint_on_the_terminal() {
    let check = |text: &str, quoted: &str| assert_eq!(quote(text), quoted);
    check("plain", "`plain`");
    check("\u{1b}[2J", "`\\u{1b}[2J`");
    check("a\nb", "`a\\nb`");
    check("a\u{202e}b", "`a\\u{202e}b`");
    assert_eq!(quote(&"x".repeat(1000)).chars().count(), MAX_QUOTED + 3);
}

#[test]
fn keys_are_quoted_where_toml_demands_it() {
    let check = |name: &str, written: &str| assert_eq!(key(name), written);
    check("run", "run");
    check("a-b_C9", "a-b_C9");
    check("*", "'*'");
    check("a.b", "'a.b'");
    check("", "''");
    check("it's", "\"it's\"");
    check("a\nb", "\"a\\nb\"");
    let path = ["tools", "a.b", "access", "fs", "[1]", "path"].map(str::to_owned);
    assert_eq!(dotted(&path), "tools.'a.b'.access.fs[1].path");
}
