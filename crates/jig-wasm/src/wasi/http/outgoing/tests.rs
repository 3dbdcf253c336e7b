use super::*;

#[test]
fn a_path_begins_with_a_slash() {
    let check = |path: &str, expected: bool| assert_eq!(is_path(path), expected, "{path:?}");
    check("/", true);
    check("/a/b?c=d&e", true);
    check("?q", true);
    check("/ä", true);
    check("", false);
    check("a", false);
    check(".evil.test/", false);
    check("@evil.test/", false);
    check(":80/", false);
    check("/a b", false);
    check("/a#b", false);
    check("/a\r\nb", false);
    check(&format!("/{}", "x".repeat(super::super::MAX_URL)), false);
}

#[test]
fn an_authority_is_a_host_and_a_port() {
    let check = |name: &str, expected: bool| assert_eq!(is_authority(name), expected, "{name:?}");
    check("example.com", true);
    check("example.com:8080", true);
    check("[::1]:80", true);
    check("", false);
    check("user@example.com", false);
    check("example.com/path", false);
    check("example.com\\path", false);
    check("example.com?q", false);
    check("example.com#f", false);
    check("exa mple.com", false);
    check("example.com\n", false);
    check("exämple.com", false);
}

#[test]
fn schemes_are_words() {
    let check = |name: &str, expected: bool| assert_eq!(is_scheme(name), expected, "{name:?}");
    check("http", true);
    check("coap+tcp", true);
    check("", false);
    check("1a", false);
    check("a:", false);
    check(&"x".repeat(33), false);
}
