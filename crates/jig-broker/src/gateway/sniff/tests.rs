use super::{MAX_LINE, Speech, speech};

#[test]
fn the_first_bytes_tell_what_is_spoken() {
    let check = |bytes: &[u8], expected: Option<Speech>| {
        let shown = String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(speech(bytes), expected, "{shown:?}");
    };
    check(b"", None);
    check(b"G", None);
    check(b"GET /", None);
    check(b"GET / HTTP/1.1\r\n", Some(Speech::Http));
    check(b"GET / HTTP/1.0\n", Some(Speech::Http));
    check(b"get / HTTP/1.1\r\n", Some(Speech::Http));
    check(b"\r\n\r\nGET / HTTP/1.1\r\n", Some(Speech::Http));
    check(b" GET / HTTP/1.1\r\n", Some(Speech::Http));
    check(b"GET\t/\tHTTP/1.1\r\n", Some(Speech::Http));
    check(b"M-SEARCH * HTTP/1.1\r\n", Some(Speech::Http));
    check(b"GET / HTTP/9.9\r\n", Some(Speech::Http));
    check(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", Some(Speech::Http2));
    check(b"\x16", None);
    check(b"\x16\x03", Some(Speech::Tls));
    check(b"\x16\x02", Some(Speech::Other));
    check(b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n", Some(Speech::Other));
    check(b"EHLO client.test\r\n", Some(Speech::Other));
    check(b"CONNECT {\"verbose\":false}\r\n", Some(Speech::Other));
    check(b"*1\r\n$4\r\nPING\r\n", Some(Speech::Other));
    check(b"\x00\x00\x00\x08\x04\xd2\x16\x2f", Some(Speech::Other));
    check(b"\r\n", None);
    check(&[b'\n'; 100], Some(Speech::Other));
    check(&[b'A'; 33], Some(Speech::Other));
    let long = [b"GET /".as_slice(), &vec![b'a'; MAX_LINE]].concat();
    check(&long, Some(Speech::Http));
}
