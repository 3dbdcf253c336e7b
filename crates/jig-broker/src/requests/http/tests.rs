use super::read_url;

#[test]
fn urls_are_of_the_web_and_without_credentials() {
    let check = |text: &str, expected: Option<&str>| {
        let url = read_url(text).ok();
        assert_eq!(url.as_ref().map(url::Url::as_str), expected, "{text:?}");
    };
    check("https://x.test/a?b#c", Some("https://x.test/a?b"));
    check("http://[::ffff:127.0.0.1]:80/", Some("http://127.0.0.1/"));
    check("http://0x7f.1/", Some("http://127.0.0.1/"));
    check("http://[::1]/", Some("http://[::1]/"));
    check("ftp://x.test/", None);
    check("file:///etc/passwd", None);
    check("http://user:pass@x.test/", None);
    check("http://user@x.test/", None);
    check("/relative", None);
    check("http://", None);
}
