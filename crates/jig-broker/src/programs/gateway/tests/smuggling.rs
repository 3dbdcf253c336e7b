//! Requests that two programs could read differently, and what tries to go along with a request.

use std::io::Write as _;

use super::world::{OK, Server, World, hear};

/// Sends words to a server that a path rule guards; returns the answer and what the server heard.
fn send(words: &str) -> (String, Option<String>) {
    let server = Server::answering(OK);
    let port = server.port;
    let world = World::new();
    world.names.put("api.test", &[&["127.0.0.1"]]);
    let world = world
        .rule("api.test", |rule| {
            rule.port = Some(port);
            rule.path_prefix = Some("/pub".to_owned());
        })
        .allow("127.0.0.1", port)
        .open();
    let answer = world.say("api.test", port, words);
    let heard = (server.connections() > 0).then(|| server.heard());
    (answer, heard)
}

#[test]
fn what_can_be_read_in_two_ways_never_reaches_the_server() {
    let heads = [
        // Line ends.
        "GET /pub HTTP/1.1\nHost: api.test\n\n",
        "GET /pub HTTP/1.1\r\nHost: api.test\r\nX: a\nY: b\r\n\r\n",
        "GET /pub HTTP/1.1\r\nHost: api.test\r\nX: a\rY: b\r\n\r\n",
        "GET /pub HTTP/1.1\r\nHost: api.test\r\nX: a\0b\r\n\r\n",
        // Headers.
        "GET /pub HTTP/1.1\r\nHost: api.test\r\nX: a\r\n b\r\n\r\n",
        "GET /pub HTTP/1.1\r\nHost: api.test\r\nX : a\r\n\r\n",
        "GET /pub HTTP/1.1\r\nHost: api.test\r\n: a\r\n\r\n",
        "GET /pub HTTP/1.1\r\nHost: api.test\r\nnonsense\r\n\r\n",
        "GET /pub HTTP/1.1\r\n Host: api.test\r\n\r\n",
        // Which host.
        "GET /pub HTTP/1.1\r\n\r\n",
        "GET /pub HTTP/1.1\r\nHost: api.test\r\nHost: api.test\r\n\r\n",
        "GET /pub HTTP/1.1\r\nHost: evil.test\r\n\r\n",
        "GET /pub HTTP/1.1\r\nHost: api.test:1\r\n\r\n",
        "GET /pub HTTP/1.1\r\nHost: api.test@evil.test\r\n\r\n",
        "GET /pub HTTP/1.1\r\nHost: \r\n\r\n",
        "GET http://evil.test/pub HTTP/1.1\r\nHost: api.test\r\n\r\n",
        "GET https://api.test/pub HTTP/1.1\r\nHost: api.test\r\n\r\n",
        "GET http://api.test@evil.test/pub HTTP/1.1\r\nHost: api.test\r\n\r\n",
        // Which body.
        "POST /pub HTTP/1.1\r\nHost: api.test\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx",
        "POST /pub HTTP/1.1\r\nHost: api.test\r\nContent-Length: 1, 1\r\n\r\nx",
        "POST /pub HTTP/1.1\r\nHost: api.test\r\nContent-Length: +1\r\n\r\nx",
        "POST /pub HTTP/1.1\r\nHost: api.test\r\nContent-Length: 0x1\r\n\r\nx",
        "POST /pub HTTP/1.1\r\nHost: api.test\r\nContent-Length: \r\n\r\nx",
        "POST /pub HTTP/1.1\r\nHost: api.test\r\nContent-Length: 99999999999999999999\r\n\r\nx",
        "POST /pub HTTP/1.1\r\nHost: api.test\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /pub HTTP/1.1\r\nHost: api.test\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "POST /pub HTTP/1.1\r\nHost: api.test\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /pub HTTP/1.1\r\nHost: api.test\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        "POST /pub HTTP/1.0\r\nHost: api.test\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        // The first line.
        "\r\nGET /pub HTTP/1.1\r\nHost: api.test\r\n\r\n",
        " GET /pub HTTP/1.1\r\nHost: api.test\r\n\r\n",
        "GET  /pub HTTP/1.1\r\nHost: api.test\r\n\r\n",
        "GET\t/pub HTTP/1.1\r\nHost: api.test\r\n\r\n",
        "GET /pub x HTTP/1.1\r\nHost: api.test\r\n\r\n",
        "GET /pub HTTP/1.1 \r\nHost: api.test\r\n\r\n",
        "GET /pub HTTP/1.2\r\nHost: api.test\r\n\r\n",
        "GET pub HTTP/1.1\r\nHost: api.test\r\n\r\n",
        "GET /pub#/x HTTP/1.1\r\nHost: api.test\r\n\r\n",
        "GET * HTTP/1.1\r\nHost: api.test\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: api.test\r\n\r\n",
        "CONNECT api.test:80 HTTP/1.1\r\nHost: api.test\r\n\r\n",
    ];
    for head in heads {
        let (answer, heard) = send(head);
        assert_eq!(heard, None, "{head:?}");
        let refused = answer.starts_with("HTTP/1.1 400") || answer.starts_with("HTTP/1.1 403");
        assert!(refused, "{head:?}: {answer}");
        assert!(answer.contains("connect on `"), "{head:?}: {answer}");
    }
}

