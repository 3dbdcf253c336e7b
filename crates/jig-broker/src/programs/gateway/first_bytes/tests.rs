use super::{ConnectionProtocol, MAX_LINE, speech};

#[test]
fn the_first_bytes_tell_what_is_spoken() {
    let check = |bytes: &[u8], expected: Option<ConnectionProtocol>| {
        let shown = String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(speech(bytes), expected, "{shown:?}");
    };
    check(b"", None);
    check(b"G", None);
    check(b"GET /", None);
    check(b"GET / HTTP/1.1\r\n", Some(ConnectionProtocol::Http));
    check(b"GET / HTTP/1.0\n", Some(ConnectionProtocol::Http));
    check(b"get / HTTP/1.1\r\n", Some(ConnectionProtocol::Http));
    check(
        b"\r\n\r\nGET / HTTP/1.1\r\n",
        Some(ConnectionProtocol::Http),
    );
    check(b" GET / HTTP/1.1\r\n", Some(ConnectionProtocol::Http));
    check(b"GET\t/\tHTTP/1.1\r\n", Some(ConnectionProtocol::Http));
    check(b"M-SEARCH * HTTP/1.1\r\n", Some(ConnectionProtocol::Http));
    check(b"GET / HTTP/9.9\r\n", Some(ConnectionProtocol::Http));
    check(
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        Some(ConnectionProtocol::Http2),
    );
    check(b"\x16", None);
    check(b"\x16\x03", Some(ConnectionProtocol::Tls));
    check(b"\x16\x02", Some(ConnectionProtocol::Other));
    check(
        b"SSH-2.0-OpenSSH_9.2p1 Debian\r\n",
        Some(ConnectionProtocol::Other),
    );
    check(b"EHLO client.test\r\n", Some(ConnectionProtocol::Other));
    check(
        b"CONNECT {\"verbose\":false}\r\n",
        Some(ConnectionProtocol::Other),
    );
    check(b"*1\r\n$4\r\nPING\r\n", Some(ConnectionProtocol::Other));
    check(
        b"\x00\x00\x00\x08\x04\xd2\x16\x2f",
        Some(ConnectionProtocol::Other),
    );
    check(b"\r\n", None);
    check(&[b'\n'; 100], Some(ConnectionProtocol::Http));
    check(&[b'A'; 100], None);
    check(&[b'A'; MAX_LINE + 1], Some(ConnectionProtocol::Http));
    // What some server takes for a request.
    check(b"M1 / HTTP/1.1\r\n", Some(ConnectionProtocol::Http));
    check(b"!#$ / HTTP/1.1\r\n", Some(ConnectionProtocol::Http));
    check(b"GET\x0b/ HTTP/1.1\r\n", Some(ConnectionProtocol::Http));
    check(b"GET\r/ HTTP/1.1\n", Some(ConnectionProtocol::Http));
    check(b"GET / http/1.1\r\n", Some(ConnectionProtocol::Http));
    check(b"GET /\r\n", Some(ConnectionProtocol::Http));
    check(b"GET http://evil.test/\r\n", Some(ConnectionProtocol::Http));
    check(b"GET key\r\n", Some(ConnectionProtocol::Other));
    // Protocols of which one cannot wait for the end of a line.
    check(
        b"0\x0c\x02\x01\x01\x60\x07",
        Some(ConnectionProtocol::Other),
    );
    check(
        b"0032git-upload-pack /x\0host=git.test\0",
        Some(ConnectionProtocol::Other),
    );
    check(b"AMQP\0\0\x09\x01", Some(ConnectionProtocol::Other));
    let long = [b"GET /".as_slice(), &vec![b'a'; MAX_LINE]].concat();
    check(&long, Some(ConnectionProtocol::Http));
}
