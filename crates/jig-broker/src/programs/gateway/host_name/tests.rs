use super::{normal, with_port};

#[test]
fn hosts_have_one_form() {
    let check = |text: &str, expected: Option<&str>| {
        assert_eq!(normal(text).as_deref(), expected, "{text:?}");
    };
    check("api.test", Some("api.test"));
    check("API.Test.", Some("api.test"));
    check("xn--bcher-kva.test", Some("xn--bcher-kva.test"));
    check("XN--BCHER-KVA.test", Some("xn--bcher-kva.test"));
    check("_srv.api.test", Some("_srv.api.test"));
    check("127.0.0.1", Some("127.0.0.1"));
    check("[::1]", Some("::1"));
    check("::1", Some("::1"));
    check("[::ffff:127.0.0.1]", Some("127.0.0.1"));
    for odd in [
        "",
        ".",
        "..",
        ".api.test",
        "api..test",
        "api.test..",
        "bücher.test",
        "api.test/",
        "x@api.test",
        "api.test:80",
        "api.test ",
        " api.test",
        "api%2etest",
        "api.test\0",
        "a\tb",
        "*.test",
        "0x7f.1",
        "127.1",
        "2130706433",
        "127.0.0.1.",
        "[api.test]",
        "[::1",
        "::1]",
        "[]",
        "xn--\u{fc}",
    ] {
        check(odd, None);
    }
}

#[test]
fn a_port_is_digits_behind_a_colon() {
    let check = |text: &str, expected: Option<(&str, Option<u16>)>| {
        let expected = expected.map(|(host, port)| (host.to_owned(), port));
        assert_eq!(with_port(text), expected, "{text:?}");
    };
    check("api.test", Some(("api.test", None)));
    check("api.test:80", Some(("api.test", Some(80))));
    check("API.test.:080", Some(("api.test", Some(80))));
    check("[::1]:8080", Some(("::1", Some(8080))));
    check("[::1]", Some(("::1", None)));
    check("api.test:", None);
    check("api.test:+80", None);
    check("api.test:65536", None);
    check("api.test:000080", None);
    check("api.test:80:80", None);
    check("::1", None);
    check("[::1]x:80", None);
    check("u@api.test:80", None);
}