#[test]
fn only_the_first_request_reaches_the_server() {
    let first = "GET /pub HTTP/1.1\r\nHost: api.test\r\n\r\n";
    let second = "GET /priv HTTP/1.1\r\nHost: api.test\r\n\r\n";
    let (answer, heard) = send(&format!("{first}{second}"));
    assert!(answer.ends_with("hello"), "{answer}");
    let heard = heard.unwrap();
    assert!(heard.starts_with("GET /pub "), "{heard}");
    assert!(!heard.contains("/priv"), "{heard}");
    assert_eq!(heard.matches("\r\n\r\n").count(), 1, "{heard}");
}

#[test]
fn bodies_end_where_they_say() {
    let check = |rest: &str, expected: &str| {
        let words = format!("POST /pub HTTP/1.1\r\nHost: api.test\r\n{rest}");
        let (answer, heard) = send(&words);
        assert!(answer.ends_with("hello"), "{rest:?}: {answer}");
        let heard = heard.unwrap();
        let (head, body) = heard.split_once("\r\n\r\n").unwrap();
        assert_eq!(body, expected, "{rest:?}");
        let head = head.to_ascii_lowercase();
        let framings = head.matches("content-length").count() + head.matches("chunked").count();
        assert_eq!(framings, 1, "{head}");
    };
    let second = "GET /priv HTTP/1.1\r\nHost: api.test\r\n\r\n";
    check(&format!("Content-Length: 3\r\n\r\nabc{second}"), "abc");
    check(&format!("Content-Length: 0\r\n\r\n{second}"), "");
    check(
        &format!("Transfer-Encoding: Chunked\r\n\r\n3;x=\"y\"\r\nabc\r\n0\r\n\r\n{second}"),
        "3\r\nabc\r\n0\r\n\r\n",
    );
    check(
        "Trailer: X\r\nTransfer-Encoding: chunked\r\n\r\nA\r\n0123456789\r\n0\r\nX: y\r\nTransfer-Encoding: z\r\n\r\n",
        "a\r\n0123456789\r\n0\r\n\r\n",
    );
    // A request that hides in the headers of its connection.
    check(
        "Connection: close, X-Drop\r\nX-Drop: 1\r\nContent-Length: 1\r\n\r\nx",
        "x",
    );
}

#[test]
fn a_chunk_that_lies_ends_the_request() {
    for body in [
        "3\r\nabcd\r\n0\r\n\r\n",
        "3\nabc\r\n0\r\n\r\n",
        "3\r\nabc\n0\r\n\r\n",
        "-1\r\n",
        "\r\n",
        " 3\r\nabc\r\n",
        "0x3\r\nabc\r\n",
        "3 x\r\nabc\r\n",
        "fffffffffffffffff\r\n",
    ] {
        let words = format!(
            "POST /pub HTTP/1.1\r\nHost: api.test\r\nTransfer-Encoding: chunked\r\n\r\n{body}GET /priv HTTP/1.1\r\n\r\n"
        );
        let (answer, heard) = send(&words);
        assert!(answer.starts_with("HTTP/1.1 400"), "{body:?}: {answer}");
        if let Some(heard) = heard {
            assert!(!heard.contains("/priv"), "{body:?}: {heard}");
            assert!(!heard.contains("\r\n0\r\n\r\n"), "{body:?}: {heard}");
        }
    }
}

#[test]
fn heads_without_end_are_refused() {
    let long = "a".repeat(100_000);
    for words in [
        format!("GET /pub/{long} HTTP/1.1\r\nHost: api.test\r\n\r\n"),
        format!("GET /pub/{long}"),
        format!("GET /pub HTTP/1.1\r\nHost: api.test\r\nX: {long}\r\n\r\n"),
        format!(
            "GET /pub HTTP/1.1\r\nHost: api.test\r\n{}\r\n",
            "X: y\r\n".repeat(200)
        ),
    ] {
        let (answer, heard) = send(&words);
        assert!(answer.starts_with("HTTP/1.1 400"), "{answer}");
        assert_eq!(heard, None);
    }
}

#[test]
fn http2_without_tls_is_refused_with_the_way_out_unless_anything_may_be_said() {
    let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    let (answer, heard) = send(preface);
    assert_eq!(heard, None);
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    assert!(answer.contains("use HTTP/1.1"), "{answer}");

    // A rule on a port is about whatever is spoken there.
    let server = Server::start(|mut stream| {
        stream.write_all(b"settings").unwrap();
        hear(&mut stream)
    });
    let world = World::new().host("grpc.test", server.port).open();
    let mut stream = world.connect("grpc.test", server.port);
    stream.write_all(preface.as_bytes()).unwrap();
    super::world::expect(&mut stream, "settings");
    drop(stream);
    assert_eq!(server.heard(), preface);
}
