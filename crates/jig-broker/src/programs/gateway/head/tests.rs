use proptest::prelude::*;

use super::{Framing, MAX_HEAD, RequestTarget, read};

const HOST: &str = "Host: api.test\r\n\r\n";

#[test]
fn targets_are_read_in_their_forms() {
    let check = |line: &str, expected: RequestTarget| {
        let head = format!("{line} HTTP/1.1\r\n{HOST}rest");
        let (request, end) = read(head.as_bytes()).unwrap().unwrap();
        assert_eq!(request.target, expected, "{line}");
        assert_eq!(end, head.len() - 4);
    };
    let path = |text: &str| RequestTarget::Path(text.to_owned());
    let url = |port, text: &str| RequestTarget::Url {
        host: "api.test".to_owned(),
        port,
        path: text.to_owned(),
    };
    check("GET /", path("/"));
    check("GET /a/b?c=d", path("/a/b?c=d"));
    check("GET /a/./b/../c?x=../y", path("/a/c?x=../y"));
    check("GET /../../x", path("/x"));
    check("GET //evil.test/x", path("//evil.test/x"));
    check("GET /%2e%2E/x", path("/x"));
    check("GET /a%2fb", path("/a%2fb"));
    check("GET /a\\..\\b", path("/b"));
    check("GET http://api.test", url(80, "/"));
    check("GET HTTP://API.test:8080/a", url(8080, "/a"));
    check("GET http://api.test?q", url(80, "/?q"));
    check("OPTIONS *", RequestTarget::Server);
    let tunnel = RequestTarget::Tunnel {
        host: "api.test".to_owned(),
        port: 443,
    };
    check("CONNECT api.test:443", tunnel);
}

#[test]
fn a_head_is_written_as_it_was_understood() {
    let check = |head: &str, expected: &str| {
        let (request, _) = read(head.as_bytes()).unwrap().unwrap();
        let written = String::from_utf8(request.write("api.test", 80)).unwrap();
        assert_eq!(written, expected);
        // And what is written is understood in the same way.
        let (again, _) = read(written.as_bytes()).unwrap().unwrap();
        assert_eq!(again.write("api.test", 80), written.as_bytes());
        assert_eq!(again.framing, request.framing);
    };
    check(
        "GET /a HTTP/1.1\r\nhost: API.test\r\nAccept:*/*\r\nTE: trailers\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: api.test\r\nAccept: */*\r\nConnection: close\r\n\r\n",
    );
    // Another path than the one that is judged.
    check(
        "GET /a HTTP/1.1\r\nHost: api.test\r\nX-Original-URL: /b\r\nx-rewrite-url: /b\r\n\r\n",
        "GET /a HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n",
    );
    check(
        "POST /a HTTP/1.0\r\nContent-Length: 007\r\n\r\n",
        "POST /a HTTP/1.0\r\nHost: api.test\r\nContent-Length: 7\r\nConnection: close\r\n\r\n",
    );
    check(
        "PATCH http://api.test/a HTTP/1.1\r\nHost: api.test\r\nTransfer-Encoding: CHUNKED\r\nConnection: x-y\r\nX-Y: 1\r\nX-Z: \t 2 \r\n\r\n",
        "PATCH /a HTTP/1.1\r\nHost: api.test\r\nX-Z: 2\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
    );
    check(
        "OPTIONS * HTTP/1.1\r\nHost: api.test\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n",
    );
}

#[test]
fn hosts_with_colons_are_written_in_brackets() {
    let (request, _) = read(b"GET / HTTP/1.1\r\nHost: [::1]:8080\r\n\r\n")
        .unwrap()
        .unwrap();
    assert_eq!(request.host, Some(("::1".to_owned(), Some(8080))));
    let written = String::from_utf8(request.write("::1", 8080)).unwrap();
    assert!(written.contains("Host: [::1]:8080\r\n"), "{written}");
}

