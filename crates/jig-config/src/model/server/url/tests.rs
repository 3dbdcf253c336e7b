use super::*;

#[test]
fn urls_of_servers() {
    let check = |text: &str, expected: Result<(), ServerUrlError>| {
        assert_eq!(server_url(text).map(|_| ()), expected, "{text}");
    };
    for good in [
        "https://a.example",
        "https://a.example:8443/mcp?x=1",
        "HTTPS://A.example/",
        "http://localhost/mcp",
        "http://127.0.0.1:80",
        "http://127.9.9.9/",
        "http://[::1]:1/",
        "http://[::ffff:127.0.0.1]/",
    ] {
        check(good, Ok(()));
    }
    check("http://a.example", Err(ServerUrlError::Plain));
    check("http://localhost.evil.example", Err(ServerUrlError::Plain));
    check("http://evil.localhost", Err(ServerUrlError::Plain));
    check("http://10.0.0.1", Err(ServerUrlError::Plain));
    check("http://0.0.0.0", Err(ServerUrlError::Plain));
    check("ftp://a.example", Err(ServerUrlError::Scheme));
    check("file:///etc/passwd", Err(ServerUrlError::NoUrl));
    check("a.example/mcp", Err(ServerUrlError::NoUrl));
    check("", Err(ServerUrlError::NoUrl));
    check("https://me@a.example", Err(ServerUrlError::User));
    check("https://:secret@a.example", Err(ServerUrlError::User));
    check("https://a.example/#x", Err(ServerUrlError::Fragment));
}
