//! Where jig connects to, and with what.

use super::{headers, place, url};

/// A URL, and whether a request may go there.
#[test]
fn urls() {
    for (text, may) in [
        ("https://example.com/mcp", true),
        ("http://127.0.0.1:8080/mcp", true),
        ("http://[::1]/mcp", true),
        ("http://localhost/mcp", true),
        ("http://a.localhost/mcp", true),
        ("http://example.com/mcp", false),
        ("http://127.0.0.1.example.com/", false),
        ("http://localhost.example.com/", false),
        ("http://10.0.0.1/", false),
        ("http://0.0.0.0/", false),
        ("ftp://127.0.0.1/", false),
        ("unix:/tmp/x", false),
        ("no url", false),
        ("", false),
    ] {
        assert_eq!(url(text).is_ok(), may, "{text}");
    }
}

#[test]
fn errors_do_not_repeat_what_may_be_secret() {
    for text in [
        "http://example.com/?token=hunter2",
        "https://[hunter2",
        "hunter2",
    ] {
        let error = url(text).expect_err("it is refused").to_string();
        assert!(!error.contains("hunter2"), "{error}");
    }
    let pairs = [("X-Key".to_owned(), "hunter2\n".to_owned())];
    let error = headers(&pairs).expect_err("it is refused").to_string();
    assert!(
        error.contains("X-Key") && !error.contains("hunter2"),
        "{error}"
    );
}

/// A URL, and how messages call it.
#[test]
fn places() {
    for (text, told) in [
        ("https://example.com/mcp", "https://example.com/mcp"),
        ("http://127.0.0.1:9/a/b", "http://127.0.0.1:9/a/b"),
        ("http://[::1]:9/", "http://[::1]:9/"),
        ("https://example.com:443", "https://example.com/"),
        (
            "https://example.com/mcp?key=hunter2",
            "https://example.com/mcp",
        ),
        ("https://example.com/mcp#hunter2", "https://example.com/mcp"),
        (
            "https://me:hunter2@example.com/mcp",
            "https://example.com/mcp",
        ),
        // What is spelled differently than it was written may be a secret that nobody knows by that spelling.
        ("https://Hunter2.example.com/mcp", "the server"),
        ("https://example.com/hunter 2/mcp", "https://example.com/…"),
        ("https://example.com/../hunter2", "https://example.com/…"),
        (
            "https://example.com/api/v2/mcp",
            "https://example.com/api/v2/mcp",
        ),
        (
            "https://example.com/s/OGYzN2QxNzQtOTo5/mcp",
            "https://example.com/…",
        ),
        (
            "https://example.com/s/correcthorsebatterystaple",
            "https://example.com/…",
        ),
        (
            "https://example.com/ghp_0123456789abcdefghijABCDEFGHIJ012345/mcp",
            "https://example.com/…",
        ),
    ] {
        let url = url(text).expect("a URL");
        assert_eq!(place(text, &url), told, "{text}");
    }
}

#[test]
fn headers_of_a_configuration() {
    let set = |name: &str| headers(&[(name.to_owned(), "v".to_owned())]).is_ok();
    for name in ["Authorization", "X-Key", "mcp-other"] {
        assert!(set(name), "{name}");
    }
    for name in [
        "Mcp-Session-Id",
        "Content-Type",
        "HOST",
        "Mcp-Param-Region",
        "a b",
        "",
    ] {
        assert!(!set(name), "{name}");
    }
    let all =
        headers(&[("Authorization".to_owned(), "Bearer hunter2".to_owned())]).expect("a header");
    assert!(!format!("{all:?}").contains("hunter2"));
}