#[test]
fn a_head_is_waited_for_as_long_as_it_can_still_be_one() {
    let head = format!("GET / HTTP/1.1\r\nX: y\r\n{HOST}");
    for end in 0..head.len() {
        assert_eq!(read(&head.as_bytes()[..end]), Ok(None), "{end}");
    }
    assert!(read(head.as_bytes()).unwrap().is_some());
    assert!(read(b"GET / HTTP/1.1\nHost").is_err());
    let endless = vec![b'a'; MAX_HEAD + 1];
    assert!(read(&endless).is_err());
}

#[test]
fn an_upgrade_needs_all_its_words() {
    let check = |head: &str, expected: bool| {
        let (request, _) = read(format!("{head}\r\n{HOST}").as_bytes())
            .unwrap()
            .unwrap();
        assert_eq!(request.websocket, expected, "{head}");
    };
    let both = "Connection: Upgrade\r\nUpgrade: WebSocket";
    check(&format!("GET / HTTP/1.1\r\n{both}"), true);
    check(&format!("POST / HTTP/1.1\r\n{both}"), false);
    check(&format!("GET / HTTP/1.0\r\n{both}"), false);
    check(
        &format!("GET / HTTP/1.1\r\n{both}\r\nContent-Length: 1"),
        false,
    );
    check("GET / HTTP/1.1\r\nUpgrade: websocket", false);
    check("GET / HTTP/1.1\r\nConnection: upgrade", false);
    check(
        "GET / HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: h2c, websocket",
        false,
    );
}

#[test]
fn lengths_are_plain_numbers() {
    let check = |header: &str, expected: Option<Framing>| {
        let head = format!("POST / HTTP/1.1\r\n{header}\r\n{HOST}");
        let read = read(head.as_bytes()).ok().flatten();
        assert_eq!(
            read.map(|(request, _)| request.framing),
            expected,
            "{header}"
        );
    };
    check("Content-Length: 0", Some(Framing::Length(0)));
    check(
        "Content-Length: 18446744073709551615",
        Some(Framing::Length(u64::MAX)),
    );
    check("Content-Length: 18446744073709551616", None);
    check("Content-Length: 1 1", None);
    check("Content-Length: 1e3", None);
    check("Content-Length: ١", None);
    check("Transfer-Encoding: chunked", Some(Framing::Chunked));
    check("Transfer-Encoding: \tchunked ", Some(Framing::Chunked));
    check("Transfer-Encoding: chunked, chunked", None);
    check("Transfer-Encoding: \u{b}chunked", None);
    check("Transfer-Encoding: identity", None);
    check("X: 1", Some(Framing::None));
}

proptest! {
    #[test]
    fn no_bytes_break_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = read(&bytes);
    }

    #[test]
    fn whatever_passes_has_one_reading(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
    ) {
        let head = "POST /a/b?c HTTP/1.1\r\nHost: api.test\r\nContent-Length: 3\r\nX-Y: z\r\nConnection: x-y\r\n\r\n";
        let mut bytes = head.as_bytes().to_vec();
        for (place, byte) in changes {
            let place = place.index(bytes.len());
            bytes[place] = byte;
        }
        if let Ok(Some((request, _))) = read(&bytes) {
            let written = request.write("api.test", 80);
            // Exactly one head comes out, of lines that end as they should.
            let text = String::from_utf8_lossy(&written).into_owned();
            prop_assert_eq!(text.matches("\r\n\r\n").count(), 1);
            prop_assert!(text.ends_with("\r\n\r\n"));
            prop_assert_eq!(text.matches('\n').count(), text.matches("\r\n").count());
            prop_assert!(!text.contains('\0'));
            let lower = text.to_ascii_lowercase();
            prop_assert_eq!(lower.matches("\r\nhost:").count(), 1);
            prop_assert!(lower.matches("\r\ncontent-length:").count() <= 1);
            prop_assert!(text.contains("\r\nHost: api.test\r\n"));
            let (again, _) = read(&written).unwrap().unwrap();
            prop_assert_eq!(again.framing, request.framing);
            prop_assert_eq!(again.path(), request.path());
        }
    }
}
