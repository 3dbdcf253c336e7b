use std::io::Write as _;

use super::world::{OK, Server, World, expect, hear, say};

#[test]
fn whole_urls_are_judged_and_passed_on() {
    let server = Server::answering(OK);
    let port = server.port;
    let world = World::new().host("api.test", port).open();
    let request = format!(
        "GET http://api.test:{port}/a?b HTTP/1.1\r\nHost: api.test:{port}\r\n\
         Proxy-Connection: keep-alive\r\nProxy-Authorization: Basic eDp5\r\n\r\n"
    );
    let answer = say(world.proxy(), request);
    assert!(answer.ends_with("hello"), "{answer}");
    let expected =
        format!("GET /a?b HTTP/1.1\r\nHost: api.test:{port}\r\nConnection: close\r\n\r\n");
    assert_eq!(server.heard(), expected);
}

#[test]
fn tunnels_are_judged_by_what_is_said_in_them() {
    let server = Server::answering(OK);
    let port = server.port;
    let world = World::new();
    world.names.put("api.test", &[&["127.0.0.1"]]);
    let world = world
        .rule("api.test", |rule| {
            rule.port = Some(port);
            rule.scheme = Some("http".to_owned());
        })
        .allow("127.0.0.1", port)
        .open();
    let tunnel = || {
        let mut stream = world.proxy();
        let connect = format!("CONNECT api.test:{port} HTTP/1.1\r\nHost: api.test:{port}\r\n\r\n");
        stream.write_all(connect.as_bytes()).unwrap();
        expect(&mut stream, "HTTP/1.1 200 Connection established\r\n\r\n");
        stream
    };
    let answer = say(tunnel(), "GET / HTTP/1.1\r\nHost: api.test\r\n\r\n");
    assert!(answer.ends_with("hello"), "{answer}");
    assert_eq!(server.connections(), 1);
    assert_eq!(say(tunnel(), "SSH-2.0-x\r\n"), "");
    let answer = say(tunnel(), "GET / HTTP/1.1\r\nHost: evil.test\r\n\r\n");
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    assert_eq!(server.connections(), 1);
}

#[test]
fn what_is_not_allowed_is_refused_with_the_explanation() {
    let server = Server::answering(OK);
    let port = server.port;
    let world = World::new().host("api.test", port).open();
    let check = |request: String, status: &str, part: &str| {
        let answer = say(world.proxy(), &request);
        assert!(answer.starts_with(status), "{request:?}: {answer}");
        assert!(answer.contains(part), "{request:?}: {answer}");
    };
    check(
        "CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n".to_owned(),
        "HTTP/1.1 403",
        "host = \"evil.test\"",
    );
    check(
        "CONNECT api.test:25 HTTP/1.1\r\nHost: api.test:25\r\n\r\n".to_owned(),
        "HTTP/1.1 403",
        "connect on `api.test:25`",
    );
    check(
        "GET http://evil.test/ HTTP/1.1\r\nHost: evil.test\r\n\r\n".to_owned(),
        "HTTP/1.1 403",
        "connect on `http://evil.test/`",
    );
    check(
        format!("GET http://api.test:{port}/ HTTP/1.1\r\nHost: evil.test\r\n\r\n"),
        "HTTP/1.1 403",
        "`Host` is `evil.test`",
    );
    check(
        "GET https://api.test/ HTTP/1.1\r\nHost: api.test\r\n\r\n".to_owned(),
        "HTTP/1.1 400",
        "neither a path nor a URL",
    );
    check(
        "GET / HTTP/1.1\r\nHost: api.test\r\n\r\n".to_owned(),
        "HTTP/1.1 400",
        "this is a proxy",
    );
    check(
        "CONNECT api.test HTTP/1.1\r\nHost: x\r\n\r\n".to_owned(),
        "HTTP/1.1 400",
        "a port",
    );
    check(
        format!("CONNECT 127.0.0.2:{port} HTTP/1.1\r\nHost: 127.0.0.2:{port}\r\n\r\n"),
        "HTTP/1.1 403",
        "127.0.0.2",
    );
    check(
        format!("CONNECT 127.80.0.99:{port} HTTP/1.1\r\nHost: 127.80.0.99:{port}\r\n\r\n"),
        "HTTP/1.1 403",
        "no name that was looked up",
    );
    assert_eq!(server.connections(), 0);
}

#[test]
fn an_address_that_stands_for_a_name_is_that_name_to_the_proxy() {
    let server = Server::answering(OK);
    let port = server.port;
    let world = World::new().host("api.test", port).open();
    let address = world.look_up("api.test").unwrap();
    let mut stream = world.proxy();
    let connect = format!("CONNECT {address}:{port} HTTP/1.1\r\nHost: {address}:{port}\r\n\r\n");
    stream.write_all(connect.as_bytes()).unwrap();
    expect(&mut stream, "HTTP/1.1 200 Connection established\r\n\r\n");
    stream
        .write_all(b"GET / HTTP/1.1\r\nHost: api.test\r\n\r\n")
        .unwrap();
    assert!(hear(&mut stream).ends_with(b"hello"));
    assert!(
        server
            .heard()
            .contains(&format!("Host: api.test:{port}\r\n"))
    );
}
